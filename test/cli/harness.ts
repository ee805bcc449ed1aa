// The command line in this process: streams that remember, signals on demand, files in a directory of its own.

import { EventEmitter } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { afterEach, beforeEach, expect } from "vitest";
import type { ServerConfig } from "../../src/core/types/server-config.ts";
import type { CliIo } from "../../src/cli/io.ts";
import { runCli } from "../../src/cli/main.ts";
import { describeTerminal } from "../../src/cli/terminal/terminal.ts";
import { type Clock, systemClock } from "../../src/util/clock.ts";
import { expectNoProcesses } from "../support/processes.ts";
import { temporaryDirectory } from "../support/directory.ts";

/** An output that remembers; with `columns` it is a terminal. */
export class Sink extends Writable {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly rows: number | undefined;
  text = "";

  constructor({ columns, rows }: { columns?: number; rows?: number } = {}) {
    super({ decodeStrings: false });
    this.isTTY = columns !== undefined;
    this.columns = columns;
    this.rows = rows;
  }

  override _write(chunk: string, _: string, done: (error?: Error) => void): void {
    this.text += chunk;
    this.emit("said");
    done();
  }

  /** Resolves when `text` has been written. */
  async until(text: string | RegExp): Promise<void> {
    const isThere = (): boolean =>
      typeof text === "string" ? this.text.includes(text) : text.test(this.text);
    while (!isThere()) await new Promise((resolve) => this.once("said", resolve));
  }
}

interface Surroundings {
  stdin?: string | PassThrough;
  stdout?: Sink;
  stderr?: Sink;
  env?: Record<string, string>;
  clock?: Clock;
  /** Instead of the directory of the test. Throws where it is gone. */
  cwd?: () => string;
  /** What runs in place of the command line. */
  program?: (argv: readonly string[], io: CliIo) => Promise<number>;
}

export interface Running {
  io: CliIo;
  stdout: Sink;
  stderr: Sink;
  events: EventEmitter;
  /** Codes that the process was told to end with at once. */
  exits: number[];
  done: Promise<Finished>;
}

interface Finished {
  code: number;
  stdout: string;
  stderr: string;
}

/** What a terminal can show, without one. */
export function terminal(columns?: number, env: Record<string, string> = {}) {
  const output = columns === undefined ? new Sink() : new Sink({ columns });
  return describeTerminal({ stdout: output, stderr: output, env });
}

export interface Scratch {
  readonly directory: string;
  /** Writes a file and gives its path. */
  file(name: string, content: string | object): string;
  read(name: string): string;
  /** Writes a configuration with these servers, to be used by every command from now on. */
  servers(servers: Record<string, ServerConfig>): void;
  /** Writes `board.json`, whose defaults have these servers, and more to say. */
  configure: (servers: Record<string, ServerConfig>, defaults?: object, root?: object) => void;
  start(argv: readonly string[], surroundings?: Surroundings): Running;
  run(argv: readonly string[], surroundings?: Surroundings): Promise<Finished>;
  /** Starts a gateway, which listens when this resolves. It is stopped after the test, if it has not stopped by then. */
  up(options?: readonly string[], surroundings?: Surroundings): Promise<Running>;
}

/** To be called at the top of a suite: a fresh directory per test, and nothing left running after it. */
export function useScratch(): Scratch {
  let directory = "";
  let env: Record<string, string> = {};
  const gateways: Running[] = [];
  beforeEach(() => {
    directory = temporaryDirectory();
    env = {
      PATH: process.env["PATH"] ?? "",
      PLUGBOARD_HOME: join(directory, "home"),
      // Nobody listens there: a test does not use the Ollama of whoever runs it.
      OLLAMA_BASE_URL: "http://127.0.0.1:9/v1",
    };
  });
  afterEach(async () => {
    for (const { events } of gateways) events.emit("SIGTERM");
    const ended = await Promise.all(gateways.splice(0).map(({ done }) => done));
    expect(ended.map(({ code }) => code)).toEqual(ended.map(() => 0));
    expectNoProcesses();
  });
  const scratch: Scratch = {
    get directory() {
      return directory;
    },
    file(name, content) {
      const path = join(directory, name);
      writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
      return path;
    },
    read: (name) => readFileSync(join(directory, name), "utf8"),
    servers(servers) {
      const config = { agents: { defaults: { mcp: { servers } } } };
      env["PLUGBOARD_CONFIG"] = scratch.file("servers.json", config);
    },
    configure(servers, defaults = {}, root = {}) {
      const agents = { defaults: { mcp: { servers }, ...defaults } };
      scratch.file("board.json", { agents, ...root });
    },
    start(argv, surroundings = {}) {
      const { stdout = new Sink(), stderr = new Sink(), stdin = "" } = surroundings;
      const { program = runCli } = surroundings;
      const events = new EventEmitter();
      const exits: number[] = [];
      const io: CliIo = {
        stdin: typeof stdin === "string" ? new PassThrough().end(stdin) : stdin,
        stdout,
        stderr,
        // A getter stays one: a test can do something when a variable is read.
        env: Object.defineProperties(
          { ...env },
          Object.getOwnPropertyDescriptors(surroundings.env ?? {}),
        ),
        get cwd() {
          return surroundings.cwd?.() ?? directory;
        },
        homedir: directory,
        clock: surroundings.clock ?? systemClock,
        events,
        exit: (code) => exits.push(code),
      };
      const done = program(argv, io).then((code) => ({
        code,
        stdout: stdout.text,
        stderr: stderr.text,
      }));
      return { io, stdout, stderr, events, exits, done };
    },
    run: (argv, surroundings) => scratch.start(argv, surroundings).done,
    async up(options = [], surroundings = {}) {
      const gateway = scratch.start(["up", "--port", "0", ...options], surroundings);
      gateways.push(gateway);
      const ended = gateway.done.then(({ stderr }) => {
        throw new Error(`the gateway did not start: ${stderr}`);
      });
      await Promise.race([gateway.stderr.until("listens on"), ended]);
      return gateway;
    },
  };
  return scratch;
}

/** Somebody at a terminal, who gives these answers one by one. */
export function asked(
  scratch: Scratch,
  argv: string[],
  env: Record<string, string>,
  ...answers: [question: string, answer: string][]
) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = new Sink({ columns: 10_000, rows: 24 });
  const running = scratch.start(argv, { stdin, stderr, env });
  void (async () => {
    for (const [question, answer] of answers) {
      await stderr.until(question);
      stdin.write(answer);
    }
  })();
  return running.done;
}
