// How a server's pins change with each listing of its tools. The functions are pure, because each step is taken
// twice: on what this process knows, and on what is on disk by then.

import type {
  LostPins,
  Pin,
  PinnedServer,
  PinnedTool,
  SeenValue,
  ServerPins,
} from "../../types/pin.ts";
import type { JsonObject } from "../../types/json.ts";
import type { ToolDefinition } from "../../types/tool.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { textHash, toolHash, toPinnedTool } from "./hash.ts";

/** What a server listed at one time. */
export interface Sighting {
  tools: ReadonlyMap<string, SeenValue<PinnedTool>>;
  instructions: SeenValue<string>;
  /** What the host had advertised, as canonical JSON. */
  capabilities: string;
}

export type PinChange =
  | { kind: "changed"; server: string; tool: string; before: PinnedTool; after: PinnedTool }
  | { kind: "new"; server: string; tool: string }
  | { kind: "instructions"; server: string; before: string; after: string }
  /** Nobody can tell whether anything has changed. */
  | ({ kind: "lost" } & LostPins);

/** How many tools are kept that are gone again without having been approved. A server could invent new ones forever. */
const MOST_STRAYS = 20;

export function toSighting(
  tools: readonly ToolDefinition[],
  instructions: string | undefined,
  seen: number,
  capabilities: JsonObject = {},
): Sighting {
  const text = instructions ?? "";
  return {
    tools: new Map(
      tools.map((tool) => [tool.name, { hash: toolHash(tool), value: toPinnedTool(tool), seen }]),
    ),
    instructions: { hash: textHash(text), value: text, seen },
    capabilities: canonicalJson(capabilities),
  };
}

/** A server may list more tools for other capabilities. Which are advertised is the host's choice, not the server's. */
export function isFirstFor({ seenWith }: ServerPins, { capabilities }: Sighting): boolean {
  return seenWith !== undefined && !seenWith.includes(capabilities);
}

/**
 * The pins after a sighting; the same object if nothing is new. The first sighting is trusted, and so are the tools
 * that the first sighting for other capabilities adds.
 */
export function observe(
  pins: ServerPins | undefined,
  { server, key }: PinnedServer,
  sighting: Sighting,
): ServerPins {
  if (pins === undefined) {
    const tools = [...sighting.tools].map(([name, sight]) => [name, trust(sight)] as const);
    return {
      server,
      key,
      seenWith: [sighting.capabilities],
      instructions: trust(sighting.instructions),
      tools: new Map(tools),
    };
  }
  const { seenWith = [] } = pins;
  const isFirst = isFirstFor(pins, sighting);
  const instructions = see(pins.instructions, sighting.instructions);
  const tools = new Map(pins.tools);
  for (const [name, sight] of sighting.tools) {
    const pin = tools.get(name);
    tools.set(name, pin === undefined && isFirst ? trust(sight) : see(pin, sight));
  }
  dropStrays(tools, sighting);
  const isSame =
    seenWith.includes(sighting.capabilities) &&
    instructions === pins.instructions &&
    tools.size === pins.tools.size &&
    [...tools].every(([name, pin]) => pin === pins.tools.get(name));
  if (isSame) return pins;
  return {
    ...pins,
    seenWith: [...new Set([...seenWith, sighting.capabilities])],
    instructions,
    tools,
  };
}

/** How a sighting differs from what was approved. A tool that is gone does not count: it can do no harm. */
export function compare(pins: ServerPins, sighting: Sighting): PinChange[] {
  const { server } = pins;
  const changes: PinChange[] = [];
  const approved = approvedOf(pins.instructions);
  if (approved !== undefined && approved.hash !== sighting.instructions.hash) {
    const after = sighting.instructions.value;
    changes.push({ kind: "instructions", server, before: approved.value, after });
  }
  for (const [tool, sight] of sighting.tools) {
    const before = approvedOf(pins.tools.get(tool));
    if (before === undefined) changes.push({ kind: "new", server, tool });
    else if (before.hash !== sight.hash) {
      changes.push({ kind: "changed", server, tool, before: before.value, after: sight.value });
    }
  }
  return changes;
}

/** Approves what was seen last. */
export function approve<Value>(pin: Pin<Value>): Pin<Value> {
  if (pin.kind === "pinned") return pin;
  return { kind: "pinned", firstSeen: pin.firstSeen, approved: pin.pending };
}

export function trust<Value>(sight: SeenValue<Value>): Pin<Value> {
  return { kind: "pinned", firstSeen: sight.seen, approved: sight };
}

export function see<Value>(pin: Pin<Value> | undefined, sight: SeenValue<Value>): Pin<Value> {
  if (pin === undefined) return { kind: "new", firstSeen: sight.seen, pending: sight };
  if (pin.kind !== "pinned" && pin.pending.hash === sight.hash) return pin;
  if (pin.kind === "new") return { ...pin, pending: sight };
  const { firstSeen, approved } = pin;
  if (approved.hash !== sight.hash) return { kind: "changed", firstSeen, approved, pending: sight };
  return pin.kind === "pinned" ? pin : { kind: "pinned", firstSeen, approved };
}

function approvedOf<Value>(pin: Pin<Value> | undefined): SeenValue<Value> | undefined {
  return pin === undefined || pin.kind === "new" ? undefined : pin.approved;
}

function dropStrays(tools: Map<string, Pin<PinnedTool>>, sighting: Sighting): void {
  const strays = [...tools].filter(
    ([name, pin]) => pin.kind === "new" && !sighting.tools.has(name),
  );
  strays.sort(([, a], [, b]) => b.firstSeen - a.firstSeen);
  for (const [name] of strays.slice(MOST_STRAYS)) tools.delete(name);
}
