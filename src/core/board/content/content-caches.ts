// The content caches of all servers of a board. Lists resources and prompts across servers, and starts servers
// that have not been asked yet.

import type { ContentKind, ContentName } from "../../types/content-pattern.ts";
import type { Diagnostic } from "../../types/diagnostic.ts";
import { cancelled, toPlugboardError } from "../../types/errors.ts";
import { type Logger, loggerFor } from "../../types/logger.ts";
import { toolName, type ToolName } from "../../types/tool-pattern.ts";
import type { ListOptions } from "../../types/resource.ts";
import type { PromptList, ResourceList } from "../../types/server-content.ts";
import { untilAborted } from "../../../util/abort.ts";
import { type Clock, within } from "../../../util/clock.ts";
import type { CachedList } from "./cached-list.ts";
import { ContentCache, type ContentCacheOptions } from "./content-cache.ts";
import { contentSubject } from "./content-subject.ts";
import type { BoardGuard } from "../guard.ts";
import type { ServerEntry } from "../server-entry.ts";
import type { ServerSet } from "../server-set.ts";

export interface ContentCachesOptions extends Pick<
  ContentCacheOptions,
  "onResources" | "onPrompts" | "onListed"
> {
  servers: ServerSet;
  guard: ContentCacheOptions["guard"] & Pick<BoardGuard, "leaves">;
  clock: Clock;
  logger: Logger;
  /** For a session's board: the agent's, where the content of shared servers is cached once for all sessions. */
  base?: ContentCaches;
}

/** A list, and the cache of the server that it comes from. */
export interface ListFrom<List> {
  from: ContentCache;
  list: List;
}

export interface ListingOptions extends ListOptions {
  signal?: AbortSignal | undefined;
}

/** How long `listAll` waits for a server that is up, if it does not wait for those that are not. */
const LIST_WAIT_MS = 2000;

/** A server's lists. */
interface Lists {
  resources: ResourceList;
  prompts: PromptList;
}

export class ContentCaches {
  readonly #options: ContentCachesOptions;
  readonly #caches = new Map<ServerEntry, ContentCache>();

  constructor(options: ContentCachesOptions) {
    this.#options = options;
    const { servers } = options;
    servers.events.on("state", ({ entry, state }) => {
      // The base handles the connections of shared servers.
      const content = servers.isOwn(entry) ? entry.supervisor.live?.content : undefined;
      if (state.kind === "ready" && content !== undefined) this.#at(entry).connected(content);
    });
    servers.events.on("replaced", ({ before, entry }) => {
      const cache = this.#caches.get(before);
      if (cache !== undefined) this.#at(entry).takeOver(cache);
    });
    servers.events.on("removed", (entry) => {
      this.#caches.get(entry)?.close();
      this.#caches.delete(entry);
    });
  }

  /** Throws UNKNOWN_SERVER. */
  of(server: string): ContentCache {
    return this.#at(this.#options.servers.named(server));
  }

  /** For a name that the board's user gives. Throws UNKNOWN_SERVER, also for a server of which they are not told. */
  told(server: string): ContentCache {
    return this.#at(this.#options.servers.told(server));
  }

  all(): ContentCache[] {
    return this.#options.servers.all().map((entry) => this.#at(entry));
  }

  /**
   * Those of which the board's user is told; with a kind, of which the rules leave content of it, for shared servers. A tool
   * that is left may have an app, which is a resource.
   */
  reached(kind?: ContentKind): ContentCache[] {
    const { servers, guard } = this.#options;
    const leaves = ({ definition }: ServerEntry): boolean =>
      guard.leaves(definition, kind) || (kind === "resource" && guard.leaves(definition, "tool"));
    return servers
      .reached()
      .filter((entry) => servers.isOwn(entry) || leaves(entry))
      .map((entry) => this.#at(entry));
  }

  /** The list of one server, or else the lists of all. */
  list<Kind extends keyof Lists>(
    kind: Kind,
    server: string | undefined,
    { signal, wait = true }: ListingOptions = {},
  ): Promise<ListFrom<Lists[Kind]>[]> {
    return server === undefined
      ? this.listAll(kind, { signal, start: wait ? "wait" : "background" })
      : this.#listOf(server, kind, signal);
  }

  /** Rejects if the server cannot be asked and its list is not known. */
  async #listOf<Kind extends keyof Lists>(
    server: string,
    kind: Kind,
    signal?: AbortSignal,
  ): Promise<ListFrom<Lists[Kind]>[]> {
    const from = this.told(server);
    const cached = listIn(from, kind);
    const { supervisor } = from.entry;
    if (supervisor.live === undefined && (cached.known === undefined || cached.isRecalled)) {
      const acquired = supervisor.acquire(signal);
      await (cached.isRecalled ? acquired.catch(() => {}) : acquired);
    }
    const list = await untilAborted(cached.fresh(), signal, cancelled);
    return list === undefined ? [] : [{ from, list }];
  }

  /**
   * The lists of all servers. A server that cannot be asked has its last known list, or is left out. `start` says what
   * becomes of one that has never been asked and does not run. Unless it is waited for, slow servers have their last
   * known list too; with `background`, the board tells when it can be had.
   */
  async listAll<Kind extends keyof Lists>(
    kind: Kind,
    { signal, start }: { signal?: AbortSignal; start: "wait" | "background" | "never" },
  ): Promise<ListFrom<Lists[Kind]>[]> {
    const among = this.reached(kind === "prompts" ? "prompt" : "resource");
    const lists = among.map(async (from): Promise<ListFrom<Lists[Kind]>[]> => {
      const cached = listIn(from, kind);
      if ((cached.known === undefined || cached.isRecalled) && start !== "never") {
        const started = this.#startIfIdle(from.entry);
        if (start === "wait") await started;
      }
      try {
        const list = await (start === "wait" ? cached.fresh() : this.#freshOrKnown(cached));
        if (list === undefined && start === "background") cached.missed();
        return list === undefined ? [] : [{ from, list }];
      } catch (error) {
        const { message } = toPlugboardError(error, "PROTOCOL");
        const logger = loggerFor(from.entry.name, this.#options.logger);
        logger.warn(`resources or prompts could not be listed: ${message}`);
        return [];
      }
    });
    return (await untilAborted(Promise.all(lists), signal, cancelled)).flat();
  }

  /** All resources, templates and prompts that were listed, as rules see them. */
  knownNames(): ToolName[] {
    return this.all().flatMap(({ entry, resources, prompts }) => {
      const { resources: listed = [], templates = [] } = resources.known ?? {};
      const contents: ContentName[] = [
        ...listed.map(({ uri }) => ({ kind: "resource" as const, name: uri })),
        ...templates.map(({ uriTemplate: name }) => {
          return { kind: "resource" as const, name, isTemplate: true as const };
        }),
        ...(prompts.known?.prompts ?? []).map(({ name }) => ({ kind: "prompt" as const, name })),
      ];
      return contents.map((content) => toolName(contentSubject(entry, content)));
    });
  }

  /** Whether the server's list is known. */
  isListed(server: string, kind: ContentKind): boolean {
    const from = this.all().find(({ entry }) => entry.name === server);
    return (kind === "resource" ? from?.resources : from?.prompts)?.known !== undefined;
  }

  /** Call this when the settings of an own server have changed. */
  settingsChanged(entry: ServerEntry, isPinnedAnew: boolean): void {
    this.#caches.get(entry)?.settingsChanged(isPinnedAnew);
  }

  diagnostics(entry: ServerEntry): Diagnostic[] {
    return this.#ownerOf(entry).#caches.get(entry)?.diagnostics ?? [];
  }

  close(): void {
    for (const cache of this.#caches.values()) cache.close();
  }

  /** Does not start servers that have failed: somebody who lists everything did not ask for them. */
  async #startIfIdle({ supervisor, definition }: ServerEntry): Promise<void> {
    const { kind } = supervisor.state;
    if (kind !== "starting" && kind !== "idle") return;
    await supervisor.attempt(definition.lazy);
  }

  /** A slow server has its last known list. Its answer is used next time. */
  async #freshOrKnown<List>(cached: CachedList<List>): Promise<List | undefined> {
    return (await within(this.#options.clock, LIST_WAIT_MS, cached.fresh())) ?? cached.known;
  }

  #at(entry: ServerEntry): ContentCache {
    const caches = this.#ownerOf(entry);
    const known = caches.#caches.get(entry) ?? caches.#make(entry);
    caches.#caches.set(entry, known);
    return known;
  }

  #make(entry: ServerEntry): ContentCache {
    const { servers } = this.#options;
    const save = servers.saveContents.bind(servers);
    return new ContentCache({ ...this.#options, entry, save });
  }

  #ownerOf(entry: ServerEntry): ContentCaches {
    const { base } = this.#options;
    return base !== undefined && base.#options.servers.isOwn(entry) ? base : this;
  }
}

function listIn<Kind extends keyof Lists>(from: ContentCache, kind: Kind): CachedList<Lists[Kind]> {
  const lists: { [Each in keyof Lists]: CachedList<Lists[Each]> } = from;
  return lists[kind];
}
