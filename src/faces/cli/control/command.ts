// `plugboard down` on the command line.

import type { Command as Parser } from "commander";

export interface DownCommand {
  kind: "down";
}

export function describeControl(program: Parser, choose: (command: DownCommand) => void): void {
  program
    .command("down")
    .description("stop the gateway that runs for your configuration, and its servers")
    .action(() => choose({ kind: "down" }));
}
