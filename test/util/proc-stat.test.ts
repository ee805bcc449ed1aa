import { describe, expect, it } from "vitest";
import { parseStat, readStat } from "../../src/util/proc-stat.ts";

const rest = "0 -1 4194304 98 0 0 0 0 0 0 0 20 0 1 0 104989 3133440 382";

describe("/proc/<pid>/stat", () => {
  it.each(["cat", "a b", "evil) R 1 1 1", "((", "", "new\nline) Z 1"])(
    "is read behind a command named %j",
    (name) => {
      expect(parseStat(`5518 (${name}) S 5508 5507 3380 ${rest}`)).toEqual({
        pid: 5518,
        ppid: 5508,
        pgid: 5507,
        start: "104989",
        zombie: false,
        kernel: false,
      });
    },
  );

  it.each([
    ["R", false],
    ["S", false],
    ["D", false],
    ["T", false],
    ["Z", true],
    ["X", true],
    ["x", true],
  ])("in state %s is a zombie: %s", (state, zombie) => {
    expect(parseStat(`2 (x) ${state} 1 1 1 0 ${rest}`)?.zombie).toBe(zombie);
  });

  it("of a thread of the kernel says so", () => {
    const flags = "0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 12 0 0";
    expect(parseStat(`2 (kthreadd) S 0 0 0 ${flags}`)?.kernel).toBe(true);
  });

  it.each(["", "5518", "5518 (cat) S 1", "(cat) S 1 1 1 0", `x (x) S 1 1 1 ${rest}`])(
    "that is cut short or foreign (%j) is nothing",
    (text) => {
      expect(parseStat(text)).toBeUndefined();
    },
  );

  it("that cannot be read throws", () => {
    expect(() => readStat(process.execPath, 1)).toThrow("ENOTDIR");
  });

  it("of a missing process is undefined", () => {
    expect(readStat("/proc", 2 ** 22 + 1)).toBeUndefined();
  });
});
