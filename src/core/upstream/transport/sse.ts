// The SSE transport of 2024-11-05: the server sends everything in one long stream of events, and we POST
// everything to an address that it sends first.

import { PlugboardError, toPlugboardError } from "../../types/errors.ts";
import { isJsonObject } from "../../types/json.ts";
import type { GuardedFetch, GuardedResponse } from "../../net/fetch.ts";
import { deferred } from "../../../util/deferred.ts";
import { readEvents } from "./event-stream.ts";
import { firstBytes, isEventStream, type Outgoing, type RemoteOptions } from "./http-session.ts";
import { readRefusal } from "./http-refusal.ts";
import { RemoteTransport } from "./remote.ts";
import { type Hold, sendAuthorized } from "./send-authorized.ts";
import { tapped } from "../tap.ts";

/** How long an open stream may be silent about the address to post to, which comes first. */
const ADDRESS_MS = 5000;

const LONGEST_ADDRESS = 4096;

export class SseTransport extends RemoteTransport {
  readonly #options: RemoteOptions;
  readonly #address = deferred<string>();
  #hasAddress = false;

  constructor(options: RemoteOptions, onFatal: (error: PlugboardError) => void) {
    super(options, onFatal);
    this.#options = options;
    // Without this, a refusal before the first message would be an unhandled rejection.
    this.#address.promise.catch(() => {});
    void this.#listen();
  }

  protected override async exchange(outgoing: Outgoing): Promise<void> {
    await this.#post(outgoing);
  }

  protected override async sendForSdk(outgoing: Outgoing): Promise<void> {
    await this.#post(outgoing);
  }

  protected override async notify(message: object): Promise<void> {
    const body = JSON.stringify(message);
    await this.#post({ method: "notification", params: {}, body, signal: this.ended });
  }

  async #post({ method, body, signal, hold }: Outgoing): Promise<void> {
    const headers = { "content-type": "application/json" };
    const url = await this.#address.promise;
    this.tap.listener?.({ kind: "sent", text: body });
    const response = await this.#send(url, { method: "POST", headers, body, signal }, hold);
    if (response.status < 300) return response.cancel();
    throw this.#refusal(response, method, await firstBytes(response));
  }

  #refusal({ status, headers }: GuardedResponse, method: string, body: string): PlugboardError {
    const { clock, headers: configured, auth, quote } = this.#options;
    const now = clock.now();
    const request = { method, inSession: false, sent: configured.current, auth };
    return readRefusal({ status, headers, body, ...request, now, quote }).error;
  }

  /** The stream is the session: when it ends, the conversation ends. */
  async #listen(): Promise<void> {
    const { url, maxMessageBytes, clock } = this.#options;
    const headers = { accept: "text/event-stream" };
    const signal = this.ended;
    try {
      const request = { method: "GET", headers, signal, maxBodyBytes: Infinity } as const;
      const response = await this.#send(url, request);
      if (response.status !== 200 || !isEventStream(response)) {
        const body = response.status === 200 ? "" : await firstBytes(response);
        response.cancel();
        throw this.#refusal(response, "GET", body);
      }
      const { status } = response;
      const patience = clock.later(ADDRESS_MS, () => {
        const message = "the server's stream does not begin with an address to post to";
        this.#fail(new PlugboardError("PROTOCOL", message, { status, quote: "" }));
      });
      try {
        await readEvents(response.body, maxMessageBytes, {}, ({ name, data }) => {
          const isAddress = name === "endpoint";
          const wrapped = isAddress || !this.#hasAddress ? addressIn(data) : undefined;
          if (name === "message" && wrapped === undefined) return this.take(data);
          if (!isAddress && wrapped === undefined) return undefined;
          patience.cancel();
          this.#adoptAddress(wrapped ?? data);
          return undefined;
        });
      } finally {
        patience.cancel();
      }
      throw new PlugboardError("CONNECTION_CLOSED", "the server ended its stream");
    } catch (error) {
      if (!signal.aborted) this.#fail(toPlugboardError(error, "PROTOCOL"));
    }
  }

  #fail(reason: PlugboardError): void {
    this.#address.reject(reason);
    this.fatal(reason);
  }

  #send(url: string, request: Parameters<GuardedFetch>[1], hold?: Hold): Promise<GuardedResponse> {
    const { headers, fetch, authorizer, clock } = this.#options;
    const { tap } = this;
    return sendAuthorized(
      { headers, authorizer },
      (credentials) => {
        const sending = fetch(url, { ...request, privateHeaders: credentials });
        return tap.listener === undefined ? sending : tapped(sending, request, tap, clock);
      },
      hold,
    );
  }

  /** The address must be on the server's own origin, because it gets the configured headers. */
  #adoptAddress(data: string): void {
    const base = new URL(this.#options.url);
    const address = URL.canParse(data, base.href) ? new URL(data, base) : undefined;
    if (address?.origin === base.origin) {
      this.#hasAddress = true;
      return this.#address.resolve(address.href);
    }
    const quote = this.#options.quote(data);
    const message = `the server sends its client to another origin (${quote})`;
    throw new PlugboardError("REFUSED_ADDRESS", message, { quote, permanent: true });
  }
}

/** Some servers send `{ "endpoint": "…" }` in place of the address alone, and as an event without a name. */
function addressIn(data: string): string | undefined {
  if (data.length > LONGEST_ADDRESS || !data.trimStart().startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(data);
    if (!isJsonObject(value) || "jsonrpc" in value) return undefined;
    const { endpoint } = value;
    return typeof endpoint === "string" ? endpoint : undefined;
  } catch {
    return undefined;
  }
}
