// Records of calls as the stage makes them.

import type { AuditRecord } from "../../../src/guard/audit/record.ts";

export function record(overrides: Partial<AuditRecord> = {}): AuditRecord {
  return {
    time: Date.UTC(2026, 10, 15, 11, 0, 0),
    agent: "default",
    session: undefined,
    caller: undefined,
    server: "docs",
    tool: "read",
    args: { kind: "copy", json: "{}" },
    redact: undefined,
    startId: undefined,
    decision: { verdict: "allowed" },
    durationMs: 1.2345,
    bytes: 5,
    outcome: "ok",
    ...overrides,
  };
}
