// The SSE transport of 2024-11-05: the server sends everything in one long stream of events, and we POST
// everything to an address that it sends first.

import type { Authorizer } from "../../model/authorization.ts";
import { PlugboardError, toPlugboardError } from "../../model/errors.ts";
import type { GuardedFetch, GuardedResponse } from "../../net/fetch.ts";
import { oneLine } from "../../util/text.ts";
import { readEvents } from "./event-stream.ts";
import { isEventStream, type Outgoing } from "./http-session.ts";
import { readRefusal } from "./http-refusal.ts";
import { RemoteTransport, type RemoteTransportOptions } from "./remote.ts";
import { type Hold, sendAuthorized } from "./send-authorized.ts";

export interface SseTransportOptions extends RemoteTransportOptions {
  url: string;
  headers: Record<string, string>;
  fetch: GuardedFetch;
  authorizer?: Authorizer;
  maxMessageBytes: number;
}

export class SseTransport extends RemoteTransport {
  readonly #options: SseTransportOptions;
  readonly #address: Promise<string>;
  #giveAddress: (url: string) => void = () => {};
  #refuseAddress: (error: PlugboardError) => void = () => {};

  constructor(options: SseTransportOptions) {
    super(options);
    this.#options = options;
    this.#address = new Promise((resolve, reject) => {
      this.#giveAddress = resolve;
      this.#refuseAddress = reject;
    });
    this.#address.catch(() => {});
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
    const { clock } = this.#options;
    const headers = { "content-type": "application/json" };
    const url = await this.#address;
    const response = await this.#send(url, { method: "POST", headers, body, signal }, hold);
    const { status } = response;
    if (status < 300) return response.cancel();
    const text = await response.text().catch(() => "");
    const answer = { status, headers: response.headers, body: text, method, inSession: false };
    const refusal = readRefusal({ ...answer, now: clock.now() });
    throw refusal.error;
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
        const { status } = response;
        response.cancel();
        const answer = {
          status,
          headers: response.headers,
          body: "",
          method: "GET",
          inSession: false,
        };
        const refusal = readRefusal({ ...answer, now: clock.now() });
        throw refusal.error;
      }
      const position = { lastId: undefined, retryMs: undefined };
      await readEvents(response.body, maxMessageBytes, position, ({ name, data }) => {
        if (name === "endpoint") this.#adoptAddress(data);
        else if (name === "message") this.receive(data);
      });
      throw new PlugboardError("CONNECTION_CLOSED", "the server ended its stream");
    } catch (error) {
      if (signal.aborted) return;
      const reason = toPlugboardError(error, "PROTOCOL");
      this.#refuseAddress(reason);
      this.fatal(reason);
    }
  }

  #send(url: string, request: Parameters<GuardedFetch>[1], hold?: Hold): Promise<GuardedResponse> {
    const { headers, fetch, authorizer } = this.#options;
    return sendAuthorized(
      authorizer,
      (credentials) => fetch(url, { ...request, privateHeaders: { ...headers, ...credentials } }),
      hold,
    );
  }

  /** The address must be on the server's own origin, because it gets the configured headers. */
  #adoptAddress(data: string): void {
    const base = new URL(this.#options.url);
    const address = URL.canParse(data, base.href) ? new URL(data, base) : undefined;
    if (address?.origin === base.origin) return this.#giveAddress(address.href);
    const message = `the server sends its client to another origin (${oneLine(data, 200)})`;
    throw new PlugboardError("REFUSED_ADDRESS", message, { permanent: true });
  }
}
