// Where a session program (`plugboard serve --session`) connects: one private socket for all sessions of this
// process. It says which session it is for and shows the session's token, and what follows is MCP.

import { createServer, type Server, type Socket } from "node:net";
import type { Logger } from "../../core/types/logger.ts";
import { listenPrivately, removeDeadSockets } from "../../core/net/private-socket.ts";
import { Strangers } from "../../core/net/strangers.ts";
import type { Clock } from "../../util/clock.ts";
import { errorMessage } from "../../util/error-message.ts";

/** What the program sends first, in one line. */
export interface SessionHello {
  session: string;
  token: string;
}

export interface SessionSocketOptions {
  path: string;
  clock: Clock;
  logger: Logger;
  /**
   * Decides about a program after its hello. Resolves to the function that serves the program, or to the reason for a
   * refusal: a sentence for the person who reads the log of the agent.
   */
  admit: (hello: SessionHello) => Promise<((socket: Socket) => void) | string>;
}

/** How long a program may take to say what it wants. */
const HELLO_MS = 5000;
const MAX_HELLO_BYTES = 4096;
/** Connections that have not shown a token yet. */
const MOST_STRANGERS = 64;
const MOST_SOCKETS = 512;
/** The names that our sockets have. */
const SOCKET_NAME = /^session-[\w-]+\.sock$/;

export class SessionSocket {
  readonly #options: SessionSocketOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #strangers: Strangers;

  private constructor(options: SessionSocketOptions) {
    this.#options = options;
    this.#strangers = new Strangers({
      clock: options.clock,
      withinMs: HELLO_MS,
      most: MOST_STRANGERS,
      maxBytes: MAX_HELLO_BYTES,
    });
    // The program may have nothing more to say, and still be owed answers.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#greet(socket));
    this.#server.maxConnections = MOST_SOCKETS;
  }

  /** Rejects with an Error if the socket cannot be made. */
  static async open(options: SessionSocketOptions): Promise<SessionSocket> {
    const opened = new SessionSocket(options);
    await listenPrivately(opened.#server, options.path);
    await removeDeadSockets(options.path, SOCKET_NAME);
    opened.#server.on("error", (error) =>
      options.logger.error("the session endpoint failed", { reason: errorMessage(error) }),
    );
    return opened;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #greet(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    this.#strangers.hear(socket, ({ session, token }) => {
      const isWhole = typeof session === "string" && typeof token === "string";
      if (isWhole) void this.#admit({ session, token }, socket);
      else socket.destroy();
    });
  }

  async #admit(hello: SessionHello, socket: Socket): Promise<void> {
    const admitted = await this.#options.admit(hello);
    if (socket.destroyed) return;
    if (typeof admitted === "string") {
      socket.write(`${JSON.stringify({ refused: admitted })}\n`);
      return socket.destroySoon();
    }
    socket.write(`${JSON.stringify({ admitted: true })}\n`);
    admitted(socket);
  }
}
