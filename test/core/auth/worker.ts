// A program of the test's in a process of its own, which says lines of JSON and is told when to go on.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { onTestFinished } from "vitest";

export class Worker {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;

  /** It is killed with the test, should it still run. */
  constructor(program: URL, ...args: string[]) {
    const child = spawn(process.execPath, [program.pathname, ...args], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child = child;
    const lines: Interface = createInterface({ input: child.stdout });
    this.#lines = lines[Symbol.asyncIterator]();
    this.#ended = once(child, "close");
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await this.#ended;
    });
  }

  /** What it says next. */
  async next(): Promise<unknown> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("the worker has nothing more to say");
    return JSON.parse(value);
  }

  tell(word: string): void {
    this.#child.stdin?.write(`${word}\n`);
  }

  /** Without a chance to clean up. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  async end(): Promise<void> {
    this.#child.stdin?.end();
    await this.#ended;
  }
}
