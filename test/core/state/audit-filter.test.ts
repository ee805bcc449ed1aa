import { describe, expect, it } from "vitest";
import { auditFilter, type AuditQuery } from "../../../src/core/state/audit-filter.ts";
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

describe("the outcome and the rule of a call", () => {
  const time = "2026-11-15T12:00:00.000Z";
  const of = { type: "call", time, agent: "a", server: "s", tool: "t", durationMs: 1, bytes: 1 };
  const lines = [
    { ...of, decision: "allowed", outcome: "ok" },
    { ...of, decision: "allowed", outcome: "error" },
    { ...of, decision: "refused", rule: "deny s/*", outcome: "REFUSED_BY_POLICY" },
    { type: "suspicious", time, agent: "a", server: "s", tool: "t", patterns: ["x"] },
    { type: "start", id: "1", time, agent: "a", server: "s", tool: "t" },
  ] as AuditLine[];

  it.each<[AuditQuery, number[]]>([
    [{ outcome: "ok" }, [0]],
    [{ outcome: "failed" }, [1]],
    [{ outcome: "refused" }, [2]],
    [{ outcome: "suspicious" }, [3]],
    [{ rule: "deny" }, [2]],
    [{ until: now }, [0, 1, 2, 3, 4]],
    [{ until: now - 1 }, []],
  ])("%j", (query, wanted) => {
    const passes = auditFilter(query);
    expect(lines.flatMap((line, at) => (passes(line) ? [at] : []))).toEqual(wanted);
  });
});
