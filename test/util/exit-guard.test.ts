import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { ExitGuard } from "../../src/util/exit-guard.ts";

describe("the exit guard", () => {
  it("listens once for all children, and only while there are any", () => {
    const host = new EventEmitter();
    const guard = new ExitGuard(() => host);
    expect(host.listenerCount("exit")).toBe(0);
    for (let pid = 100; pid < 120; pid += 1) guard.watch(pid, () => {});
    expect(host.listenerCount("exit")).toBe(1);
    for (let pid = 100; pid < 119; pid += 1) guard.release(pid);
    expect(host.listenerCount("exit")).toBe(1);
    guard.release(119);
    guard.release(119);
    expect(host.listenerCount("exit")).toBe(0);
  });

  it("ends those that are left, each in its own way", () => {
    const ended: string[] = [];
    const host = new EventEmitter();
    const guard = new ExitGuard(() => host);
    guard.watch(4711, (pid) => ended.push(`kill ${pid}`));
    guard.watch(4712, (pid) => ended.push(`hang up ${pid}`));
    guard.watch(4713, (pid) => ended.push(`kill ${pid}`));
    guard.release(4713);
    host.emit("exit");
    expect(ended).toEqual(["kill 4711", "hang up 4712"]);
  });
});
