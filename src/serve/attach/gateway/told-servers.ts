// Tells a command of the servers of an agent's board: all of them when it attaches, and later what has changed.

import { serversOf } from "../../../core/board/board.ts";
import type { Board } from "../../../core/types/board.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import type { IncomingOptions, Link } from "../link.ts";
import { stateToWire, type Told, type WireServer } from "../wire.ts";

/** How old the counters in a status may be that a command has. */
const STATUS_AGE_MS = 500;

export class ToldServers {
  readonly #board: Board;
  readonly #link: Pick<Link, "isFull">;
  readonly #clock: Clock;
  readonly #send: (told: Told) => void;
  /** By name. The tools are the same array until they change. */
  #told = new Map<string, { text: string; tools: unknown }>();
  #native = "";
  #timer: Timer | undefined;

  constructor(board: Board, link: Pick<Link, "isFull">, clock: Clock, options: IncomingOptions) {
    this.#board = board;
    this.#link = link;
    this.#clock = clock;
    this.#send = options.onServers as (told: Told) => void;
    for (const event of ["server", "tools", "appTools", "resources", "prompts"] as const) {
      options.atEnd(board.on(event, () => this.tell()));
    }
    options.atEnd(() => this.#timer?.cancel());
  }

  /** Counters change with every call; the command is told now and then. */
  soon(): void {
    this.#timer ??= this.#clock.later(STATUS_AGE_MS, () => {
      this.#timer = undefined;
      this.tell();
    });
  }

  tell(): void {
    // All changes become one when there is room again.
    if (this.#link.isFull) return this.soon();
    const before = this.#told;
    this.#told = new Map();
    const board = serversOf(this.#board);
    const servers = board.list().map(({ tools, state, ...server }) => {
      const { name } = server;
      const wire: WireServer = { ...server, state: stateToWire(state) };
      const text = JSON.stringify(wire);
      const last = before.get(name);
      this.#told.set(name, { text, tools });
      if (last?.tools !== tools) wire.tools = tools?.map(({ tool }) => tool);
      return last?.text === text && last.tools === tools ? name : wire;
    });
    // Functions are left out when they are written as JSON.
    const native = board.native();
    const textOfNative = JSON.stringify(native);
    const isSameNative = textOfNative === this.#native;
    this.#native = textOfNative;
    const isSame =
      before.size === servers.length && servers.every((each) => typeof each === "string");
    if (!isSame || !isSameNative) this.#send({ servers, ...(!isSameNative && { native }) });
  }
}
