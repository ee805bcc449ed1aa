// MCP over Streamable HTTP, in both eras: every message is a POST, and answers come as JSON or as a stream of
// events. An answer that is cut short fails its call at once.

import { PlugboardError, toPlugboardError, withPossibleEffect } from "../../types/errors.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { GuardedResponse } from "../../net/fetch.ts";
import { oneLine } from "../../../util/text.ts";
import type { CallSignal } from "../../../util/abort.ts";
import { pause } from "../../../util/clock.ts";
import { readEvents, type StreamPosition } from "./event-stream.ts";
import { messageTooLarge, serverError } from "./errors.ts";
import { mediaType } from "./http-headers.ts";
import {
  firstBytes,
  HttpSession,
  isEventStream,
  isSafe,
  type Outgoing,
  type RemoteOptions,
} from "./http-session.ts";
import type { ParamHeader } from "../../types/param-headers.ts";
import { RemoteTransport } from "./remote.ts";

const CHECK_TIMEOUT_MS = 10_000;
const RESUME_ATTEMPTS = 3;
const RESUME_PAUSE_MS = 500;

export class HttpTransport extends RemoteTransport {
  readonly hasPerRequestStream = true;
  readonly session: HttpSession;
  readonly #options: RemoteOptions;
  /** The SDK's requests that have no answer yet. */
  readonly #sdkWaits = new Set<number | string>();
  #isChecking = false;

  constructor(
    options: RemoteOptions,
    onFatal: (error: PlugboardError) => void,
    onRenewed: () => void,
  ) {
    super(options, onFatal);
    this.session = new HttpSession(options, onRenewed);
    this.#options = options;
  }

  setProtocolVersion(version: string): void {
    if (this.meta === undefined) this.session.protocolVersion = version;
  }

  adoptParamHeaders(byTool: ReadonlyMap<string, readonly ParamHeader[]>): void {
    this.session.paramHeaders = byTool;
  }

  protected override async exchange(outgoing: Outgoing, id: number): Promise<void> {
    const { method } = outgoing;
    const position: StreamPosition = {};
    const response = await this.session.post(outgoing);
    let stray: { message: unknown } | undefined;
    const take = (data: string): void => {
      for (const message of this.receive(data, id)) {
        // The response is to this request alone, so an error without an id is about it.
        if (isErrorWithoutId(message)) {
          this.calls.fail(id, serverError(method, message.error, this.#options.quote));
        }
        stray = { message };
      }
    };
    const end = await this.#read(response, method, position, take).then(
      () => undefined,
      (error: unknown) => toPlugboardError(error, "PROTOCOL"),
    );
    if (!this.calls.waits(id)) return;
    // One answer that was cut short does not mean that the server is gone, so other calls go on.
    if (end !== undefined && end.code !== "NETWORK") throw end;
    if (this.meta === undefined) await this.#resume(position, outgoing.signal, id);
    if (stray !== undefined) {
      const shown = this.#options.quote(stray.message);
      throw new PlugboardError(
        "PROTOCOL",
        `the server answered ${method} with something else: ${shown}`,
        { quote: shown },
      );
    }
    const message = "the server ended its answer before it was complete";
    this.calls.fail(
      id,
      new PlugboardError("CONNECTION_CLOSED", message, { cause: end, quote: "" }),
    );
  }

  /**
   * A connection that breaks ends the one request on it: the server may have closed it because nobody used it, at the moment when we
   * did. So it is asked whether it is there before the other requests are given up.
   */
  protected override failed(method: string, error: PlugboardError): void {
    const isBroken = error.code === "NETWORK" && !error.hasNotRun;
    if (!isBroken || isSafe(method)) return super.failed(method, error);
    if (this.#isChecking) return;
    this.#isChecking = true;
    void this.check().then(() => {
      this.#isChecking = false;
    });
  }

  /** Any answer will do, even an error. If there is none because of the network, the conversation is over. Never rejects. */
  async check(): Promise<void> {
    const method = this.meta === undefined ? "ping" : "server/discover";
    await this.request(method, {}, { timeout: CHECK_TIMEOUT_MS }).catch(() => {});
  }

  protected override async sendForSdk(outgoing: Outgoing, id: string | number): Promise<void> {
    this.#sdkWaits.add(id);
    const position: StreamPosition = {};
    const response = await this.session.post(outgoing).catch((error: unknown) => {
      throw this.#noted(error);
    });
    // The SDK waits for the answer by its id, not for this promise.
    void this.#read(response, outgoing.method, position, (data) => void this.receive(data))
      .catch((error: unknown) => this.onerror?.(toPlugboardError(error, "PROTOCOL")))
      .finally(() => {
        // If the stream ended without an answer, the SDK would wait for it for ever.
        if (!this.#sdkWaits.delete(id) || outgoing.signal.aborted) return;
        const error = { code: -32000, message: "the stream ended without an answer" };
        this.onmessage?.({ jsonrpc: "2.0", id, error });
      });
  }

  protected override async notify(message: object): Promise<void> {
    const method = "method" in message ? String(message.method) : "response";
    const body = JSON.stringify(message);
    (await this.session.post({ method, params: {}, body, signal: this.ended })).cancel();
  }

  protected override answered(id: string | number): boolean {
    return this.#sdkWaits.delete(id);
  }

  /** Asks for what was missed, which is possible if the server gives its events ids. */
  async #resume(position: StreamPosition, signal: CallSignal, id: number): Promise<void> {
    for (let attempt = 1; attempt <= RESUME_ATTEMPTS; attempt += 1) {
      if (position.lastId === undefined || !this.calls.waits(id) || signal.aborted) return;
      await pause(this.#options.clock, position.retryMs ?? RESUME_PAUSE_MS, signal);
      const outcome = await this.session
        .listen(position, signal, (data) => this.take(data))
        .catch((error: unknown) => {
          throw withPossibleEffect(this.#noted(error));
        });
      if (outcome === "unsupported") return;
    }
  }

  #noted(error: unknown): PlugboardError {
    const reason = toPlugboardError(error, "PROTOCOL");
    if (reason.code === "NETWORK") this.fatal(reason);
    return reason;
  }

  async #read(
    response: GuardedResponse,
    method: string,
    position: StreamPosition,
    take: (data: string) => void,
  ): Promise<void> {
    const { maxMessageBytes, quote } = this.#options;
    const type = mediaType(response.headers) ?? "";
    if (isEventStream(response)) {
      return readEvents(response.body, maxMessageBytes, position, ({ name, data }) => {
        if (name !== "message") return undefined;
        take(data);
        return this.room?.();
      });
    }
    if (type.includes("json")) {
      const error = (): PlugboardError => messageTooLarge(maxMessageBytes);
      return take(await response.text({ maxBytes: maxMessageBytes, error }));
    }
    if (response.status === 202 || response.status === 204) return response.cancel();
    const what = type === "" ? "no content type" : oneLine(type, 60);
    const body = quote(await firstBytes(response));
    const shown = body === "" ? "" : `: ${body}`;
    throw new PlugboardError(
      "PROTOCOL",
      `the server answered ${method} with ${what} instead of JSON${shown}`,
    );
  }
}

function isErrorWithoutId(message: unknown): message is { error: JsonObject } {
  if (!isJsonObject(message) || !isJsonObject(message.error)) return false;
  return message.id === undefined || message.id === null;
}
