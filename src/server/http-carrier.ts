// A URL as the carrier of a conversation: the transport, the stream of the server's own messages, and the
// looks at a silent server by which its death is noticed without a call being made.

import type { Authorizer } from "../model/authorization.ts";
import type { ProtocolEra } from "../model/connection.ts";
import { type PlugboardError, toPlugboardError } from "../model/errors.ts";
import type { GuardedFetch } from "../net/fetch.ts";
import { type Clock, pause } from "../util/clock.ts";
import type { Carrier } from "./carrier.ts";
import { HttpTransport } from "./transport/http.ts";
import type { StreamPosition } from "./transport/event-stream.ts";
import { SseTransport } from "./transport/sse.ts";

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** How often a server without an open stream is looked at. */
const LOOK_MS = 30_000;
const LOOK_TIMEOUT_MS = 10_000;

export interface RemoteCarrierOptions {
  url: string;
  headers: Record<string, string>;
  fetch: GuardedFetch;
  authorizer?: Authorizer;
  clock: Clock;
  maxMessageBytes: number;
}

export function httpCarrier(options: RemoteCarrierOptions): Carrier {
  const { clock, fetch } = options;
  let settle: (reason: PlugboardError) => void = () => {};
  const broken = new Promise<PlugboardError>((resolve) => {
    settle = resolve;
  });
  let renewed: () => void = () => {};
  const wire = new HttpTransport({ ...options, onFatal: settle, onRenewed: () => renewed() });
  return {
    wire,
    pid: undefined,
    transport: "http",
    broken,
    stderrTail: () => [],
    established(era, onRenewed) {
      renewed = onRenewed;
      void watch(wire, clock, era).catch((error: unknown) => {
        wire.fatal(toPlugboardError(error, "NETWORK"));
      });
    },
    async stop() {
      await wire.session.leave();
      await fetch.close();
    },
  };
}

export function sseCarrier(options: RemoteCarrierOptions): Carrier {
  let settle: (reason: PlugboardError) => void = () => {};
  const broken = new Promise<PlugboardError>((resolve) => {
    settle = resolve;
  });
  const wire = new SseTransport({ ...options, onFatal: settle });
  const { fetch } = options;
  return {
    wire,
    pid: undefined,
    transport: "sse",
    broken,
    stderrTail: () => [],
    stop: () => fetch.close(),
  };
}

/** Until the conversation ends. Rejects when the server cannot be reached. */
async function watch(wire: HttpTransport, clock: Clock, era: ProtocolEra): Promise<void> {
  if (era === "legacy") await hear(wire, clock);
  while (!wire.ended.aborted) {
    await pause(clock, LOOK_MS, wire.ended);
    if (wire.ended.aborted) return;
    // Any answer will do, an error too. Only the network's word counts, and `request` acts on that itself.
    const method = era === "legacy" ? "ping" : "server/discover";
    await wire.request(method, {}, { timeout: LOOK_TIMEOUT_MS }).catch(() => {});
  }
}

/** The server's own messages, as long as it offers a stream of them. */
async function hear(wire: HttpTransport, clock: Clock): Promise<void> {
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
    if (outcome === "not-offered") return;
    // One that held for a while ended for a reason of its own; one that ends at once is not chased.
    wait = clock.monotonic() - started > LONGEST_PAUSE_MS ? FIRST_PAUSE_MS : wait * 2;
    await pause(
      clock,
      Math.min(Math.max(position.retryMs ?? 0, wait), LONGEST_PAUSE_MS),
      wire.ended,
    );
  }
}
