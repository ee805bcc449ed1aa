import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { sweepNow } from "../../../src/core/process/exit-sweep.ts";
import { temporaryDirectory } from "../../support/directory.ts";

// What real processes show is in reap-orphans.int.test.ts: a host that ends before its servers are stopped.

afterEach(() => vi.restoreAllMocks());

const target = { pid: 4711, cookie: "cookie", noted: [] };

it("kills the groups if the process table cannot be read", () => {
  const kill = vi.spyOn(process, "kill").mockReturnValue(true);
  const listNow = (): never => {
    throw new Error("too many open files");
  };
  sweepNow([target, { ...target, pid: 4712 }], { table: { listNow }, taskkill: "" });
  expect(kill.mock.calls).toEqual([
    [-4711, "SIGKILL"],
    [-4712, "SIGKILL"],
  ]);
});

it("spares this process and its ancestors, whatever cookie they have", () => {
  const kill = vi.spyOn(process, "kill").mockReturnValue(true);
  const entry = { uid: 0, ageMs: 0, start: "99999999999", zombie: false, cookie: "cookie" };
  const running = [
    { ...entry, pid: 4700, ppid: 1, pgid: 4700 },
    { ...entry, pid: process.pid, ppid: 4700, pgid: 4700 },
    { ...entry, pid: 4713, ppid: 1, pgid: 4713 },
  ];
  const lists = [running, []];
  sweepNow([target], { table: { listNow: () => lists.shift() ?? [] }, taskkill: "" });
  expect(kill.mock.calls).toEqual([[4713, "SIGKILL"]]);
});

it.runIf(process.platform !== "win32")("ends each tree with taskkill on Windows", () => {
  const kill = vi.spyOn(process, "kill").mockReturnValue(true);
  const directory = temporaryDirectory();
  const taskkill = join(directory, "taskkill");
  writeFileSync(taskkill, `#!/bin/sh\necho "$@" >> "$0.log"\n[ "$2" != 4712 ]\n`);
  chmodSync(taskkill, 0o755);
  sweepNow([target, { ...target, pid: 4712 }], { table: undefined, taskkill });
  const log = readFileSync(`${taskkill}.log`, "utf8");
  expect(log).toBe("/pid 4711 /T /F\n/pid 4712 /T /F\n");
  expect(kill.mock.calls).toEqual([[4712, "SIGKILL"]]);
});
