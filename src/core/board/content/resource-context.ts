// Puts resources into a prompt: chooses them, keeps their text until it is too old or has changed, and builds a
// block of text within a size. What does not fit is listed by name.

import { headOf } from "../../guard/present/fit.ts";
import { newFrameId, quotable, resourceLines, showableUri } from "../../guard/present/frame.ts";
import { neutralise } from "../../guard/present/neutralise.ts";
import { type BlockResource, resourceBlock } from "../../guard/present/resource-block.ts";
import { suspiciousPatterns } from "../../guard/present/suspicious.ts";
import { toPlugboardError } from "../../types/errors.ts";
import type { ServerContent } from "../../types/server-content.ts";
import type { ResourceBlock, ResourceDefinition, ResourceReading } from "../../types/resource.ts";
import { byteSize, oneLine, plural } from "../../../util/text.ts";
import type { ContentCache, Subscriber } from "./content-cache.ts";
import type { LocatedResource } from "./resource-locator.ts";
import type { ResourcesOptions } from "./resources.ts";

const MAX_RESOURCES = 20;
const MAX_NAMES = 100;
/** The largest block, in UTF-8, whatever the model's context window is. */
const MAX_BLOCK_BYTES = 64 * 1024;
/** The share of the block that is for text; the names of the others need room too. */
const TEXT_SHARE = 0.75;
/** The share of the text that one resource may take. */
const LARGEST_SHARE = 0.5;
const MAX_RESOURCE_BYTES = MAX_BLOCK_BYTES * TEXT_SHARE * LARGEST_SHARE;
/** What the frame around a resource takes, besides the lines about it. */
const FRAME_BYTES = 250;
/** How long a prompt waits for a resource. */
const READ_MS = 10_000;

export interface ResourceContextOptions extends Omit<ResourcesOptions, "requests"> {
  /** Subscribes to the resources that are in the prompt. */
  subscriber: Subscriber;
  permits: (from: ContentCache, uri: string) => boolean;
  read: (located: LocatedResource, options: { timeout: number }) => Promise<ResourceReading>;
}

/** The text of one resource, as it was last read. */
interface ReadText {
  readAt: number;
  /** The version of the resource when it was read. */
  version: number;
  text: string;
  /** In UTF-8, of all there is; `text` may be only the beginning. */
  bytes: number;
}

interface ChosenResource {
  from: ContentCache;
  resource: ResourceDefinition;
}

export class ResourceContext {
  readonly #options: ResourceContextOptions;
  #texts = new Map<ContentCache, Map<string, ReadText>>();
  /** URIs that we have tried to subscribe to, by connection: a server that refuses is not asked again. */
  readonly #tried = new WeakMap<ServerContent, Set<string>>();
  readonly #full = new StableBlock();
  readonly #names = new StableBlock();
  #reading: Promise<ReadResources> | undefined;

  constructor(options: ResourceContextOptions) {
    this.#options = options;
  }

  /** `maxBytes` can only make the block smaller than its own limit. */
  async build(maxBytes = MAX_BLOCK_BYTES): Promise<ResourceBlock> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    const { lists, chosen } = await this.#reading;
    const budget = Math.min(maxBytes, MAX_BLOCK_BYTES);
    // A resource can take more room than its text: its forged markers are replaced by something longer.
    let shown = this.#fill(chosen, budget * TEXT_SHARE);
    let layout = this.#layout(lists, shown, budget);
    while (layout === undefined && shown.length > 0) {
      shown = shown.slice(0, -1);
      layout = this.#layout(lists, shown, budget);
    }
    const count = lists.reduce((sum, list) => sum + list.length, 0);
    return {
      text: this.#full.render(layout),
      names: this.#names.render(this.#layout(lists, [], budget)),
      shown: shown.map(({ server, uri, text, note }) => {
        return { server, uri, bytes: Buffer.byteLength(text), isCut: note !== undefined };
      }),
      others: count - shown.length,
    };
  }

  async #read(): Promise<ReadResources> {
    const lists = await listForModels(this.#options);
    const withText = lists.filter(
      ([first]) => first?.from.entry.definition.resources?.listOnly !== true,
    );
    const chosen = choose(withText, MAX_RESOURCES);
    await Promise.all(chosen.map((each) => this.#refresh(each)));
    this.#forget(chosen);
    this.#subscribe(chosen);
    return { lists, chosen };
  }

  /** Undefined if there is nothing to say, or no room for it. */
  #layout(
    lists: readonly ChosenResource[][],
    shown: readonly BlockResource[],
    budget: number,
  ): BlockLayout | undefined {
    const isShown = new Set(shown.map(({ server, uri }) => JSON.stringify([server, uri])));
    const others = lists
      .map((list) => list.filter((each) => !isShown.has(this.#keyOf(each))))
      .filter((list) => list.length > 0);
    if (shown.length === 0 && others.length === 0) return undefined;
    const named: ChosenResource[] = [];
    const names: string[] = [];
    let left = budget - sizeOf({ shown, names, notes: this.#notes(others, []) }) - FRAME_BYTES;
    for (const each of choose(others, MAX_NAMES)) {
      const line = this.#line(each);
      left -= Buffer.byteLength(line) + 1;
      if (left < 0) break;
      named.push(each);
      names.push(line);
    }
    const layout = { shown, names, notes: this.#notes(others, named) };
    return sizeOf(layout) > budget ? undefined : layout;
  }

  async #refresh({ from, resource }: ChosenResource): Promise<void> {
    const { now } = this.#options;
    const { uri } = resource;
    const shown = this.#texts.get(from) ?? new Map<string, ReadText>();
    this.#texts.set(from, shown);
    const last = shown.get(uri);
    const version = from.versionOf(uri);
    const isFresh =
      last !== undefined && last.version === version && now() - last.readAt < from.refreshMs;
    if (isFresh || from.entry.supervisor.live === undefined) return;
    const readAt = now();
    try {
      const reading = await this.#options.read({ from, uri }, { timeout: READ_MS });
      const whole = readable(reading);
      const text = headOf(whole, MAX_RESOURCE_BYTES);
      shown.set(uri, { readAt, version, text, bytes: Buffer.byteLength(whole) });
      const { name: server } = from.entry.definition;
      const tool = `resource:${this.#options.redact(uri)}`;
      await this.#options.guard.reportSuspicious({ server, tool }, suspects(text));
    } catch (error) {
      // Keeps the old text, if there is one. The resource is read again when that is too old.
      const { message } = toPlugboardError(error, "PROTOCOL");
      const text = `[could not be read: ${oneLine(message, 300)}]`;
      shown.set(uri, { text, bytes: Buffer.byteLength(text), ...last, readAt, version });
    }
  }

  #forget(chosen: readonly ChosenResource[]): void {
    const kept = new Map<ContentCache, Map<string, ReadText>>();
    for (const { from, resource } of chosen) {
      const shown = this.#texts.get(from)?.get(resource.uri);
      if (shown === undefined) continue;
      const known = kept.get(from) ?? new Map<string, ReadText>();
      kept.set(from, known.set(resource.uri, shown));
    }
    for (const [from, shown] of this.#texts) {
      for (const uri of shown.keys()) {
        if (kept.get(from)?.has(uri)) continue;
        const content = from.entry.supervisor.live?.content;
        if (content !== undefined) this.#tried.get(content)?.delete(uri);
        void from.unsubscribe(uri, this.#options.subscriber).catch(() => {});
      }
    }
    this.#texts = kept;
  }

  /** With a subscription, the next prompt has the change. Without one, a text is read again when it is too old. */
  #subscribe(chosen: readonly ChosenResource[]): void {
    for (const { from, resource } of chosen) {
      const content = from.entry.supervisor.live?.content;
      if (content?.has.subscriptions !== true) continue;
      const tried = this.#tried.get(content) ?? new Set<string>();
      if (tried.has(resource.uri)) continue;
      this.#tried.set(content, tried.add(resource.uri));
      void from.subscribe(content, resource.uri, this.#options.subscriber).catch(() => {});
    }
  }

  /** Takes as many as fit into `room`, and of each at most its share. */
  #fill(chosen: readonly ChosenResource[], room: number): BlockResource[] {
    const { redact, guard } = this.#options;
    let left = room;
    return chosen.flatMap(({ from, resource }): BlockResource[] => {
      const known = this.#texts.get(from)?.get(resource.uri);
      if (known === undefined) return [];
      const text = headOf(known.text, Math.floor(room * LARGEST_SHARE));
      const bytes = Buffer.byteLength(text);
      const { definition } = from.entry;
      const { uri, name, title, mimeType } = resource;
      const source = {
        server: definition.name,
        name: title ?? name,
        uri: redact(uri),
        mimeType,
      };
      const around = Buffer.byteLength(resourceLines(source).join("\n")) + FRAME_BYTES;
      if (bytes + around > left) return [];
      left -= bytes + around;
      const isFramed = guard.framing(definition) !== "off";
      const note = bytes < known.bytes ? this.#cutNote(bytes, known.bytes) : undefined;
      return [{ ...source, text, note, isFramed }];
    });
  }

  #keyOf({ from, resource }: ChosenResource): string {
    return JSON.stringify([from.entry.name, this.#options.redact(resource.uri)]);
  }

  #line({ from, resource }: ChosenResource): string {
    const { name, title, size } = resource;
    const bytes = size === undefined ? "" : `, ${byteSize(size)}`;
    const uri = showableUri(this.#options.redact(resource.uri));
    return `- ${uri} (server '${quotable(from.entry.name)}'): ${quotable(title ?? name)}${bytes}`;
  }

  #notes(others: readonly ChosenResource[][], named: readonly ChosenResource[]): string[] {
    const isNamed = new Set(named);
    const counts = others.flatMap((list) => {
      const count = list.filter((each) => !isNamed.has(each)).length;
      const server = list[0]?.from.entry.name ?? "";
      return count === 0 ? [] : [`${plural(count, "resource")} of '${quotable(server)}'`];
    });
    const hasTools = this.#options.hasTools();
    const read = hasTools
      ? "read_resource reads a resource by its URI."
      : "Resources can be read by their URI on request.";
    const find = hasTools ? " list_resources finds them." : "";
    return [
      ...(counts.length > 0 ? [`Not listed here: ${counts.join(", ")}.${find}`] : []),
      ...(others.length > 0 ? [read] : []),
    ];
  }

  #cutNote(shown: number, total: number): string {
    const note = `(cut: ${byteSize(shown)} of ${byteSize(total)} are shown.)`;
    return this.#options.hasTools() ? `${note} read_resource reads all of it.` : note;
  }
}

interface ReadResources {
  lists: ChosenResource[][];
  chosen: ChosenResource[];
}

interface BlockLayout {
  shown: readonly BlockResource[];
  names: readonly string[];
  notes: readonly string[];
}

/** The same content gives the same block, id included. A new id would invalidate prompt caches. */
class StableBlock {
  #last = { input: "", block: "" };

  render(layout: BlockLayout | undefined): string {
    if (layout === undefined) return "";
    const input = JSON.stringify(layout);
    if (input !== this.#last.input) this.#last = { input, block: toText(layout, newFrameId()) };
    return this.#last.block;
  }
}

function toText({ shown, names, notes }: BlockLayout, id: string): string {
  return resourceBlock(shown, names, notes, id);
}

/** In UTF-8. All ids have the same length. */
function sizeOf(layout: BlockLayout): number {
  return Buffer.byteLength(toText(layout, "0".repeat(16)));
}

/** Returns text as it is, and a line for each binary part. */
function readable({ contents }: ResourceReading): string {
  const parts = contents.map(({ text, blob, mimeType }) => {
    if (text !== undefined) return text;
    const type = oneLine(mimeType ?? "application/octet-stream", 100);
    return `[binary content: ${type}, ${byteSize(Buffer.byteLength(blob ?? "", "base64"))}]`;
  });
  return parts.join("\n");
}

function suspects(text: string): string[] {
  const isForged = neutralise([text]).removed > 0;
  return [...suspiciousPatterns(text), ...(isForged ? ["forged-marker"] : [])];
}

/** Grouped by server, in the order of the configuration. Leaves out resources that are only for people. */
async function listForModels({
  caches,
  permits,
}: Pick<ResourceContextOptions, "caches" | "permits">): Promise<ChosenResource[][]> {
  const lists = await caches.listAll("resources", { start: "never" });
  return lists
    .map(({ from, list }) =>
      list.resources
        .filter((resource) => permits(from, resource.uri) && isForModels(resource))
        .map((resource) => ({ from, resource })),
    )
    .filter((list) => list.length > 0);
}

/** Returns all resources if there are no more than `most`, else an equal share of each server's. */
function choose(lists: readonly ChosenResource[][], most: number): ChosenResource[] {
  const shares = lists.map(() => 0);
  let left = most;
  for (let taken = 0; left > 0 && lists.some((list) => list.length > taken); taken += 1) {
    for (const [at, list] of lists.entries()) {
      if (left === 0 || list.length <= taken) continue;
      shares[at] = taken + 1;
      left -= 1;
    }
  }
  return lists.flatMap((list, at) => list.slice(0, shares[at]));
}

function isForModels({ annotations }: ResourceDefinition): boolean {
  const audience = annotations?.["audience"];
  return !Array.isArray(audience) || audience.length === 0 || audience.includes("assistant");
}
