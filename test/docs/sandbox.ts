// Where the commands of a page run: a home directory of its own, with programs of its own on the PATH. The page calls
// it /home/me.

import { execFile } from "node:child_process";
import { EventEmitter } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { ownBin } from "../../src/core/config/own-server.ts";
import type { CliIo } from "../../src/cli/io.ts";
import { runCli } from "../../src/cli/main.ts";
import { systemClock } from "../../src/util/clock.ts";
import { Sink } from "../cli/harness.ts";
import { bundleNpmServers } from "../support/npm-servers.ts";
import { root } from "./pages.ts";
import type { Remote } from "./remote.ts";

export interface Ran {
  code: number;
  /** What a terminal shows, in the words of the page. */
  output: string;
}

export interface RunOptions {
  columns?: number;
  /** Piped in. Otherwise somebody is at the terminal. */
  stdin?: string;
  /** What they type, one answer for each question; then stdin ends. Undefined for a command that runs on. */
  typed?: readonly string[];
}

const HOME = "/home/me";
const COLUMNS = 100;
const SHOWN_PORT = "7584";
/** Longer than anything takes that is not stuck. */
const READY_MS = 20_000;

export class Sandbox {
  readonly #home: string;
  readonly #remote: Remote;
  readonly #port: string;
  readonly #running: { stop(): Promise<unknown> }[] = [];
  #cwd: string;
  #env: Record<string, string>;

  /** `name` is a directory in homes/. `project` in it is where the commands run, and `bin` is on the PATH. */
  static async open(name: string, remote: Remote): Promise<Sandbox> {
    await bundleNpmServers();
    return new Sandbox(name, remote, await freePort());
  }

  private constructor(name: string, remote: Remote, port: number) {
    this.#remote = remote;
    this.#home = makeHome();
    this.#port = String(port);
    const source = join(import.meta.dirname, "homes", name);
    if (!existsSync(source)) throw new Error(`test/docs/homes/ has no ${name}`);
    this.#copy(source);
    this.#cwd = join(this.#home, "project");
    mkdirSync(this.#cwd, { recursive: true });
    const bin = join(this.#home, "bin");
    mkdirSync(bin, { recursive: true });
    symlinkSync(process.execPath, join(bin, "node"));
    symlinkSync(join(root, "test/support/bin/npx"), join(bin, "npx"));
    const browser = join(root, "test/fixtures/oauth/consent.mjs");
    writeFileSync(join(bin, "browser"), `#!/bin/sh\nexec node ${browser} "$@"\n`);
    writeFileSync(join(bin, "plugboard"), `#!/bin/sh\nexec node ${ownBin()} "$@"\n`);
    for (const program of readdirSync(bin)) {
      if (program !== "node") chmodSync(join(bin, program), 0o755);
    }
    this.#env = {
      PATH: `${bin}:/usr/bin:/bin`,
      HOME: this.#home,
      USER: "me",
      LANG: "C.UTF-8",
      TZ: "UTC",
      TERM: "xterm",
      // Where a person agrees to everything.
      BROWSER: "browser",
      // Without colours, and without rows that redraw themselves.
      NO_COLOR: "1",
      CI: "1",
      // Nobody listens there: no page uses the Ollama of whoever runs this.
      OLLAMA_BASE_URL: "http://127.0.0.1:9/v1",
    };
  }

  #copy(source: string): void {
    cpSync(source, this.#home, { recursive: true });
    const files = readdirSync(this.#home, { recursive: true, withFileTypes: true });
    for (const file of files.filter((each) => each.isFile())) {
      const path = join(file.parentPath, file.name);
      writeFileSync(path, this.#toReal(readFileSync(path, "utf8")));
    }
  }

  /** Writes a file, relative to the home directory. */
  save(path: string, text: string): void {
    mkdirSync(join(this.#home, dirname(path)), { recursive: true });
    writeFileSync(join(this.#home, path), this.#toReal(text));
  }

  /** A `plugboard` command, in this process. */
  async plugboard(line: string, options: RunOptions = {}): Promise<Ran> {
    const { done, sink } = this.#start(await this.#words(line), { typed: [], ...options });
    const code = await done;
    return { code, output: this.#toShown(sink.text) };
  }

  /** One that runs on. Resolves once it has printed what `isReady` waits for, has ended, or after `waitMs`. */
  async background(
    line: string,
    isReady: (output: string) => boolean,
    { waitMs = READY_MS, ...options }: RunOptions & { waitMs?: number } = {},
  ): Promise<Ran> {
    const words = await this.#words(line);
    const { done, sink, events, stdin } = this.#start(words, options);
    this.#running.push({
      stop: async () => {
        if (words.argv.includes("-d")) {
          // What it has started is a process of its own, and would outlive its home.
          await done;
          return this.plugboard("plugboard down");
        }
        events.emit("SIGTERM");
        stdin.end();
        return done;
      },
    });
    const shown = (): string => this.#toShown(sink.text);
    const ready = (async () => {
      const deadline = Date.now() + waitMs;
      while (!isReady(shown()) && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return 0;
    })();
    const code = await Promise.race([done, ready]);
    return { code, output: shown() };
  }

  /** Any other command line, by a shell. It may change the directory and the environment for those after it. */
  async shell(line: string): Promise<Ran> {
    const after = join(this.#home, ".after");
    const script = `${this.#toReal(line)}\ncode=$?\n{ printf "%s\\0" "$PWD"; env -0; } > "${after}"\nexit $code`;
    const { code, output } = await this.#sh(script);
    if (existsSync(after)) {
      const [cwd = "", ...variables] = readFileSync(after, "utf8").split("\0").slice(0, -1);
      this.#cwd = cwd;
      this.#env = Object.fromEntries(variables.map((each) => each.split(/=(.*)/s, 2)));
      rmSync(after);
    }
    return { code, output: this.#toShown(output) };
  }

  /** Ends what runs in the background, and removes everything. */
  async close(): Promise<void> {
    for (const command of this.#running.toReversed()) await command.stop();
    rmSync(this.#home, { recursive: true, force: true });
  }

  #start(
    { argv, env }: { argv: readonly string[]; env: Record<string, string> },
    { columns = COLUMNS, stdin: piped, typed }: RunOptions,
  ) {
    const sink = new Sink({ columns, rows: 40 });
    const stdin = piped === undefined ? typist(typed, sink) : new PassThrough().end(piped);
    const events = new EventEmitter();
    const io: CliIo = {
      stdin,
      stdout: sink,
      stderr: sink,
      env: { ...this.#env, ...env },
      cwd: this.#cwd,
      homedir: this.#home,
      clock: systemClock,
      events,
      exit: () => {},
    };
    return { done: runCli(this.#withPort(argv), io), sink, events, stdin };
  }

  /** The gateway of a page is at another port than that of whoever runs this. */
  #withPort(argv: readonly string[]): readonly string[] {
    const isUp = argv.includes("up") && !argv.includes("--port") && !argv.includes("--help");
    return isUp ? [...argv, "--port", this.#port] : argv;
  }

  /** As a shell splits it, and the variables that are set for this command alone. */
  async #words(line: string): Promise<{ argv: string[]; env: Record<string, string> }> {
    const [assigned = ""] = /^(?:[A-Z_]\w*=\S*\s+)*/.exec(line) ?? [];
    const env = [...assigned.matchAll(/(\w+)=(\S*)/g)].map(([, name, value]) => [name, value]);
    const print = 'plugboard() { for word; do printf "%s\\0" "$word"; done; }';
    const call = line.slice(assigned.length).replace(/^npx /, "");
    const { output } = await this.#sh(`${print}; ${this.#toReal(call)}`);
    return { argv: output.split("\0").slice(0, -1), env: Object.fromEntries(env) };
  }

  #sh(script: string): Promise<Ran> {
    const options = { cwd: this.#cwd, env: this.#env };
    return new Promise((resolve) => {
      execFile("/bin/sh", ["-c", `exec 2>&1\n${script}`], options, (error, output) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), output });
      });
    });
  }

  #toReal(text: string): string {
    return this.#remote
      .toReal(text)
      .replaceAll("@repository@/", root)
      .replaceAll(HOME, this.#home)
      .replaceAll(`127.0.0.1:${SHOWN_PORT}`, `127.0.0.1:${this.#port}`);
  }

  #toShown(text: string): string {
    return this.#remote
      .toShown(text)
      .replaceAll(join(this.#home, "bin"), "/usr/bin")
      .replaceAll(this.#home, HOME)
      .replaceAll(`127.0.0.1:${this.#port}`, `127.0.0.1:${SHOWN_PORT}`)
      .replaceAll(process.execPath, "/usr/bin/node")
      .replaceAll(ownBin(), "/usr/lib/node_modules/plugboard/dist/bin.cjs")
      .replace(/[ \t]+$/gm, "")
      .replace(/\n+$/, "");
  }
}

/** A directory whose name is as long as that of the page, so that tables and broken lines are the same. */
function makeHome(): string {
  const temporary = realpathSync("/tmp");
  for (;;) {
    const name = Math.floor(Math.random() * 36 ** 3)
      .toString(36)
      .padStart(3, "0");
    const path = join(temporary, name);
    try {
      mkdirSync(path, { mode: 0o700 });
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

/** With as many digits as the one of the page. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 2000 + Math.floor(Math.random() * 8000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

/** Somebody at a terminal, who types an answer whenever they are asked. */
function typist(answers: readonly string[] | undefined, screen: Sink): PassThrough {
  const left = [...(answers ?? [])];
  let isHidden = false;
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => (isHidden = isRaw),
  });
  stdin.on("resume", () => {
    const answer = left.shift();
    // With nobody to answer, a question would be waited for until the test times out.
    if (answer === undefined) return void (answers && stdin.end());
    if (!isHidden) screen.write(`${answer}\n`);
    stdin.write(`${answer}\n`);
  });
  return stdin;
}
