// What clients have subscribed to. However many clients want a resource, and by whichever of its URIs, the board
// subscribes to it once, and ends that with the last of them.

import type { BoardBase } from "../../core/types/board.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { Shares } from "../../util/shares.ts";
import { keyOf, type Original } from "./names.ts";

/** A resource, and its server if that is known. */
export type NamedResource = Original | { server: undefined; name: string };

/** How many the clients of an agent may have together; each caller has a quarter. A server is not asked for more either. */
const MOST_SUBSCRIPTIONS = 4000;

/** Each is kept as long as its client, or its session, and there may be thousands. */
export const LONGEST_SUBSCRIBED = 8192;

/** How many subscriptions all callers have together. A client that makes them for many has counted them already. */
export function subscriptionShares(isForMany = false): Shares {
  return new Shares(isForMany ? Infinity : MOST_SUBSCRIPTIONS);
}

/** Throws UNSUPPORTED if the caller may have no other one. `shares.giveBack` must follow. */
export function takeShare(shares: Shares, caller: string): void {
  const shortage = shares.take(caller);
  if (shortage === undefined) return;
  const { each, most } = shares;
  const message =
    shortage === "own"
      ? `you have ${each} subscriptions already, and nobody gets more; end one of them first`
      : `all clients together have ${most} subscriptions, and there are no more; try again later`;
  throw new PlugboardError("UNSUPPORTED", message);
}

interface Subscription {
  readonly resource: NamedResource;
  /** How many clients use each URI. */
  readonly uris: Map<string, number>;
  readonly begun: Promise<void>;
}

export class Subscriptions {
  readonly #resources: Pick<BoardBase["resources"], "subscribe" | "unsubscribe">;
  readonly #resourceOf: (uri: string) => NamedResource;
  readonly #byResource = new Map<string, Subscription>();
  readonly #byUri = new Map<string, Subscription>();
  /** The board is still ending these: one that begins again waits for it. */
  readonly #ending = new Map<string, Promise<void>>();

  /** `resourceOf` says what a client means by a URI now. */
  constructor(
    resources: Pick<BoardBase["resources"], "subscribe" | "unsubscribe">,
    resourceOf: (uri: string) => NamedResource,
  ) {
    this.#resources = resources;
    this.#resourceOf = resourceOf;
  }

  /** Rejects if the resource cannot be subscribed to. */
  async add(uri: string): Promise<void> {
    const subscription = this.#byUri.get(uri) ?? this.#of(this.#resourceOf(uri));
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
    return found.flatMap((key) => [...(this.#byResource.get(key)?.uris.keys() ?? [])]);
  }

  #of(resource: NamedResource): Subscription {
    const key = keyOf(resource);
    const known = this.#byResource.get(key);
    if (known !== undefined) return known;
    const begun = this.#begin(key, resource);
    const subscription = { resource, uris: new Map<string, number>(), begun };
    this.#byResource.set(key, subscription);
    // All who wait for it learn that it failed; the next one tries again.
    begun.catch(() => this.#forget(subscription));
    return subscription;
  }

  async #begin(key: string, { server, name }: NamedResource): Promise<void> {
    await this.#ending.get(key);
    await this.#resources.subscribe(name, { server });
  }

  async #end(subscription: Subscription): Promise<void> {
    const { resource, begun } = subscription;
    const { server, name } = resource;
    const key = keyOf(resource);
    this.#forget(subscription);
    const ended = begun
      .then(() => this.#resources.unsubscribe(name, { server }))
      // The server may be down: then nothing is subscribed either.
      .catch(() => {});
    this.#ending.set(key, ended);
    await ended;
    if (this.#ending.get(key) === ended) this.#ending.delete(key);
  }

  #forget(subscription: Subscription): void {
    const key = keyOf(subscription.resource);
    if (this.#byResource.get(key) === subscription) this.#byResource.delete(key);
    for (const uri of subscription.uris.keys()) {
      if (this.#byUri.get(uri) === subscription) this.#byUri.delete(uri);
    }
  }
}
