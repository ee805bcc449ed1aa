// The subscription of 2026-07-28: one stream of the changes that the host wants to hear of. It is opened
// again when it ends, and replaced when the host wants to hear of something else.

import type { Client, McpSubscription, SubscriptionFilter } from "@modelcontextprotocol/client";
import { type PlugboardError, toPlugboardError } from "../../types/errors.ts";
import type { Clock } from "../../../util/clock.ts";

const REOPEN_MS = 1000;
const LONGEST_REOPEN_MS = 30_000;

export interface ChangeStreamOptions {
  client: Pick<Client, "listen" | "transport" | "getServerCapabilities">;
  clock: Clock;
  timeout: number;
  onError: (error: PlugboardError) => void;
  /** For a while we did not listen: anything may have changed meanwhile. */
  onMissed: () => void;
}

export class ChangeStream {
  readonly #options: ChangeStreamOptions;
  #uris: ReadonlySet<string> = new Set();
  #current: McpSubscription | undefined;
  /** The update under way, and the one that waits for its end. */
  #last: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #wait = REOPEN_MS;

  constructor(options: ChangeStreamOptions) {
    this.#options = options;
  }

  /** Listens to changes of lists, if the server reports any. */
  start(): void {
    void this.#update().catch((error: unknown) => this.#failed(error));
  }

  /** Resolves when the server has said which of these resources it will report on; rejects if it cannot. */
  async subscribe(uris: ReadonlySet<string>): Promise<void> {
    this.#uris = uris;
    await this.#update();
  }

  /** Whether the server reports on this resource. */
  covers(uri: string): boolean {
    return this.#current?.honoredFilter.resourceSubscriptions?.includes(uri) ?? false;
  }

  /** Updates that come while one is under way are made together after it. */
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

  /** Opens the new stream before it closes the old one, so that nothing is missed in between. */
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
        // A stream that lasted a while is opened again soon; one that keeps ending at once, less and less often.
        if (clock.monotonic() - since > LONGEST_REOPEN_MS) this.#wait = REOPEN_MS;
        this.#reopen();
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
    this.#reopen();
  }

  #reopen(): void {
    const { client, clock, onMissed } = this.#options;
    if (client.transport === undefined) return;
    const wait = this.#wait;
    this.#wait = Math.min(wait * 2, LONGEST_REOPEN_MS);
    clock.later(wait, () => {
      if (client.transport === undefined) return;
      void this.#update().then(onMissed, (error: unknown) => {
        onMissed();
        this.#failed(error);
      });
    });
  }
}
