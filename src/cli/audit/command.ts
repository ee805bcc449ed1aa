// `plugboard audit` on the command line.

import { type Command as Parser, InvalidArgumentError } from "commander";
import { readDuration } from "../read-duration.ts";

export interface AuditCommand {
  kind: "audit";
  follow: boolean;
  server?: string;
  /** A pattern. */
  tool?: string;
  caller?: string;
  since?: Since;
  limit?: number;
}

/** So long before now, or a point in time. */
export type Since = { kind: "ago"; ms: number } | { kind: "at"; ms: number };

const HELP = `
Reads and prompts are named as in rules: docs/resource:<uri>,
docs/prompt:<name>. A call that has no end on record still runs, or its process
was killed.

Examples:
  plugboard audit --since 1h --tool 'files/write_*'
  plugboard audit --follow --json --server docs`;

export function describeAudit(program: Parser, choose: (command: AuditCommand) => void): void {
  program
    .command("audit")
    .description("show which calls were made, and their results")
    .option("-f, --follow", "keep printing new calls as they are made")
    .option("--server <server>", "only calls to this server")
    .option("--tool <pattern>", "only tools that match, by name or server/tool; * is any text")
    .option("--caller <name>", "only calls of this caller of the gateway, such as a token")
    .option("--since <when>", "only calls after: 90s, 15m, 1h, 2d, 1w, or a date", since)
    .option("--limit <n>", "only the last n, by default 50, or 10 with --follow", count)
    .addHelpText("after", HELP)
    .action(({ follow, ...filter }: Partial<Omit<AuditCommand, "kind">>) =>
      choose({ kind: "audit", follow: follow === true, ...filter }),
    );
}

function since(text: string): Since {
  const when = readSince(text);
  if (when !== undefined) return when;
  throw new InvalidArgumentError("Expected a time such as 15m, 1h, 2d or 2026-11-15.");
}

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

function count(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Expected a whole number.");
}
