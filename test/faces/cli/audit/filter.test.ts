import { describe, expect, it } from "vitest";
import { auditFilter } from "../../../../src/faces/cli/audit/filter.ts";
import type { AuditLine } from "../../../../src/guard/audit/entry.ts";

const now = Date.UTC(2026, 10, 15, 12);
const call: AuditLine = {
  type: "call",
  time: "2026-11-15T11:00:00.000Z",
  agent: "default",
  server: "docs",
  tool: "read_file",
  decision: "allowed",
  durationMs: 1,
  bytes: 1,
  outcome: "ok",
};

describe("auditFilter", () => {
  it.each<[Parameters<typeof auditFilter>[0], boolean]>([
    [{}, true],
    [{ server: "docs" }, true],
    [{ server: "doc" }, false],
    [{ tool: "read_file" }, true],
    [{ tool: "read_*" }, true],
    [{ tool: "docs/read_*" }, true],
    [{ tool: "write_*" }, false],
    [{ server: "other", tool: "read_*" }, false],
    [{ since: { kind: "ago", ms: 3_600_000 } }, true],
    [{ since: { kind: "ago", ms: 3_599_999 } }, false],
    [{ since: { kind: "at", ms: now - 3_600_000 } }, true],
    [{ since: { kind: "at", ms: now } }, false],
  ])("%j: %s", (command, passes) => {
    expect(auditFilter(command, now)(call)).toBe(passes);
  });

  it("lets pass what says that something is missing, if its time does", () => {
    const lost: AuditLine = { type: "lost", time: call.time, count: 1 };
    expect(auditFilter({ server: "x", tool: "y" }, now)(lost)).toBe(true);
    expect(auditFilter({ since: { kind: "ago", ms: 1 } }, now)(lost)).toBe(false);
  });
});
