// `plugboard pins` on the command line.

import type { Command as Parser } from "commander";
import { examples } from "../examples.ts";

export interface PinsCommand {
  kind: "pins";
  action:
    | { kind: "list" }
    /** `target` is `server/tool`, or a server for everything it has. */
    | { kind: "show" | "approve" | "forget"; target: string }
    | { kind: "forget-all" };
}

const HELP = `
A pin is a tool's definition as it was first seen. With "pins": "block", a tool
that is new or has changed is refused until you approve it. Resources and
prompts are pinned too, under names such as docs/prompt:review. See
docs/security.md.

Examples:
  plugboard pins
  plugboard pins show files/read_file
  plugboard pins approve files`;

export function describePins(
  program: Parser,
  choose: (command: PinsCommand) => void,
  refuse: (parser: Parser, word: string) => never,
): void {
  const pins = program
    .command("pins")
    .description("see which tools have changed, and approve them")
    .usage("[options] [command]")
    .addHelpText("after", HELP)
    .allowExcessArguments()
    .action(() => {
      const [word] = pins.args;
      if (word !== undefined) refuse(pins, word);
      choose({ kind: "pins", action: { kind: "list" } });
    });
  pins
    .command("list")
    .description("list every pinned tool and whether it has changed")
    .addHelpText("after", examples("plugboard pins list"))
    .action(() => choose({ kind: "pins", action: { kind: "list" } }));
  pins
    .command("show")
    .description("show a pin and what changed since")
    .argument("<target>", "server/tool, or a server for everything that changed there")
    .addHelpText("after", examples("plugboard pins show files/read_file"))
    .action((target: string) => choose({ kind: "pins", action: { kind: "show", target } }));
  pins
    .command("approve")
    .description("approve a tool that is new or has changed")
    .argument("<target>", "server/tool, or a server for everything it has")
    .addHelpText(
      "after",
      examples("plugboard pins approve files/read_file", "plugboard pins approve files"),
    )
    .action((target: string) => choose({ kind: "pins", action: { kind: "approve", target } }));
  const forget = pins
    .command("forget")
    .description("delete a pin")
    .argument("[target]", "server/tool, or a server for everything it has")
    .option("--all", "delete every pin of every server")
    .addHelpText("after", examples("plugboard pins forget files", "plugboard pins forget --all"))
    .action((target: string | undefined, options: Record<string, unknown>) => {
      const isAll = options["all"] === true;
      if (isAll === (target !== undefined)) {
        forget.error("error: say what to forget: server/tool, a server, or --all");
      }
      choose({
        kind: "pins",
        action: target === undefined ? { kind: "forget-all" } : { kind: "forget", target },
      });
    });
}
