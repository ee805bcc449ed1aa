// The connections of a gateway. Those on which nobody has been let in are strangers: there is a small pool of them, and
// none stays for long, so that somebody without a token takes no connection from those who have one. Each caller has a part of
// the others.

import type { Socket } from "node:net";
import { Shares, type Shortage } from "../../util/shares.ts";

/**
 * Strangers at a time. With one more, the oldest is cut off: a client with a token shows it at once. After a restart all clients
 * come back at the same time, each a stranger until its first bytes are here, so there are some hundreds.
 */
export const MOST_STRANGERS = 512;
/** How long a stranger may take to show a token. */
export const STRANGER_MS = 10_000;

export interface ConnectionsOptions {
  most: number;
  /** A proxy's connections carry the requests of all callers. */
  behindProxy: boolean;
}

interface Stranger {
  socket: Socket;
  since: number;
}

export class Connections {
  readonly #shares: Shares;
  /** As the server accepted them. With TLS, requests come over another socket. */
  readonly #open = new Set<Socket>();
  /** The oldest first. */
  readonly #strangers = new Map<Socket, Stranger>();
  /** The sockets that requests come over, where somebody was let in. */
  readonly #known = new WeakSet<Socket>();
  /** With TLS: the socket that was accepted, by the one that requests come over. */
  readonly #accepted = new WeakMap<Socket, Socket>();
  /** The bytes of connections that are closed. */
  readonly #bytes = { in: 0, out: 0 };

  constructor({ most, behindProxy }: ConnectionsOptions) {
    this.#shares = behindProxy ? new Shares(most, most) : new Shares(most);
  }

  /** Open connections, and the bytes of all connections until now. */
  get traffic(): { connections: number; bytesIn: number; bytesOut: number } {
    let { in: bytesIn, out: bytesOut } = this.#bytes;
    for (const { bytesRead, bytesWritten } of this.#open) {
      bytesIn += bytesRead;
      bytesOut += bytesWritten;
    }
    return { connections: this.#open.size, bytesIn, bytesOut };
  }

  /** One was accepted, at the time `now`. */
  accepted(socket: Socket, now: number): void {
    this.#open.add(socket);
    this.#strangers.set(socket, { socket, since: now });
    socket.once("close", () => {
      this.#open.delete(socket);
      this.#strangers.delete(socket);
      this.#bytes.in += socket.bytesRead;
      this.#bytes.out += socket.bytesWritten;
    });
    const [oldest] = this.#strangers.values();
    if (this.#strangers.size > MOST_STRANGERS && oldest !== undefined) this.#cutOff(oldest);
  }

  /** TLS has begun on one: requests come over `secure`. */
  secured(secure: Socket): void {
    const { remoteAddress, remotePort } = secure;
    for (const [socket, stranger] of this.#strangers) {
      if (socket.remotePort !== remotePort || socket.remoteAddress !== remoteAddress) continue;
      stranger.socket = secure;
      this.#accepted.set(secure, socket);
      return;
    }
  }

  get most(): number {
    return this.#shares.most;
  }

  /** How many connections one caller may have. */
  get each(): number {
    return this.#shares.each;
  }

  /** Whether somebody was let in on the connection that a request came over. */
  isKnown(socket: Socket): boolean {
    return this.#known.has(socket);
  }

  /**
   * A caller was let in. Undefined if the connection may stay; it is the caller's from now on. Without a caller, it carries
   * the requests of all of them, each of whom has a part of the requests.
   */
  admit(socket: Socket, caller: string | undefined): Shortage | undefined {
    if (this.#known.has(socket)) return undefined;
    const shortage = this.#shares.take(caller);
    if (shortage !== undefined) return shortage;
    this.#known.add(socket);
    this.#strangers.delete(this.#accepted.get(socket) ?? socket);
    socket.once("close", () => this.#shares.giveBack(caller));
    return undefined;
  }

  /** Cuts off the strangers that have been here for too long. */
  sweep(now: number): void {
    for (const stranger of this.#strangers.values()) {
      if (now - stranger.since < STRANGER_MS) return;
      this.#cutOff(stranger);
    }
  }

  #cutOff({ socket }: Stranger): void {
    this.#strangers.delete(this.#accepted.get(socket) ?? socket);
    socket.destroy();
  }
}
