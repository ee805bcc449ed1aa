// `plugboard audit` on the command line.

import { command } from "../command.ts";
import type { ReadValue } from "../option.ts";
import { readDuration } from "../read-duration.ts";
import { wholeNumber } from "../shared-options.ts";

export interface AuditRequest {
  follow: boolean;
  server?: string;
  /** A pattern. */
  tool?: string;
  caller?: string;
  since?: Since;
  limit?: number;
}

/** A duration before now, or a point in time. */
export type Since = { kind: "ago"; ms: number } | { kind: "at"; ms: number };

const NOTES = `
Reads and prompts are named as in rules: docs/resource:<uri>,
docs/prompt:<name>. A call that has no end on record still runs, or its process
was killed.`;

export const COMMANDS = [
  command({
    name: "audit",
    about: "show which calls were made, and their results",
    options: {
      follow: {
        kind: "flag",
        name: "--follow",
        short: "-f",
        about: "keep printing new calls as they are made",
      },
      server: {
        kind: "value",
        name: "--server",
        value: "server",
        about: "only calls to this server",
        offers: "server",
      },
      tool: {
        kind: "value",
        name: "--tool",
        value: "pattern",
        about: "only tools that match, by name or server/tool; * is any text",
        offers: "tool",
      },
      caller: {
        kind: "value",
        name: "--caller",
        value: "name",
        about: "only calls of this caller of the gateway, such as a token",
      },
      since: {
        kind: "value",
        name: "--since",
        value: "when",
        about: "only calls after: 90s, 15m, 1h, 2d, 1w, or a date",
        read: (text: string): ReadValue<Since> => {
          const value = readSince(text);
          const expected = "a time such as 15m, 1h, 2d or 2026-11-15";
          return value === undefined ? { expected } : { value };
        },
      },
      limit: {
        kind: "value",
        name: "--limit",
        value: "n",
        about: "only the last n, by default 50, or 10 with --follow",
        read: wholeNumber(0, 999_999_999, "a whole number"),
      },
    },
    notes: NOTES,
    examples: [
      "plugboard audit --since 1h --tool 'files/write_*'",
      "plugboard audit --follow --json --server docs",
    ],
    traits: { printsLines: true },
    read: (_, given): AuditRequest => given,
    run: async (request, context) => (await import("./audit.ts")).runAudit(request, context),
  }),
];

/** `90s`, `15m`, `1h`, `2d`, `1w`, or a date with its year; undefined for anything else. */
export function readSince(text: string): Since | undefined {
  const ms = readDuration(text);
  if (ms !== undefined) return { kind: "ago", ms };
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(localDate(text)) : Number.NaN;
  return Number.isNaN(at) ? undefined : { kind: "at", ms: at };
}

/** JavaScript reads a date without a time as UTC; people mean local time. */
function localDate(text: string): string {
  return text.length === 10 ? `${text}T00:00:00` : text;
}
