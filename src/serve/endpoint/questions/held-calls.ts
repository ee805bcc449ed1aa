// In 2026-07-28 a client is asked in the answer to its request, and sends the request again with the answers. A server
// that asks in the old way is still waiting in the middle of the call, so the call is held here until the client comes
// back with what the server wants. Calls that nobody comes back for are cancelled.

import { isJsonObject, type JsonObject } from "../../../core/types/json.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { deferred, type Deferred } from "../../../util/deferred.ts";
import { LightSignal } from "../../../util/abort.ts";
import { Shares } from "../../../util/shares.ts";
import { type Answer, refuse, RPC } from "../message.ts";
import type { Ask } from "./ask-client.ts";

/** How long a client may take to come back. */
export const HOLD_MS = 600_000;
const MOST_CALLS = 1000;
const MOST_CALLS_OF_ONE = 32;

/** What a held call does next: it ends, or it needs answers first. */
export type Next = { kind: "ended"; answer: Answer } | { kind: "asks"; requests: JsonObject };

export class HeldCall {
  readonly #signal = new LightSignal();
  readonly #questions = new Map<string, { request: JsonObject; answer: Deferred<Answer> }>();
  readonly #ended: Promise<Answer>;
  #asked = deferred();
  #count = 0;

  constructor(run: (ask: Ask, signal: LightSignal) => Promise<Answer>) {
    const ask: Ask = (method, params, signal) => this.#ask(method, params, signal);
    this.#ended = run(ask, this.#signal);
  }

  /** Resolves with the next thing that happens. If `signal` aborts meanwhile, the call is cancelled. */
  async next(signal: LightSignal): Promise<Next> {
    const cancel = (): void => this.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      const asks = (): Next => ({ kind: "asks", requests: this.#requests() });
      // It may carry the question of another call, which then still waits for the answer.
      const ended = this.#ended.then((answer): Next =>
        this.#questions.size > 0 ? asks() : { kind: "ended", answer },
      );
      return await Promise.race([ended, this.#asked.promise.then(asks)]);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  /** Gives the call its answers. A question without one is asked again. */
  respond(responses: JsonObject): void {
    for (const [key, { answer }] of this.#questions) {
      const response = responses[key];
      if (!isJsonObject(response)) continue;
      this.#questions.delete(key);
      answer.resolve({ result: response });
    }
    if (this.#questions.size === 0) this.#asked = deferred();
  }

  cancel(): void {
    this.#signal.abort();
    const gone = refuse(RPC.internalError, "nobody came back with an answer");
    for (const { answer } of this.#questions.values()) answer.resolve(gone);
    this.#questions.clear();
  }

  #requests(): JsonObject {
    const requests: JsonObject = Object.create(null);
    for (const [key, { request }] of this.#questions) requests[key] = request;
    return requests;
  }

  #ask(method: string, params: JsonObject, signal: AbortSignal): Promise<Answer> {
    if (signal.aborted || this.#signal.aborted) {
      return Promise.resolve(refuse(RPC.internalError, "nobody waits for the answer"));
    }
    this.#count += 1;
    const key = `question-${this.#count}`;
    const answer = deferred<Answer>();
    this.#questions.set(key, { request: { method, params }, answer });
    const giveUp = (): void => {
      this.#questions.delete(key);
      answer.resolve(refuse(RPC.internalError, "nobody waits for the answer"));
    };
    signal.addEventListener("abort", giveUp, { once: true });
    this.#asked.resolve();
    return answer.promise.finally(() => signal.removeEventListener("abort", giveUp));
  }
}

export class HeldCalls {
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #shares: Shares;
  readonly #held = new Map<string, { call: HeldCall; caller: string; timer: Timer }>();

  /** `isForMany`: the clients make calls of many callers, and have counted what each of them holds. */
  constructor(clock: Clock, newId: () => string, isForMany = false) {
    this.#clock = clock;
    this.#newId = newId;
    this.#shares = isForMany ? new Shares(Infinity) : new Shares(MOST_CALLS, MOST_CALLS_OF_ONE);
  }

  /** Returns the id to come back with, or undefined if too many calls are held already. */
  hold(call: HeldCall, caller: string): string | undefined {
    if (this.#shares.take(caller) !== undefined) return undefined;
    const id = this.#newId();
    const timer = this.#clock.later(HOLD_MS, () => this.take(id, caller)?.cancel());
    this.#held.set(id, { call, caller, timer });
    return id;
  }

  /** Undefined if no such call is held, or another caller made it. */
  take(id: string, caller: string): HeldCall | undefined {
    const held = this.#held.get(id);
    if (held === undefined || held.caller !== caller) return undefined;
    this.#held.delete(id);
    this.#shares.giveBack(caller);
    held.timer.cancel();
    return held.call;
  }

  close(): void {
    for (const [id, { caller }] of this.#held) this.take(id, caller)?.cancel();
  }
}
