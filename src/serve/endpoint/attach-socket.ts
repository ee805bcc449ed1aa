// Where the small program of a session (`plugboard serve --attach`) connects: one private socket for all sessions of this
// process. It says which session it is for and shows the session's token, and what follows is MCP.

import { createServer, type Server, type Socket } from "node:net";
import { isJsonObject, tryParseJson } from "../../core/types/json.ts";
import type { Logger } from "../../core/types/logger.ts";
import { listenPrivately, removeDeadSockets } from "../../core/net/private-socket.ts";
import type { Clock } from "../../util/clock.ts";
import { errorMessage } from "../../util/error-message.ts";
import { readFirstLine } from "../../util/first-line.ts";

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
  admit: (hello: AttachHello) => Promise<((socket: Socket, rest: Buffer) => void) | string>;
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
  #strangers = 0;

  private constructor(options: AttachSocketOptions) {
    this.#options = options;
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
    const { clock, helloWithin = HELLO_MS } = this.#options;
    socket.on("error", () => {});
    if (this.#strangers >= MOST_STRANGERS) return void socket.destroy();
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    this.#strangers += 1;
    const timer = clock.later(helloWithin, () => socket.destroy());
    readFirstLine(socket, MAX_HELLO_BYTES, (line, rest) => {
      timer.cancel();
      this.#strangers -= 1;
      const hello = line === undefined ? undefined : readHello(line);
      if (hello === undefined) return void socket.destroy();
      void this.#admit(hello, socket, rest);
    });
  }

  async #admit(hello: AttachHello, socket: Socket, rest: Buffer): Promise<void> {
    const admitted = await this.#options.admit(hello);
    if (socket.destroyed) return;
    if (typeof admitted === "string") {
      socket.write(`${JSON.stringify({ refused: admitted })}\n`);
      return socket.destroySoon();
    }
    socket.write(`${JSON.stringify({ attached: true })}\n`);
    admitted(socket, rest);
  }
}

function readHello(line: string): AttachHello | undefined {
  const hello = tryParseJson(line);
  if (!isJsonObject(hello)) return undefined;
  const { attach, token } = hello;
  return typeof attach === "string" && typeof token === "string" ? { attach, token } : undefined;
}
