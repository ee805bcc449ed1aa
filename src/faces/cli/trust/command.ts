// `plugboard trust` on the command line.

import { type Command as Parser, Option } from "commander";

export type TrustCommand = { kind: "trust" } & (
  | { action: "approve"; yes: boolean }
  | { action: "list" }
  /** Without a file: the one in the working directory. */
  | { action: "revoke"; file?: string }
);

const HELP = `
A plugboard.json in the working directory starts nothing until you trust it;
your own servers run meanwhile.
Trust covers the programs it starts, the servers it connects to and what it
passes to them; when any of that changes, you are asked again. A file named with
--config or $PLUGBOARD_CONFIG needs no trust. One in Plugboard's home needs it
only if other users can write to it.`;

export function describeTrust(program: Parser, choose: (command: TrustCommand) => void): void {
  const list = new Option("--list", "list the trusted files");
  const revoke = new Option("--revoke [file]", "stop trusting a file, by default the one here");
  program
    .command("trust")
    .description("show what the plugboard.json in this directory would start, and approve it")
    .option("--yes", "approve without asking")
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
