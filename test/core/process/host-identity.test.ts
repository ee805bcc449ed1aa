import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { makeCookie, parseCookie } from "../../../src/core/process/cookie.ts";
import { currentHost, hostIdentity } from "../../../src/core/process/host-identity.ts";

describe("the identity of a host", () => {
  const directories: string[] = [];
  afterEach(() => {
    for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
  });

  function procWith(namespace: string, boot: string): string {
    const proc = mkdtempSync(join(tmpdir(), "plugboard-proc-"));
    directories.push(proc);
    mkdirSync(join(proc, "self/ns"), { recursive: true });
    mkdirSync(join(proc, "sys/kernel/random"), { recursive: true });
    symlinkSync(namespace, join(proc, "self/ns/pid"));
    writeFileSync(join(proc, "sys/kernel/random/boot_id"), `${boot}\n`);
    return proc;
  }

  const spaceOf = (proc: string): string => hostIdentity({ platform: "linux", proc }).space;

  it("is this process, with the start time the system has for it", () => {
    const identity = currentHost();
    expect(identity).toMatchObject({ pid: process.pid, uid: process.geteuid?.() });
    expect(Number(identity.start)).toBeGreaterThan(0);
    expect(currentHost()).toBe(identity);
    expect(parseCookie(makeCookie(identity))).toMatchObject(identity);
  });

  it.runIf(process.platform === "linux")("takes the start time from the proc file system", () => {
    const stat = readFileSync("/proc/self/stat", "latin1").split(" ");
    expect(hostIdentity({ platform: "linux" }).start).toBe(stat[21]);
  });

  it("differs between pid namespaces and between boots", () => {
    const here = spaceOf(procWith("pid:[4026531836]", "b1"));
    expect(spaceOf(procWith("pid:[4026531836]", "b1"))).toBe(here);
    expect(spaceOf(procWith("pid:[4026532000]", "b1"))).not.toBe(here);
    expect(spaceOf(procWith("pid:[4026531836]", "b2"))).not.toBe(here);
  });

  it("has no start time, and still a space, where there is no proc file system", () => {
    const identity = hostIdentity({ platform: "linux", proc: "/nonexistent", pid: 7, uid: 1 });
    expect(identity).toMatchObject({ pid: 7, uid: 1, start: "0" });
    expect(identity.space).toMatch(/^[0-9a-z]+$/);
  });

  it("has no start time on Windows, where nothing is reaped", () => {
    expect(hostIdentity({ platform: "win32" })).toMatchObject({ pid: process.pid, start: "0" });
  });
});
