// Connects to a URL: over Streamable HTTP, or over the older SSE transport if the server knows only that. A
// configured transport is tried first. Remembers which of the two it was.

import type { Authorizer } from "../types/authorization.ts";
import type { Connection, ProtocolEra, RemoteTransportKind } from "../types/connection.ts";
import { ofWorker, PlugboardError, toPlugboardError } from "../types/errors.ts";
import type { RemoteTarget, ResolvedTarget } from "../types/server-definition.ts";
import { type Clock, pause } from "../../util/clock.ts";
import { deferred } from "../../util/deferred.ts";
import { excerpt } from "../../util/text.ts";
import {
  type ConnectionOptions,
  type ConnectTo,
  type ExpectedEra,
  openConnection,
} from "./connection/live-connection.ts";
import type { Carrier } from "./transport/carrier.ts";
import { ConfiguredHeaders } from "./transport/configured-headers.ts";
import type { StreamPosition } from "./transport/event-stream.ts";
import type { Quote } from "./transport/errors.ts";
import { HttpTransport } from "./transport/http.ts";
import type { RemoteOptions } from "./transport/http-session.ts";
import { SseTransport } from "./transport/sse.ts";

/** HTTP 4xx that say nothing about the transport: sign in, later. */
const OF_BOTH_TRANSPORTS = new Set([401, 403, 408, 429]);
/** The second transport gets at least this much time, or the server's whole `timeout` if that is shorter. */
const SECOND_TRANSPORT_MS = 5000;

const TRANSPORT_NAMES: Record<RemoteTransportKind, string> = {
  http: "Streamable HTTP",
  sse: "SSE",
};

export interface RemoteConnectOptions extends ConnectionOptions {
  /** The transport and era that an earlier run found. */
  transport?: RemoteTransportKind;
  era?: ProtocolEra;
  /** Hosts and ranges that the operator allows for every server. */
  networkAllow: readonly string[];
  /** Where the proxy variables come from. */
  networkEnv: Readonly<Record<string, string | undefined>>;
  /** Holds the server's tokens; resolves to undefined where the configured headers authenticate us. */
  authorize?: (target: RemoteTarget) => Promise<Authorizer | undefined>;
}

/** Remembers over all attempts which transport and which era the server speaks. */
export function remoteConnector(
  options: RemoteConnectOptions,
): ConnectTo<ResolvedTarget<RemoteTarget>> {
  const { definition, clock, networkAllow, networkEnv: env, authorize } = options;
  const { redact = (text) => text } = options;
  const isOfSession = definition.origin === "session";
  let known = options.transport;
  const expectedEra: Record<RemoteTransportKind, ExpectedEra> = {
    // Unlike on stdio, no server exits on the modern question, and a stateless conversation has no session to lose.
    http: { era: options.era ?? "modern" },
    sse: { era: "legacy" },
  };

  return async ({ target, renew }, signal, onRemains) => {
    const sent = new ConfiguredHeaders(target.headers, renew);
    const configured = target.kind === "remote" ? undefined : target.kind;
    const end = clock.monotonic() + options.timeout();

    async function connectOver(
      transport: RemoteTransportKind,
      deadline: number,
    ): Promise<Connection> {
      // Loaded here, because a board with stdio servers only needs no HTTP client.
      const { targetFetch } = await import("../net/target-fetch.ts");
      const { url } = target;
      const fetch = await targetFetch(target, { networkAllow, isOfSession, env, clock });
      const authorizer = await authorize?.(target);
      const { maxMessageBytes, authHeader: header, worker } = definition;
      const key = worker === undefined ? "auth" : "worker.token";
      const quote: Quote = (received, max) => excerpt(received, redact, max);
      const remote = {
        url,
        headers: sent,
        ...(header !== undefined && { auth: { header, key } as const }),
        fetch,
        authorizer,
        clock,
        maxMessageBytes,
        quote,
        tap: options.tap,
      };
      const carrier = transport === "http" ? httpCarrier(remote) : sseCarrier(remote);
      const expected = expectedEra[transport];
      const remark = remarkOn(transport, configured, isOfSession ? "type" : "transport");
      const opening = { carrier, deadline, expected, signal, onRemains, remark };
      return openConnection({ ...options, ...opening });
    }

    const first = known ?? configured ?? "http";
    const second = first === "http" ? "sse" : "http";
    try {
      const connection = await connectOver(first, end);
      known = first;
      return connection;
    } catch (error) {
      if (!mayBeOfOtherTransport(error)) {
        const isOfWorker = definition.worker !== undefined && error instanceof PlugboardError;
        throw isOfWorker ? ofWorker(error, definition.name) : error;
      }
      const shortest = Math.min(SECOND_TRANSPORT_MS, options.timeout());
      const deadline = Math.max(end, clock.monotonic() + shortest);
      const connection = await connectOver(second, deadline).catch((other: unknown) => {
        throw isMoreTelling(other) ? other : error;
      });
      known = second;
      return connection;
    }
  };
}

/** Tells that the server speaks another transport than the configured one. `key` is what an editor or a file calls it. */
function remarkOn(
  transport: RemoteTransportKind,
  configured: RemoteTransportKind | undefined,
  key: "type" | "transport",
): string | undefined {
  if (configured === undefined || configured === transport) return undefined;
  const [is, was] = [TRANSPORT_NAMES[transport], TRANSPORT_NAMES[configured]];
  return `answers over ${is}, not over ${was}: set "${key}" to "${transport}"`;
}

/** A server that does not know the transport refuses its first request, or answers with something else. */
function mayBeOfOtherTransport(error: unknown): boolean {
  const status = error instanceof PlugboardError ? error.status : undefined;
  return status !== undefined && status < 500 && !OF_BOTH_TRANSPORTS.has(status);
}

/** The other transport's failure is told only if it shows that the server does answer there. */
function isMoreTelling(error: unknown): boolean {
  return error instanceof PlugboardError && ["REFUSED_ADDRESS", "NEEDS_AUTH"].includes(error.code);
}

function httpCarrier(options: RemoteOptions): Carrier {
  const { clock, fetch } = options;
  const broken = deferred<PlugboardError>();
  let renewed: () => void = () => {};
  const wire = new HttpTransport(options, broken.resolve, () => renewed());
  return {
    wire,
    transport: "http",
    broken: broken.promise,
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

function sseCarrier(options: RemoteOptions): Carrier {
  const broken = deferred<PlugboardError>();
  const wire = new SseTransport(options, broken.resolve);
  const stop = (): Promise<void> => options.fetch.close();
  return { wire, transport: "sse", broken: broken.promise, stop };
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** How often we ask a server without an open stream whether it is still there. */
const CHECK_MS = 30_000;

/**
 * Listens to the server's own messages, and notices when it dies though nobody calls it. Runs until the
 * conversation ends; rejects when the server cannot be reached.
 */
async function watchServer(wire: HttpTransport, clock: Clock, era: ProtocolEra): Promise<void> {
  if (era === "legacy") await readServerMessages(wire, clock);
  while (!wire.ended.aborted) {
    await pause(clock, CHECK_MS, wire.ended);
    if (!wire.ended.aborted) await wire.check();
  }
}

/** Returns when the server has no stream of its own messages. */
async function readServerMessages(wire: HttpTransport, clock: Clock): Promise<void> {
  const position: StreamPosition = {};
  let wait = FIRST_PAUSE_MS;
  while (!wire.ended.aborted) {
    const started = clock.monotonic();
    const outcome = await wire.session
      .listen(position, wire.ended, (data) => wire.take(data))
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
