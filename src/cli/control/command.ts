// `plugboard restart` and `plugboard down` on the command line.

import type { Command as Parser } from "commander";
import { examples } from "../examples.ts";

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
    .description("restart a server of the running gateway")
    .argument("<server>", "its name in the configuration")
    .addHelpText("after", examples("plugboard restart files"))
    .action((server: string) => choose({ kind: "restart", server }));

  program
    .command("down")
    .description("stop the running gateway and its servers")
    .addHelpText("after", examples("plugboard down"))
    .action(() => choose({ kind: "down" }));
}
