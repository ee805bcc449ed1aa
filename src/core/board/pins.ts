// The pins, for a person to review: what is pinned, how it has changed since, and approving or forgetting it.

import { definitionHash } from "../catalog/catalog-cache.ts";
import { type ComparedServer, findDoubles, programKey } from "../catalog/doubles.ts";
import { changedParts, type Diff, diffText, diffTools, legible } from "../guard/pins/diff.ts";
import { approve, listingOf } from "../guard/pins/pin.ts";
import { lostReason, lostRemedy } from "../guard/pins/report.ts";
import { PlugboardError } from "../types/errors.ts";
import type {
  LostPins,
  Pin,
  PinEntry,
  PinnedServer,
  PinnedTool,
  ServerPins,
} from "../types/pin.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import { byName } from "../state/stored-pins.ts";
import type { PinStore } from "../types/shared-state.ts";

export { lostReason, lostRemedy } from "../guard/pins/report.ts";

/** Characters shown of each side of a change: enough to judge it by. */
const EXCERPT = 2000;

/** Its keys are in the order in which a diff lists them. */
function nothing(name: string): PinnedTool {
  return { name, title: undefined, description: undefined, inputSchema: {} };
}

/** In every place where the pins may be: a server that is pinned in several of them is shown once. */
export class PinReview {
  readonly #stores: readonly PinStore[];

  constructor(...stores: readonly PinStore[]) {
    this.#stores = stores;
  }

  /** Ordered by the name of the server. */
  async list(): Promise<ServerPins[]> {
    const lists = await Promise.all(this.#stores.map((store) => store.list()));
    return lists.reduce(mergeLists, []);
  }

  /** Servers that were pinned and whose pins are missing or cannot be read. */
  async lost(): Promise<LostPins[]> {
    return (await Promise.all(this.#stores.map((store) => store.lost()))).flat();
  }

  /** Approves what the entry shows as pending. False if that has changed again, so nobody has looked at it yet. */
  async approve(entry: PinEntry): Promise<boolean> {
    let isApproved = false;
    for (const store of this.#stores) isApproved = (await approveIn(store, entry)) || isApproved;
    return isApproved;
  }

  /** Forgets one tool, which then counts as new, or the whole server, which is pinned again when it is next seen. */
  async forget(server: PinnedServer, tool?: string): Promise<void> {
    for (const store of this.#stores) {
      await store.update(server, (pins) => {
        if (pins === undefined || tool === undefined) return undefined;
        const tools = new Map(pins.tools);
        tools.delete(tool);
        return { ...pins, tools };
      });
    }
  }

  /**
   * Gives a server's pins to its next definition, for a change that makes no other server of it. Rejects with
   * CHANGED_TOOL where they are lost: the next definition would count as new.
   */
  async carryOver(before: ServerDefinition, after: ServerDefinition): Promise<void> {
    const [from, to] = [pinnedServer(before), pinnedServer(after)];
    if (from.key === to.key) return;
    for (const store of this.#stores) {
      const stored = await store.read(from);
      if (stored.kind === "lost") {
        const { server } = from;
        const message = `the definition of '${server}' was not changed: ${lostReason(stored.lost)}`;
        throw new PlugboardError("CHANGED_TOOL", message, {
          server,
          hint: lostRemedy(stored.lost),
        });
      }
      if (stored.kind === "pinned") await store.update(to, () => ({ ...stored.pins, ...to }));
    }
  }
}

async function approveIn(store: PinStore, entry: PinEntry): Promise<boolean> {
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

function mergeLists(all: ServerPins[], more: readonly ServerPins[]): ServerPins[] {
  if (all.length === 0) return [...more];
  const idOf = ({ server, key }: ServerPins): string => `${server} ${key}`;
  const merged = new Map(all.map((pins) => [idOf(pins), pins]));
  for (const pins of more) {
    const other = merged.get(idOf(pins));
    merged.set(idOf(pins), other === undefined ? pins : merge(other, pins));
  }
  return [...merged.values()].toSorted(byName);
}

/** What waits for a person in either place is shown. */
function merge(one: ServerPins, two: ServerPins): ServerPins {
  const waiting = <Value>(first: Pin<Value>, second: Pin<Value>): Pin<Value> =>
    first.kind === "pinned" ? second : first;
  const tools = new Map(one.tools);
  for (const [name, pin] of two.tools) tools.set(name, waiting(tools.get(name) ?? pin, pin));
  return { ...one, instructions: waiting(one.instructions, two.instructions), tools };
}

function pinnedServer(definition: ServerDefinition): PinnedServer {
  return { server: definition.name, key: definitionHash(definition, "") };
}

/** The pins of these servers. Those of a former definition are left out once the one of now has pins. */
export function pinsOf(
  servers: readonly ServerDefinition[],
  all: readonly ServerPins[],
): ServerPins[] {
  const keys = new Set(servers.map((each) => definitionHash(each, "")));
  const names = new Set(servers.map(({ name }) => name));
  const renewed = new Set(all.filter(({ key }) => keys.has(key)).map(({ server }) => server));
  return all.filter(
    ({ server, key }) => names.has(server) && (keys.has(key) || !renewed.has(server)),
  );
}

/** All pins of a server. Its instructions come first, if it gives any. */
export function entriesIn(pins: ServerPins): PinEntry[] {
  const tools = [...pins.tools].map(([tool, pin]): PinEntry => ({ kind: "tool", pins, tool, pin }));
  const { instructions } = pins;
  const areEmpty = instructions.kind === "pinned" && instructions.approved.value === "";
  return areEmpty ? tools : [{ kind: "instructions", pins, pin: instructions }, ...tools];
}

/**
 * The pinned tools that copy another server's, each with the name of that: `server/tool`. The servers are those of one agent, in
 * their order; the keys are the pins themselves.
 */
export function doublesOf(
  servers: readonly ServerDefinition[],
  all: readonly ServerPins[],
): ReadonlyMap<Pin<PinnedTool>, string> {
  const byKey = new Map(all.map((pins) => [`${pins.server} ${pins.key}`, pins]));
  const compared = servers.flatMap((definition) => {
    const pins = byKey.get(`${definition.name} ${definitionHash(definition, "")}`);
    if (pins === undefined) return [];
    const tools = [...pins.tools].filter(([name]) => listingOf(name) === "tools");
    const server: ComparedServer = {
      name: pins.server,
      program: programKey(definition),
      isOfSession: false,
      pinnedAt: pins.instructions.firstSeen,
      unpinned: new Set(tools.flatMap(([name, { kind }]) => (kind === "pinned" ? [] : [name]))),
    };
    return tools.map(([name, pin]) => {
      const { description, inputSchema: schema } = lastSeen(pin);
      return { server, name, description, schema, pin };
    });
  });
  return new Map(
    [...findDoubles(compared)].map(([{ pin }, { server, name }]) => [
      pin,
      `${server.name}/${name}`,
    ]),
  );
}

function lastSeen(pin: Pin<PinnedTool>): PinnedTool {
  return pin.kind === "pinned" ? pin.approved.value : pin.pending.value;
}

/** The differences between what was approved and what is pending; where there is only one of them, all of it. */
export function changesOf(entry: PinEntry): Diff {
  if (entry.kind === "instructions") {
    const [before, after] = sidesOf(entry.pin, "");
    return { changes: [diffText("instructions", before, after, EXCERPT)], isCut: false };
  }
  const [before, after] = sidesOf(entry.pin, nothing(entry.tool));
  return diffTools(before, after, { excerpt: EXCERPT });
}

/** The whole definition as it was last seen, part by part. */
export function definitionOf(entry: PinEntry): Diff {
  return entry.kind === "instructions"
    ? changesOf({ ...entry, pin: approve(entry.pin) })
    : changesOf({ ...entry, pin: approve(entry.pin) });
}

/** How one tool differs between two versions of a server: all of a new tool; nothing of one that is gone. */
export interface ToolChange extends Diff {
  tool: string;
  kind: "new" | "changed" | "removed";
}

/** A description is what a model obeys, so it is shown in full. */
const LONGEST_DESCRIPTION = 20_000;

/** In the order of `after`, then what is gone. Tools that are the same are left out. */
export function compareTools(
  before: readonly PinnedTool[],
  after: readonly PinnedTool[],
): ToolChange[] {
  const known = new Map(before.map((tool) => [tool.name, tool]));
  const names = new Set(after.map(({ name }) => name));
  const changed = after.flatMap((tool): ToolChange[] => {
    const old = known.get(tool.name);
    const diff = diffInFull(old ?? nothing(tool.name), tool);
    if (diff.changes.length === 0 && old !== undefined) return [];
    return [{ tool: tool.name, kind: old === undefined ? "new" : "changed", ...diff }];
  });
  const removed = before
    .filter(({ name }) => !names.has(name))
    .map(({ name }): ToolChange => ({ tool: name, kind: "removed", changes: [], isCut: false }));
  return [...changed, ...removed];
}

function diffInFull(before: PinnedTool, after: PinnedTool): Diff {
  const { changes, isCut } = diffTools(before, after, { excerpt: LONGEST_DESCRIPTION });
  const whole = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : legible(text, LONGEST_DESCRIPTION);
  return {
    changes: changes.map((change) =>
      change.path === "description"
        ? {
            path: "description",
            before: whole(before.description),
            after: whole(after.description),
          }
        : change,
    ),
    isCut,
  };
}

/** Names the parts of the definition that are pending, without quoting them. */
export function pendingParts(entry: PinEntry): string[] {
  if (entry.kind === "instructions") return ["instructions"];
  const { pin } = entry;
  return pin.kind === "changed" ? changedParts(pin.approved.value, pin.pending.value) : ["new"];
}

function sidesOf<Value>(pin: Pin<Value>, none: Value): [before: Value, after: Value] {
  switch (pin.kind) {
    case "pinned":
      return [none, pin.approved.value];
    case "changed":
      return [pin.approved.value, pin.pending.value];
    case "new":
      return [none, pin.pending.value];
  }
}

function isSamePending(a: Pin<unknown>, b: Pin<unknown>): boolean {
  return a.kind !== "pinned" && b.kind !== "pinned" && a.pending.hash === b.pending.hash;
}
