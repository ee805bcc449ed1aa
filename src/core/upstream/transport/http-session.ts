// One HTTP session: sends every POST with its headers, and recovers where that is safe. A lost session is opened
// again once for all requests that noticed; what was refused for it has not run, and is sent again.

import type { Authorizer } from "../../types/authorization.ts";
import { cancelled, PlugboardError, toPlugboardError, withoutEffect } from "../../types/errors.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { GuardedFetch, GuardedResponse } from "../../net/fetch.ts";
import type { CallSignal } from "../../../util/abort.ts";
import { type Clock, pause } from "../../../util/clock.ts";
import { type ParamHeader, paramHeaders } from "../../types/param-headers.ts";
import type { ConfiguredHeaders } from "./configured-headers.ts";
import { readEvents, type StreamPosition } from "./event-stream.ts";
import { mediaType, mirroredHeaders, sessionHeaders } from "./http-headers.ts";
import type { Quote } from "./errors.ts";
import { type ConfiguredAuth, readRefusal } from "./http-refusal.ts";
import { type Hold, sendAuthorized } from "./send-authorized.ts";
import { type Tap, tapped } from "../tap.ts";

const ACCEPT = "application/json, text/event-stream";
const LEAVE_MS = 1000;
const ERROR_BODY_BYTES = 64 * 1024;
const SAFE = new Set(["initialize", "server/discover", "tools/list", "ping"]);
const SAFE_RETRIES = 2;
const SAFE_RETRY_MS = 500;
/** How often we try again when the server says "later". */
const LATER_RETRIES = 5;
/** How long a message waits whose sender has set no time. */
const LONGEST_WAIT_MS = 30_000;

/** A server at a URL, and the way to it. */
export interface RemoteOptions {
  url: string;
  /** The configured headers, which are sent to the server's own origin only. */
  headers: ConfiguredHeaders;
  /** The one of them that is not among `headers` of the configuration. */
  auth?: ConfiguredAuth | undefined;
  fetch: GuardedFetch;
  /** Absent where the configured headers authenticate us. */
  authorizer?: Authorizer;
  clock: Clock;
  maxMessageBytes: number;
  quote: Quote;
  tap?: Tap | undefined;
}

export interface Outgoing {
  method: string;
  params: JsonObject;
  body: string;
  signal: CallSignal;
  /** Stops the clock of the caller who waits for the answer. */
  hold?: Hold;
  /** Milliseconds until the caller gives up. */
  timeLeft?: () => number;
  /** The server need not know this request: HTTP 5xx is an answer like any other. */
  isProbe?: boolean;
}

export class HttpSession {
  /** Which parameters of which tool are mirrored as headers. */
  paramHeaders: ReadonlyMap<string, readonly ParamHeader[]> = new Map();
  protocolVersion: string | undefined;
  readonly #options: RemoteOptions;
  readonly #onRenewed: () => void;
  #id: string | undefined;
  #initializeParams: JsonObject | undefined;
  #renewing: Promise<void> | undefined;

  /** Calls `onRenewed` when it was lost and there is a new one: what we know of the server may be stale. */
  constructor(options: RemoteOptions, onRenewed: () => void) {
    this.#options = options;
    this.#onRenewed = onRenewed;
  }

  /** Resolves to an answer that is a success. */
  async post(outgoing: Outgoing): Promise<GuardedResponse> {
    if (outgoing.method === "initialize") {
      this.#initializeParams = outgoing.params;
      // What came with the answer to an earlier question was no session that we opened.
      this.#id = undefined;
    }
    let retries = SAFE.has(outgoing.method) && !outgoing.isProbe ? SAFE_RETRIES : 0;
    let patience = LATER_RETRIES;
    for (let renewed = false; ;) {
      const session = this.#id;
      const response = await this.#postOnce(outgoing).catch((error: unknown) => {
        if (retries === 0 || !isBroken(error)) throw error;
        // The server may have closed the connection because nobody used it, at the moment when we did.
        retries = 0;
        return this.#postOnce(outgoing);
      });
      if (response.status < 300) {
        this.#id = response.headers["mcp-session-id"] ?? this.#id;
        return response;
      }
      const { status, headers } = response;
      const body = await firstBytes(response);
      if (body !== "") this.#options.tap?.listener?.({ kind: "received", text: body });
      const refusal = readRefusal({
        status,
        headers,
        body,
        method: outgoing.method,
        inSession: session !== undefined,
        sent: this.#options.headers.current,
        auth: this.#options.auth,
        now: this.#options.clock.now(),
        quote: this.#options.quote,
      });
      if (refusal.kind === "session-lost") {
        // It says the same with a new session, so the session is not the problem.
        if (renewed) throw refusal.error;
        renewed = true;
        await this.#renew(session, outgoing.signal).catch((error: unknown) => {
          throw withoutEffect(toPlugboardError(error, "PROTOCOL"));
        });
      } else if (refusal.kind === "later" && patience > 0) {
        // Whoever waits longer than the caller does cannot succeed, and the caller would not learn why.
        const left = outgoing.timeLeft?.() ?? LONGEST_WAIT_MS;
        if (refusal.afterMs >= left) throw refusal.error;
        patience -= 1;
        await this.#wait(refusal.afterMs, outgoing.signal);
      } else if (status >= 500 && retries > 0) {
        retries -= 1;
        await this.#wait(SAFE_RETRY_MS, outgoing.signal);
      } else {
        throw refusal.error;
      }
    }
  }

  /** Reads the server's own messages in a legacy session; resolves when the stream ends. */
  async listen(
    position: StreamPosition,
    signal: CallSignal,
    onData: (data: string) => Promise<void> | undefined,
  ): Promise<"ended" | "unsupported"> {
    const { maxMessageBytes } = this.#options;
    const headers = {
      accept: "text/event-stream",
      ...(position.lastId !== undefined && { "last-event-id": position.lastId }),
    };
    const response = await this.#send({ method: "GET", headers, signal, maxBodyBytes: Infinity });
    if (response.status !== 200 || !isEventStream(response)) {
      response.cancel();
      return "unsupported";
    }
    try {
      await readEvents(response.body, maxMessageBytes, position, ({ name, data }) => {
        return name === "message" ? onData(data) : undefined;
      });
    } catch (error) {
      // A stream that was cut has ended like any other; the next one shows whether the server is gone.
      if (!(error instanceof PlugboardError) || error.code !== "NETWORK") throw error;
    }
    return "ended";
  }

  /** Tells the server that the session is over. */
  async leave(): Promise<void> {
    if (this.#id === undefined) return;
    // An error does not matter: the server may have forgotten the session already, or be gone.
    await this.#send({ method: "DELETE", deadline: LEAVE_MS }).then(
      (response) => response.cancel(),
      () => {},
    );
    this.#id = undefined;
  }

  #postOnce({ method, params, body, signal, hold }: Outgoing): Promise<GuardedResponse> {
    const headers = {
      "content-type": "application/json",
      accept: ACCEPT,
      ...mirroredHeaders(method, params),
      ...this.#paramHeaders(method, params),
    };
    // A stream may have any length; each event and each JSON answer is bounded where it is read.
    const maxBodyBytes = Infinity;
    this.#options.tap?.listener?.({ kind: "sent", text: body });
    return this.#send({ method: "POST", headers, body, signal, maxBodyBytes }, hold);
  }

  #send(
    { headers = {}, ...request }: Parameters<GuardedFetch>[1],
    hold?: Hold,
  ): Promise<GuardedResponse> {
    const { url, headers: configured, fetch, authorizer, tap, clock } = this.#options;
    const { protocolVersion } = this;
    return sendAuthorized(
      { headers: configured, authorizer },
      (credentials) => {
        const sending = fetch(url, {
          ...request,
          headers: { ...sessionHeaders({ sessionId: this.#id, protocolVersion }), ...headers },
          privateHeaders: credentials,
        });
        if (tap?.listener === undefined) return sending;
        return tapped(sending, { method: request.method, session: this.#id }, tap, clock);
      },
      hold,
    );
  }

  #paramHeaders(method: string, params: JsonObject): Record<string, string> {
    const { name, arguments: args } = params;
    if (method !== "tools/call" || typeof name !== "string" || !isJsonObject(args)) return {};
    return paramHeaders(this.paramHeaders.get(name) ?? [], args);
  }

  #renew(lost: string | undefined, signal: CallSignal): Promise<void> {
    if (this.#renewing === undefined && this.#id !== lost) return Promise.resolve();
    this.#renewing ??= this.#initializeAgain(signal).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #initializeAgain(signal: CallSignal): Promise<void> {
    const params = this.#initializeParams;
    if (params === undefined) throw new PlugboardError("CONNECTION_CLOSED", "the session was lost");
    this.#id = undefined;
    const body = JSON.stringify({ jsonrpc: "2.0", id: "renew", method: "initialize", params });
    const response = await this.#postOnce({ method: "initialize", params, body, signal });
    // Its content is known from the first handshake.
    response.cancel();
    const { status } = response;
    if (status >= 300) {
      const message = `the server refused a new session with HTTP ${status}`;
      throw new PlugboardError("HTTP_STATUS", message, { status });
    }
    this.#id = response.headers["mcp-session-id"];
    const method = "notifications/initialized";
    const note = JSON.stringify({ jsonrpc: "2.0", method });
    (await this.#postOnce({ method, params: {}, body: note, signal })).cancel();
    this.#onRenewed();
  }

  async #wait(ms: number, signal: CallSignal): Promise<void> {
    await pause(this.#options.clock, ms, signal);
    if (signal.aborted) throw cancelled(signal);
  }
}

/** Requests that change nothing on the server may be sent again. */
export function isSafe(method: string): boolean {
  return SAFE.has(method);
}

/** The connection was made, and has ended without an answer. */
function isBroken(error: unknown): boolean {
  return error instanceof PlugboardError && error.code === "NETWORK" && !error.hasNotRun;
}

export function isEventStream({ headers }: GuardedResponse): boolean {
  return mediaType(headers) === "text/event-stream";
}

/** The beginning of a body that is not the answer we wanted. Ends the response. */
export async function firstBytes(response: GuardedResponse): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= ERROR_BODY_BYTES) break;
    }
  } catch {
    // What was read so far is enough.
  }
  response.cancel();
  return Buffer.concat(chunks).toString("utf8");
}
