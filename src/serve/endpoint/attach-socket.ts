// Where the small program of a session (`plugboard serve --attach`) connects: one private socket for all sessions of this
// process. It says which session it is for and shows the session's token, and what follows is MCP.

import { createServer, type Server, type Socket } from "node:net";
import type { Logger } from "../../core/types/logger.ts";
import { listenPrivately, removeDeadSockets } from "../../core/net/private-socket.ts";
import { Strangers } from "../../core/net/strangers.ts";
import type { Clock } from "../../util/clock.ts";
import { errorMessage } from "../../util/error-message.ts";

/** What the program sends first, in one line. */
export interface AttachHello {
  attach: string;
  token: string;
}

export interface AttachSocketOptions {
  path: string;
  clock: Clock;
  logger: Logger;
  /** Milliseconds that a program may take to say what it wants. Default 5000. */
  helloWithin?: number;
  /**
   * Decides about a program after its hello. Resolves to the function that serves the program, or to the reason for a
   * refusal: a sentence for the person who reads the log of the agent.
   */
  admit: (hello: AttachHello) => Promise<((socket: Socket) => void) | string>;
}

const HELLO_MS = 5000;
const MAX_HELLO_BYTES = 4096;
/** Who has not shown a token yet. */
const MOST_STRANGERS = 64;
const MOST_SOCKETS = 512;
/** The names that our sockets have. */
const ATTACH_NAME = /^attach-[\w-]+\.sock$/;

export class AttachSocket {
  readonly #options: AttachSocketOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #strangers: Strangers;

  private constructor(options: AttachSocketOptions) {
    this.#options = options;
    const { clock, helloWithin: withinMs = HELLO_MS } = options;
    this.#strangers = new Strangers({
      clock,
      withinMs,
      most: MOST_STRANGERS,
      maxBytes: MAX_HELLO_BYTES,
    });
    // The program may have nothing more to say, and still be owed answers.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#greet(socket));
    this.#server.maxConnections = MOST_SOCKETS;
  }

  /** Rejects with an Error if the socket cannot be made. */
  static async open(options: AttachSocketOptions): Promise<AttachSocket> {
    const opened = new AttachSocket(options);
    await listenPrivately(opened.#server, options.path);
    await removeDeadSockets(options.path, ATTACH_NAME);
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
    this.#strangers.hear(socket, ({ attach, token }) => {
      const isWhole = typeof attach === "string" && typeof token === "string";
      if (isWhole) void this.#admit({ attach, token }, socket);
      else socket.destroy();
    });
  }

  async #admit(hello: AttachHello, socket: Socket): Promise<void> {
    const admitted = await this.#options.admit(hello);
    if (socket.destroyed) return;
    if (typeof admitted === "string") {
      socket.write(`${JSON.stringify({ refused: admitted })}\n`);
      return socket.destroySoon();
    }
    socket.write(`${JSON.stringify({ attached: true })}\n`);
    admitted(socket);
  }
}
