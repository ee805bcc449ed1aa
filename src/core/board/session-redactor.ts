// Keeps secrets out of what is shown and written about a client's session: the credentials of the servers that the client
// brings, which it may have typed, and whatever the session's board knows.

import type { BoardRedactor, RedactingStream } from "../types/redactor.ts";
import type { ServerTarget } from "../types/server-definition.ts";
import { protect } from "../redaction/protect.ts";
import { Redactor } from "../redaction/redactor.ts";

export class SessionRedactor implements BoardRedactor {
  readonly #own = new Redactor();
  #board: BoardRedactor | undefined;

  add(secret: string): void {
    this.#own.add(secret);
  }

  /** Redacts the credentials in these targets from now on. They are as the client sent them, without `${VAR}`. */
  hide(targets: Iterable<ServerTarget>): void {
    for (const target of targets) protect(this.#own, target, target, {});
  }

  /** The session's board has opened. */
  join(board: BoardRedactor): void {
    this.#board = board;
  }

  text(text: string): string {
    return this.#own.text(this.#board?.text(text) ?? text);
  }

  value<Value>(value: Value): Value {
    return this.#own.value(this.#board === undefined ? value : this.#board.value(value));
  }

  stream(): RedactingStream {
    const own = this.#own.stream();
    const board = this.#board?.stream();
    if (board === undefined) return own;
    return {
      push: (chunk) => own.push(board.push(chunk)),
      end: () => own.push(board.end()) + own.end(),
    };
  }
}
