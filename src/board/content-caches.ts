// Resources and prompts of all servers of a board, in the order of the configuration, and the way to ask
// the servers that have not been asked yet.

import type { Diagnostic } from "../model/diagnostic.ts";
import { cancelled, toPlugboardError } from "../model/errors.ts";
import type { Logger } from "../model/logger.ts";
import { untilAborted } from "../util/abort.ts";
import { type Clock, within } from "../util/clock.ts";
import type { CachedList } from "./cached-list.ts";
import { ContentCache, type ContentCacheOptions } from "./content-cache.ts";
import { type Slot, slotNamed } from "./slot.ts";

export interface ContentCachesOptions extends Pick<
  ContentCacheOptions,
  "onResources" | "onPrompts"
> {
  slots: ReadonlyMap<string, Slot>;
  clock: Clock;
  logger: Logger;
  /** Of the board that this one is laid over: what is known of its servers is known once. */
  shared?: ContentCaches;
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
  readonly #known = new Map<Slot, ContentCache>();

  constructor(options: ContentCachesOptions) {
    this.#options = options;
  }

  /** Throws UNKNOWN_SERVER. */
  of(server: string): ContentCache {
    return this.#at(slotNamed(server, this.#options.slots));
  }

  all(): ContentCache[] {
    return [...this.#options.slots.values()].map((slot) => this.#at(slot));
  }

  /** Its server has become ready. */
  connected(server: string): void {
    const { content } = this.of(server).slot.supervisor.live ?? {};
    if (content !== undefined) this.of(server).connected(content);
  }

  /** What there is of one server; rejects where it cannot be asked and nothing is known. */
  async one<List extends { diagnostics: Diagnostic[] }>(
    server: string,
    pick: Choice<List>,
    signal?: AbortSignal,
  ): Promise<Heard<List>[]> {
    const from = this.of(server);
    const kept = pick(from);
    const { supervisor } = from.slot;
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
      if (kept.known === undefined && wakes) await this.#awake(from.slot);
      try {
        const list = await (wakes ? kept.fresh() : this.#soon(kept));
        return list === undefined ? [] : [{ from, list }];
      } catch (error) {
        const { message } = toPlugboardError(error, "PROTOCOL");
        const { name: server } = from.slot.definition;
        this.#options.logger.warn(`resources or prompts could not be listed: ${message}`, {
          server,
        });
        return [];
      }
    });
    return (await untilAborted(Promise.all(heard), signal, cancelled)).flat();
  }

  diagnostics(slot: Slot): Diagnostic[] {
    const { shared } = this.#options;
    const known = shared?.has(slot) ? shared.#known.get(slot) : this.#known.get(slot);
    return known?.diagnostics ?? [];
  }

  /** Whether the server is one of this board's. */
  has(slot: Slot): boolean {
    return this.#options.slots.get(slot.definition.name) === slot;
  }

  /** The server is taken off the board. */
  forget(slot: Slot): void {
    this.#known.get(slot)?.close();
    this.#known.delete(slot);
  }

  close(): void {
    for (const known of this.#known.values()) known.close();
  }

  /** What has failed is not woken up for a list of everything. */
  async #awake({ supervisor, definition }: Slot): Promise<void> {
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

  #at(slot: Slot): ContentCache {
    const { shared } = this.#options;
    if (shared?.has(slot)) return shared.#at(slot);
    const known = this.#known.get(slot) ?? new ContentCache({ ...this.#options, slot });
    this.#known.set(slot, known);
    return known;
  }
}
