// MCP over ACP: each request is an `mcp/message` to the ACP client in which the server runs, and the answer to it holds
// the server's. There is only 2026-07-28, which has no session; and nothing goes to the server but requests.

import { cancelled, PlugboardError, toPlugboardError } from "../../types/errors.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { McpMessageHooks, SendMcpMessage } from "../../types/mcp-message.ts";
import { abortSignalOf } from "../../../util/abort.ts";
import { jsonOfAnyDepth } from "../../../util/canonical-json.ts";
import { type Clock, pause } from "../../../util/clock.ts";
import { jsonLength } from "../../../util/json-length.ts";
import { malformed, messageTooLarge, type Quote, wireMessage } from "./errors.ts";
import type { Outgoing } from "./http-session.ts";
import { RemoteTransport } from "./remote.ts";
import type { Tap } from "../tap.ts";

/** With these codes the client itself refuses a request; what the server answers is inside a success. */
const CODES = {
  methodNotFound: -32601,
  cancelled: -32800,
  /** Too many requests at once: the SDK's client takes 64 for a server. */
  busy: -33000,
  /** The client has no such server, and will never have one with that id again. */
  noServer: -33001,
} as const;

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 1000;
/** For a request of the SDK's, which has its own time. */
const SDK_WAIT_MS = 30_000;
const SERVER_FAILED = -32000;
const SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId";

export interface AcpTransportOptions {
  serverId: string;
  send: SendMcpMessage;
  /** The beginning of the ids of this conversation's requests. No other on the client's connection may have it. */
  idPrefix: string;
  clock: Clock;
  maxMessageBytes: number;
  quote: Quote;
  tap?: Tap | undefined;
}

export class AcpTransport extends RemoteTransport {
  /** The SDK cancels a request by its signal. */
  readonly hasPerRequestStream = true;
  readonly #options: AcpTransportOptions;
  #requests = 0;

  constructor(options: AcpTransportOptions, onFatal: (error: PlugboardError) => void) {
    super(options, onFatal);
    this.#options = options;
  }

  protected override async exchange(outgoing: Outgoing, id: number): Promise<void> {
    const outcome = await this.#ask(outgoing, this.#newId(), (method, params) => {
      this.dispatch({ jsonrpc: "2.0", method, params }, id);
    });
    this.calls.settle(id, outcome);
  }

  protected override async sendForSdk(outgoing: Outgoing, id: string | number): Promise<void> {
    const requestId = this.#newId();
    // The SDK waits for the answer by its id, not for this promise.
    void this.#ask(outgoing, requestId, (method, params) => {
      const addressed = withSubscriptionId(params, requestId, id);
      this.dispatch({ jsonrpc: "2.0", method, params: addressed }, undefined);
    })
      .then(
        (outcome) => ("error" in outcome ? { error: this.#toError(outcome["error"]) } : outcome),
        (error: unknown) => ({ error: this.#toError(toPlugboardError(error, "PROTOCOL")) }),
      )
      .then((outcome) => {
        if (!outgoing.signal.aborted) this.dispatch({ jsonrpc: "2.0", id, ...outcome }, undefined);
      });
  }

  /** A server over ACP gets requests only, and none of them needs a notification. */
  protected override async notify(): Promise<void> {}

  /** The server's result or error. */
  async #ask(
    { method, params, signal, timeLeft = () => SDK_WAIT_MS }: Outgoing,
    requestId: string,
    onNotification: McpMessageHooks["onNotification"],
  ): Promise<JsonObject> {
    const { serverId, send, clock, maxMessageBytes, quote } = this.#options;
    const hooks: McpMessageHooks = {
      signal: abortSignalOf(signal),
      onNotification: (notification, about) => {
        if (signal.aborted) return;
        // One that is too large is left out: the answer is still to come.
        if (jsonLength(about, maxMessageBytes) === Infinity) return;
        this.#tapped("received", { method: notification, params: about });
        onNotification(notification, about);
      },
    };
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      try {
        this.#tapped("sent", { id: requestId, method, params });
        const answer = await send({ serverId, requestId, method, params }, hooks);
        if (jsonLength(answer, maxMessageBytes) === Infinity)
          throw messageTooLarge(maxMessageBytes);
        this.#tapped("received", { id: requestId, ...(isJsonObject(answer) && answer) });
        return outcomeIn(answer, method, quote);
      } catch (error) {
        if (error instanceof PlugboardError) throw error;
        if (signal.aborted) throw cancelled(signal);
        const reason = this.#refusal(error);
        if (codeOf(error) !== CODES.busy || wait >= timeLeft()) throw reason;
        await pause(clock, wait, signal);
        if (signal.aborted) throw reason;
      }
    }
  }

  #tapped(kind: "sent" | "received", message: JsonObject): void {
    if (this.tap.listener === undefined) return;
    this.tap.listener({ kind, text: jsonOfAnyDepth({ jsonrpc: "2.0", ...message }) });
  }

  /** Why the client did not pass the request on. Some reasons end the conversation. */
  #refusal(error: unknown): PlugboardError {
    const code = codeOf(error);
    if (code === undefined) return this.#ended(clientGone(error));
    const said = wireMessage(error, this.#options.quote);
    switch (code) {
      case CODES.noServer:
        return this.#ended(noServer(error));
      case CODES.methodNotFound:
        return this.#ended(notTaken(error));
      case CODES.busy:
        return new PlugboardError("SERVER_UNAVAILABLE", "the editor takes no more requests now", {
          cause: error,
          quote: "",
          hasNotRun: true,
        });
      case CODES.cancelled: {
        const message = "the editor ended the request before it was answered";
        return new PlugboardError("CONNECTION_CLOSED", message, { cause: error, quote: "" });
      }
      default: {
        const message = `the editor could not pass on the server's answer: ${said} (${code})`;
        return new PlugboardError("SERVER_ERROR", message, { cause: error, quote: said });
      }
    }
  }

  #ended(reason: PlugboardError): PlugboardError {
    this.fatal(reason);
    return reason;
  }

  #newId(): string {
    this.#requests += 1;
    return `${this.#options.idPrefix}:${this.#requests}`;
  }

  /** As the SDK wants it. */
  #toError(error: unknown): { code: number; message: string } {
    const code = codeOf(error) ?? SERVER_FAILED;
    return { code, message: wireMessage(error, this.#options.quote) };
  }
}

/** If an answer has a result and an error, the result counts. */
function outcomeIn(answer: unknown, method: string, quote: Quote): JsonObject {
  if (isJsonObject(answer)) {
    if (Object.hasOwn(answer, "result")) return { result: answer["result"] };
    if (isJsonObject(answer["error"])) return { error: answer["error"] };
  }
  throw malformed(method, "has neither a result nor an error", quote(answer));
}

function codeOf(error: unknown): number | undefined {
  const code = typeof error === "object" && error !== null && "code" in error && error.code;
  return Number.isInteger(code) ? Number(code) : undefined;
}

/** The server knows the subscription by the id that the request had over ACP, and the SDK by its own. */
function withSubscriptionId(params: JsonObject, theirs: string, ours: string | number): JsonObject {
  const meta = params["_meta"];
  if (!isJsonObject(meta) || meta[SUBSCRIPTION_ID] !== theirs) return params;
  return { ...params, _meta: { ...meta, [SUBSCRIPTION_ID]: ours } };
}

function clientGone(cause: unknown): PlugboardError {
  const message = "the connection to the editor has ended";
  return new PlugboardError("CONNECTION_CLOSED", message, { cause, quote: "" });
}

function noServer(cause: unknown): PlugboardError {
  return new PlugboardError("SERVER_UNAVAILABLE", "the editor does not have this server any more", {
    cause,
    quote: "",
    hint: "open a new session in the editor",
    permanent: true,
    hasNotRun: true,
  });
}

function notTaken(cause: unknown): PlugboardError {
  return new PlugboardError("UNSUPPORTED", "the editor does not answer requests to its servers", {
    cause,
    quote: "",
    hint: "update the editor: it names a server that it does not serve (mcp/message)",
    permanent: true,
    hasNotRun: true,
  });
}
