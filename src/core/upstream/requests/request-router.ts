// Routes what a server asks during a connection to the caller whose call caused it. Tool calls go through
// here, so that we know which are in flight, and so that a call goes on after the server got its answers.

import type { Client } from "@modelcontextprotocol/client";
import type { InputResponses } from "../../types/caller-options.ts";
import type { CallerRequest, CallOptions, ProtocolEra } from "../../types/connection.ts";
import { cancelled, PlugboardError } from "../../types/errors.ts";
import type { JsonObject } from "../../types/json.ts";
import type { ServerLogLevel } from "../../types/server-log.ts";
import { abortSignalOf, type CallSignal, untilAborted } from "../../../util/abort.ts";
import { pause, within } from "../../../util/clock.ts";
import { deferred } from "../../../util/deferred.ts";
import { type LoggedMessage, ServerLog } from "../log/server-log.ts";
import type { Wire } from "../transport/carrier.ts";
import type { RequestOptions } from "../transport/pending-calls.ts";
import { CallsInFlight, type CausingCall, type RequestOrigin } from "./calls-in-flight.ts";
import { commonCapabilities, type HostAnswers } from "./host-answers.ts";
import { callInRounds, requirePermitted } from "./input-rounds.ts";
import { type RequestsContext, ServerRequests } from "./server-requests.ts";

export interface RequestRouterOptions extends RequestsContext {
  wire: Wire;
  answers: HostAnswers;
  onLog?: ((message: LoggedMessage) => void) | undefined;
}

/** How long we wait for a server to ask for its roots, and for it to take them. */
const ASK_ROOTS_MS = 300;
const TAKE_ROOTS_MS = 50;

export class RequestRouter {
  readonly requests: ServerRequests;
  readonly log: ServerLog;
  readonly #options: RequestRouterOptions;
  readonly #inFlight = new CallsInFlight();
  /** Requests of the server that wait for their turn, by their ids. */
  readonly #arrived = new Map<unknown, ReturnType<CallsInFlight["originOfArrived"]>>();
  readonly #over = new AbortController();
  readonly #rootsAsked = deferred<boolean>();
  #stopWatchingRoots = (): void => {};

  constructor(options: RequestRouterOptions) {
    this.#options = options;
    this.requests = new ServerRequests(options.answers, options);
    this.log = new ServerLog(options);
  }

  /** The lowest level that the server should log, in the protocol's words. */
  get logLevel(): ServerLogLevel {
    return this.#options.answers.logLevel?.current() ?? "warning";
  }

  /** Up to 2025-11-25, tells the server when the roots change. Later servers ask when they need them. */
  watchRoots(client: Pick<Client, "sendRootsListChanged">): void {
    const { answers, logger } = this.#options;
    if (!this.requests.supports("roots/list")) return;
    this.#stopWatchingRoots =
      answers.roots?.onChange(() => {
        client.sendRootsListChanged().catch((error: unknown) => {
          logger.debug("could not tell the server that its roots changed", {
            reason: String(error),
          });
        });
      }) ?? this.#stopWatchingRoots;
  }

  /**
   * Resolves when the server has asked for its roots and had the time to take them, or does not ask: a call before
   * that would work in other directories. Resolves at once where no roots are offered.
   */
  async untilRootsTaken(): Promise<void> {
    if (!this.requests.supports("roots/list")) return;
    const { clock } = this.#options;
    const asked = await within(clock, ASK_ROOTS_MS, this.#rootsAsked.promise);
    if (asked) await pause(clock, TAKE_ROOTS_MS, this.#over.signal);
  }

  /** Must be called again when the server may have forgotten it. */
  setLogLevel(timeout: number): void {
    const { wire, logger } = this.#options;
    const params = { level: this.logLevel };
    wire.request("logging/setLevel", params, { timeout }).catch((error: unknown) => {
      logger.debug("the server did not accept the log level", { reason: String(error) });
    });
  }

  /** Call this for a request that can only be answered later: no call that begins until then has caused it. */
  arrived(id: unknown): void {
    this.#arrived.set(id, this.#inFlight.originOfArrived());
  }

  /** Call this when the request is being answered, or never will be. */
  forgetArrived(id: unknown): void {
    this.#arrived.delete(id);
  }

  /** Answers a request that the server sent, up to 2025-11-25. `ended` aborts when the request with that `id` ends. */
  answer(
    method: string,
    params: unknown,
    ended: AbortSignal,
    id?: unknown,
  ): Promise<JsonObject> | undefined {
    const originOf = this.#arrived.get(id) ?? this.#inFlight.originOfArrived();
    const answer = this.requests.answer(method, params, originOf(ended));
    if (method === "roots/list") this.#rootsAsked.resolve(true);
    return answer && this.#options.wire.hold(answer);
  }

  callTool(
    era: ProtocolEra,
    name: string,
    args: JsonObject,
    options: CallOptions,
  ): Promise<unknown> {
    const { wire } = this.#options;
    return this.send(era, (sent) => wire.callTool(name, args, sent), options, name);
  }

  /** Sends a caller's request, and again with the answers that the server wants first. `tool` is absent for a read. */
  send<Options extends CallerRequest & RequestOptions>(
    era: ProtocolEra,
    send: (options: Options) => Promise<unknown>,
    options: Options,
    tool?: string,
  ): Promise<unknown> {
    const { callId, handlers, input } = options;
    if (era === "legacy") {
      if (typeof input === "object") return Promise.reject(answersUnwanted());
      // The fast path: this request cannot cause any other.
      if (!this.requests.needsOrigin) return send(options);
    }
    const call: CausingCall = { tool, callId, handlers, samples: 0 };
    return this.#sendAfterPages(era, send, options, call);
  }

  /** A server may refuse a call until a person has opened a page. Then the call is made once more. */
  async #sendAfterPages<Options extends CallerRequest & RequestOptions>(
    era: ProtocolEra,
    send: (options: Options) => Promise<unknown>,
    options: Options,
    call: CausingCall,
  ): Promise<unknown> {
    const { signal } = options;
    for (let isFirst = true; ; isFirst = false) {
      // Up to 2025-11-25, what a server asks does not name the call.
      const tracked = era === "legacy" ? this.#inFlight.begin(call) : undefined;
      try {
        const sent = tracked ? send(options) : this.#sendModern(send, options, call);
        const result = await sent;
        if (tracked !== undefined) this.#inFlight.end(tracked, "answered");
        return result;
      } catch (error) {
        if (tracked !== undefined) this.#inFlight.end(tracked, "failed");
        // Before anything is made for a question: thousands of calls can be cancelled in one turn.
        if (!isFirst || signal?.aborted || this.#over.signal.aborted) throw error;
        const origin = this.#originOf(call, signal);
        const opened = this.requests.openPages(error, origin);
        if (!(await this.#answered(this.#unlessOver(opened, origin, signal), options))) throw error;
      }
    }
  }

  async #sendModern<Options extends CallerRequest & RequestOptions>(
    send: (options: Options) => Promise<unknown>,
    options: Options,
    call: CausingCall,
  ): Promise<unknown> {
    const { input, signal, clientCapabilities: given } = options;
    const permitted = input === undefined ? this.requests.capabilities : this.requests.permitted;
    const capabilities = given && commonCapabilities(given, permitted);
    const sendWith = (extra: JsonObject | undefined): Promise<unknown> =>
      send(extra === undefined && !capabilities ? options : { ...options, extra, capabilities });
    if (input === undefined) {
      return callInRounds(sendWith, (method, params) => {
        const origin = this.#originOf(call, signal);
        const answer = this.requests.answer(method, params, origin);
        return answer && this.#answered(this.#unlessOver(answer, origin, signal), options);
      });
    }
    const result = await sendWith(input === "return" ? undefined : toExtra(input));
    requirePermitted(result, permitted);
    return result;
  }

  /** Notes how long the call waits for an answer while no request of it is on its way. */
  async #answered<Answer>(
    answer: Promise<Answer>,
    { waits }: Pick<RequestOptions, "waits">,
  ): Promise<Answer> {
    const { clock } = this.#options;
    const began = clock.monotonic();
    try {
      return await answer;
    } finally {
      if (waits !== undefined) waits.waitedMs += clock.monotonic() - began;
    }
  }

  /** Tells everybody who is being asked something that nobody waits for the answer any more. */
  end(reason: PlugboardError): void {
    this.#stopWatchingRoots();
    this.#rootsAsked.resolve(false);
    this.#over.abort(reason);
  }

  #originOf(call: CausingCall, signal: CallSignal | undefined): RequestOrigin {
    const over = this.#over.signal;
    // A new signal for each request: Node warns of a leak when one signal has many listeners.
    return {
      call,
      signal: AbortSignal.any(signal === undefined ? [over] : [over, abortSignalOf(signal)]),
    };
  }

  #unlessOver<Answer>(
    answer: Promise<Answer>,
    origin: RequestOrigin,
    signal: CallSignal | undefined,
  ): Promise<Answer> {
    return untilAborted(answer, origin.signal, () =>
      signal?.aborted ? cancelled(signal) : (this.#over.signal.reason as PlugboardError),
    );
  }
}

function toExtra({ responses, requestState }: InputResponses): JsonObject {
  return { inputResponses: responses, requestState };
}

function answersUnwanted(): PlugboardError {
  const message = "the server does not take answers with a call; it was not called";
  return new PlugboardError("UNSUPPORTED", message, {
    quote: "",
    hint: "it speaks another version of MCP than when it asked: make the call again",
  });
}
