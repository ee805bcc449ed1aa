// `plugboard pins` on the command line.

import type { Command as Parser } from "commander";

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
that is new or has changed since is refused until you approve it, and a model
does not see what is new. If a server's pins are lost, all its tools are refused
until you restore or forget them. What servers list of their resources and
prompts is pinned too, under names such as docs/prompt:review.

After you forget a server, its tools are pinned again when they are next seen;
after you forget a tool, it counts as new.`;

export function describePins(
  program: Parser,
  choose: (command: PinsCommand) => void,
  refuse: (parser: Parser, word: string) => never,
): void {
  const pins = program
    .command("pins")
    .description("show pinned tool definitions and what changed since, and approve changes")
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
    .action(() => choose({ kind: "pins", action: { kind: "list" } }));
  pins
    .command("show")
    .description("show a pin and what changed since")
    .argument("<target>", "server/tool, or a server for everything that changed there")
    .action((target: string) => choose({ kind: "pins", action: { kind: "show", target } }));
  pins
    .command("approve")
    .description("approve a tool that is new or has changed")
    .argument("<target>", "server/tool, or a server for everything it has")
    .action((target: string) => choose({ kind: "pins", action: { kind: "approve", target } }));
  const forget = pins
    .command("forget")
    .description("delete a pin")
    .argument("[target]", "server/tool, or a server for everything it has")
    .option("--all", "delete every pin of every server")
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
