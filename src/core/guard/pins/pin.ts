// How a server's pins change with each of its lists: tools, resources with templates, prompts. The functions are pure,
// because each step is taken twice: on what this process knows, and on what is on disk by then.

import { type ContentName, contentPattern, contentText } from "../../types/content-pattern.ts";
import type { JsonObject } from "../../types/json.ts";
import type {
  LostPins,
  Pin,
  PinnedServer,
  PinnedTool,
  SeenValue,
  ServerPins,
} from "../../types/pin.ts";
import type { ToolDefinition } from "../../types/tool.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { textHash, toolHash, toPinnedTool } from "./hash.ts";

/** The lists of a server, in the order in which they are pinned. */
export const LISTINGS = ["tools", "resources", "prompts"] as const;

export type Listing = (typeof LISTINGS)[number];

export type ContentListing = Exclude<Listing, "tools">;

/** Removes secrets, because pins are kept on disk. */
export type RedactValue = <Value>(value: Value) => Value;

/** What a server listed at one time. */
export interface Sighting {
  listing: Listing;
  /** By the names of their pins: a prompt is here under a name such as `prompt:review`. */
  tools: ReadonlyMap<string, SeenValue<PinnedTool>>;
  /** They come with the tools. */
  instructions?: SeenValue<string>;
  /** Tells apart the lists of which the first one is trusted. */
  mark: string;
}

/** A resource, template or prompt as it is listed. What it contains is not pinned. */
export interface ListedContent extends ContentName {
  title?: string | undefined;
  description?: string | undefined;
  /** Whatever else is told about it, such as the arguments of a prompt. */
  details?: JsonObject;
}

export type PinChange =
  | { kind: "changed"; server: string; tool: string; before: PinnedTool; after: PinnedTool }
  | { kind: "new"; server: string; tool: string }
  | { kind: "instructions"; server: string; before: string; after: string }
  /** Nobody can tell whether anything has changed. */
  | ({ kind: "lost" } & LostPins);

/** How many pins of a list are kept that are gone again without approval. A server could invent new names forever. */
const MOST_STRAYS = 20;
/** Resources come and go with their data. Beyond this, a server's resources are not pinned. */
const MOST_RESOURCES = 1000;

/**
 * A list of tools. A server may list more of them for other capabilities. Which are advertised is the host's choice,
 * not the server's, so the first list for each is trusted.
 */
export function toSighting(
  tools: readonly ToolDefinition[],
  instructions: string | undefined,
  seen: number,
  capabilities: JsonObject = {},
): Sighting {
  const text = instructions ?? "";
  return {
    listing: "tools",
    tools: new Map(
      tools.map((tool) => [tool.name, { hash: toolHash(tool), value: toPinnedTool(tool), seen }]),
    ),
    instructions: { hash: textHash(text), value: text, seen },
    mark: canonicalJson(capabilities),
  };
}

/** A list of resources and templates, or of prompts, as a model or a person is told of them. */
export function contentSighting(
  listing: ContentListing,
  contents: readonly ListedContent[],
  seen: number,
  redact: RedactValue,
): Sighting {
  const isResource = ({ kind, isTemplate }: ContentName): boolean =>
    kind === "resource" && isTemplate !== true;
  const resources = contents.filter(isResource).slice(0, MOST_RESOURCES);
  const others = contents.filter((each) => !isResource(each));
  const tools = [...others, ...resources].map((content) => {
    const { title, description, details = {} } = content;
    const name = contentPin(content, redact);
    const value = { name, ...redact({ title, description, inputSchema: details }) };
    return [name, { hash: toolHash(value), value, seen }] as const;
  });
  return { listing, tools: new Map(tools), mark: `list of ${listing}` };
}

/** The name of the pin of a resource, template or prompt: `prompt:review`. */
export function contentPin(content: ContentName, redact: RedactValue): string {
  return contentText({ ...content, name: redact(content.name) });
}

/** Whether such a list of the server has not been seen before. */
export function isFirst({ seenWith }: ServerPins, { mark }: Sighting): boolean {
  return !seenWith.includes(mark);
}

/**
 * The pins after a sighting; the same object if nothing is new. What the first list of its kind adds is trusted, and so
 * is every new resource.
 */
export function observe(
  pins: ServerPins | undefined,
  id: PinnedServer,
  sighting: Sighting,
): ServerPins {
  const before = pins ?? nothingPinned(id, sighting);
  const isFirstList = isFirst(before, sighting);
  const instructions = sighting.instructions
    ? see(before.instructions, sighting.instructions)
    : before.instructions;
  const tools = new Map(before.tools);
  for (const [name, sight] of sighting.tools) {
    const pin = tools.get(name);
    const isTrusted = isFirstList || (sighting.listing === "resources" && isData(name));
    tools.set(name, pin === undefined && isTrusted ? trust(sight) : see(pin, sight));
  }
  for (const name of outdated(tools, sighting)) tools.delete(name);
  const isSame =
    !isFirstList &&
    instructions === before.instructions &&
    tools.size === before.tools.size &&
    [...tools].every(([name, pin]) => pin === before.tools.get(name));
  if (isSame) return before;
  const seenWith = isFirstList ? [...before.seenWith, sighting.mark] : before.seenWith;
  return { ...before, seenWith, instructions, tools };
}

/** How a sighting differs from what was approved. What is gone does not count: it can do no harm. */
export function compare(pins: ServerPins, sighting: Sighting): PinChange[] {
  const { server } = pins;
  const changes: PinChange[] = [];
  const approved = approvedOf(pins.instructions);
  const { instructions } = sighting;
  if (approved && instructions && approved.hash !== instructions.hash) {
    const after = instructions.value;
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

/** The pins of a server before its first list. */
export function nothingPinned(
  { server, key }: PinnedServer,
  { instructions = { hash: textHash(""), value: "", seen: 0 } }: Pick<Sighting, "instructions">,
): ServerPins {
  return { server, key, seenWith: [], instructions: trust(instructions), tools: new Map() };
}

function trust<Value>(sight: SeenValue<Value>): Pin<Value> {
  return { kind: "pinned", firstSeen: sight.seen, approved: sight };
}

function see<Value>(pin: Pin<Value> | undefined, sight: SeenValue<Value>): Pin<Value> {
  if (pin === undefined) return { kind: "new", firstSeen: sight.seen, pending: sight };
  if (pin.kind !== "pinned" && pin.pending.hash === sight.hash) return pin;
  if (pin.kind === "new") return { ...pin, pending: sight };
  const { firstSeen, approved } = pin;
  if (approved.hash !== sight.hash) return { kind: "changed", firstSeen, approved, pending: sight };
  return pin.kind === "pinned" ? pin : { kind: "pinned", firstSeen, approved };
}

/** As it was first seen or last approved. */
export function approvedOf<Value>(pin: Pin<Value> | undefined): SeenValue<Value> | undefined {
  return pin === undefined || pin.kind === "new" ? undefined : pin.approved;
}

/** Templates and prompts are few and have a meaning of their own, like tools. A resource is named by its URI alone. */
function isData(name: string): boolean {
  return name.startsWith("resource:") && !name.includes("{");
}

/** The list that a pin of this name belongs to. No tool has a name that begins like that of a resource or prompt. */
export function listingOf(name: string): Listing {
  const content = contentPattern(name);
  if (content === undefined) return "tools";
  return content.kind === "prompt" ? "prompts" : "resources";
}

/** The pins of this list that nobody needs: what is in it no more, as far as it was never approved or is mere data. */
function outdated(tools: ReadonlyMap<string, Pin<PinnedTool>>, sighting: Sighting): string[] {
  const gone = [...tools].filter(
    ([name]) => !sighting.tools.has(name) && listingOf(name) === sighting.listing,
  );
  const strays = gone
    .filter(([, pin]) => pin.kind === "new")
    .sort(([, a], [, b]) => b.firstSeen - a.firstSeen);
  const data = gone.filter(([name]) => isData(name));
  return [...strays.slice(MOST_STRAYS), ...data.slice(MOST_RESOURCES)].map(([name]) => name);
}
