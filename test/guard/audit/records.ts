// Records of calls as the stage makes them.

import {
  AuditedTool,
  type AuditedNames,
  type AuditRecord,
} from "../../../src/guard/audit/record.ts";
import type { ValueRedactor } from "../../../src/guard/redact.ts";

export interface RecordOverrides extends Partial<AuditRecord>, Partial<AuditedNames> {
  redact?: ValueRedactor;
}

export function record({
  agent = "default",
  session,
  server = "docs",
  tool = "read",
  redact,
  ...overrides
}: RecordOverrides = {}): AuditRecord {
  return {
    time: Date.UTC(2026, 10, 15, 11, 0, 0),
    of: new AuditedTool({ agent, session, server, tool }, redact),
    args: { kind: "copy", json: "{}" },
    startNumber: undefined,
    decision: { verdict: "allowed" },
    durationMs: 1.2345,
    bytes: 5,
    outcome: "ok",
    ...overrides,
  };
}
