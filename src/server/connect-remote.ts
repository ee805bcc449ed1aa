// Connects to a URL: over Streamable HTTP, or over the older SSE transport if the server knows only that.
// Remembers which of the two it was.

import type { Authorizer } from "../model/authorization.ts";
import type { Connection, ProtocolEra, RemoteTransportKind } from "../model/connection.ts";
import { PlugboardError, toPlugboardError } from "../model/errors.ts";
import type { RemoteEndpoint } from "../model/server-definition.ts";
import type { GuardedFetch } from "../net/fetch.ts";
import { type Clock, pause } from "../util/clock.ts";
import { deferred } from "../util/deferred.ts";
import {
  type ConnectionOptions,
  type ExpectedEra,
  openConnection,
  type Remains,
} from "./connection/live-connection.ts";
import type { Carrier } from "./transport/carrier.ts";
import type { StreamPosition } from "./transport/event-stream.ts";
import { HttpTransport } from "./transport/http.ts";
import { SseTransport } from "./transport/sse.ts";

/** With these a server says that it does not take POSTs at this URL. */
const NOT_STREAMABLE = new Set([400, 404, 405, 406, 415]);

export interface RemoteConnectOptions extends ConnectionOptions {
  /** The transport and era that an earlier run found; the transport counts only if the definition leaves it open. */
  transport?: RemoteTransportKind;
  era?: ProtocolEra;
  /** Hosts and ranges that the operator allows for every server. */
  networkAllow: readonly string[];
  /** Where the proxy variables come from. */
  networkEnv: Readonly<Record<string, string | undefined>>;
  /** Holds the server's tokens; resolves to undefined where the configured headers authenticate us. */
  authorize?: (endpoint: RemoteEndpoint) => Promise<Authorizer | undefined>;
}

export class RemoteConnector {
  readonly #options: RemoteConnectOptions;
  readonly #expected: Record<RemoteTransportKind, ExpectedEra>;
  #transport: RemoteTransportKind | undefined;

  constructor(options: RemoteConnectOptions) {
    this.#options = options;
    this.#transport = options.transport;
    this.#expected = {
      // Unlike on stdio, no server dies of the modern question, and a stateless conversation has no session to lose.
      http: { era: options.era ?? "modern" },
      sse: { era: "legacy" },
    };
  }

  async connect(
    endpoint: RemoteEndpoint,
    signal: AbortSignal,
    onRemains: (remains: Remains) => void,
  ): Promise<Connection> {
    const configured = endpoint.kind === "remote" ? undefined : endpoint.kind;
    const connectOver = (transport: RemoteTransportKind): Promise<Connection> =>
      this.#connectOver(transport, endpoint, signal, onRemains);

    if ((configured ?? this.#transport) === "sse") {
      return connectOver("sse").catch((error: unknown) => {
        // The server may have been replaced by one with the newer transport: the next attempt finds out.
        if (isNotStreamable(error)) this.#transport = undefined;
        throw error;
      });
    }
    try {
      const connection = await connectOver("http");
      this.#transport = "http";
      return connection;
    } catch (error) {
      if (configured !== undefined || !isNotStreamable(error)) throw error;
      const connection = await connectOver("sse").catch((second: unknown) => {
        const isRefused = second instanceof PlugboardError && second.code === "REFUSED_ADDRESS";
        throw isRefused ? second : error;
      });
      this.#transport = "sse";
      return connection;
    }
  }

  async #connectOver(
    transport: RemoteTransportKind,
    endpoint: RemoteEndpoint,
    signal: AbortSignal,
    onRemains: (remains: Remains) => void,
  ): Promise<Connection> {
    const { definition, clock, networkAllow, networkEnv: env, authorize } = this.#options;
    const deadline = clock.monotonic() + definition.timeout;
    // Loaded here, because a board with stdio servers only needs no HTTP client.
    const { endpointFetch } = await import("../net/endpoint-fetch.ts");
    const fetch = await endpointFetch(endpoint, { networkAllow, env, clock });
    const carrier = (transport === "http" ? httpCarrier : sseCarrier)({
      url: endpoint.url,
      headers: endpoint.headers,
      fetch,
      authorizer: await authorize?.(endpoint),
      clock,
      maxMessageBytes: definition.maxMessageBytes,
    });
    const expected = this.#expected[transport];
    return openConnection({ ...this.#options, carrier, deadline, expected, signal, onRemains });
  }
}

function isNotStreamable(error: unknown): boolean {
  return error instanceof PlugboardError && NOT_STREAMABLE.has(error.status ?? 0);
}

interface RemoteCarrierOptions {
  url: string;
  headers: Record<string, string>;
  fetch: GuardedFetch;
  authorizer?: Authorizer;
  clock: Clock;
  maxMessageBytes: number;
}

function httpCarrier(options: RemoteCarrierOptions): Carrier {
  const { clock, fetch } = options;
  const broken = deferred<PlugboardError>();
  let renewed: () => void = () => {};
  const wire = new HttpTransport({
    ...options,
    onFatal: broken.resolve,
    onRenewed: () => renewed(),
  });
  return {
    wire,
    pid: undefined,
    transport: "http",
    broken: broken.promise,
    stderrTail: () => [],
    established(era, onRenewed) {
      renewed = onRenewed;
      void watchServer(wire, clock, era).catch((error: unknown) => {
        wire.fatal(toPlugboardError(error, "NETWORK"));
      });
    },
    async stop() {
      await wire.session.leave();
      await fetch.close();
    },
  };
}

function sseCarrier(options: RemoteCarrierOptions): Carrier {
  const broken = deferred<PlugboardError>();
  return {
    wire: new SseTransport({ ...options, onFatal: broken.resolve }),
    pid: undefined,
    transport: "sse",
    broken: broken.promise,
    stderrTail: () => [],
    stop: () => options.fetch.close(),
  };
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** How often we ask a server without an open stream whether it is still there. */
const CHECK_MS = 30_000;
const CHECK_TIMEOUT_MS = 10_000;

/**
 * Listens to the server's own messages, and notices when it dies though nobody calls it. Runs until the
 * conversation ends; rejects when the server cannot be reached.
 */
async function watchServer(wire: HttpTransport, clock: Clock, era: ProtocolEra): Promise<void> {
  if (era === "legacy") await readServerMessages(wire, clock);
  while (!wire.ended.aborted) {
    await pause(clock, CHECK_MS, wire.ended);
    if (wire.ended.aborted) return;
    // Any answer will do, even an error. If the network fails, `request` itself ends the conversation.
    const method = era === "legacy" ? "ping" : "server/discover";
    await wire.request(method, {}, { timeout: CHECK_TIMEOUT_MS }).catch(() => {});
  }
}

/** Returns when the server has no stream of its own messages. */
async function readServerMessages(wire: HttpTransport, clock: Clock): Promise<void> {
  const position: StreamPosition = { lastId: undefined, retryMs: undefined };
  let wait = FIRST_PAUSE_MS;
  while (!wire.ended.aborted) {
    const started = clock.monotonic();
    const outcome = await wire.session
      .listen(position, wire.ended, (data) => wire.receive(data))
      .catch((error: unknown) => {
        const reason = toPlugboardError(error, "PROTOCOL");
        if (!wire.ended.aborted && reason.code === "NETWORK") throw reason;
        return "ended" as const;
      });
    if (outcome === "unsupported") return;
    // A stream that lasted a while is opened again soon; one that keeps ending at once, less and less often.
    wait = clock.monotonic() - started > LONGEST_PAUSE_MS ? FIRST_PAUSE_MS : wait * 2;
    const ms = Math.min(Math.max(position.retryMs ?? 0, wait), LONGEST_PAUSE_MS);
    await pause(clock, ms, wire.ended);
  }
}
