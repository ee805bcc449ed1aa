import { EventEmitter } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ExitGuard } from "../../src/util/exit-guard.ts";

afterEach(() => vi.restoreAllMocks());

describe("the exit guard", () => {
  it("listens once for all children, and only while there are any", () => {
    const host = new EventEmitter();
    const guard = new ExitGuard(() => host);
    expect(host.listenerCount("exit")).toBe(0);
    for (let pid = 100; pid < 120; pid += 1) guard.watch(pid, "linux");
    expect(host.listenerCount("exit")).toBe(1);
    for (let pid = 100; pid < 119; pid += 1) guard.release(pid);
    expect(host.listenerCount("exit")).toBe(1);
    guard.release(119);
    guard.release(119);
    expect(host.listenerCount("exit")).toBe(0);
  });

  it("kills groups, and single processes where there are no groups", () => {
    const kill = vi.spyOn(process, "kill").mockReturnValue(true);
    const host = new EventEmitter();
    const guard = new ExitGuard(() => host);
    guard.watch(4711, "linux");
    guard.watch(4712, "win32");
    guard.watch(4713, "linux");
    guard.release(4713);
    host.emit("exit");
    expect(kill.mock.calls).toEqual([
      [-4711, "SIGKILL"],
      [4712, "SIGKILL"],
    ]);
  });
});
