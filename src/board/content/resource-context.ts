// Puts resources into a prompt: chooses them, keeps their text until it is old or has changed, and makes the
// block.

import { headOf } from "../../guard/present/fit.ts";
import { quotable } from "../../guard/present/frame.ts";
import { neutralise } from "../../guard/present/neutralise.ts";
import { randomId } from "../../guard/present/random-id.ts";
import { type BlockResource, resourceBlock } from "../../guard/present/resource-block.ts";
import { suspiciousPatterns } from "../../guard/present/suspicious.ts";
import { toPlugboardError } from "../../model/errors.ts";
import type { ServerContent } from "../../model/server-content.ts";
import type { ResourceDefinition, ResourceReading } from "../../model/resource.ts";
import { byteSize, oneLine, plural } from "../../util/text.ts";
import type { BoardGuard } from "../guard.ts";
import type { ContentCache, Subscriber } from "./content-cache.ts";
import type { ContentCaches } from "./content-caches.ts";
import type { Located } from "./resource-locator.ts";

const MAX_RESOURCES = 20;
const MAX_RESOURCE_BYTES = 32 * 1024;
const MAX_BLOCK_BYTES = 128 * 1024;
/** A prompt does not wait longer for a resource. */
const READ_MS = 10_000;

export interface ResourceContextOptions {
  contents: ContentCaches;
  guard: Pick<BoardGuard, "framing" | "suspect">;
  redact: <Value>(value: Value) => Value;
  hasTools: boolean;
  /** As whom to subscribe. */
  subscriber: Subscriber;
  now: () => number;
  read: (located: Located, options: { timeout: number }) => Promise<ResourceReading>;
}

/** The text of one resource, as it was last read. */
interface ReadText {
  readAt: number;
  /** Of the resource when it was asked for. */
  version: number;
  text: string;
  note?: string;
}

interface Chosen {
  from: ContentCache;
  resource: ResourceDefinition;
}

export class ResourceContext {
  readonly #options: ResourceContextOptions;
  #shown = new Map<ContentCache, Map<string, ReadText>>();
  /** A server that will not tell of updates is not asked to again on the same connection. */
  readonly #tried = new WeakMap<ServerContent, Set<string>>();
  #building: Promise<string> | undefined;
  #last = { input: "", block: "" };

  constructor(options: ResourceContextOptions) {
    this.#options = options;
  }

  build(): Promise<string> {
    this.#building ??= this.#build().finally(() => {
      this.#building = undefined;
    });
    return this.#building;
  }

  async #build(): Promise<string> {
    const lists = await listForModels(this.#options.contents);
    const chosen = choose(lists);
    await Promise.all(chosen.map((each) => this.#refresh(each)));
    this.#forget(chosen);
    this.#subscribe(chosen);
    const resources = this.#fill(chosen);
    const notes = this.#notes(lists, resources);
    if (resources.length === 0 && notes.length === 0) return "";
    const input = JSON.stringify([resources, notes]);
    // The same block for the same content, id included: a prompt cache goes by the text.
    if (input === this.#last.input) return this.#last.block;
    const block = resourceBlock(resources, notes, randomId());
    this.#last = { input, block };
    return block;
  }

  async #refresh({ from, resource }: Chosen): Promise<void> {
    const { now } = this.#options;
    const { uri } = resource;
    const shown = this.#shown.get(from) ?? new Map<string, ReadText>();
    this.#shown.set(from, shown);
    const last = shown.get(uri);
    const version = from.versionOf(uri);
    const isFresh =
      last !== undefined && last.version === version && now() - last.readAt < from.refreshMs;
    if (isFresh || from.entry.supervisor.live === undefined) return;
    const readAt = now();
    try {
      const reading = await this.#options.read({ from, uri }, { timeout: READ_MS });
      const part = cut(readable(reading));
      shown.set(uri, { readAt, version, ...part });
      const { name: server } = from.entry.definition;
      const tool = `read:${this.#options.redact(uri)}`;
      await this.#options.guard.suspect({ server, tool }, suspects(part.text));
    } catch (error) {
      // What was read before is better than nothing; it is asked for again after as long.
      const { message } = toPlugboardError(error, "PROTOCOL");
      const text = `[could not be read: ${oneLine(message, 300)}]`;
      shown.set(uri, { text, ...last, readAt, version });
    }
  }

  #forget(chosen: readonly Chosen[]): void {
    const kept = new Map<ContentCache, Map<string, ReadText>>();
    for (const { from, resource } of chosen) {
      const shown = this.#shown.get(from)?.get(resource.uri);
      if (shown === undefined) continue;
      const known = kept.get(from) ?? new Map<string, ReadText>();
      kept.set(from, known.set(resource.uri, shown));
    }
    for (const [from, shown] of this.#shown) {
      for (const uri of shown.keys()) {
        if (kept.get(from)?.has(uri)) continue;
        const content = from.entry.supervisor.live?.content;
        if (content !== undefined) this.#tried.get(content)?.delete(uri);
        void from.unsubscribe(uri, this.#options.subscriber).catch(() => {});
      }
    }
    this.#shown = kept;
  }

  /** So that a change is in the next prompt. Where it cannot be had, age decides. */
  #subscribe(chosen: readonly Chosen[]): void {
    for (const { from, resource } of chosen) {
      const content = from.entry.supervisor.live?.content;
      if (content?.has.subscriptions !== true) continue;
      const tried = this.#tried.get(content) ?? new Set<string>();
      if (tried.has(resource.uri)) continue;
      this.#tried.set(content, tried.add(resource.uri));
      void from.subscribe(content, resource.uri, this.#options.subscriber).catch(() => {});
    }
  }

  /** As many as the block holds. */
  #fill(chosen: readonly Chosen[]): BlockResource[] {
    const { guard, redact } = this.#options;
    let bytes = 0;
    return chosen.flatMap(({ from, resource }): BlockResource[] => {
      const shown = this.#shown.get(from)?.get(resource.uri);
      if (shown === undefined) return [];
      const size = Buffer.byteLength(shown.text);
      if (bytes + size > MAX_BLOCK_BYTES) return [];
      bytes += size;
      const { definition } = from.entry;
      const { uri, name, title, mimeType } = resource;
      return [
        {
          server: definition.name,
          name: title ?? name,
          uri: redact(uri),
          ...(mimeType !== undefined && { mimeType }),
          text: shown.text,
          ...(shown.note !== undefined && { note: this.#advised(shown.note) }),
          isFramed: guard.framing(definition) !== "off",
        },
      ];
    });
  }

  #notes(lists: readonly Chosen[][], resources: readonly BlockResource[]): string[] {
    const counts = lists.flatMap((list) => {
      const server = list[0]?.from.entry.name ?? "";
      const count = list.length - resources.filter((each) => each.server === server).length;
      return count === 0 ? [] : [`${plural(count, "resource")} of '${quotable(server)}'`];
    });
    if (counts.length === 0) return [];
    const how = this.#options.hasTools
      ? "list_resources finds them and read_resource reads them."
      : "They can be read by their URI on request.";
    return [`Not shown here: ${counts.join(", ")}. ${how}`];
  }

  #advised(note: string): string {
    return this.#options.hasTools ? `${note} read_resource reads all of it.` : note;
  }
}

/** Text as it is; what else there is, in a line. */
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

function cut(text: string): Pick<ReadText, "text" | "note"> {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_RESOURCE_BYTES) return { text };
  const note = `(cut: ${byteSize(MAX_RESOURCE_BYTES)} of ${byteSize(bytes)} are shown.)`;
  return { text: headOf(text, MAX_RESOURCE_BYTES), note };
}

/** By server, in the order of the configuration. Resources for people alone are left out. */
async function listForModels(contents: ContentCaches): Promise<Chosen[][]> {
  const heard = await contents.every((content) => content.resources, { wakes: false });
  return heard
    .map(({ from, list }) =>
      list.resources
        .filter((resource) => from.allows(resource.uri) && isForModels(resource))
        .map((resource) => ({ from, resource })),
    )
    .filter((list) => list.length > 0);
}

/** As many as fit in a prompt: all of them, or the same share of each server's. */
function choose(lists: readonly Chosen[][]): Chosen[] {
  const shares = lists.map(() => 0);
  let left = MAX_RESOURCES;
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
