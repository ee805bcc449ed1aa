// `plugboard undo` on the command line.

import { command, Mistake } from "../command.ts";
import { YES } from "../shared-options.ts";
import { MOST_KEPT } from "../servers/undo-list.ts";

export type UndoRequest =
  | { action: "list" }
  /** As the list counts: 1 is the last change. */
  | { action: "undo"; number: number; yes: boolean };

const NOTES = `
The last ${MOST_KEPT} changes of add, import, remove, enable, disable, update and the
gateway's page are kept, with the credentials in them sealed. The file becomes
what it was, byte for byte. If it has changed since, you see how, and nothing is
written. With --config, only changes of that file are meant.

What ran or was sent is not undone. Trust does not come back: in a file that
needs it, a server waits for plugboard trust. Stored secrets stay as they are.`;

export const COMMANDS = [
  command({
    name: "undo",
    about: "take back the last change of a configuration",
    args: [{ kind: "maybe", name: "number", about: "which one, as --list counts; by default 1" }],
    options: {
      list: { kind: "flag", name: "--list", about: "show what can be undone", without: ["yes"] },
      yes: { ...YES, about: "do not ask, even for a file of another directory" },
    },
    notes: NOTES,
    examples: ["plugboard undo", "plugboard undo --list"],
    read: ([word], { list, yes }): UndoRequest | Mistake => {
      if (list && word !== undefined) return new Mistake("--list shows all, without a number");
      if (list) return { action: "list" };
      const number = Number(word ?? 1);
      if (Number.isInteger(number) && number >= 1) return { action: "undo", number, yes };
      return new Mistake("the number must be one that plugboard undo --list shows");
    },
    run: async (request, context) => (await import("./undo.ts")).runUndo(request, context),
  }),
];
