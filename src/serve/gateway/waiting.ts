// A gateway that starts while PostgreSQL is away: it waits, says once why, and tells whoever asks that it lives and is not ready.

import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { cancelled, PlugboardError } from "../../core/types/errors.ts";
import type { GatewaySettings } from "../../core/types/gateway-settings.ts";
import type { Logger } from "../../core/types/logger.ts";
import type { SharedState } from "../../core/types/shared-state.ts";
import { type Clock, pause } from "../../util/clock.ts";
import { errorMessage } from "../../util/error-message.ts";
import { readTls } from "./access/tls.ts";
import { listenError } from "./gateway.ts";

/** How often it tries. */
const RETRY_MS = 1000;

export interface WaitingOptions {
  open: () => Promise<SharedState>;
  /** Where it answers meanwhile, as the gateway will. Undefined: nowhere. */
  at: Pick<GatewaySettings, "host" | "port" | "tls"> | undefined;
  /** Ends the waiting. */
  signal: AbortSignal;
  clock: Clock;
  logger: Logger;
}

/** Rejects if the state cannot be opened for another reason than that its engine is away, and with CANCELLED. */
export async function openWhenThere(options: WaitingOptions): Promise<SharedState> {
  const { open, at, signal, clock, logger } = options;
  const first = await attempt(open);
  if ("state" in first) return first.state;
  const server = at && (await answerMeanwhile(at, clock));
  try {
    logger.warn(`${first.why}; the gateway waits for it, and is not ready meanwhile`);
    for (;;) {
      await pause(clock, RETRY_MS, signal);
      if (signal.aborted) throw cancelled();
      const next = await attempt(open);
      if (!("state" in next)) continue;
      logger.info("PostgreSQL can be reached, and the gateway starts");
      return next.state;
    }
  } finally {
    server?.closeAllConnections();
    await new Promise((resolve) => (server === undefined ? resolve(null) : server.close(resolve)));
  }
}

async function attempt(
  open: () => Promise<SharedState>,
): Promise<{ state: SharedState } | { why: string }> {
  try {
    return { state: await open() };
  } catch (error) {
    const isAway = error instanceof PlugboardError && error.code === "NETWORK";
    if (!isAway) throw error;
    return { why: errorMessage(error) };
  }
}

const answer: RequestListener = ({ url = "" }, reply) => {
  const isAlive = url.split("?")[0] === "/healthz";
  reply.setHeader("Content-Type", "text/plain; charset=utf-8");
  if (!isAlive) reply.setHeader("Retry-After", "5");
  reply.setHeader("Connection", "close");
  reply.writeHead(isAlive ? 200 : 503);
  reply.end(isAlive ? "ok\n" : "not ready: the gateway waits for PostgreSQL\n");
};

async function answerMeanwhile(
  { host, port, tls }: NonNullable<WaitingOptions["at"]>,
  clock: Clock,
): Promise<Server> {
  const server =
    tls === undefined ? createServer(answer) : createTlsServer(await readTls(tls, clock), answer);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenError(error, host, port)));
    server.listen(port, host, resolve);
  });
  return server;
}
