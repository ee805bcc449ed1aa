// Caches a list of one server. Asks for it on first use, and again when the server says that it has changed, when
// the server has restarted, or when the list is too old.

import { type PlugboardError, toPlugboardError } from "../../types/errors.ts";
import type { ServerContent } from "../../types/server-content.ts";
import { Relist } from "../../upstream/lists/relist.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import type { Clock } from "../../../util/clock.ts";

export interface CachedListOptions<List> {
  clock: Clock;
  refreshMs: () => number;
  ask: (content: ServerContent) => Promise<List>;
  /** The server to ask; undefined while it is down. */
  content: () => ServerContent | undefined;
  onChange: () => void;
  /** The list is known, and is not the one that was known before. */
  onListed?: () => void;
  onError: (error: PlugboardError) => void;
}

export class CachedList<List> {
  readonly #options: CachedListOptions<List>;
  readonly #relist: Relist;
  #list: List | undefined;
  #text = "";
  #askedAt = -Infinity;
  #failure: PlugboardError | undefined;
  #asking: Promise<void> | undefined;
  /** Somebody was given a list of all servers without this one, and has to hear when this list is there. */
  #isMissed = false;

  constructor(options: CachedListOptions<List>) {
    this.#options = options;
    this.#relist = new Relist(options.clock, () => this.#relistAfterChange());
  }

  /** The last list; undefined if there was none. */
  get known(): List | undefined {
    return this.#list;
  }

  /** The known list is one of an earlier run. */
  get isRecalled(): boolean {
    return this.#list !== undefined && this.#askedAt === -Infinity;
  }

  /** Takes a list of an earlier run, until the server is up. */
  recall(list: List): void {
    this.#list = list;
    this.#text = canonicalJson(list);
  }

  /** Why the server did not give the list when it was asked last. */
  get failure(): PlugboardError | undefined {
    return this.#failure;
  }

  /** Asks the server if the list is too old and the server is up. Rejects if that fails and there is no old list. */
  async fresh(): Promise<List | undefined> {
    const { clock, refreshMs, content } = this.#options;
    const age = clock.monotonic() - this.#askedAt;
    const from = content();
    if (from === undefined || (this.#list !== undefined && age < refreshMs())) return this.#list;
    this.#asking ??= this.#ask(from).finally(() => {
      this.#asking = undefined;
    });
    try {
      await this.#asking;
    } catch (error) {
      const reason = toPlugboardError(error, "PROTOCOL");
      if (this.#list === undefined) throw reason;
      this.#options.onError(reason);
    }
    return this.#list;
  }

  /** Call this when somebody goes on without the list, because the server is down or slow. */
  missed(): void {
    this.#isMissed = true;
  }

  /** Call this when the server is up again, with another list perhaps. `has` says whether it has such a list at all. */
  connected(has: boolean): void {
    if (this.#list !== undefined || (this.#isMissed && has)) this.changed();
  }

  /** Call this when the server says that its list has changed. It is asked again at most once per second. */
  changed(): void {
    this.#relist.changed();
  }

  /** Asks again now. Never rejects. */
  listAgain(): Promise<void> {
    return this.#relist.now();
  }

  cancel(): void {
    this.#relist.cancel();
  }

  async #relistAfterChange(): Promise<void> {
    const content = this.#options.content();
    if (this.#list === undefined) {
      this.#isMissed = false;
      return this.#options.onChange();
    }
    if (content === undefined) return;
    const before = this.#text;
    try {
      await this.#ask(content);
    } catch (error) {
      this.#options.onError(toPlugboardError(error, "PROTOCOL"));
    }
    if (this.#text !== before) this.#options.onChange();
  }

  async #ask(content: ServerContent): Promise<void> {
    const list = await this.#options.ask(content).catch((error: unknown) => {
      this.#failure = toPlugboardError(error, "PROTOCOL");
      throw this.#failure;
    });
    this.#failure = undefined;
    const before = this.#text;
    this.#list = list;
    this.#text = canonicalJson(list);
    this.#askedAt = this.#options.clock.monotonic();
    if (this.#text !== before) this.#options.onListed?.();
    if (!this.#isMissed) return;
    this.#isMissed = false;
    this.#options.onChange();
  }
}
