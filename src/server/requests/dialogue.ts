// The part of a conversation in which the server asks and the host answers: which call a request belongs
// to, for how long its answer is wanted, and how a call goes on after it.

import { AsyncLocalStorage } from "node:async_hooks";
import type { CallOptions, ProtocolEra } from "../../model/connection.ts";
import { cancelled, type PlugboardError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import { untilAborted } from "../../util/abort.ts";
import type { Wire } from "../carrier.ts";
import { callInRounds } from "../input-rounds.ts";
import { CallsInFlight, type CausingCall, type Origin } from "./origin.ts";
import { type HostAnswers, type RequestsContext, ServerRequests } from "./requests.ts";
import { protocolLevel, ServerLog } from "./server-log.ts";

export interface DialogueOptions extends RequestsContext {
  wire: Wire;
  answers: HostAnswers;
}

/** What the SDK's client is used for here. */
interface Notifier {
  sendRootsListChanged(): Promise<void>;
}

export class Dialogue {
  readonly requests: ServerRequests;
  readonly log: ServerLog;
  readonly #options: DialogueOptions;
  readonly #inFlight = new CallsInFlight();
  readonly #over = new AbortController();
  #stopWatching = (): void => {};

  constructor(options: DialogueOptions) {
    this.#options = options;
    this.requests = new ServerRequests(options.answers, options);
    this.log = new ServerLog(options.logger, options.clock, options.redact);
  }

  get capabilities(): JsonObject {
    return this.requests.capabilities;
  }

  /** In the protocol's words. */
  get logLevel(): string {
    return protocolLevel(this.#options.answers.logLevel ?? "warn");
  }

  /** Up to 2025-11-25 the server is told when the roots are others; later it asks when it wants to know. */
  watchRoots(client: Notifier): void {
    const { answers, logger } = this.#options;
    if (!this.requests.offers("roots/list")) return;
    this.#stopWatching =
      answers.roots?.onChange(() => {
        client.sendRootsListChanged().catch((error: unknown) => {
          logger.debug("the server was not told of its roots", { reason: String(error) });
        });
      }) ?? this.#stopWatching;
  }

  /** To be called again when the server may have forgotten it. */
  setLogLevel(timeout: number): void {
    const { wire, logger } = this.#options;
    const params = { level: this.logLevel };
    wire.request("logging/setLevel", params, { timeout }).catch((error: unknown) => {
      logger.debug("the server took no log level", { reason: String(error) });
    });
  }

  /** A request of the server's own, up to 2025-11-25. `ended` is its own end. */
  answer(method: string, params: unknown, ended: AbortSignal): Promise<JsonObject> | undefined {
    const answer = this.requests.answer(method, params, this.#inFlight.origin(ended));
    return answer && this.#options.wire.hold(answer);
  }

  callTool(
    era: ProtocolEra,
    name: string,
    args: JsonObject,
    options: CallOptions,
  ): Promise<unknown> {
    const { wire } = this.#options;
    // The short way, where nobody could be asked anything.
    if (era === "legacy" && !this.requests.needsOrigin) return wire.callTool(name, args, options);
    const { callId, handlers } = options;
    const call: CausingCall = {
      tool: name,
      callId,
      handlers,
      samples: 0,
      ...(handlers !== undefined && { inCall: AsyncLocalStorage.snapshot() }),
    };
    const send = (extra: JsonObject | undefined): Promise<unknown> =>
      wire.callTool(name, args, extra === undefined ? options : { ...options, extra });
    const make = (): Promise<unknown> =>
      era === "legacy"
        ? this.#inFlight.track(call, () => send(undefined))
        : this.inRounds(send, call, options.signal);
    return this.#afterPages(make, call, options.signal);
  }

  /** Of 2026-07-28. Sends a request, and again with what the server wants to know first. */
  inRounds(
    send: (extra: JsonObject | undefined) => Promise<unknown>,
    call: CausingCall = { tool: undefined, callId: undefined, handlers: undefined, samples: 0 },
    signal?: AbortSignal,
  ): Promise<unknown> {
    return callInRounds(send, (method, params) => {
      const origin = this.#originOf(call, signal);
      const answer = this.requests.answer(method, params, origin);
      return answer && this.#unlessOver(answer, origin, signal);
    });
  }

  /** Whoever is being asked something is told that nobody waits any more. */
  end(reason: PlugboardError): void {
    this.#stopWatching();
    this.#over.abort(reason);
  }

  /** A call that was refused until a person has opened a page is made once more when they have. */
  async #afterPages(
    make: () => Promise<unknown>,
    call: CausingCall,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    try {
      return await make();
    } catch (error) {
      const origin = this.#originOf(call, signal);
      if (origin.signal.aborted) throw error;
      const opened = this.requests.openPages(error, origin);
      if (!(await this.#unlessOver(opened, origin, signal))) throw error;
      return make();
    }
  }

  #originOf(call: CausingCall, signal: AbortSignal | undefined): Origin {
    const over = this.#over.signal;
    // One of its own in any case: many listeners on one signal look like a leak.
    return { call, signal: AbortSignal.any(signal === undefined ? [over] : [over, signal]) };
  }

  #unlessOver<Answer>(
    answer: Promise<Answer>,
    origin: Origin,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    return untilAborted(answer, origin.signal, () =>
      signal?.aborted ? cancelled() : (this.#over.signal.reason as PlugboardError),
    );
  }
}
