// Tells each client what has changed on the board: lists, and resources it has subscribed to.

import type { BoardBase } from "../../core/types/board.ts";
import type { JsonObject } from "../../core/types/json.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { type RequestId, notification } from "./message.ts";
import { META } from "./protocol.ts";

/** What a listener wants to hear of. */
interface Interests {
  tools: boolean;
  prompts: boolean;
  resources: boolean;
  /** Whether it wants to hear that this resource changed. */
  hasUri: (uri: string) => boolean;
}

export interface ChangeListener {
  readonly interests: Interests;
  send: (message: JsonObject) => void;
}

/** Lists change in bursts, as when a server starts; a client hears of it once. */
const QUIET_MS = 20;

export class Changes {
  readonly #listeners = new Set<ChangeListener>();
  readonly #off: (() => void)[];
  readonly #due = new Set<"tools" | "prompts" | "resources">();
  readonly #clock: Clock;
  #timer: Timer | undefined;

  /** `urisOf` gives the URIs by which clients have subscribed to a server's resource. */
  constructor(
    board: Pick<BoardBase, "on">,
    clock: Clock,
    urisOf: (server: string, uri: string) => readonly string[],
  ) {
    this.#clock = clock;
    this.#off = [
      board.on("tools", () => this.#listChanged("tools")),
      board.on("appTools", () => this.#listChanged("tools")),
      board.on("prompts", () => this.#listChanged("prompts")),
      board.on("resources", ({ server, change, uris }) => {
        if (change === "list") return this.#listChanged("resources");
        for (const uri of uris) urisOf(server, uri).forEach((each) => this.#updated(each));
      }),
    ];
  }

  add(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    for (const off of this.#off) off();
    this.#timer?.cancel();
    this.#listeners.clear();
  }

  #listChanged(list: "tools" | "prompts" | "resources"): void {
    this.#due.add(list);
    this.#timer ??= this.#clock.later(QUIET_MS, () => this.#tell());
  }

  #tell(): void {
    this.#timer = undefined;
    const due = [...this.#due];
    this.#due.clear();
    for (const list of due) {
      const message = notification(`notifications/${list}/list_changed`);
      for (const { interests, send } of this.#listeners) if (interests[list]) send(message);
    }
  }

  #updated(uri: string): void {
    const message = notification("notifications/resources/updated", { uri });
    for (const { interests, send } of this.#listeners) if (interests.hasUri(uri)) send(message);
  }
}

/** In 2026-07-28 a change says which `subscriptions/listen` it answers. */
export function forSubscription(id: RequestId, message: JsonObject): JsonObject {
  const { params = {} } = message as { params?: JsonObject };
  return { ...message, params: { ...params, _meta: { [META.subscriptionId]: id } } };
}
