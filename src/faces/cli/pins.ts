// `plugboard pins`: what tools were when they were first seen, what changed since, and whether that is
// accepted.

import { PinReview } from "../../board/pins.ts";
import { plugboardHome } from "../../config/home.ts";
import type { ServerPins } from "../../model/pin.ts";
import { shellWord } from "../../util/text.ts";
import type { CliContext } from "./context.ts";
import { EXIT } from "./exit-code.ts";
import type { PinsCommand } from "./invocation.ts";
import { approvePins, forgetPins } from "./pins-change.ts";
import { entriesOf, findTarget, nameOf, pendingOf } from "./pins-target.ts";
import { pinJson, pinJsonInFull, pinPage, pinTable } from "./pins-view.ts";

export async function runPins({ action }: PinsCommand, context: CliContext): Promise<number> {
  const { io, clock, logger } = context;
  const stateDir = plugboardHome(io.env, io.homedir);
  const review = new PinReview({ stateDir, clock, logger });
  const all = await review.list();
  switch (action.kind) {
    case "list":
      listPins(all, context);
      break;
    case "show":
      showPins(action.target, all, context);
      break;
    case "approve":
      await approvePins(findTarget(action.target, all), { review, all, context });
      break;
    case "forget":
      await forgetPins(findTarget(action.target, all), { review, all, context });
      break;
    case "forget-all":
      await forgetPins({ servers: all }, { review, all, context });
      break;
  }
  return EXIT.ok;
}

function listPins(all: readonly ServerPins[], { screen, options }: CliContext): void {
  const entries = entriesOf({ servers: all });
  if (options.json) {
    screen.json({ pins: entries.map(pinJson) });
    return;
  }
  screen.lines(pinTable(entries, all, screen.terminal.out));
  if (entries.length === 0) screen.note("no tool has been pinned yet");
  const waiting = pendingOf(entries);
  const [first] = waiting;
  if (first === undefined) return;
  const count = waiting.length === 1 ? "1 is" : `${waiting.length} are`;
  const command = `plugboard pins show ${shellWord(nameOf(first, all))}`;
  screen.note(`${count} not what was pinned; to see how: ${command}`);
}

/** Of a server what changed; of a tool what it is, too. */
function showPins(text: string, all: readonly ServerPins[], { screen, options }: CliContext): void {
  const target = findTarget(text, all);
  const entries = entriesOf(target);
  const shown = target.tool === undefined ? pendingOf(entries) : entries;
  if (options.json) {
    screen.json({ pins: shown.map(pinJsonInFull) });
    return;
  }
  const { out } = screen.terminal;
  screen.lines(shown.flatMap((each, at) => [...(at ? [""] : []), ...pinPage(each, all, out)]));
  if (shown.length === 0) screen.note("nothing has changed since it was pinned");
  else if (pendingOf(shown).length > 0) {
    screen.note(`to accept it: plugboard pins approve ${shellWord(text)}`);
  }
}
