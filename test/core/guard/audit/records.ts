// Records of calls as the stage makes them.

import {
  AuditedTool,
  type AuditedNames,
  type AuditRecord,
} from "../../../../src/core/guard/audit/record.ts";
import { StartLines } from "../../../../src/core/guard/audit/start-lines.ts";
import type { ValueRedactor } from "../../../../src/core/guard/redact.ts";

export interface RecordOverrides extends Partial<AuditRecord>, Partial<AuditedNames> {
  redact?: ValueRedactor;
}

export function record({
  agent = "default",
  session,
  caller,
  server = "docs",
  tool = "read",
  redact,
  ...overrides
}: RecordOverrides = {}): AuditRecord {
  return {
    time: Date.UTC(2026, 10, 15, 11, 0, 0),
    of: new AuditedTool({ agent, session, caller, server, tool }, redact),
    args: { kind: "copy", json: "{}" },
    startNumber: undefined,
    decision: { verdict: "allowed" },
    durationMs: 1.2345,
    waitedMs: 0,
    bytes: 5,
    outcome: "ok",
    ...overrides,
  };
}

/** The lines about calls that start, and the ids by which the lines about their ends refer to them. */
export class Starts {
  readonly #lines = new StartLines("p");
  readonly #ids = new Map<string, string>();

  start(overrides: RecordOverrides): string {
    const each = record(overrides);
    this.#lines.add(each);
    this.#ids.set(overrides.tool ?? "read", this.#lines.idOf(each.startNumber ?? 0));
    const text = this.#lines.bytes.toString("utf8", 0, this.#lines.length);
    this.#lines.clear();
    return text;
  }

  idOf(tool: string): string {
    return this.#ids.get(tool) ?? "unknown";
  }
}
