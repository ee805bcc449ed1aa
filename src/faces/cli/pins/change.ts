// Approves and forgets pins.

import { changedParts } from "../../../guard/pins/diff.ts";
import { approve, type Pin, type ServerPins } from "../../../guard/pins/pin.ts";
import type { PinStore } from "../../../guard/pins/pin-store.ts";
import { PlugboardError } from "../../../model/errors.ts";
import { oneLine } from "../../../util/text.ts";
import type { CliContext } from "../context.ts";
import { entriesOf, fullName, nameOf, pendingOf, type PinEntry, type Target } from "./target.ts";

interface Work {
  store: PinStore;
  all: readonly ServerPins[];
  context: CliContext;
}

export async function approvePins(target: Target, { store, all, context }: Work): Promise<void> {
  const { screen, options } = context;
  const waiting = pendingOf(entriesOf(target));
  refuseSeveral(waiting);
  const approved: PinEntry[] = [];
  for (const entry of waiting) {
    if (await approveEntry(entry, store)) approved.push(entry);
    else
      screen.note(
        `${oneLine(nameOf(entry, all))} has just changed again: look at the change first`,
      );
  }
  if (options.json) {
    screen.json({ approved: approved.map(toJson) });
    return;
  }
  screen.lines(approved.map((each) => `approved ${oneLine(nameOf(each, all))}: ${whatOf(each)}`));
  if (waiting.length === 0) screen.note("there is nothing to approve");
}

export async function forgetPins(target: Target, { store, all, context }: Work): Promise<void> {
  const { screen, options } = context;
  const { servers, tool } = target;
  const forgotten = entriesOf(target);
  for (const server of servers) {
    await store.update(server, (pins) => {
      if (pins === undefined || tool === undefined) return undefined;
      const tools = new Map(pins.tools);
      tools.delete(tool);
      return { ...pins, tools };
    });
  }
  if (options.json) {
    screen.json({ forgotten: forgotten.map(toJson) });
    return;
  }
  const names = tool === undefined ? servers.map(({ server }) => server) : undefined;
  const lines = names ?? forgotten.map((each) => nameOf(each, all));
  screen.lines(lines.map((line) => `forgot ${oneLine(line)}`));
  if (lines.length === 0) screen.note("there is nothing to forget");
}

/** Approves only the definition that was shown; resolves to false where it has changed again. */
async function approveEntry(entry: PinEntry, store: PinStore): Promise<boolean> {
  let isApproved = false;
  await store.update(entry.pins, (pins) => {
    if (pins === undefined) return undefined;
    if (entry.kind === "instructions") {
      isApproved = isSamePending(pins.instructions, entry.pin);
      return isApproved ? { ...pins, instructions: approve(pins.instructions) } : pins;
    }
    const pin = pins.tools.get(entry.tool);
    isApproved = pin !== undefined && isSamePending(pin, entry.pin);
    if (pin === undefined || !isApproved) return pins;
    return { ...pins, tools: new Map(pins.tools).set(entry.tool, approve(pin)) };
  });
  return isApproved;
}

function isSamePending(a: Pin<unknown>, b: Pin<unknown>): boolean {
  return a.kind !== "pinned" && b.kind !== "pinned" && a.pending.hash === b.pending.hash;
}

/** Several servers can be pinned under one name, and approving one must not approve the others. */
function refuseSeveral(entries: readonly PinEntry[]): void {
  const servers = new Map(entries.map(({ pins }) => [pins.key, pins]));
  const [first, ...others] = servers.values();
  if (first === undefined || others.length === 0) return;
  const names = [first, ...others].map(fullName).join(", ");
  const message = `several servers were pinned under the name '${first.server}'`;
  throw new PlugboardError("INVALID_ARGUMENTS", message, { hint: `name one of them: ${names}` });
}

function whatOf(entry: PinEntry): string {
  if (entry.kind === "instructions") return "instructions";
  const { pin } = entry;
  return pin.kind === "changed"
    ? changedParts(pin.approved.value, pin.pending.value).join(", ")
    : "new";
}

function toJson(entry: PinEntry): object {
  const { server, key } = entry.pins;
  return { server, key, tool: entry.kind === "tool" ? entry.tool : null };
}
