// The subscription of 2026-07-28: one stream of what the host wants to hear of, opened again when it ends,
// and replaced when something else is wanted.

import type { Client, McpSubscription, SubscriptionFilter } from "@modelcontextprotocol/client";
import { type PlugboardError, toPlugboardError } from "../model/errors.ts";
import type { Clock } from "../util/clock.ts";

const RELISTEN_MS = 1000;
const LONGEST_RELISTEN_MS = 30_000;

export interface ListeningOptions {
  client: Pick<Client, "listen" | "transport" | "getServerCapabilities">;
  clock: Clock;
  timeout: number;
  onError: (error: PlugboardError) => void;
  /** For a while nobody listened: whatever it was about may have changed. */
  onMissed: () => void;
}

export class Listening {
  readonly #options: ListeningOptions;
  #uris: ReadonlySet<string> = new Set();
  #current: McpSubscription | undefined;
  /** The change under way, and the one that waits for its end. */
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #wait = RELISTEN_MS;

  constructor(options: ListeningOptions) {
    this.#options = options;
  }

  /** To the changes of lists, where the server tells of any. */
  start(): void {
    void this.#update().catch((error: unknown) => this.#failed(error));
  }

  /** Resolves when the server has said whether it will tell of these resources; rejects where it cannot. */
  async want(uris: ReadonlySet<string>): Promise<void> {
    this.#uris = uris;
    await this.#update();
  }

  /** Whether the server tells of this one. */
  hears(uri: string): boolean {
    return this.#current?.honoredFilter.resourceSubscriptions?.includes(uri) ?? false;
  }

  /** Changes that come while one is under way are made together after it. */
  #update(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    const next = this.#last
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.#open();
      });
    this.#next = next;
    this.#last = next;
    return next;
  }

  /** The new stream is there before the old one ends: nothing is missed in between. */
  async #open(): Promise<void> {
    const { client, clock, timeout } = this.#options;
    const before = this.#current;
    const filter = this.#filter();
    if (Object.keys(filter).length === 0) {
      this.#current = undefined;
    } else {
      const opened = await client.listen(filter, { timeout });
      const since = clock.monotonic();
      this.#current = opened;
      void opened.closed.then(() => {
        if (this.#current !== opened) return;
        // One that held for a while ended for a reason of its own; one that ends at once is not chased.
        if (clock.monotonic() - since > LONGEST_RELISTEN_MS) this.#wait = RELISTEN_MS;
        this.#relisten();
      });
    }
    await before?.close();
  }

  #filter(): SubscriptionFilter {
    const { tools, resources, prompts } = this.#options.client.getServerCapabilities() ?? {};
    return {
      ...(tools?.listChanged === true && { toolsListChanged: true }),
      ...(resources?.listChanged === true && { resourcesListChanged: true }),
      ...(prompts?.listChanged === true && { promptsListChanged: true }),
      ...(this.#uris.size > 0 && { resourceSubscriptions: [...this.#uris] }),
    };
  }

  #failed(error: unknown): void {
    this.#options.onError(toPlugboardError(error, "PROTOCOL"));
    this.#relisten();
  }

  #relisten(): void {
    const { client, clock, onMissed } = this.#options;
    if (client.transport === undefined) return;
    const wait = this.#wait;
    this.#wait = Math.min(wait * 2, LONGEST_RELISTEN_MS);
    clock.later(wait, () => {
      if (client.transport === undefined) return;
      void this.#update().then(onMissed, (error: unknown) => {
        onMissed();
        this.#failed(error);
      });
    });
  }
}
