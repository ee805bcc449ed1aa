// `plugboard trust` on the command line.

import { type Command as Parser, Option } from "commander";
import type { TrustCommand } from "../invocation.ts";

const TRUST_HELP = `
A plugboard.json in the working directory starts nothing before it is trusted.
Trust covers what it starts, what it connects to and what it passes along; a
change there asks again. A file named by --config or $PLUGBOARD_CONFIG needs none.`;

export function describeTrust(program: Parser, choose: (command: TrustCommand) => void): void {
  const list = new Option("--list", "the files that are trusted");
  const revoke = new Option("--revoke [file]", "trust it no longer; by default the one here");
  program
    .command("trust")
    .description("show what the plugboard.json in this directory would start, and approve it")
    .option("--yes", "approve without being asked")
    .addOption(list.conflicts("yes"))
    .addOption(revoke.conflicts(["yes", "list"]))
    .addHelpText("after", TRUST_HELP)
    .action((options: Record<string, unknown>) => choose(toCommand(options)));
}

function toCommand({ yes, list, revoke }: Record<string, unknown>): TrustCommand {
  if (list === true) return { kind: "trust", action: "list" };
  if (revoke === undefined) return { kind: "trust", action: "approve", yes: yes === true };
  return { kind: "trust", action: "revoke", ...(typeof revoke === "string" && { file: revoke }) };
}
