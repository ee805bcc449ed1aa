// Keeps secrets out of what is shown and written about a client's session: the credentials of the servers that the client
// brings, which it may have typed, whatever the session's board knows, and what only a gateway knows that runs its servers.

import type { BoardRedactor, RedactingStream } from "../types/redactor.ts";
import type { ServerTarget } from "../types/server-definition.ts";
import { protect } from "../redaction/protect.ts";
import { MARK } from "../redaction/hide.ts";
import { Redactor } from "../redaction/redactor.ts";
import { mapStrings, someString } from "../../util/value-strings.ts";

/** For a text that comes in pieces, of which one is pushed after the other. */
export interface StreamEverywhere {
  push(chunk: string): Promise<string>;
  end(): Promise<string>;
}

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

  /** Whether a gateway is asked by what follows. */
  get isElsewhere(): boolean {
    return this.#board?.elsewhere !== undefined;
  }

  /** Like `value`, and without what only a gateway knows. Rejects if the gateway could not be asked. */
  async everywhere<Value>(value: Value): Promise<Value> {
    const elsewhere = this.#board?.elsewhere;
    if (elsewhere === undefined) return this.value(value);
    const found = new Set<string>();
    someString(value, (text) => {
      found.add(text);
      return false;
    });
    const texts = [...found];
    const told = await elsewhere.texts(texts);
    const changed = new Map<string, string>();
    for (const [at, text] of texts.entries()) {
      const without = told[at] ?? MARK;
      if (without !== text) changed.set(text, without);
    }
    if (changed.size === 0) return this.value(value);
    return this.value(mapStrings(value, (text) => changed.get(text) ?? text));
  }

  /** Like `stream`, and without what only a gateway knows. */
  streamEverywhere(): StreamEverywhere {
    const here = this.stream();
    const elsewhere = this.#board?.elsewhere;
    let held = "";
    let covered = 0;
    const redact = async (chunk: string, isEnd: boolean): Promise<string> => {
      const given = held + chunk;
      if (elsewhere === undefined || given === "") return chunk;
      const told = await elsewhere.beginning(given, covered, isEnd);
      held = given.slice(given.length - told.held);
      covered = told.covered;
      return told.text;
    };
    return {
      push: (chunk) => redact(here.push(chunk), false),
      end: () => redact(here.end(), true),
    };
  }
}
