import { describe, expect, it } from "vitest";
import { readSince } from "../../../src/cli/audit/command.ts";

describe("readSince", () => {
  it.each([
    ["90s", { kind: "ago", ms: 90_000 }],
    ["15m", { kind: "ago", ms: 900_000 }],
    ["1h", { kind: "ago", ms: 3_600_000 }],
    ["2 d", { kind: "ago", ms: 172_800_000 }],
    ["1w", { kind: "ago", ms: 604_800_000 }],
    ["2026-11-15", { kind: "at", ms: new Date(2026, 10, 15).getTime() }],
    ["2026-11-15T10:00", { kind: "at", ms: new Date(2026, 10, 15, 10).getTime() }],
    ["2026-11-15T10:00:00Z", { kind: "at", ms: Date.UTC(2026, 10, 15, 10) }],
  ])("%s", (text, since) => {
    expect(readSince(text)).toEqual(since);
  });

  it.each(["", "h", "1y", "-1h", "1.5h", "yesterday", "5", "2026-13-45"])(
    "does not accept %j",
    (text) => {
      expect(readSince(text)).toBeUndefined();
    },
  );
});
