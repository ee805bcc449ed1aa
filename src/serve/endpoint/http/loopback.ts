// An HTTP server for programs on this machine: listens on 127.0.0.1 alone, refuses what web pages send, and bounds what
// anybody can make it hold before they have shown a token.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { Logger } from "../../../core/types/logger.ts";
import { hasErrorCode } from "../../../util/error-code.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { sendRefusal } from "./refusal.ts";
import { pathOf, RequestSource } from "./request-source.ts";

const HOST = "127.0.0.1";
/** How long a request may take to arrive. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 120_000;
const KEEP_ALIVE_MS = 75_000;
/** How often connections are looked at that have taken too long. */
const LOOK_MS = 2000;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_CONNECTIONS = 512;

/** Answers a request whose source is good. `path` is without what follows a question mark. */
type Answer = (
  path: string,
  request: IncomingMessage,
  reply: ServerResponse,
) => void | Promise<void>;

export interface Loopback {
  readonly port: number;
  /** Cuts every connection. */
  close(): Promise<void>;
}

export interface LoopbackLimits {
  /** Milliseconds until the headers of a request must be there. */
  headersTimeout?: number;
  /** How often that is looked at. */
  lookInterval?: number;
  maxConnections?: number;
}

/** Rejects with SYSTEM_ERROR if the port cannot be used; `cause` has the system's code. */
export async function openLoopback(
  port: number,
  answer: Answer,
  { logger, limits = {} }: { logger: Logger; limits?: LoopbackLimits },
): Promise<Loopback> {
  const settings = { host: HOST, publicUrl: undefined, allowedHosts: [], allowedOrigins: [] };
  const source = new RequestSource(settings, {
    host: "this address is for programs on this machine, which reach it as 127.0.0.1",
    origin: "web pages may not use this address: it is for an agent on this machine",
    site: "web pages may not use this address: it is for an agent on this machine",
  });
  const {
    headersTimeout = HEADERS_MS,
    lookInterval = LOOK_MS,
    maxConnections = MAX_CONNECTIONS,
  } = limits;
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: lookInterval,
      keepAliveTimeout: KEEP_ALIVE_MS,
      noDelay: true,
    },
    oneAtATime((request, reply) => {
      // The socket may break at any time; whoever waits on it hears "close".
      reply.on("error", ignore);
      const misplaced = source.check(request);
      if (misplaced !== undefined) return sendRefusal(reply, misplaced);
      void run(answer, request, reply, logger);
    }),
  );
  server.maxConnections = maxConnections;
  // Bytes that are not HTTP, or a client that hangs up in the middle of a request.
  server.on("clientError", (_error, socket) => {
    // Somebody who never hangs up would otherwise keep the connection, and with enough of them everybody else out.
    const hangUp = (): unknown => socket.destroy();
    if (!socket.writable) return hangUp();
    return socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", hangUp);
  });
  await listen(server, port);
  server.on("error", (error) =>
    logger.error("the session endpoint failed", { reason: errorMessage(error) }),
  );
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function run(
  answer: Answer,
  request: IncomingMessage,
  reply: ServerResponse,
  logger: Logger,
): Promise<void> {
  try {
    await answer(pathOf(request), request, reply);
  } catch (error) {
    logger.error("a request failed", { reason: errorMessage(error) });
    if (!reply.headersSent) reply.writeHead(500).end();
    else reply.destroy();
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(listenError(error, port));
    server.once("error", fail);
    server.listen(port, HOST, () => {
      server.off("error", fail);
      resolve();
    });
  });
}

function listenError(error: unknown, port: number): PlugboardError {
  const isTaken = hasErrorCode(error, "EADDRINUSE");
  const message = isTaken
    ? `the address ${HOST}:${port} is in use`
    : `cannot listen on ${HOST}:${port}: ${errorMessage(error)}`;
  const hint = isTaken
    ? "end the program that has the port, or choose another port"
    : "see whether this machine lets programs listen on 127.0.0.1";
  return new PlugboardError("SYSTEM_ERROR", message, { cause: error, hint });
}

function ignore(): void {}
