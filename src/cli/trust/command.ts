// `plugboard trust` on the command line.

import { type Command as Parser, Option } from "commander";

export type TrustCommand = { kind: "trust" } & (
  | { action: "approve"; yes: boolean }
  | { action: "list" }
  /** Without a file: the one in the working directory. */
  | { action: "revoke"; file?: string }
);

const HELP = `
A plugboard.json in the working directory starts nothing until you trust it.
When it starts something else, you are asked again. A file that you name with
--config needs no trust.

Examples:
  plugboard trust
  plugboard trust --list`;

export function describeTrust(program: Parser, choose: (command: TrustCommand) => void): void {
  const list = new Option("--list", "list the trusted files");
  const revoke = new Option("--revoke [file]", "stop trusting a file, by default the one here");
  program
    .command("trust")
    .description("approve what this directory's plugboard.json starts")
    .option("--yes", "do not ask")
    .addOption(list.conflicts("yes"))
    .addOption(revoke.conflicts(["yes", "list"]))
    .addHelpText("after", HELP)
    .action((options: Record<string, unknown>) => choose(toCommand(options)));
}

function toCommand({ yes, list, revoke }: Record<string, unknown>): TrustCommand {
  if (list === true) return { kind: "trust", action: "list" };
  if (revoke === undefined) return { kind: "trust", action: "approve", yes: yes === true };
  return { kind: "trust", action: "revoke", file: typeof revoke === "string" ? revoke : undefined };
}
