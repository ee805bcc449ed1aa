import { describe, expect, it } from "vitest";
import { StartLines } from "../../../../src/core/guard/audit/start-lines.ts";
import { record } from "./records.ts";

const START = Date.UTC(2026, 10, 15, 11, 59, 59, 998);
const textOf = (lines: StartLines): string => lines.bytes.toString("utf8", 0, lines.length);
const valuesOf = (lines: StartLines): unknown[] =>
  textOf(lines)
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);

describe("the lines about calls that start", () => {
  it("name the call, with the id that its end will refer to", () => {
    const lines = new StartLines("1a2b3c4d");
    const first = record({ time: START, session: "s", tool: "é" });
    const second = record({ time: START + 2, server: 'a"b' });
    lines.add(first);
    lines.add(second);
    expect(valuesOf(lines)).toEqual([
      {
        type: "start",
        id: lines.idOf(first.startNumber ?? 0),
        time: "2026-11-15T11:59:59.998Z",
        agent: "default",
        session: "s",
        server: "docs",
        tool: "é",
      },
      {
        type: "start",
        id: lines.idOf(second.startNumber ?? 0),
        time: "2026-11-15T12:00:00.000Z",
        agent: "default",
        server: 'a"b',
        tool: "read",
      },
    ]);
  });

  it("count their ids up over every digit", () => {
    const lines = new StartLines("p");
    const records = Array.from({ length: 12_001 }, () => record());
    for (const each of records) lines.add(each);
    expect(valuesOf(lines).map((line) => (line as { id: string }).id)).toEqual(
      records.map(({ startNumber }) => lines.idOf(startNumber ?? 0)),
    );
    expect(lines.idOf(12_001)).toBe("p-0000012001");
  });

  it("have the arguments where they are asked for, without secrets, unless they are large", () => {
    const redact = { value: <T>(value: T): T => ({ ...value, pass: "***" }) };
    const lines = new StartLines("p");
    lines.add(record({ redact, args: { kind: "copy", json: '{"pass":"hunter2"}' } }));
    lines.add(record({ redact, args: { kind: "large", args: { pass: "hunter2" } } }));
    lines.add(record({ args: { kind: "copy", json: '{"pass":"hunter2"}' } }));
    const [shown, ...others] = valuesOf(lines);
    expect(shown).toMatchObject({ arguments: { pass: "***" } });
    for (const each of others) expect(each).not.toHaveProperty("arguments");
  });

  it("are gone once they are cleared, however many they were", () => {
    const lines = new StartLines("p");
    lines.add(record({ agent: "x".repeat(3_000_000) }));
    lines.clear();
    expect(lines.bytes.length).toBeLessThan(100_000);
    lines.add(record({ tool: "a" }));
    expect(valuesOf(lines)).toMatchObject([{ id: "p-0000000002", tool: "a" }]);
  });
});
