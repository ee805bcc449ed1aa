// One client of an endpoint: who it is, what it can do, and what is under way between the two. Nothing here is shared
// with another client, so that an answer can only go to the one who asked.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Caller } from "../../core/types/caller.ts";
import type { ProtocolEra } from "../../core/types/connection.ts";
import type { RequestHandlers } from "../../core/types/request-handlers.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../core/types/json.ts";
import type { CallFailure } from "../../core/types/tool.ts";
import { deferred, type Deferred } from "../../util/deferred.ts";
import { PassingMap } from "../../util/passing-map.ts";
import { LightSignal } from "../../util/abort.ts";
import {
  type Answer,
  notification,
  refuse,
  type RequestId,
  RPC,
  type RpcRequest,
} from "./message.ts";
import { APPS_EXTENSION, META, metaOf } from "./protocol.ts";
import type { TraceContext } from "./spans.ts";

export type Send = (message: JsonObject) => void;

/** What a client has said about itself. */
export interface ClientProfile {
  protocolVersion: string;
  capabilities: JsonObject;
  info?: { name?: string; version?: string };
}

export interface ClientOptions {
  era: ProtocolEra;
  caller: Caller;
  /** Up to 2025-11-25 what `initialize` said. Later every request says it anew. */
  profile: ClientProfile;
  /** Sends what belongs to no request. Dropped where nobody listens. */
  send: Send;
  /** Whether the client can answer a request of ours. Over HTTP it needs a session for that. */
  canBeAsked: boolean;
  /** Names who asks among several gateways that may ask this client. */
  tag?: string | undefined;
}

/** One request of a client, while it is being answered. */
export interface Exchange {
  readonly client: Client;
  /** Names the call that the request makes, on the board. */
  readonly callId: string;
  readonly request: RpcRequest;
  readonly capabilities: JsonObject;
  /** Aborts when the client no longer wants the answer. */
  readonly signal: LightSignal;
  /** Sends what belongs to this request. */
  send: Send;
  /** Goes to the server that answers. */
  trace: TraceContext | undefined;
  /** Why the call failed, if the tool itself did not say so. */
  failure: CallFailure | undefined;
}

/** Each takes some ten microseconds with all that follows from it. */
const CANCELLED_IN_A_TURN = 200;

let clients = 0;

export class Client {
  readonly era: ProtocolEra;
  readonly caller: Caller;
  readonly canBeAsked: boolean;
  profile: ClientProfile;
  /** The lowest level of log messages it wants; none until it says so. */
  logLevel: string | undefined;
  send: Send;
  /** Answer what servers ask because of its calls. All its calls share them, so the board knows its client. */
  handlers: RequestHandlers | undefined;
  readonly #inFlight = new PassingMap<RequestId, Exchange>();
  // Over HTTP most clients live for one request, so that what few of them need is made when it is needed.
  #subscriptions: Set<string> | undefined;
  #asked: Map<RequestId, Deferred<Answer>> | undefined;
  #questions = 0;
  #isGone = false;
  readonly #idPrefix: string;
  readonly #questionPrefix: string;
  #calls = 0;

  constructor({ era, caller, profile, send, canBeAsked, tag }: ClientOptions) {
    this.era = era;
    this.caller = caller;
    this.profile = profile;
    this.send = send;
    this.canBeAsked = canBeAsked;
    clients += 1;
    this.#idPrefix = `client-${clients}`;
    this.#questionPrefix = tag === undefined ? "plugboard" : `plugboard-${tag}`;
  }

  /** The URIs that it has subscribed to, as it writes them. */
  get subscriptions(): Set<string> {
    return (this.#subscriptions ??= new Set());
  }

  /** Whether a call is one of its own. */
  made(callId: string): boolean {
    return callId.startsWith(`${this.#idPrefix}-`);
  }

  /** How many of its requests are being answered. */
  get busy(): number {
    return this.#inFlight.size;
  }

  /** Undefined if a request with this id is already under way. */
  begin(request: RpcRequest, send: Send, trace?: TraceContext): Exchange | undefined {
    if (this.#inFlight.has(request.id)) return undefined;
    const capabilities =
      this.era === "legacy" ? this.profile.capabilities : capabilitiesIn(request.params);
    this.#calls += 1;
    const callId = `${this.#idPrefix}-${this.#calls}`;
    const exchange: Exchange = {
      client: this,
      callId,
      request,
      capabilities,
      signal: new LightSignal(),
      send,
      trace,
      failure: undefined,
    };
    this.#inFlight.set(request.id, exchange);
    return exchange;
  }

  end(id: RequestId): void {
    this.#inFlight.take(id);
  }

  /** The client no longer wants the answer to one of its requests. False if no such request is under way. */
  cancel(id: unknown): boolean {
    const exchange = this.#inFlight.get(id as RequestId);
    exchange?.signal.abort();
    return exchange !== undefined;
  }

  /** Asks the client something because of one of its calls. Never rejects. */
  async ask(
    callId: string | undefined,
    method: string,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<Answer> {
    if (!this.canBeAsked) return refuse(RPC.internalError, "the client cannot ask its user");
    if (signal.aborted) return refuse(RPC.internalError, "nobody waits for the answer");
    this.#questions += 1;
    const id = `${this.#questionPrefix}-${this.#questions}`;
    const asked = deferred<Answer>();
    const send = this.#sendFor(callId);
    const giveUp = (): void => {
      send(notification("notifications/cancelled", { requestId: id }));
      asked.resolve(refuse(RPC.internalError, "nobody waits for the answer"));
    };
    const waiting = (this.#asked ??= new Map());
    waiting.set(id, asked);
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      send({ jsonrpc: "2.0", id, method, params });
      return await asked.promise;
    } finally {
      signal.removeEventListener("abort", giveUp);
      waiting.delete(id);
    }
  }

  /** Sends with the call that it is about, else with any other request of this client. */
  #sendFor(callId: string | undefined): Send {
    const all = [...this.#inFlight.values()];
    const { send } = all.find((exchange) => exchange.callId === callId) ?? all.at(-1) ?? this;
    return send;
  }

  /** Takes the answer to something that the client was asked. An unknown id is dropped. */
  answered(id: RequestId, answer: Answer): void {
    this.#asked?.get(id)?.resolve(answer);
  }

  /** Whether it has been disconnected. Requests that were in flight then are still answered. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /**
   * The client is gone: nobody waits for its requests any more. Resolves when all of them are cancelled: the first at once,
   * thousands not in one turn of the event loop, so that nobody else waits for them.
   */
  async gone(): Promise<void> {
    this.#isGone = true;
    for (const asked of this.#asked?.values() ?? []) {
      asked.resolve(refuse(RPC.internalError, "the client is gone"));
    }
    for (const [at, { signal }] of [...this.#inFlight.values()].entries()) {
      if (at > 0 && at % CANCELLED_IN_A_TURN === 0) await nextTurn();
      signal.abort();
    }
  }
}

function capabilitiesIn(params: JsonObject): JsonObject {
  const said = metaOf(params)[META.clientCapabilities];
  return objectIn(said);
}

/** Whether the client shows MCP Apps: then it gets the tools that only an app may call. */
export function showsApps({ extensions }: JsonObject): boolean {
  return isJsonObject(extensions) && isJsonObject(extensions[APPS_EXTENSION]);
}
