// A list of one server's that is kept while it holds: asked for when somebody wants it, again when the server
// says that it has changed, has been started anew, or enough time has passed.

import type { Diagnostic } from "../../model/diagnostic.ts";
import { type PlugboardError, toPlugboardError } from "../../model/errors.ts";
import type { ServerContent } from "../../model/server-content.ts";
import { Relist } from "../../server/relist.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import type { Clock } from "../../util/clock.ts";

export interface CachedListOptions<List> {
  clock: Clock;
  refreshMs: number;
  ask: (content: ServerContent) => Promise<List>;
  /** What can be asked now; undefined while the server is down. */
  content: () => ServerContent | undefined;
  onChange: () => void;
  onError: (error: PlugboardError) => void;
}

export class CachedList<List extends { diagnostics: Diagnostic[] }> {
  readonly #options: CachedListOptions<List>;
  readonly #relist: Relist;
  #list: List | undefined;
  #text = "";
  #askedAt = -Infinity;
  #asking: Promise<void> | undefined;

  constructor(options: CachedListOptions<List>) {
    this.#options = options;
    this.#relist = new Relist(options.clock, () => this.#again());
  }

  /** What was last heard. */
  get known(): List | undefined {
    return this.#list;
  }

  /** Asks where what is known is too old, and the server can be asked. Rejects where nothing is known. */
  async fresh(): Promise<List | undefined> {
    const { clock, refreshMs, content } = this.#options;
    const age = clock.monotonic() - this.#askedAt;
    const from = content();
    if (from === undefined || (this.#list !== undefined && age < refreshMs)) return this.#list;
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

  /** The server says so, perhaps without end: it is asked again after a while, and only for who has asked before. */
  changed(): void {
    this.#relist.changed();
  }

  cancel(): void {
    this.#relist.cancel();
  }

  async #again(): Promise<void> {
    const content = this.#options.content();
    if (this.#list === undefined) return this.#options.onChange();
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
    const list = await this.#options.ask(content);
    this.#list = list;
    this.#text = canonicalJson(list);
    this.#askedAt = this.#options.clock.monotonic();
  }
}
