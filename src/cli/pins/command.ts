// `plugboard pins` on the command line.

import { command, Mistake } from "../command.ts";
import type { CliContext } from "../context.ts";

export interface PinsRequest {
  action:
    | { kind: "list"; all: boolean }
    /** `target` is `server/tool`, or a server for everything it has. */
    | { kind: "show" | "approve" | "forget"; target: string }
    | { kind: "forget-all" };
}

const NOTES = `
A pin is a tool's definition as it was first seen. With "pins": "warn", which is
the default, you are told of a tool that is new or has changed, and it is
still used. With "pins": "block", it is refused until you approve it.
Resources and prompts are pinned too, under names such as docs/prompt:review.
See docs/security.md.`;

const TARGET = {
  name: "target",
  about: "server/tool, or a server for everything it has",
  offers: "target",
} as const;

const run = async (request: PinsRequest, context: CliContext): Promise<number> =>
  (await import("./pins.ts")).runPins(request, context);

export const COMMANDS = [
  command({
    name: "pins",
    about: "see which tools have changed, and approve them",
    usage: ["[options] [command]"],
    notes: NOTES,
    examples: [
      "plugboard pins",
      "plugboard pins show files/read_file",
      "plugboard pins approve files",
    ],
    commands: [
      command({
        name: "list",
        about: "list the pinned tools, first those that have changed",
        options: {
          all: {
            kind: "flag",
            name: "--all",
            about: "also list pins of servers that you have removed",
          },
        },
        examples: ["plugboard pins list", "plugboard pins list --all"],
        read: (_, { all }): PinsRequest => ({ action: { kind: "list", all } }),
        run,
      }),
      command({
        name: "show",
        about: "show a pin and what changed since",
        args: [
          {
            kind: "one",
            name: "target",
            about: "server/tool, or a server for everything that changed there",
            offers: "target",
          },
        ],
        examples: ["plugboard pins show files/read_file"],
        read: ([target]): PinsRequest => ({ action: { kind: "show", target } }),
        run,
      }),
      command({
        name: "approve",
        about: "approve a tool that is new or has changed",
        args: [{ kind: "one", ...TARGET }],
        examples: ["plugboard pins approve files/read_file", "plugboard pins approve files"],
        read: ([target]): PinsRequest => ({ action: { kind: "approve", target } }),
        run,
      }),
      command({
        name: "forget",
        about: "delete a pin",
        args: [{ kind: "maybe", ...TARGET }],
        options: {
          all: { kind: "flag", name: "--all", about: "delete every pin of every server" },
        },
        examples: ["plugboard pins forget files", "plugboard pins forget --all"],
        read: ([target], { all }): PinsRequest | Mistake => {
          if (all === (target !== undefined)) {
            return new Mistake("say what to forget: server/tool, a server, or --all");
          }
          return {
            action: target === undefined ? { kind: "forget-all" } : { kind: "forget", target },
          };
        },
        run,
      }),
    ],
    read: (): PinsRequest => ({ action: { kind: "list", all: false } }),
    run,
  }),
];
