import { describe, expect, it } from "vitest";
import { auditFilter, type AuditQuery } from "../../../src/cli/audit/filter.ts";
import type { AuditLine } from "../../../src/core/types/audit-entry.ts";

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
  it.each<[AuditQuery, boolean]>([
    [{}, true],
    [{ server: "docs" }, true],
    [{ server: "doc" }, false],
    [{ tool: "read_file" }, true],
    [{ tool: "read_*" }, true],
    [{ tool: "docs/read_*" }, true],
    [{ tool: "write_*" }, false],
    [{ server: "other", tool: "read_*" }, false],
    [{ since: now - 3_600_000 }, true],
    [{ since: now - 3_599_999 }, false],
    [{ since: now }, false],
  ])("%j: %s", (query, passes) => {
    expect(auditFilter(query)(call)).toBe(passes);
  });

  it("keeps a line about lost entries if its time passes", () => {
    const lost: AuditLine = { type: "lost", time: call.time, count: 1 };
    expect(auditFilter({ server: "x", tool: "y" })(lost)).toBe(true);
    expect(auditFilter({ since: now - 1 })(lost)).toBe(false);
  });
});
