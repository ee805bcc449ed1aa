// The resources of a board: lists and reads them, subscribes to them, and completes URI templates.

import { toContents } from "../../tools/server-content.ts";
import type { CallerOptions } from "../../types/caller-options.ts";
import {
  CALLER_OPTIONS,
  type Kinds,
  NUMBER,
  requireOptions,
  SIGNAL,
  TEXT,
} from "../../types/kinds.ts";
import type {
  CompleteOptions,
  Completion,
  ListOptions,
  OfferedResources,
  Resource,
  ResourceBlock,
  ResourceBlockOptions,
  ResourceOptions,
  ResourceReading,
  ResourceReadOptions,
  ResourceTemplate,
} from "../../types/resource.ts";
import {
  askServers,
  asksFirst,
  type ContentOptions,
  hidingRefused,
  requireCapability,
  requireName,
  requireCompletion,
  requireListing,
} from "./content-requests.ts";
import type { ResourceContext } from "./resource-context.ts";
import { isEnabled, type LocatedResource, ResourceLocator } from "./resource-locator.ts";

export interface ResourcesOptions extends ContentOptions {
  /** Whether the model has the tools to find and read by itself what a block leaves out. */
  hasTools: () => boolean;
  now: () => number;
}

interface ReadOptions extends CallerOptions {
  timeout?: number;
  /** For the host's own reads: only rules apply. */
  asksNobody?: boolean;
}

const OPTIONS: Kinds<ResourceOptions> = { server: TEXT, signal: SIGNAL };

export class Resources implements OfferedResources {
  readonly #options: ResourcesOptions;
  readonly #locator: ResourceLocator;
  /** Two subscribers: a resource can leave the prompt while the caller is still subscribed to it. */
  readonly #caller = {};
  readonly #prompt = {};
  #context: Promise<ResourceContext> | undefined;

  constructor(options: ResourcesOptions) {
    this.#options = options;
    this.#locator = new ResourceLocator(options);
  }

  async list(server?: string, options: ListOptions = {}): Promise<Resource[]> {
    requireListing(server, options);
    return (await this.#ask(undefined, () => this.#locator.lists(server, options))).flatMap(
      ({ from, list }) =>
        list.resources
          .filter(({ uri }) => this.#locator.permits(from, uri))
          .map((each) => this.#options.redact({ ...each, ...from.listedServer })),
    );
  }

  async templates(server?: string, options: ListOptions = {}): Promise<ResourceTemplate[]> {
    requireListing(server, options);
    return (await this.#ask(undefined, () => this.#locator.lists(server, options))).flatMap(
      ({ from, list }) =>
        list.templates
          .filter(({ uriTemplate }) => this.#locator.permitsTemplate(from, uriTemplate))
          .map((each) => this.#options.redact({ ...each, ...from.listedServer })),
    );
  }

  async read(uri: string, options: ResourceReadOptions = {}): Promise<ResourceReading> {
    requireName("the URI", uri);
    requireOptions<ResourceReadOptions>(options, { ...CALLER_OPTIONS, server: TEXT });
    return this.#ask(options.signal, () =>
      this.#hiding(uri, options, async () =>
        this.#readFrom(await this.#locator.locate(uri, options), options),
      ),
    );
  }

  #hiding<Result>(
    uri: string,
    options: ResourceOptions,
    ask: () => Promise<Result>,
  ): Promise<Result> {
    return hidingRefused(this.#options, ask, () => this.#locator.unknown(uri, options));
  }

  async readForPrompt(uri: string, options: ResourceOptions): Promise<ResourceReading> {
    const located = await this.#locator.locate(uri, options);
    return this.#readFrom(located, { signal: options.signal, asksNobody: true });
  }

  /** For a model: rejects for a URI that no server lists and no template of one offers. */
  async readOffered(
    uri: string,
    options: ResourceOptions & { callId?: string },
  ): Promise<ResourceReading> {
    requireName("the URI", uri);
    const read = async (): Promise<ResourceReading> =>
      this.#readFrom(await this.#locator.locateOffered(uri, options), options);
    return this.#ask(options.signal, () =>
      hidingRefused(this.#options, read, () => this.#locator.notOffered(uri, options)),
    );
  }

  /** Whether some server is known to have resources. */
  get hasAny(): boolean {
    return this.#options.caches.reached("resource").some((from) => {
      const { live } = from.entry.supervisor;
      const isKnown = (from.resources.known?.resources.length ?? 0) > 0;
      return isEnabled(from) && (live?.content.has.resources === true || isKnown);
    });
  }

  /** `timeout` shortens the server's own. */
  async #readFrom(
    { from, uri }: LocatedResource,
    { timeout, asksNobody, ...given }: ReadOptions = {},
  ): Promise<ResourceReading> {
    const shown = this.#options.redact(uri);
    const { content, _meta, inputRequired } = await this.#options.requests.run({
      from,
      content: { kind: "resource", name: uri },
      what: `resource:${shown}`,
      listed: from.resources.known?.resources.find((each) => each.uri === uri),
      args: { uri: shown },
      given,
      timeout,
      asksNobody,
      ask: async (server, request) => {
        requireCapability(server, "resources");
        const answer = await server.readResource(uri, request);
        const asked = asksFirst(answer, request);
        if (asked !== undefined) return asked;
        const read = toContents(answer, uri);
        const blocks = read.contents.map((resource) => ({ type: "resource" as const, resource }));
        return { content: blocks, ...(read._meta && { _meta: read._meta }) };
      },
    });
    const contents = content.flatMap((block) => (block.type === "resource" ? block.resource : []));
    return {
      server: from.entry.name,
      uri: shown,
      contents,
      ...(_meta && { _meta }),
      ...(inputRequired && { inputRequired }),
    };
  }

  async subscribe(uri: string, options: ResourceOptions = {}): Promise<void> {
    requireName("the URI", uri);
    requireOptions(options, OPTIONS);
    return this.#ask(options.signal, () =>
      this.#hiding(uri, options, () => this.#subscribe(uri, options)),
    );
  }

  async #subscribe(uri: string, options: ResourceOptions): Promise<void> {
    const located = await this.#locator.locate(uri, options);
    await this.#options.requests.run({
      from: located.from,
      content: { kind: "resource", name: located.uri },
      what: `subscribe:${this.#options.redact(located.uri)}`,
      args: { uri: this.#options.redact(located.uri) },
      given: { signal: options.signal },
      // An update names the resource; its text takes a read.
      asksNobody: true,
      ask: async (content, { board }) => {
        await located.from.subscribe(content, located.uri, this.#caller, board);
        return { content: [] };
      },
    });
  }

  async unsubscribe(uri: string, options: ResourceOptions = {}): Promise<void> {
    requireName("the URI", uri);
    requireOptions(options, OPTIONS);
    const { server } = options;
    const { caches } = this.#options;
    const among = server === undefined ? caches.all() : [caches.told(server)];
    await Promise.all(
      among.map((from) => from.unsubscribe(this.#locator.withSecrets(uri, from), this.#caller)),
    );
  }

  async complete(
    uriTemplate: string,
    argument: string,
    value: string,
    options: CompleteOptions = {},
  ): Promise<Completion> {
    requireName("the URI template", uriTemplate);
    requireCompletion(argument, value, options);
    requireOptions<ResourceOptions>(options, OPTIONS);
    const { signal, known = {} } = options;
    const of = { type: "ref/resource", uri: uriTemplate } as const;
    const ask = async (): Promise<Completion> => {
      const from = await this.#locator.locateTemplate(uriTemplate, options);
      return this.#options.requests.complete(from, { of, argument, value, known }, signal);
    };
    return this.#ask(signal, () =>
      hidingRefused(this.#options, ask, () => this.#locator.unknownTemplate(uriTemplate, options)),
    );
  }

  #ask<Result>(signal: AbortSignal | undefined, ask: () => Promise<Result>): Promise<Result> {
    return askServers(this.#options, signal, ask);
  }

  async context(options: ResourceBlockOptions = {}): Promise<string> {
    return (await this.block(options)).text;
  }

  async block(options: ResourceBlockOptions = {}): Promise<ResourceBlock> {
    requireOptions(options, { maxBytes: NUMBER });
    // Loaded on first use: boards whose caller builds no prompts do not need it.
    this.#context ??= import("./resource-context.ts").then(
      ({ ResourceContext: Context }) =>
        new Context({
          ...this.#options,
          subscriber: this.#prompt,
          permits: (from, uri) => this.#locator.permits(from, uri),
          read: (located, given) => this.#readFrom(located, { ...given, asksNobody: true }),
        }),
    );
    return (await this.#context).build(options.maxBytes);
  }

  /** Whether a change of the server's list can be one of what may be listed. */
  hasListed(server: string): boolean {
    const from = this.#options.caches.of(server);
    if (this.#options.guard.leaves(from.entry.definition, "resource")) return true;
    // The apps of tools are all that is left.
    const { resources = [] } = from.resources.known ?? {};
    return resources.some(({ uri }) => this.#locator.permits(from, uri));
  }

  /**
   * Of resources that have changed, those that may be named. If one may not be read, the subscribed resource that it is a
   * part of takes its place.
   */
  nameable(server: string, uris: readonly string[]): string[] {
    const from = this.#options.caches.of(server);
    const permits = (uri: string): boolean => this.#locator.permits(from, uri);
    const named = uris.flatMap((uri) =>
      permits(uri) ? uri : from.subscribedWholes(uri).filter(permits),
    );
    return [...new Set(named)];
  }

  isSubscribed(server: string, uri: string): boolean {
    return this.#options.caches.of(server).isSubscribed([this.#caller, this.#prompt], uri);
  }

  unsubscribeAll(): void {
    for (const each of this.#options.caches.all())
      each.unsubscribeAll([this.#caller, this.#prompt]);
  }
}
