// `plugboard reload` on the command line.

import type { Command as Parser } from "commander";

export interface ReloadCommand {
  kind: "reload";
  yes: boolean;
}

const HELP = `
plugboard up, serve and acp apply edits of their configuration file by themselves,
within a second. An edit that changes what is started waits, unless the file is in
Plugboard's home: a git pull, or an agent that writes files, must not start commands.
This command checks the file, shows what it would start, asks, and remembers the
answer, as plugboard trust does. Whatever runs with the file then applies it.`;

export function describeReload(program: Parser, choose: (command: ReloadCommand) => void): void {
  program
    .command("reload")
    .description("apply an edit of the configuration that waits for your approval")
    .option("--yes", "approve without asking")
    .addHelpText("after", HELP)
    .action(({ yes }: { yes?: boolean }) => choose({ kind: "reload", yes: yes === true }));
}
