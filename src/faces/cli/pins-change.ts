// Approves and forgets pins.

import { pendingParts, type PinReview } from "../../board/pins.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { PinEntry, ServerPins } from "../../model/pin.ts";
import { oneLine } from "../../util/text.ts";
import type { CliContext } from "./context.ts";
import { entriesOf, fullName, nameOf, pendingOf, type Target } from "./pins-target.ts";

interface Work {
  review: Pick<PinReview, "approve" | "forget">;
  all: readonly ServerPins[];
  context: CliContext;
}

export async function approvePins(target: Target, { review, all, context }: Work): Promise<void> {
  const { screen, options } = context;
  const waiting = pendingOf(entriesOf(target));
  refuseSeveral(waiting);
  const approved: PinEntry[] = [];
  for (const entry of waiting) {
    if (await review.approve(entry)) approved.push(entry);
    else screen.note(`${oneLine(nameOf(entry, all))} has just changed again: look at it first`);
  }
  if (options.json) {
    screen.json({ approved: approved.map(toJson) });
    return;
  }
  screen.lines(
    approved.map((each) => {
      const parts = pendingParts(each).join(", ");
      return `approved ${oneLine(nameOf(each, all))}: ${parts}`;
    }),
  );
  if (waiting.length === 0) screen.note("there is nothing to approve");
}

export async function forgetPins(target: Target, { review, all, context }: Work): Promise<void> {
  const { screen, options } = context;
  const { servers, tool } = target;
  const forgotten = entriesOf(target);
  for (const server of servers) await review.forget(server, tool);
  if (options.json) {
    screen.json({ forgotten: forgotten.map(toJson) });
    return;
  }
  const names = tool === undefined ? servers.map(({ server }) => server) : undefined;
  const lines = names ?? forgotten.map((each) => nameOf(each, all));
  screen.lines(lines.map((line) => `forgot ${oneLine(line)}`));
  if (lines.length === 0) screen.note("there is nothing to forget");
}

/** One name can stand for several definitions, and approving one says nothing of another. */
function refuseSeveral(entries: readonly PinEntry[]): void {
  const servers = new Map(entries.map(({ pins }) => [pins.key, pins]));
  const [first, ...others] = servers.values();
  if (first === undefined || others.length === 0) return;
  const names = [first, ...others].map(fullName).join(", ");
  const message = `several servers were pinned under the name '${first.server}'`;
  throw new PlugboardError("INVALID_ARGUMENTS", message, { hint: `say which: ${names}` });
}

function toJson(entry: PinEntry): object {
  const { server, key } = entry.pins;
  return { server, key, tool: entry.kind === "tool" ? entry.tool : null };
}
