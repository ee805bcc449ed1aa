import { describe, expect, it } from "vitest";
import { hostIdentity } from "../../../src/core/process/host-identity.ts";
import {
  columns,
  parseLine,
  parseShortLine,
  ps,
  psOf,
} from "../../../src/core/process/ps-table.ts";

const start = Date.UTC(2026, 10, 5, 8, 12, 35);

describe("the output of ps", () => {
  it("is asked for one column at a time, without titles", () => {
    expect(columns("pid", "stat")).toEqual(["-o", "pid=", "-o", "stat="]);
  });

  it.each([
    ["procps", "   42     7    42     0 Ssl  Thu Nov  5 08:12:35 2026 node  a.js X=1"],
    ["macOS", "   42     7    42     0 Ss   Thu Nov  5 08:12:35 2026     node  a.js X=1"],
    ["BSD, day first", "   42     7    42     0 Ss   Thu Nov 05 08:12:35 2026 node  a.js X=1"],
  ])("is read as %s prints it", (_, line) => {
    const { entry, command } = parseLine(line, start + 5000) ?? {};
    expect(entry).toEqual({
      pid: 42,
      ppid: 7,
      pgid: 42,
      uid: 0,
      zombie: false,
      start: String(start / 1000),
      ageMs: 5000,
      name: "node",
    });
    expect(command).toBe("node  a.js X=1");
  });

  it("may be about users below zero, zombies, and clocks that were set back", () => {
    const line = "42 7 42 -2 Z+ Thu Nov  5 08:12:35 2026 (sh)";
    expect(parseLine(line, start - 1)?.entry).toMatchObject({ uid: -2, zombie: true, ageMs: 0 });
  });

  it.each(["", "PID PPID", "42 7 42 0 S", "42 7 42 0 S Xyz Xyz 99 99:99:99 2026 cmd"])(
    "that cannot be read (%j) is ignored",
    (line) => {
      expect(parseLine(line, start)).toBeUndefined();
      expect(parseShortLine(line)).toBeUndefined();
    },
  );

  it("is not taken for an empty table when ps fails", async () => {
    await expect(ps(["--no-such-option"])).rejects.toThrow("ps");
    expect(await psOf([2 ** 22 + 1], columns("pid"))).toHaveLength(1);
  });

  it("gives a host its start time where there is no proc file system", () => {
    const { start: own } = hostIdentity({ platform: "darwin" });
    expect(Math.abs(Number(own) * 1000 - performance.timeOrigin)).toBeLessThan(60_000);
    expect(hostIdentity({ platform: "darwin", pid: 2 ** 22 + 1 }).start).toBe("0");
  });

  it("is read in its short form", () => {
    expect(parseShortLine("   42 Z    Thu Nov  5 08:12:35 2026")).toEqual({
      pid: 42,
      start: String(start / 1000),
      zombie: true,
    });
  });
});
