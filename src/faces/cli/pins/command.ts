// `plugboard pins` on the command line.

import type { Command as Parser } from "commander";
import type { PinsCommand } from "../invocation.ts";

const PINS_HELP = `
What a tool says of itself is remembered when it is first seen. With
"pins": "block" a tool that changed since, or is new, is refused until it is
approved.

A forgotten server is pinned anew when it is next seen; a forgotten tool counts
as new then.`;

export function describePins(
  program: Parser,
  choose: (command: PinsCommand) => void,
  refuse: (parser: Parser, word: string) => never,
): void {
  const pins = program
    .command("pins")
    .description("what tools were when they were first seen, and what changed since")
    .usage("[options] [command]")
    .addHelpText("after", PINS_HELP)
    .allowExcessArguments()
    .action(() => {
      const [word] = pins.args;
      if (word !== undefined) refuse(pins, word);
      choose({ kind: "pins", action: { kind: "list" } });
    });
  pins
    .command("list")
    .description("every pinned tool and whether it still is what it was")
    .action(() => choose({ kind: "pins", action: { kind: "list" } }));
  pins
    .command("show")
    .description("a pin, with what changed since")
    .argument("<target>", "server/tool, or a server for all that changed there")
    .action((target: string) => choose({ kind: "pins", action: { kind: "show", target } }));
  pins
    .command("approve")
    .description("accept what changed or is new")
    .argument("<target>", "server/tool, or a server for everything of it")
    .action((target: string) => choose({ kind: "pins", action: { kind: "approve", target } }));
  const forget = pins
    .command("forget")
    .description("drop a pin")
    .argument("[target]", "server/tool, or a server for everything of it")
    .option("--all", "every pin of every server")
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
