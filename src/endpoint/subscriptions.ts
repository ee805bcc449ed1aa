// What clients have subscribed to. However many clients want a resource, and by whichever of its URIs, the board
// subscribes to it once, and ends that with the last of them.

import type { BoardBase } from "../model/board.ts";
import { keyOf, type Original } from "./names.ts";

/** A resource, and its server if that is known. */
export type Target = Original | { server: undefined; name: string };

interface Subscription {
  readonly target: Target;
  /** How many clients use each URI. */
  readonly uris: Map<string, number>;
  readonly begun: Promise<void>;
}

export class Subscriptions {
  readonly #resources: Pick<BoardBase["resources"], "subscribe" | "unsubscribe">;
  readonly #targetOf: (uri: string) => Target;
  readonly #byTarget = new Map<string, Subscription>();
  readonly #byUri = new Map<string, Subscription>();
  /** The board is still ending these: one that begins again waits for it. */
  readonly #ending = new Map<string, Promise<void>>();

  /** `targetOf` says what a client means by a URI now. */
  constructor(
    resources: Pick<BoardBase["resources"], "subscribe" | "unsubscribe">,
    targetOf: (uri: string) => Target,
  ) {
    this.#resources = resources;
    this.#targetOf = targetOf;
  }

  /** Rejects if the resource cannot be subscribed to. */
  async add(uri: string): Promise<void> {
    const subscription = this.#byUri.get(uri) ?? this.#of(this.#targetOf(uri));
    subscription.uris.set(uri, (subscription.uris.get(uri) ?? 0) + 1);
    this.#byUri.set(uri, subscription);
    await subscription.begun;
  }

  /** Does not reject. */
  async remove(uri: string): Promise<void> {
    const subscription = this.#byUri.get(uri);
    if (subscription === undefined) return;
    const count = (subscription.uris.get(uri) ?? 1) - 1;
    if (count > 0) return void subscription.uris.set(uri, count);
    subscription.uris.delete(uri);
    this.#byUri.delete(uri);
    if (subscription.uris.size > 0) return;
    await this.#end(subscription);
  }

  /** The URIs by which clients have subscribed to a server's resource. */
  urisOf(server: string, name: string): string[] {
    const found = [keyOf({ server, name }), keyOf({ server: undefined, name })];
    return found.flatMap((key) => [...(this.#byTarget.get(key)?.uris.keys() ?? [])]);
  }

  #of(target: Target): Subscription {
    const key = keyOf(target);
    const known = this.#byTarget.get(key);
    if (known !== undefined) return known;
    const begun = this.#begin(key, target);
    const subscription = { target, uris: new Map<string, number>(), begun };
    this.#byTarget.set(key, subscription);
    // All who wait for it learn that it failed; the next one tries again.
    begun.catch(() => this.#forget(subscription));
    return subscription;
  }

  async #begin(key: string, { server, name }: Target): Promise<void> {
    await this.#ending.get(key);
    await this.#resources.subscribe(name, { ...(server !== undefined && { server }) });
  }

  async #end(subscription: Subscription): Promise<void> {
    const { target, begun } = subscription;
    const { server, name } = target;
    const key = keyOf(target);
    this.#forget(subscription);
    const ended = begun
      .then(() => this.#resources.unsubscribe(name, { ...(server !== undefined && { server }) }))
      // The server may be down: then nothing is subscribed either.
      .catch(() => {});
    this.#ending.set(key, ended);
    await ended;
    if (this.#ending.get(key) === ended) this.#ending.delete(key);
  }

  #forget(subscription: Subscription): void {
    const key = keyOf(subscription.target);
    if (this.#byTarget.get(key) === subscription) this.#byTarget.delete(key);
    for (const uri of subscription.uris.keys()) {
      if (this.#byUri.get(uri) === subscription) this.#byUri.delete(uri);
    }
  }
}
