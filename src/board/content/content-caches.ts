// Resources and prompts of all servers of a board, in the order of the configuration, and the way to ask
// the servers that have not been asked yet.

import type { Diagnostic } from "../../model/diagnostic.ts";
import { cancelled, toPlugboardError } from "../../model/errors.ts";
import type { Logger } from "../../model/logger.ts";
import { untilAborted } from "../../util/abort.ts";
import { type Clock, within } from "../../util/clock.ts";
import type { CachedList } from "./cached-list.ts";
import { ContentCache, type ContentCacheOptions } from "./content-cache.ts";
import type { ServerEntry } from "../server-entry.ts";
import type { ServerSet } from "../server-set.ts";

export interface ContentCachesOptions extends Pick<
  ContentCacheOptions,
  "onResources" | "onPrompts"
> {
  servers: ServerSet;
  clock: Clock;
  logger: Logger;
  /** The agent's, for a session's board: what a shared server has is cached once. */
  base?: ContentCaches;
}

export interface Heard<List> {
  from: ContentCache;
  list: List;
}

const PATIENCE_MS = 2000;

/** Which of a server's lists. */
type Choice<List extends { diagnostics: Diagnostic[] }> = (
  content: ContentCache,
) => CachedList<List>;

export class ContentCaches {
  readonly #options: ContentCachesOptions;
  readonly #known = new Map<ServerEntry, ContentCache>();

  constructor(options: ContentCachesOptions) {
    this.#options = options;
    const { servers } = options;
    servers.events.on("state", ({ entry, state }) => {
      // A shared server's connection is the base's business.
      const content = servers.isOwn(entry) ? entry.supervisor.live?.content : undefined;
      if (state.kind === "ready" && content !== undefined) this.#at(entry).connected(content);
    });
    servers.events.on("removed", (entry) => {
      this.#known.get(entry)?.close();
      this.#known.delete(entry);
    });
  }

  /** Throws UNKNOWN_SERVER. */
  of(server: string): ContentCache {
    return this.#at(this.#options.servers.named(server));
  }

  all(): ContentCache[] {
    return this.#options.servers.all().map((entry) => this.#at(entry));
  }

  /** What there is of one server; rejects where it cannot be asked and nothing is known. */
  async one<List extends { diagnostics: Diagnostic[] }>(
    server: string,
    pick: Choice<List>,
    signal?: AbortSignal,
  ): Promise<Heard<List>[]> {
    const from = this.of(server);
    const kept = pick(from);
    const { supervisor } = from.entry;
    if (kept.known === undefined && supervisor.live === undefined) await supervisor.acquire(signal);
    const list = await untilAborted(kept.fresh(), signal, cancelled);
    return list === undefined ? [] : [{ from, list }];
  }

  /**
   * What there is of all; a server that cannot be asked is left out, or has what was last heard of it.
   * Without `wakes` none is started for it, or waited for: somebody wants an answer now.
   */
  async every<List extends { diagnostics: Diagnostic[] }>(
    pick: Choice<List>,
    { signal, wakes = true }: { signal?: AbortSignal | undefined; wakes?: boolean } = {},
  ): Promise<Heard<List>[]> {
    const heard = this.all().map(async (from): Promise<Heard<List>[]> => {
      const kept = pick(from);
      if (kept.known === undefined && wakes) await this.#awake(from.entry);
      try {
        const list = await (wakes ? kept.fresh() : this.#soon(kept));
        return list === undefined ? [] : [{ from, list }];
      } catch (error) {
        const { message } = toPlugboardError(error, "PROTOCOL");
        const { name: server } = from.entry.definition;
        this.#options.logger.warn(`resources or prompts could not be listed: ${message}`, {
          server,
        });
        return [];
      }
    });
    return (await untilAborted(Promise.all(heard), signal, cancelled)).flat();
  }

  diagnostics(entry: ServerEntry): Diagnostic[] {
    return this.#ownerOf(entry).#known.get(entry)?.diagnostics ?? [];
  }

  close(): void {
    for (const known of this.#known.values()) known.close();
  }

  /** What has failed is not woken up for a list of everything. */
  async #awake({ supervisor, definition }: ServerEntry): Promise<void> {
    const { kind } = supervisor.state;
    if (kind !== "starting" && kind !== "idle") return;
    const start = supervisor.start(definition.lazy);
    await within(this.#options.clock, definition.timeout, start);
  }

  /** A server that takes its time has what was last heard of it, and is asked on. */
  async #soon<List extends { diagnostics: Diagnostic[] }>(
    kept: CachedList<List>,
  ): Promise<List | undefined> {
    return (await within(this.#options.clock, PATIENCE_MS, kept.fresh())) ?? kept.known;
  }

  #at(entry: ServerEntry): ContentCache {
    const caches = this.#ownerOf(entry);
    const known = caches.#known.get(entry) ?? new ContentCache({ ...caches.#options, entry });
    caches.#known.set(entry, known);
    return known;
  }

  #ownerOf(entry: ServerEntry): ContentCaches {
    const { base } = this.#options;
    return base !== undefined && base.#options.servers.isOwn(entry) ? base : this;
  }
}
