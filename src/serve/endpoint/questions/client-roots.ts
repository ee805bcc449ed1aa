// The roots of a client up to 2025-11-25: asked once, and again when the client says that they have changed. It can be
// asked only while something can be sent to it, so a question may have to wait for its next request.

import { fileURLToPath } from "node:url";
import { isJsonObject } from "../../../core/types/json.ts";
import { type Clock, within } from "../../../util/clock.ts";
import type { Client, Exchange } from "../client.ts";

/** Where an answer was lost, the client is asked again with a later request. */
const ANSWER_MS = 10_000;
const MOST_ROOTS = 100;
const LONGEST_URI = 4096;
/** During `initialize` a client does not answer yet, and a `ping` wants a quick answer. */
const NOT_WITH: ReadonlySet<string> = new Set(["initialize", "ping"]);

export class ClientRoots {
  readonly #onRoots: (roots: readonly string[]) => void;
  readonly #clock: Clock;
  readonly #due = new WeakSet<Client>();

  constructor(onRoots: (roots: readonly string[]) => void, clock: Clock) {
    this.#onRoots = onRoots;
    this.#clock = clock;
  }

  /** The client's roots may have changed, so it must be asked again. */
  changed(client: Client): void {
    const { era, canBeAsked, profile } = client;
    if (era === "legacy" && canBeAsked && isJsonObject(profile.capabilities["roots"])) {
      this.#due.add(client);
    }
  }

  /** With one of the client's requests, or on a stream that belongs to none. */
  askIfDue(client: Client, exchange?: Exchange): void {
    if (!this.#due.has(client) || NOT_WITH.has(exchange?.request.method ?? "")) return;
    this.#due.delete(client);
    void this.#ask(client, exchange?.callId);
  }

  async #ask(client: Client, callId: string | undefined): Promise<void> {
    const ending = new AbortController();
    const asked = client.ask(callId, "roots/list", {}, ending.signal);
    const answer = await within(this.#clock, ANSWER_MS, asked);
    if (answer === undefined) {
      ending.abort();
      this.#due.add(client);
      return;
    }
    const roots = "result" in answer ? answer.result["roots"] : undefined;
    if (Array.isArray(roots)) this.#onRoots(roots.flatMap(uriIn).slice(0, MOST_ROOTS));
  }
}

/** Only directories of this machine: a server could do nothing with others. */
function uriIn(root: unknown): string[] {
  const uri = isJsonObject(root) ? root["uri"] : undefined;
  if (typeof uri !== "string" || uri.length > LONGEST_URI) return [];
  try {
    fileURLToPath(uri);
    return [uri];
  } catch {
    return [];
  }
}
