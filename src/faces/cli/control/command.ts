// `plugboard restart` and `plugboard down` on the command line.

import type { Command as Parser } from "commander";

export interface RestartCommand {
  kind: "restart";
  server: string;
}

export interface DownCommand {
  kind: "down";
}

export function describeControl(
  program: Parser,
  choose: (command: RestartCommand | DownCommand) => void,
): void {
  program
    .command("restart")
    .description("restart a server of the gateway that runs")
    .argument("<server>", "its name in the configuration")
    .action((server: string) => choose({ kind: "restart", server }));

  program
    .command("down")
    .description(
      "stop the gateway that runs for your configuration, also one in the background, and its servers",
    )
    .action(() => choose({ kind: "down" }));
}
