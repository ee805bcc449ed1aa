// One question to a person at the terminal, and their line.

import { untilAborted } from "../../../util/abort.ts";
import { interrupted } from "../interrupted.ts";
import type { CliIo, Input } from "../io.ts";

/** More than anybody types before Enter. */
const LONGEST_LINE = 4096;

/** An empty line where stdin ends first. Rejects with CANCELLED when the command must end. */
export async function ask(
  question: string,
  { stdin, stderr }: Pick<CliIo, "stdin" | "stderr">,
  signal: AbortSignal,
): Promise<string> {
  stderr.write(question);
  const line = new LineReader(stdin);
  try {
    return await untilAborted(line.read, signal, interrupted);
  } finally {
    line.stop();
  }
}

class LineReader {
  readonly read: Promise<string>;
  readonly #stdin: Input;
  #text = "";
  #done: (line: string) => void = () => {};

  constructor(stdin: Input) {
    this.#stdin = stdin;
    this.read = new Promise((resolve) => {
      this.#done = resolve;
    });
    stdin.on("data", this.#onData);
    stdin.on("end", this.#onEnd);
    stdin.on("error", this.#onEnd);
    // After a question before this one it is paused, and a listener alone would not start it again.
    stdin.resume();
  }

  stop(): void {
    this.#stdin.off("data", this.#onData);
    this.#stdin.off("end", this.#onEnd);
    this.#stdin.off("error", this.#onEnd);
    this.#stdin.pause();
  }

  readonly #onData = (chunk: Buffer | string): void => {
    this.#text += chunk.toString();
    const end = this.#text.indexOf("\n");
    if (end !== -1) this.#done(this.#text.slice(0, end));
    else if (this.#text.length > LONGEST_LINE) this.#done("");
  };

  /** A line without its Enter is no answer. */
  readonly #onEnd = (): void => this.#done("");
}
