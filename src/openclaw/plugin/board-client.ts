// Reads what the board says about itself (`plugboard://…`) over the connection that OpenClaw has to it: from a process of
// its own, which runs as long as the plugin, or from a gateway at a URL. A failure says what the operator can do.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { homedir } from "node:os";
import { isJsonObject, objectIn, tryParseJson } from "../../core/types/json.ts";
import { errorMessage } from "../../util/error-message.ts";
import { oneLine } from "../../util/text.ts";
import manifest from "./package.json" with { type: "json" };
import type { Connection, HttpConnection, StdioConnection } from "./settings.ts";

const PROTOCOL = "2026-07-28";
const META = "io.modelcontextprotocol/";
const MAX_BYTES = 1024 * 1024;
/** A board that could not be reached is not asked again at once: every prompt would wait for it. */
const PAUSE_MS = 10_000;
const END_MS = 3000;

/** What is wrong, and what the operator can do about it. */
export class BoardProblem extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

export interface BoardClientOptions {
  connection: () => Connection;
  now?: () => number;
  env?: NodeJS.ProcessEnv;
}

export class BoardClient {
  readonly #options: BoardClientOptions;
  #process: BoardProcess | undefined;
  #failure: { problem: BoardProblem; at: number } | undefined;

  constructor(options: BoardClientOptions) {
    this.#options = options;
  }

  /** Rejects with a BoardProblem. `again` asks a board that has just failed, too. */
  async read(
    uri: string,
    { timeoutMs, again }: { timeoutMs: number; again?: boolean },
  ): Promise<string> {
    const { now = Date.now } = this.#options;
    const last = this.#failure;
    if (last !== undefined && again !== true && now() - last.at < PAUSE_MS) throw last.problem;
    try {
      const answer = await this.#ask(uri, timeoutMs);
      this.#failure = undefined;
      return textIn(answer);
    } catch (error) {
      const problem = toProblem(error);
      this.#failure = { problem, at: now() };
      throw problem;
    }
  }

  /** Ends the process, if there is one. The client can be used again. */
  async close(): Promise<void> {
    const process = this.#process;
    this.#process = undefined;
    await process?.close();
  }

  async #ask(uri: string, timeoutMs: number): Promise<unknown> {
    const connection = this.#options.connection();
    if (connection.kind === "none") throw new BoardProblem(connection.why, connection.remedy);
    const message = request(uri);
    if (connection.kind === "http") return askUrl(connection, message, timeoutMs);
    let board = this.#process;
    if (board?.isFor(connection) !== true) {
      // The one of an earlier configuration ends by itself; the prompt need not wait for that.
      void board?.close();
      board = new BoardProcess(connection, this.#options.env ?? process.env);
      this.#process = board;
    }
    return board.ask(message, timeoutMs);
  }
}

interface Request {
  jsonrpc: "2.0";
  id: number;
  method: "resources/read";
  params: { uri: string; _meta: object };
}

let lastId = 0;

/** In the protocol of 2026-07-28 a request stands alone: nothing has to be agreed on before. */
function request(uri: string): Request {
  lastId += 1;
  const { name, version } = manifest;
  const _meta = {
    [`${META}protocolVersion`]: PROTOCOL,
    [`${META}clientInfo`]: { name, version },
    [`${META}clientCapabilities`]: {},
  };
  return { jsonrpc: "2.0", id: lastId, method: "resources/read", params: { uri, _meta } };
}

async function askUrl(
  { url, headers }: HttpConnection,
  message: Request,
  timeoutMs: number,
): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      // The token is for this address alone.
      redirect: "error",
      headers: {
        ...headers,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": PROTOCOL,
        "mcp-method": message.method,
        "mcp-name": message.params.uri,
      },
      body: JSON.stringify(message),
      signal: AbortSignal.timeout(timeoutMs),
    });
  } catch (error) {
    throw unreachable(new URL(url), error);
  }
  const body = await boundedText(response);
  if (response.status === 401 || response.status === 403) {
    throw new BoardProblem(
      `the gateway at ${new URL(url).host} refuses the token (${response.status})`,
      "put the token, from the file that plugboard up names, into mcp.servers.plugboard.headers.Authorization, as Bearer <token>",
    );
  }
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  const messages = (isStream ? eventsIn(body) : [body]).map(tryParseJson);
  const answer = messages.find((each) => isJsonObject(each) && each["id"] === message.id);
  if (answer !== undefined) return answer;
  throw new BoardProblem(
    `${new URL(url).host} answers with status ${response.status} and no MCP message`,
    "see whether the URL is that of Plugboard's gateway, with /mcp at its end",
  );
}

function unreachable(url: URL, error: unknown): BoardProblem {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = isJsonObject(cause) && typeof cause["code"] === "string" ? cause["code"] : undefined;
  const why = code ?? errorMessage(cause);
  return new BoardProblem(
    `the gateway at ${url.host} cannot be reached (${oneLine(why, 200)})`,
    "start it with plugboard up, or correct the URL in mcp.servers.plugboard",
  );
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new Error("the answer is larger than 1 MiB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The data of server-sent events. */
function eventsIn(body: string): string[] {
  return body.split(/\r?\n\r?\n/).map((event) =>
    event
      .split(/\r?\n/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice("data:".length).trimStart())
      .join("\n"),
  );
}

/** `plugboard serve` as a process of the plugin. It ends when its stdin does, so also when OpenClaw is killed. */
class BoardProcess {
  readonly #connection: StdioConnection;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: unknown) => void>();
  readonly #ended: Promise<void>;
  #stderr = "";
  #unread = "";
  #end: BoardProblem | undefined;

  constructor(connection: StdioConnection, env: NodeJS.ProcessEnv) {
    const { command, args, cwd } = connection;
    this.#connection = connection;
    this.#child = spawn(command, args, {
      cwd,
      env: { ...inherited(env), ...connection.env },
      stdio: ["pipe", "pipe", "pipe"],
      // npm installs commands as .cmd files there, which only a shell starts.
      shell: process.platform === "win32",
      windowsHide: true,
    });
    this.#ended = this.#watch();
    // An `openclaw agent` that has its answer ends, whatever runs here.
    this.#child.unref();
    for (const pipe of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      (pipe as unknown as { unref?: () => void } | null)?.unref?.();
    }
  }

  isFor(connection: StdioConnection): boolean {
    return (
      this.#end === undefined && JSON.stringify(connection) === JSON.stringify(this.#connection)
    );
  }

  async ask(message: Request, timeoutMs: number): Promise<unknown> {
    if (this.#end !== undefined) throw this.#end;
    let timer: NodeJS.Timeout | undefined;
    try {
      const answer = new Promise<unknown>((resolve) => this.#waiting.set(message.id, resolve));
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(this.#late(timeoutMs)), timeoutMs);
      });
      this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
      const first = await Promise.race([answer, late, this.#ended]);
      if (first === undefined) throw this.#end ?? this.#late(timeoutMs);
      return first;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(message.id);
    }
  }

  async close(): Promise<void> {
    this.#end ??= new BoardProblem("the plugin has been stopped", "start OpenClaw again");
    const { pid } = this.#child;
    if (pid === undefined || this.#child.exitCode !== null) return;
    this.#child.stdin?.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await settles(this.#ended, END_MS)) return;
      this.#child.kill(signal);
    }
    await settles(this.#ended, END_MS);
  }

  async #watch(): Promise<void> {
    const { stdin, stdout, stderr } = this.#child;
    // A process that ends does not read what was just written to it; how it ended says more.
    stdin?.on("error", () => {});
    stdout?.setEncoding("utf8").on("data", (chunk: string) => this.#take(chunk));
    stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      this.#stderr = (this.#stderr + chunk).slice(-4000);
    });
    try {
      const [code, signal] = await once(this.#child, "close");
      this.#end ??= this.#exited(code ?? signal);
    } catch (error) {
      this.#end ??= this.#unstarted(error);
    }
  }

  #take(chunk: string): void {
    const lines = (this.#unread + chunk).split("\n");
    this.#unread = lines.pop() ?? "";
    if (this.#unread.length > MAX_BYTES) this.#child.kill("SIGTERM");
    for (const line of lines) {
      const message = tryParseJson(line);
      const id = isJsonObject(message) ? message["id"] : undefined;
      if (typeof id === "number") this.#waiting.get(id)?.(message);
    }
  }

  #late(timeoutMs: number): BoardProblem {
    return new BoardProblem(
      `${this.#name()} has not answered within ${timeoutMs / 1000} s${this.#said()}`,
      "see which server is slow: plugboard status",
    );
  }

  #exited(how: unknown): BoardProblem {
    return new BoardProblem(
      `${this.#name()} has ended (${String(how)})${this.#said()}`,
      `run it in a terminal to see why: ${this.#name()}`,
    );
  }

  #unstarted(error: unknown): BoardProblem {
    const { code, message } = error as NodeJS.ErrnoException;
    return new BoardProblem(
      `${this.#name()} cannot be started (${oneLine(code ?? message, 200)})`,
      "install Plugboard where OpenClaw finds it (npm install -g plugboard), or give its whole path in mcp.servers.plugboard.command",
    );
  }

  #name(): string {
    const { command, args } = this.#connection;
    return oneLine([command, ...args].join(" "), 200);
  }

  #said(): string {
    const last = this.#stderr.trim().split("\n").at(-1) ?? "";
    return last === "" ? "" : `: ${oneLine(last, 300)}`;
  }
}

/** As much of the environment as OpenClaw gives the servers that it starts, so that both run with the same settings. */
function inherited(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names =
    process.platform === "win32"
      ? [
          "APPDATA",
          "HOMEDRIVE",
          "HOMEPATH",
          "LOCALAPPDATA",
          "PATH",
          "PROCESSOR_ARCHITECTURE",
          "SYSTEMDRIVE",
          "SYSTEMROOT",
          "TEMP",
          "USERNAME",
          "USERPROFILE",
          "PROGRAMFILES",
        ]
      : ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
  const kept = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  return { HOME: homedir(), ...(Object.fromEntries(kept) as NodeJS.ProcessEnv) };
}

function textIn(answer: unknown): string {
  const { result, error } = objectIn(answer);
  if (isJsonObject(error)) {
    const { message } = error;
    throw new BoardProblem(
      `Plugboard answers: ${oneLine(typeof message === "string" ? message : "an error", 300)}`,
      "see whether this Plugboard is as new as the plugin: npm install -g plugboard@latest",
    );
  }
  const contents = isJsonObject(result) ? result["contents"] : undefined;
  const first: unknown = Array.isArray(contents) ? contents[0] : undefined;
  if (isJsonObject(first) && typeof first["text"] === "string") return first["text"];
  throw new Error("the answer has no text");
}

function toProblem(error: unknown): BoardProblem {
  if (error instanceof BoardProblem) return error;
  return new BoardProblem(
    oneLine(errorMessage(error), 300),
    "see whether the server is Plugboard: openclaw mcp status",
  );
}

async function settles(promise: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const first = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return first;
}
