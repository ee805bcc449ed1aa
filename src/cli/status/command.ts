// `plugboard status` on the command line.

import type { Command as Parser } from "commander";
import { examples } from "../examples.ts";

export interface StatusCommand {
  kind: "status";
  server?: string;
}

export function describeStatus(program: Parser, choose: (command: StatusCommand) => void): void {
  program
    .command("status")
    .description("show the state of your servers in detail")
    .argument("[server]", "show everything about this server")
    .addHelpText("after", examples("plugboard status", "plugboard status files"))
    .action((server: string | undefined) => choose({ kind: "status", server }));
}
