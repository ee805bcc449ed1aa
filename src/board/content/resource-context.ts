// Puts resources into a prompt: chooses them, keeps their text until it is too old or has changed, and builds the
// block of text.

import { headOf } from "../../guard/present/fit.ts";
import { newFrameId, quotable } from "../../guard/present/frame.ts";
import { neutralise } from "../../guard/present/neutralise.ts";
import { type BlockResource, resourceBlock } from "../../guard/present/resource-block.ts";
import { suspiciousPatterns } from "../../guard/present/suspicious.ts";
import { toPlugboardError } from "../../model/errors.ts";
import type { ServerContent } from "../../model/server-content.ts";
import type { ResourceDefinition, ResourceReading } from "../../model/resource.ts";
import { byteSize, oneLine, plural } from "../../util/text.ts";
import type { ContentCache, Subscriber } from "./content-cache.ts";
import type { ContentCaches } from "./content-caches.ts";
import type { LocatedResource } from "./resource-locator.ts";
import type { ResourcesOptions } from "./resources.ts";

const MAX_RESOURCES = 20;
const MAX_RESOURCE_BYTES = 32 * 1024;
const MAX_BLOCK_BYTES = 128 * 1024;
/** How long a prompt waits for a resource. */
const READ_MS = 10_000;

export interface ResourceContextOptions extends Omit<ResourcesOptions, "requests"> {
  /** Subscribes to the resources that are in the prompt. */
  subscriber: Subscriber;
  read: (located: LocatedResource, options: { timeout: number }) => Promise<ResourceReading>;
}

/** The text of one resource, as it was last read. */
interface ReadText {
  readAt: number;
  /** The version of the resource when it was read. */
  version: number;
  text: string;
  note?: string;
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
    const lists = await listForModels(this.#options.caches);
    const chosen = choose(lists);
    await Promise.all(chosen.map((each) => this.#refresh(each)));
    this.#forget(chosen);
    this.#subscribe(chosen);
    const resources = this.#fill(chosen);
    const notes = this.#notes(lists, resources);
    if (resources.length === 0 && notes.length === 0) return "";
    const input = JSON.stringify([resources, notes]);
    // The same content gives the same block, id included. A new id would invalidate prompt caches.
    if (input === this.#last.input) return this.#last.block;
    const block = resourceBlock(resources, notes, newFrameId());
    this.#last = { input, block };
    return block;
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
      const part = cut(readable(reading));
      shown.set(uri, { readAt, version, ...part });
      const { name: server } = from.entry.definition;
      const tool = `read:${this.#options.redact(uri)}`;
      await this.#options.guard.reportSuspicious({ server, tool }, suspects(part.text));
    } catch (error) {
      // Keeps the old text, if there is one. The resource is read again when that is too old.
      const { message } = toPlugboardError(error, "PROTOCOL");
      const text = `[could not be read: ${oneLine(message, 300)}]`;
      shown.set(uri, { text, ...last, readAt, version });
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

  /** With a subscription, a change is in the next prompt. Without, the text is read again when it is too old. */
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

  /** Takes as many as fit into the block. */
  #fill(chosen: readonly ChosenResource[]): BlockResource[] {
    const { guard, redact } = this.#options;
    let bytes = 0;
    return chosen.flatMap(({ from, resource }): BlockResource[] => {
      const shown = this.#texts.get(from)?.get(resource.uri);
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
          mimeType,
          text: shown.text,
          note: shown.note && this.#withAdvice(shown.note),
          isFramed: guard.framing(definition) !== "off",
        },
      ];
    });
  }

  #notes(lists: readonly ChosenResource[][], resources: readonly BlockResource[]): string[] {
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

  #withAdvice(note: string): string {
    return this.#options.hasTools ? `${note} read_resource reads all of it.` : note;
  }
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

function cut(text: string): Pick<ReadText, "text" | "note"> {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_RESOURCE_BYTES) return { text };
  const note = `(cut: ${byteSize(MAX_RESOURCE_BYTES)} of ${byteSize(bytes)} are shown.)`;
  return { text: headOf(text, MAX_RESOURCE_BYTES), note };
}

/** Grouped by server, in the order of the configuration. Leaves out resources that are only for people. */
async function listForModels(caches: ContentCaches): Promise<ChosenResource[][]> {
  const lists = await caches.listAll((content) => content.resources, { mayStart: false });
  return lists
    .map(({ from, list }) =>
      list.resources
        .filter((resource) => from.allows(resource.uri) && isForModels(resource))
        .map((resource) => ({ from, resource })),
    )
    .filter((list) => list.length > 0);
}

/** Returns all resources if they fit into a prompt, else an equal share of each server's. */
function choose(lists: readonly ChosenResource[][]): ChosenResource[] {
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
