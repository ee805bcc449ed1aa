// The resources of a board: lists what its servers have, reads, subscribes, completes.

import { toCompletion } from "../../bridge/completion.ts";
import { toContents } from "../../bridge/reading.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { ServerContent } from "../../model/server-content.ts";
import type {
  BoardResources,
  CompleteOptions,
  Completion,
  Resource,
  ResourceOptions,
  ResourceReading,
  ResourceTemplate,
} from "../../model/resource.ts";
import { isCallable } from "../../model/server-state.ts";
import type { ContentRequests } from "./content-requests.ts";
import type { BoardGuard } from "../guard.ts";
import type { ContentCache } from "./content-cache.ts";
import type { ContentCaches } from "./content-caches.ts";
import type { ResourceContext } from "./resource-context.ts";
import { type Located, ResourceLocator } from "./resource-locator.ts";

export interface ResourcesOptions {
  contents: ContentCaches;
  contentRequests: ContentRequests;
  guard: Pick<BoardGuard, "framing" | "suspect">;
  /** Takes secrets out of what is told; the same value where there are none. */
  redact: <Value>(value: Value) => Value;
  /** A model has the tools to read by itself what a block leaves out. */
  hasTools: boolean;
  now: () => number;
}

export class Resources implements BoardResources {
  readonly #options: ResourcesOptions;
  readonly #locator: ResourceLocator;
  /** Two, since a prompt stops to show what a caller still wants to hear of. */
  readonly #caller = {};
  readonly #prompt = {};
  #context: Promise<ResourceContext> | undefined;

  constructor(options: ResourcesOptions) {
    this.#options = options;
    this.#locator = new ResourceLocator(options.contents, options.redact);
  }

  async list(server?: string): Promise<Resource[]> {
    return (await this.#locator.heard(server)).flatMap(({ from, list }) =>
      list.resources
        .filter(({ uri }) => from.allows(uri))
        .map((each) => this.#options.redact({ ...each, ...offered(from) })),
    );
  }

  async templates(server?: string): Promise<ResourceTemplate[]> {
    return (await this.#locator.heard(server)).flatMap(({ from, list }) =>
      list.templates.map((each) => this.#options.redact({ ...each, ...offered(from) })),
    );
  }

  async read(uri: string, options: ResourceOptions = {}): Promise<ResourceReading> {
    return this.readFrom(await this.#locator.locate(uri, options), options);
  }

  /** What has been located. `timeout` is for who cannot wait as long as a server may take. */
  async readFrom(
    { from, uri }: Located,
    { signal, timeout }: { signal?: AbortSignal; timeout?: number } = {},
  ): Promise<ResourceReading> {
    const { content } = await this.#options.contentRequests.run({
      entry: from.entry,
      what: `read:${this.#options.redact(uri)}`,
      args: { uri },
      signal,
      ...(timeout !== undefined && { timeout }),
      ask: async (server, request) => {
        requireCapability(server.has.resources, "offers no resources");
        const contents = toContents(await server.readResource(uri, request), uri);
        return { content: contents.map((resource) => ({ type: "resource", resource })) };
      },
    });
    const contents = content.flatMap((block) => (block.type === "resource" ? block.resource : []));
    return { server: from.entry.name, uri: this.#options.redact(uri), contents };
  }

  async subscribe(uri: string, options: ResourceOptions = {}): Promise<void> {
    const located = await this.#locator.locate(uri, options);
    await this.#options.contentRequests.run({
      entry: located.from.entry,
      what: `subscribe:${this.#options.redact(located.uri)}`,
      args: { uri: located.uri },
      signal: options.signal,
      ask: async (content) => {
        await located.from.subscribe(content, located.uri, this.#caller);
        return { content: [] };
      },
    });
  }

  async unsubscribe(uri: string, { server }: ResourceOptions = {}): Promise<void> {
    const { contents } = this.#options;
    const among = server === undefined ? contents.all() : [contents.of(server)];
    await Promise.all(
      among.map((from) => from.unsubscribe(this.#locator.inFull(uri, from), this.#caller)),
    );
  }

  async complete(
    uriTemplate: string,
    argument: string,
    value: string,
    options: CompleteOptions = {},
  ): Promise<Completion> {
    const { signal, known = {} } = options;
    const from = await this.#locator.locateTemplate(uriTemplate, options);
    const { structuredContent } = await this.#options.contentRequests.run({
      entry: from.entry,
      what: `complete:${uriTemplate}`,
      args: { argument, value },
      signal,
      ask: async (server, request) => {
        requireCapability(server.has.completions, "completes nothing");
        const of = { type: "ref/resource", uri: uriTemplate } as const;
        const answer = await server.complete({ of, argument, value, known }, request);
        return { content: [], structuredContent: toCompletion(answer) };
      },
    });
    return structuredContent as Completion;
  }

  async context(): Promise<string> {
    this.#context ??= import("./resource-context.ts").then(
      ({ ResourceContext: Context }) =>
        new Context({
          ...this.#options,
          subscriber: this.#prompt,
          read: (located, options) => this.readFrom(located, options),
        }),
    );
    return (await this.#context).build();
  }

  /** Whether an update of it is news here. */
  hears(server: string, uri: string): boolean {
    return this.#options.contents.of(server).isHeardBy([this.#caller, this.#prompt], uri);
  }

  /** Nobody here wants to hear of anything any more. */
  leave(): void {
    for (const each of this.#options.contents.all()) each.leave([this.#caller, this.#prompt]);
  }
}

function offered({ entry }: ContentCache): { server: string; available: boolean } {
  return { server: entry.name, available: isCallable(entry.supervisor.state) };
}

function requireCapability(
  has: ServerContent["has"][keyof ServerContent["has"]],
  what: string,
): void {
  if (!has) throw new PlugboardError("UNSUPPORTED", `the server ${what}`);
}
