// What an editor does for its agent: real files, and real programs in its terminals.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import {
  type ClientApp,
  type ClientCapabilities,
  methods,
  RequestError,
  type WaitForTerminalExitResponse,
} from "@agentclientprotocol/sdk";
import { expect } from "vitest";

const { fs, terminal } = methods.client;

export const ALL_CAPABILITIES: ClientCapabilities = {
  fs: { readTextFile: true, writeTextFile: true },
  terminal: true,
};

interface Terminal {
  process: ChildProcess;
  output: string;
  cwd: string | null | undefined;
  ended: Promise<WaitForTerminalExitResponse>;
}

/** Replaces the answer of a method. */
type Faults = Partial<Record<string, () => unknown>>;

export class Workstation {
  readonly terminals = new Map<string, Terminal>();
  /** Every request in order: `terminal/create t1`. */
  readonly log: string[] = [];
  readonly #faults: Faults;
  #count = 0;

  constructor(faults: Faults = {}) {
    this.#faults = faults;
  }

  readonly equip = (app: ClientApp): void => {
    app
      .onRequest(fs.readTextFile, ({ params: { path, line, limit } }) =>
        this.#answer(fs.readTextFile, path, () => ({ content: read(path, line, limit) })),
      )
      .onRequest(fs.writeTextFile, ({ params: { path, content } }) =>
        this.#answer(fs.writeTextFile, path, () => {
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, content);
          return {};
        }),
      )
      .onRequest(terminal.create, ({ params: { command, args = [], cwd } }) => {
        const terminalId = `t${(this.#count += 1)}`;
        return this.#answer(terminal.create, terminalId, () => {
          this.terminals.set(terminalId, start(command, args, cwd));
          return { terminalId };
        });
      })
      .onRequest(terminal.waitForExit, ({ params: { terminalId } }) =>
        this.#answer(terminal.waitForExit, terminalId, () => this.#of(terminalId).ended),
      )
      .onRequest(terminal.output, ({ params: { terminalId } }) =>
        this.#answer(terminal.output, terminalId, () => ({
          output: this.#of(terminalId).output,
          truncated: false,
        })),
      )
      .onRequest(terminal.kill, ({ params: { terminalId } }) =>
        this.#answer(terminal.kill, terminalId, async () => {
          const { process: child, ended } = this.#of(terminalId);
          child.kill("SIGKILL");
          await ended;
          return {};
        }),
      )
      .onRequest(terminal.release, ({ params: { terminalId } }) =>
        this.#answer(terminal.release, terminalId, () => {
          this.#of(terminalId).process.kill("SIGKILL");
          this.terminals.delete(terminalId);
          return {};
        }),
      );
  };

  expectAllReleased(): void {
    expect([...this.terminals.keys()], "terminals left").toEqual([]);
  }

  #of(terminalId: string): Terminal {
    const found = this.terminals.get(terminalId);
    if (found === undefined) throw RequestError.resourceNotFound(terminalId);
    return found;
  }

  async #answer<Result>(
    method: string,
    about: string,
    work: () => Result | Promise<Result>,
  ): Promise<Result> {
    this.log.push(`${method} ${about}`);
    const fault = this.#faults[method];
    return fault === undefined ? work() : ((await fault()) as Result);
  }
}

function read(path: string, line?: number | null, limit?: number | null): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    throw RequestError.resourceNotFound(path);
  }
  const from = (line ?? 1) - 1;
  return text
    .split(/(?<=\n)/)
    .slice(from, from + (limit ?? Infinity))
    .join("");
}

function start(command: string, args: string[], cwd: string | null | undefined): Terminal {
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    ...(typeof cwd === "string" && { cwd }),
  });
  const ended = new Promise<WaitForTerminalExitResponse>((resolve) => {
    child.once("close", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  const started: Terminal = { process: child, output: "", cwd, ended };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      started.output += chunk.toString();
    });
  }
  return started;
}
