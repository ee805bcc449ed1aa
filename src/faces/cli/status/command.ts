// `plugboard status` on the command line.

import type { Command as Parser } from "commander";

export interface StatusCommand {
  kind: "status";
  server?: string;
}

export function describeStatus(program: Parser, choose: (command: StatusCommand) => void): void {
  program
    .command("status")
    .description(
      "start the servers and show their state in detail; or those of the gateway that runs",
    )
    .argument("[server]", "show everything about this server")
    .action((server: string | undefined) => choose({ kind: "status", server }));
}
