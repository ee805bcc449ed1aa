// Finds the tool a call names, waiting for servers that are not known yet, and says what may be meant
// where there is none.

import type { Catalog, CatalogEntry } from "../catalog/catalog.ts";
import { toFailure } from "../bridge/failure.ts";
import { cancelled, PlugboardError } from "../model/errors.ts";
import { isCallable } from "../model/server-state.ts";
import type { CallOutcome } from "../model/tool.ts";
import { unavailable } from "../server/unavailable.ts";
import { untilAborted } from "../util/abort.ts";
import { type Clock, within } from "../util/clock.ts";
import { closest } from "../util/closest.ts";
import { oneLine } from "../util/text.ts";
import type { Slot } from "./slot.ts";

export interface LookupContext {
  catalog: Catalog;
  slots: ReadonlyMap<string, Slot>;
  clock: Clock;
}

/** Starts and waits for as many unknown servers as it takes: for a `server/tool`, that one alone. */
export async function discoverTool(
  name: string,
  { catalog, slots, clock }: LookupContext,
  signal: AbortSignal | undefined,
): Promise<CatalogEntry | undefined> {
  const named = slotNamedIn(name, slots);
  const asked = named === undefined ? [...slots.values()].filter(isWaking) : [named];
  const waiting = new Map<Slot, Promise<Slot>>();
  for (const slot of asked) {
    const { supervisor, definition } = slot;
    // Who names a server that wanted a sign-in may have signed in elsewhere.
    const mayStart = isCallable(supervisor.state) || supervisor.state.kind === "needs-auth";
    if (slot.knowledge !== "none" || !mayStart) continue;
    const start = supervisor.start(definition.lazy);
    waiting.set(
      slot,
      within(clock, definition.timeout, start).then(() => slot),
    );
  }
  while (waiting.size > 0 && catalog.find(name) === undefined) {
    const next = Promise.race(waiting.values());
    const done = await untilAborted(next, signal, cancelled).catch(() => undefined);
    if (done === undefined) break;
    waiting.delete(done);
  }
  return catalog.find(name);
}

/** A server that could not be asked may have it: the answer says so. `names` are those to be told of. */
export function unknownTool(
  name: string,
  names: Iterable<string>,
  { slots, clock }: Pick<LookupContext, "slots" | "clock">,
): CallOutcome {
  const why = ({ definition, supervisor }: Slot): PlugboardError =>
    unavailable(definition, supervisor.state, clock);
  const silent = [...slots.values()].filter(
    ({ knowledge, definition }) => knowledge === "none" && definition.enabled,
  );
  const named = slotNamedIn(name, slots);
  if (named?.knowledge === "none") return toFailure(why(named));
  const meant = closest(name, names);
  const hints = [
    ...(meant === undefined ? [] : [`did you mean '${meant}'?`]),
    ...silent.map((slot) => why(slot).message),
  ];
  return toFailure(
    new PlugboardError("UNKNOWN_TOOL", `there is no tool named '${oneLine(name, 200)}'`, {
      ...(hints.length > 0 && { hint: hints.join("; ") }),
    }),
  );
}

/** A misspelt name must not wake up what has failed. */
function isWaking({ supervisor }: Slot): boolean {
  return supervisor.state.kind === "idle" || supervisor.state.kind === "starting";
}

function slotNamedIn(name: string, slots: ReadonlyMap<string, Slot>): Slot | undefined {
  const slash = name.indexOf("/");
  return slash === -1 ? undefined : slots.get(name.slice(0, slash));
}
