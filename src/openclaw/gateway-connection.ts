// One connection to the WebSocket of OpenClaw's gateway, protocol 4: lets us in, sends calls, and says in words why it
// cannot.

import { randomUUID } from "node:crypto";
import { Agent, buildConnector, WebSocket } from "undici";
import { type ErrorCode, PlugboardError } from "../core/types/errors.ts";
import {
  isJsonObject,
  type JsonObject,
  objectIn,
  textsIn,
  tryParseJson,
  valueIn,
} from "../core/types/json.ts";
import type { Clock } from "../util/clock.ts";
import { deferred, type Deferred } from "../util/deferred.ts";
import { errorCode } from "../util/error-code.ts";
import { oneLine } from "../util/text.ts";

/** Where the gateway is, and what it knows us by. */
export interface GatewayAddress {
  /** `ws://127.0.0.1:18789`. */
  url: string;
  token?: string;
  password?: string;
}

/** What a gateway says of itself when it lets us in. */
export interface GatewayHello {
  /** Tells one OpenClaw from another, whatever its address: the directory of its state. Its address, if it does not say. */
  id: string;
  /** Of OpenClaw: `2026.9.6`. */
  version: string;
  /** What we may do. */
  scopes: readonly string[];
  methods: readonly string[];
}

/** How the gateway has answered a call. */
export type GatewayAnswer =
  | { kind: "result"; result: JsonObject }
  /** It has refused. `reason` is its own word for why: `session-changed`. */
  | { kind: "refused"; reason: string | undefined; error: PlugboardError };

export interface GatewayConnectionOptions {
  clock: Clock;
  /** Of Plugboard. */
  version: string;
  /** For the connection, and for one call. */
  timeoutMs: number;
}

const PROTOCOL = 4;
const SCOPE = "operator.admin";
/** Far more than an answer to us has, and a bound for what the gateway tells everybody. */
const MOST_BYTES = 16 * 1024 * 1024;
const LONGEST_PATH = 4096;

const START = "start it with 'openclaw gateway run', or give its address with --openclaw <ws-url>";
const TOKEN =
  "set OPENCLAW_GATEWAY_TOKEN (or OPENCLAW_GATEWAY_PASSWORD) to what the gateway was started with: " +
  "gateway.auth in openclaw.json";

type Opened = { kind: "open" } | { kind: "starting"; retryAfterMs: number; error: PlugboardError };

export class GatewayConnection {
  readonly #address: GatewayAddress;
  readonly #options: GatewayConnectionOptions;
  readonly #agent: Agent;
  readonly #socket: WebSocket;
  readonly #answers = new Map<string, Deferred<JsonObject>>();
  readonly #challenge = deferred();
  #failure: PlugboardError | undefined;
  /** Of the TCP connection: the WebSocket itself does not say why it could not connect. */
  #connectError: Error | null = null;
  #isConnected = false;
  #hello: GatewayHello | undefined;

  constructor(address: GatewayAddress, options: GatewayConnectionOptions) {
    this.#address = address;
    this.#options = options;
    const connect = buildConnector({ timeout: options.timeoutMs });
    this.#agent = new Agent({
      webSocket: { maxPayloadSize: MOST_BYTES },
      connect: (target, done) => {
        connect(target, (error, socket) => {
          this.#connectError = error;
          this.#isConnected = error === null;
          if (error === null) done(null, socket);
          else done(error, null);
        });
      },
    });
    this.#socket = new WebSocket(address.url, { dispatcher: this.#agent });
    // Whoever waits for it reports the failure.
    this.#challenge.promise.catch(() => {});
    this.#socket.addEventListener("message", ({ data }) => this.#receive(data));
    this.#socket.addEventListener("error", () => {});
    this.#socket.addEventListener("close", ({ reason }) => this.#end(this.#whyClosed(reason)));
  }

  get isOpen(): boolean {
    return this.#failure === undefined;
  }

  get hello(): GatewayHello {
    return this.#hello ?? readHello(undefined, this.#address.url);
  }

  /** A gateway that is still starting is worth another attempt. Rejects for all others that do not let us in. */
  async open(signal: AbortSignal): Promise<Opened> {
    const abort = (): void => this.#end(gone(this.#address.url));
    signal.addEventListener("abort", abort, { once: true });
    try {
      await this.#inTime(this.#challenge.promise, "its greeting");
      const answer = await this.#request("connect", this.#introduction());
      if (answer["ok"] !== true) {
        const { error, retryAfterMs } = this.#notLetIn(answer);
        if (retryAfterMs === undefined) throw error;
        await this.close();
        return { kind: "starting", retryAfterMs, error };
      }
      this.#hello = readHello(answer["payload"], this.#address.url);
      this.#checkHello(this.#hello);
      return { kind: "open" };
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async call(method: string, params: JsonObject): Promise<GatewayAnswer> {
    const answer = await this.#request(method, params);
    const { payload } = answer;
    if (answer["ok"] === true) {
      return { kind: "result", result: objectIn(payload) };
    }
    const reason = valueIn(answer, ["error", "details", "reason"]);
    return {
      kind: "refused",
      reason: typeof reason === "string" ? reason : undefined,
      error: this.#refusal(method, answer),
    };
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#end(gone(this.#address.url));
    await this.#agent.destroy().catch(() => {});
  }

  #introduction(): JsonObject {
    const { token, password } = this.#address;
    return {
      minProtocol: PROTOCOL,
      maxProtocol: PROTOCOL,
      // The names are a closed list. A backend on the same machine that has the gateway's own secret needs no pairing.
      client: {
        id: "gateway-client",
        displayName: "Plugboard",
        version: this.#options.version,
        platform: process.platform,
        mode: "backend",
      },
      role: "operator",
      scopes: [SCOPE],
      caps: [],
      ...((token !== undefined || password !== undefined) && { auth: { token, password } }),
    };
  }

  async #request(method: string, params: JsonObject): Promise<JsonObject> {
    if (this.#failure !== undefined) throw this.#failure;
    const id = randomUUID();
    const answer = deferred<JsonObject>();
    // Nobody may wait any more when the connection ends.
    answer.promise.catch(() => {});
    this.#answers.set(id, answer);
    try {
      this.#socket.send(JSON.stringify({ type: "req", id, method, params }));
      return await this.#inTime(answer.promise, `its answer to ${method}`);
    } finally {
      this.#answers.delete(id);
    }
  }

  #receive(data: unknown): void {
    const message = typeof data === "string" ? tryParseJson(data) : undefined;
    if (!isJsonObject(message)) {
      this.#end(this.#fail("PROTOCOL", "sent something that is not a message of OpenClaw"));
      return;
    }
    if (message["type"] === "res" && typeof message["id"] === "string") {
      this.#answers.get(message["id"])?.resolve(message);
    }
    if (message["event"] === "connect.challenge") this.#challenge.resolve();
  }

  /** Rejects everything that waits. What comes later is about nothing. */
  #end(failure: PlugboardError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#challenge.reject(failure);
    for (const answer of this.#answers.values()) answer.reject(failure);
    this.#answers.clear();
    this.#socket.close();
    void this.#agent.destroy().catch(() => {});
  }

  async #inTime<Value>(work: Promise<Value>, what: string): Promise<Value> {
    const { clock, timeoutMs } = this.#options;
    const late = deferred<never>();
    const timer = clock.after(timeoutMs, () => {
      late.reject(
        this.#fail("TIMEOUT", `has not sent ${what} in ${Math.round(timeoutMs / 1000)} s`),
      );
    });
    try {
      return await Promise.race([work, late.promise]);
    } finally {
      timer.cancel();
    }
  }

  #whyClosed(reason: string): PlugboardError {
    if (this.#hello !== undefined) {
      return this.#fail("CONNECTION_CLOSED", `has ended the connection${words(reason)}`);
    }
    if (this.#connectError !== null) {
      const code = errorCode(this.#connectError);
      const why = code === "ECONNREFUSED" ? "" : ` (${code ?? this.#connectError.message})`;
      return new PlugboardError(
        "NETWORK",
        `no gateway of OpenClaw is at ${this.#address.url}${why}`,
        {
          hint: START,
          cause: this.#connectError,
          quote: "",
        },
      );
    }
    const why = this.#isConnected
      ? `does not speak the protocol of OpenClaw${words(reason)}`
      : "did not answer";
    return this.#fail("PROTOCOL", why, "check the address: --openclaw <ws-url>");
  }

  #notLetIn(answer: JsonObject): { error: PlugboardError; retryAfterMs?: number } {
    const retryAfterMs = valueIn(answer, ["error", "retryAfterMs"]);
    const code = valueIn(answer, ["error", "details", "code"]);
    const said = messageIn(answer);
    if (valueIn(answer, ["error", "code"]) === "UNAVAILABLE") {
      return {
        error: this.#fail(
          "SERVER_UNAVAILABLE",
          `is not ready${words(said)}`,
          "try again in a moment",
        ),
        retryAfterMs: typeof retryAfterMs === "number" ? retryAfterMs : 0,
      };
    }
    if (code === "PROTOCOL_MISMATCH") {
      const expected = valueIn(answer, ["error", "details", "expectedProtocol"]);
      return {
        error: this.#fail(
          "UNSUPPORTED_VERSION",
          `speaks protocol ${Number(expected) || "?"}, and this Plugboard ${PROTOCOL}`,
          "use OpenClaw 2026.9.6, or a version of Plugboard that is made for yours",
        ),
      };
    }
    const hasSecret = this.#address.token !== undefined || this.#address.password !== undefined;
    const problem = hasSecret
      ? "does not accept our token or password"
      : "asks for a token or password";
    if (typeof code === "string" && /^AUTH_|^DEVICE_|^PAIRING_/.test(code)) {
      return { error: this.#fail("NEEDS_AUTH", `${problem}${words(said)}`, TOKEN) };
    }
    return { error: this.#fail("HANDSHAKE_FAILED", `has refused the connection${words(said)}`) };
  }

  #checkHello({ scopes, methods, version }: GatewayHello): void {
    if (!scopes.includes(SCOPE)) {
      throw this.#fail(
        "NEEDS_AUTH",
        `does not let us change sessions: it has given ${oneLine(scopes.join(", "), 200) || "no rights"}, not ${SCOPE}`,
        "connect to it on this machine (ws://127.0.0.1:…) with its own token or password",
      );
    }
    if (!methods.includes("sessions.patch")) {
      throw this.#fail(
        "UNSUPPORTED_VERSION",
        `(OpenClaw ${oneLine(version, 40)}) cannot switch servers on for a session`,
        "use OpenClaw 2026.9.6 or later",
      );
    }
  }

  #refusal(method: string, answer: JsonObject): PlugboardError {
    if (valueIn(answer, ["error", "details", "code"]) === "MISSING_SCOPE") {
      return this.#fail(
        "NEEDS_AUTH",
        `does not allow us ${method}${words(messageIn(answer))}`,
        TOKEN,
      );
    }
    return this.#fail("SERVER_ERROR", `has refused ${method}${words(messageIn(answer))}`);
  }

  #fail(code: ErrorCode, problem: string, hint?: string): PlugboardError {
    const message = `the gateway of OpenClaw at ${this.#address.url} ${problem}`;
    return new PlugboardError(code, message, hint === undefined ? {} : { hint });
  }
}

function readHello(payload: unknown, url: string): GatewayHello {
  const version = valueIn(payload, ["server", "version"]);
  const directory = valueIn(payload, ["snapshot", "stateDir"]);
  return {
    id: isPath(directory) ? directory : url,
    version: typeof version === "string" ? oneLine(version, 40) : "unknown",
    scopes: textsIn(valueIn(payload, ["auth", "scopes"])),
    methods: textsIn(valueIn(payload, ["features", "methods"])),
  };
}

/** It goes into the records of slots, which are not read if they are too large. */
function isPath(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= LONGEST_PATH;
}

function messageIn(answer: JsonObject): string {
  const message = valueIn(answer, ["error", "message"]);
  return typeof message === "string" ? message : "";
}

/** The gateway's own words behind a sentence. */
function words(said: string): string {
  return said === "" ? "" : `: ${oneLine(said, 300)}`;
}

export function gone(url: string): PlugboardError {
  return new PlugboardError("CONNECTION_CLOSED", `the connection to OpenClaw at ${url} was closed`);
}
