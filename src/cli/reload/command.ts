// `plugboard reload` on the command line.

import type { Command as Parser } from "commander";

export interface ReloadCommand {
  kind: "reload";
  yes: boolean;
}

const HELP = `
plugboard up, serve and acp apply edits of their file within a second. An edit
that changes what is started waits for you, unless the file is in Plugboard's
home. This command checks the file, shows what it would start, and asks.

Examples:
  plugboard reload`;

export function describeReload(program: Parser, choose: (command: ReloadCommand) => void): void {
  program
    .command("reload")
    .description("approve an edit that waits, and apply it")
    .option("--yes", "do not ask")
    .addHelpText("after", HELP)
    .action(({ yes }: { yes?: boolean }) => choose({ kind: "reload", yes: yes === true }));
}
