// What a server asks of the host and reports to it, handed over in the order in which it came: a few messages at once, and
// of more some in each turn of the event loop. To take a message costs the host far more than it costs the server to
// write it, so that beside a server that writes without a pause nothing else would get a turn.

import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
} from "@modelcontextprotocol/client";
import { type Deferred, deferred } from "../../../util/deferred.ts";

/** More than fits into a chunk of a pipe, and no wire reads another chunk while many wait. */
const MOST_WAITING = 2000;
/** While this many wait, nothing more is read until few are left. */
const MANY = 64;
/** So many requests are handed over at once, as a server asks them that waits for the answers. */
const FEW = 8;
/** A request costs as much as so many reports. */
const REQUEST = 8;

export interface MessageTurnsOptions {
  handOver: (message: JSONRPCMessage) => void;
  /** A request has to wait. Whose call it belongs to must be decided now. */
  onWait: (id: unknown) => void;
  /** A request that has waited was handed over, or never will be. */
  onDone: (id: unknown) => void;
}

export class MessageTurns {
  readonly #options: MessageTurnsOptions;
  readonly #waiting: JSONRPCMessage[] = [];
  #isHeld = true;
  /** What was handed over in this turn, counted in reports. */
  #taken = 0;
  /** Those among them that had to wait. */
  #handedOver: JSONRPCMessage[] = [];
  #room: Deferred<void> | undefined;

  /** Nothing is handed over before `release`. */
  constructor(options: MessageTurnsOptions) {
    this.#options = options;
  }

  release(): void {
    this.#isHeld = false;
    this.#next();
  }

  take(message: JSONRPCMessage): void {
    if (isCancellation(message) && this.#cancelled(message)) return;
    const hasTurn = this.#taken < FEW * REQUEST && this.#waiting.length === 0;
    if (!this.#isHeld && hasTurn) return this.#handOver(message);
    // To refuse it would keep the host as busy as to answer it.
    if (this.#waiting.length >= MOST_WAITING) return;
    this.#waiting.push(message);
    if (isRequest(message)) this.#options.onWait(message.id);
  }

  /** Resolves when more may be read; undefined if that is now. */
  room(): Promise<void> | undefined {
    if (this.#waiting.length < MANY) return undefined;
    this.#room ??= deferred();
    return this.#room.promise;
  }

  /** Nobody takes anything any more. */
  end(): void {
    for (const message of this.#waiting.splice(0)) this.#done(message);
    this.#makeRoom();
  }

  #handOver(message: JSONRPCMessage): void {
    if (this.#taken === 0) setImmediate(this.#next);
    this.#taken += isRequest(message) ? REQUEST : 1;
    this.#options.handOver(message);
  }

  readonly #next = (): void => {
    for (const message of this.#handedOver.splice(0)) this.#done(message);
    this.#taken = 0;
    const most = this.#waiting.length <= FEW ? FEW * REQUEST : REQUEST;
    while (this.#taken < most) {
      const message = this.#waiting.shift();
      if (message === undefined) break;
      this.#handedOver.push(message);
      this.#handOver(message);
    }
    if (this.#waiting.length <= FEW) this.#makeRoom();
  };

  /** True if the request was still waiting: then nobody needs to hear of it. */
  #cancelled({ params }: JSONRPCNotification): boolean {
    const at = this.#waiting.findIndex(
      (each) => isRequest(each) && each.id === params?.["requestId"],
    );
    if (at === -1) return false;
    for (const message of this.#waiting.splice(at, 1)) this.#done(message);
    return true;
  }

  #done(message: JSONRPCMessage): void {
    if (isRequest(message)) this.#options.onDone(message.id);
  }

  #makeRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}

function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return "method" in message && "id" in message;
}

function isCancellation(message: JSONRPCMessage): message is JSONRPCNotification {
  return "method" in message && message.method === "notifications/cancelled";
}
