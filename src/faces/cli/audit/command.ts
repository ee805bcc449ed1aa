// `plugboard audit` on the command line.

import { type Command as Parser, InvalidArgumentError } from "commander";
import { readSince, type Since } from "./time.ts";
import type { AuditCommand } from "../invocation.ts";

const AUDIT_HELP = `
With --json every call is a line of its own, as in the file.

Examples:
  plugboard audit --since 1h --tool 'files/write_*'
  plugboard audit --follow --json --server docs`;

export function describeAudit(program: Parser, choose: (command: AuditCommand) => void): void {
  program
    .command("audit")
    .description("which calls were made, and what became of them")
    .option("-f, --follow", "go on with what happens from now")
    .option("--server <name>", "only calls of this server")
    .option("--tool <pattern>", "only tools that match, by name or server/tool; * is any text")
    .option("--since <when>", "only calls after: 90s, 15m, 1h, 2d, 1w, or a date", since)
    .option("--limit <n>", "the last so many, by default 50, or 10 with --follow", count)
    .addHelpText("after", AUDIT_HELP)
    .action((options: Record<string, unknown>) =>
      choose({
        kind: "audit",
        follow: options["follow"] === true,
        ...(typeof options["server"] === "string" && { server: options["server"] }),
        ...(typeof options["tool"] === "string" && { tool: options["tool"] }),
        ...(options["since"] !== undefined && { since: options["since"] as Since }),
        ...(typeof options["limit"] === "number" && { limit: options["limit"] }),
      }),
    );
}

function since(text: string): Since {
  const when = readSince(text);
  if (when !== undefined) return when;
  throw new InvalidArgumentError("Expected a time such as 15m, 1h, 2d or 2026-11-15.");
}

function count(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Expected a whole number.");
}
