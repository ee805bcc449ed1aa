// Connections to a private socket that have not said yet what they are for: a limited number, for a limited time, with one
// line each.

import type { Socket } from "node:net";
import type { Clock } from "../../util/clock.ts";
import { readFirstLine } from "../../util/first-line.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../types/json.ts";

export interface StrangersOptions {
  clock: Clock;
  /** When there are this many, another one is sent away. */
  most: number;
  /** Milliseconds until who has said nothing is sent away. */
  withinMs: number;
  maxBytes: number;
}

export class Strangers {
  readonly #options: StrangersOptions;
  readonly #sockets = new Set<Socket>();

  constructor(options: StrangersOptions) {
    this.#options = options;
  }

  /** Calls `onHello` with the first line, if it is a JSON object. Otherwise the socket is gone. */
  hear(socket: Socket, onHello: (hello: JsonObject) => void): void {
    const { clock, most, withinMs, maxBytes } = this.#options;
    socket.on("error", () => {});
    if (this.#sockets.size >= most) return void socket.destroy();
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    const timer = clock.later(withinMs, () => socket.destroy());
    readFirstLine(socket, maxBytes, (line) => {
      timer.cancel();
      this.#sockets.delete(socket);
      const hello = line === undefined ? undefined : tryParseJson(line);
      if (isJsonObject(hello)) onHello(hello);
      else socket.destroy();
    });
  }

  /** Sends all of them away. */
  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
