// The resources and prompts of a board in two parts: those of a named server from its part, else the command's own first.

import type { BoardBase } from "../../core/types/board.ts";
import { PlugboardError, unknownServer } from "../../core/types/errors.ts";
import type {
  BoardPrompts,
  Prompt,
  PromptCompleteOptions,
  PromptMessage,
  PromptOptions,
  PromptResult,
} from "../../core/types/prompt.ts";
import {
  type CompleteOptions,
  type Completion,
  isOfferedResources,
  type OfferedResources,
  type Resource,
  type ResourceBlock,
  type ResourceBlockOptions,
  type ResourceOptions,
  type ResourceReading,
  type ResourceReadOptions,
  type ResourceTemplate,
} from "../../core/types/resource.ts";
import { closest } from "../../util/closest.ts";
import { compileGlob } from "../../util/glob.ts";
import { oneLine } from "../../util/text.ts";

const MAX_BLOCK_BYTES = 64 * 1024;
const BETWEEN_BLOCKS = "\n\n";

export interface Parts {
  own: BoardBase | undefined;
  isOwn: (server: string) => boolean;
  hasOwnServers: () => boolean;
  /** The shared part as it was last known. */
  last: () => BoardBase;
  /** The shared part, as soon as there is one. */
  shared: (signal?: AbortSignal) => Promise<BoardBase>;
  /** Asks the shared part, and the next one if it is lost meanwhile. */
  again: <Result>(
    ask: (shared: BoardBase) => Promise<Result>,
    signal?: AbortSignal,
  ) => Promise<Result>;
  /** The names of all servers. */
  names: () => string[];
}

/** Finds the part that something is asked of. */
class PartFinder {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The own part, if it has servers. */
  get own(): BoardBase | undefined {
    return this.#parts.hasOwnServers() ? this.#parts.own : undefined;
  }

  /** The own part, if it has the server, or servers at all where none is named. Throws UNKNOWN_SERVER. */
  ownFor(server: string | undefined): BoardBase | undefined {
    const { own } = this;
    if (own === undefined || server === undefined || this.#parts.isOwn(server)) return own;
    const names = this.#parts.names();
    if (!names.includes(server)) throw unknownServer(server, names);
    return undefined;
  }

  /** What the part with the server lists, or both parts where none is named, the own one first. */
  async merged<Item>(
    server: string | undefined,
    list: (part: BoardBase) => Promise<Item[]>,
  ): Promise<Item[]> {
    const own = this.ownFor(server);
    if (own === undefined) return this.#parts.again(list);
    if (server !== undefined) return list(own);
    const [mine, theirs] = await Promise.all([list(own), this.#parts.again(list)]);
    return [...mine, ...theirs];
  }
}

export class OverlayResources implements OfferedResources {
  readonly #parts: Parts;
  readonly #finder: PartFinder;
  /** What the command has subscribed to on the shared part, for the next one. */
  readonly #subscribed = new Map<string, { uri: string; server: string | undefined }>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#finder = new PartFinder(parts);
  }

  get hasAny(): boolean {
    const { own, last } = this.#parts;
    return [own, last()].some(
      (part) => part && isOfferedResources(part.resources) && part.resources.hasAny,
    );
  }

  async list(server?: string): Promise<Resource[]> {
    return this.#finder.merged(server, (part) => part.resources.list(server));
  }

  async templates(server?: string): Promise<ResourceTemplate[]> {
    return this.#finder.merged(server, (part) => part.resources.templates(server));
  }

  async read(uri: string, options: ResourceReadOptions = {}): Promise<ResourceReading> {
    const part = await this.#locate(uri, options);
    return part.resources.read(uri, options);
  }

  async readOffered(
    uri: string,
    options: ResourceOptions & { callId?: string },
  ): Promise<ResourceReading> {
    const { server, signal } = options;
    const own = this.#finder.ownFor(server);
    if (own === undefined) return this.#readShared(uri, options);
    try {
      return await offered(own).readOffered(uri, options);
    } catch (error) {
      if (!isUnknownResource(error) || server !== undefined) throw error;
    }
    try {
      return await this.#readShared(uri, options);
    } catch (error) {
      if (!isUnknownResource(error)) throw error;
      const [mine, theirs] = await Promise.all([
        own.resources.list(),
        this.#parts.again(({ resources }) => resources.list(), signal),
      ]);
      const listed = [...mine, ...theirs].map((each) => each.uri);
      throw unknownResource(uri, listed, "list_resources finds what can be read");
    }
  }

  async #readShared(
    uri: string,
    options: ResourceOptions & { callId?: string },
  ): Promise<ResourceReading> {
    return offered(await this.#parts.shared(options.signal)).readOffered(uri, options);
  }

  async subscribe(uri: string, options: ResourceOptions = {}): Promise<void> {
    const part = await this.#locate(uri, options);
    await part.resources.subscribe(uri, options);
    const { server } = options;
    if (part !== this.#parts.own) this.#subscribed.set(keyOf(uri, server), { uri, server });
  }

  async unsubscribe(uri: string, options: ResourceOptions = {}): Promise<void> {
    const { server, signal } = options;
    this.#subscribed.delete(keyOf(uri, server));
    const own = this.#finder.ownFor(server);
    await own?.resources.unsubscribe(uri, options);
    if (server !== undefined && own !== undefined) return;
    await (await this.#parts.shared(signal)).resources.unsubscribe(uri, options);
  }

  /** Subscribes again, on a shared part that has taken the place of another. */
  resubscribe(shared: BoardBase, onFailure: (error: unknown) => void): void {
    for (const { uri, server } of this.#subscribed.values()) {
      const options = server === undefined ? {} : { server };
      shared.resources.subscribe(uri, options).catch(onFailure);
    }
  }

  async complete(
    uriTemplate: string,
    argument: string,
    value: string,
    options: CompleteOptions = {},
  ): Promise<Completion> {
    const { server, signal } = options;
    let own = this.#finder.ownFor(server);
    if (server === undefined && own !== undefined) {
      const templates = await own.resources.templates();
      if (!templates.some((each) => each.uriTemplate === uriTemplate)) own = undefined;
    }
    const ask = ({ resources }: BoardBase): Promise<Completion> =>
      resources.complete(uriTemplate, argument, value, options);
    return own === undefined ? this.#parts.again(ask, signal) : ask(own);
  }

  async context(options: ResourceBlockOptions = {}): Promise<string> {
    return (await this.block(options)).text;
  }

  async block({ maxBytes = MAX_BLOCK_BYTES }: ResourceBlockOptions = {}): Promise<ResourceBlock> {
    const { own } = this.#finder;
    const shared = await this.#parts.again(({ resources }) => resources.block({ maxBytes }));
    if (own === undefined) return shared;
    const used = shared.text === "" ? 0 : Buffer.byteLength(shared.text + BETWEEN_BLOCKS);
    const budget = Math.min(maxBytes, MAX_BLOCK_BYTES);
    const mine = await own.resources.block({ maxBytes: Math.max(0, budget - used) });
    return {
      text: joined(shared.text, mine.text),
      names: joined(shared.names, mine.names),
      shown: [...shared.shown, ...mine.shown],
      others: shared.others + mine.others,
    };
  }

  /** The part that lists the URI, whose template fits it best, or which alone has resources. */
  async #locate(uri: string, { server, signal }: ResourceOptions): Promise<BoardBase> {
    const own = this.#finder.ownFor(server);
    if (own === undefined) return this.#parts.shared(signal);
    if (server !== undefined) return own;
    const lists = async (part: BoardBase): Promise<{ uris: string[]; fit: number }> => {
      const listed = await part.resources.list();
      const templates = await part.resources.templates();
      const fit = Math.max(-1, ...templates.map((each) => fitOf(each.uriTemplate, uri)));
      return { uris: listed.map((each) => each.uri), fit };
    };
    const [mine, theirs] = await Promise.all([lists(own), this.#parts.again(lists, signal)]);
    if (mine.uris.includes(uri)) return own;
    const shared = await this.#parts.shared(signal);
    if (theirs.uris.includes(uri)) return shared;
    if (mine.fit >= 0 || theirs.fit >= 0) return mine.fit >= theirs.fit ? own : shared;
    const having = [own, shared].filter(({ resources }) => offeredIn(resources).hasAny);
    const [only, ...others] = having;
    if (only !== undefined && others.length === 0) return only;
    const advice = "if a server has it without listing it, name the server";
    throw unknownResource(uri, [...mine.uris, ...theirs.uris], advice);
  }
}

export class OverlayPrompts implements BoardPrompts {
  readonly #parts: Parts;
  readonly #finder: PartFinder;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#finder = new PartFinder(parts);
  }

  async list(server?: string): Promise<Prompt[]> {
    return this.#finder.merged(server, ({ prompts }) => prompts.list(server));
  }

  async get(
    name: string,
    args: Record<string, string> = {},
    options: PromptOptions = {},
  ): Promise<PromptResult> {
    const part = await this.#locate(name, options.signal);
    return this.#withBoth(name, part.prompts.get(name, args, options));
  }

  forModel(result: PromptResult): PromptMessage[] {
    const { own, last, isOwn } = this.#parts;
    const part = own !== undefined && isOwn(result.server) ? own : last();
    return part.prompts.forModel(result);
  }

  async complete(
    name: string,
    argument: string,
    value: string,
    options: PromptCompleteOptions = {},
  ): Promise<Completion> {
    const part = await this.#locate(name, options.signal);
    return this.#withBoth(name, part.prompts.complete(name, argument, value, options));
  }

  async #locate(name: string, signal: AbortSignal | undefined): Promise<BoardBase> {
    const { own } = this.#finder;
    if (own === undefined) return this.#parts.shared(signal);
    const slash = name.indexOf("/");
    if (slash > 0 && this.#parts.isOwn(name.slice(0, slash))) return own;
    const isOfShared = slash > 0 && this.#parts.names().includes(name.slice(0, slash));
    const isMine = !isOfShared && (await own.prompts.list()).some((each) => each.name === name);
    return isMine ? own : this.#parts.shared(signal);
  }

  /** What is near a name that nobody knows may be in the part that was not asked. */
  async #withBoth<Result>(name: string, asked: Promise<Result>): Promise<Result> {
    try {
      return await asked;
    } catch (error) {
      const isUnknown = error instanceof PlugboardError && error.code === "UNKNOWN_PROMPT";
      if (!isUnknown || this.#finder.own === undefined) throw error;
      const listed = await this.list();
      const meant = closest(
        name,
        listed.flatMap((each) => [`${each.server}/${each.name}`, each.name]),
      );
      const hint = meant === undefined ? undefined : `did you mean '${oneLine(meant, 200)}'?`;
      throw new PlugboardError(error.code, error.message, { hint });
    }
  }
}

function offered({ resources }: BoardBase): OfferedResources {
  return offeredIn(resources);
}

function offeredIn(resources: BoardBase["resources"]): OfferedResources {
  if (isOfferedResources(resources)) return resources;
  throw new PlugboardError("UNSUPPORTED", "these resources cannot be offered to a model");
}

function isUnknownResource(error: unknown): boolean {
  return error instanceof PlugboardError && error.code === "UNKNOWN_RESOURCE";
}

function unknownResource(uri: string, listed: readonly string[], advice: string): PlugboardError {
  const meant = closest(uri, listed);
  return new PlugboardError("UNKNOWN_RESOURCE", `no server lists '${oneLine(uri, 500)}'`, {
    hint: meant === undefined ? advice : `did you mean '${meant}'?`,
  });
}

function keyOf(uri: string, server: string | undefined): string {
  return JSON.stringify([uri, server]);
}

function joined(one: string, other: string): string {
  return [one, other].filter((text) => text !== "").join(BETWEEN_BLOCKS);
}

/** How many characters of the URI the template spells out, or -1 if it does not match. */
function fitOf(uriTemplate: string, uri: string): number {
  const pattern = uriTemplate.replace(/\{[^{}]*\}/g, "*");
  return compileGlob(pattern)(uri) ? pattern.replaceAll("*", "").length : -1;
}
