// The gateway's side of the private channel: listens on a Unix socket or a named pipe, lets in who knows the key, and
// serves each command's sessions. Nothing that comes in before the proof of the key costs more than a few kilobytes.

import { createServer, type Server, type Socket } from "node:net";
import type { Board } from "../../core/types/board.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../core/types/json.ts";
import type { Logger } from "../../core/types/logger.ts";
import { listenPrivately } from "../../core/net/private-socket.ts";
import type { Clock } from "../../util/clock.ts";
import { readFirstLine } from "../../util/first-line.ts";
import { isSameSecret } from "../../util/same-secret.ts";
import { oneLine } from "../../util/text.ts";
import { CHANNEL_VERSION, type CommandInfo, newNonce, proofOf } from "./greeting.ts";
import { Link } from "./link.ts";
import { ServedSession } from "./served-session.ts";
import type { OpenRequest } from "./wire.ts";

/** What a channel needs of its gateway. */
export interface ChannelHost {
  /** Opens the agent's board, if it is not open. Undefined for an agent that is not configured. */
  boardOf(agent: string): Promise<Board | undefined>;
  reload(): Promise<unknown>;
  /** Begins to stop the gateway, and returns. */
  stop(): void;
  /** What the gateway tells about itself. */
  status(): unknown;
  /** A command uses an agent's board from now on. Returns what is called when it does no longer. */
  attached(command: CommandInfo & { agent: string }): () => void;
}

export interface ServeChannelOptions {
  path: string;
  key: string;
  host: ChannelHost;
  clock: Clock;
  logger: Logger;
}

export interface ServedChannel {
  /** How many commands use a board. */
  readonly attachedCount: number;
  /** How many requests of commands are being answered. */
  readonly inFlight: number;
  /** Lets nobody else in, and tells the commands that the gateway is about to stop: they send no further calls. */
  drain(): void;
  /** Ends all links. Resolves when their sessions are closed. */
  close(): Promise<void>;
}

const PROOF_WITHIN_MS = 5000;
const MAX_HELLO_BYTES = 16 * 1024;
/** Who has not proved yet that they know the key. Many commands may start in one moment. */
const MOST_STRANGERS = 256;
const MOST_COMMANDS = 1000;
const MOST_SESSIONS = 1000;
/** How long a closing channel waits for a command to read its last answers. */
const LAST_WORDS_MS = 1000;

/** Rejects with SYSTEM_ERROR if the address is in use or cannot be used. */
export async function serveChannel(options: ServeChannelOptions): Promise<ServedChannel> {
  const channel = new Channel(options);
  await channel.listen();
  return channel;
}

class Channel implements ServedChannel {
  readonly #options: ServeChannelOptions;
  readonly #server: Server;
  readonly #commands = new Set<ServedCommand>();
  readonly #strangers = new Set<Socket>();
  #isDraining = false;

  constructor(options: ServeChannelOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#greet(socket));
  }

  get attachedCount(): number {
    return [...this.#commands].filter(({ isAttached }) => isAttached).length;
  }

  get inFlight(): number {
    return [...this.#commands].reduce((sum, { link }) => sum + link.inFlight, 0);
  }

  async listen(): Promise<void> {
    const { path, logger } = this.#options;
    try {
      await listenPrivately(this.#server, path);
    } catch (error) {
      throw cannotListen(path, error);
    }
    this.#server.on("error", (error) =>
      logger.error("the channel failed", { reason: String(error) }),
    );
  }

  drain(): void {
    this.#isDraining = true;
    this.#server.close();
    for (const { link } of this.#commands) link.notify("gateway/closing", {});
  }

  async close(): Promise<void> {
    this.#isDraining = true;
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    for (const socket of this.#strangers) socket.destroy();
    const commands = [...this.#commands];
    await Promise.all(commands.map((command) => command.close()));
    const timer = this.#options.clock.after(LAST_WORDS_MS, () => {
      for (const { link } of commands) link.destroy();
    });
    await closed;
    timer.cancel();
  }

  #greet(socket: Socket): void {
    const { key, clock } = this.#options;
    socket.on("error", () => {});
    const hasRoom = this.#strangers.size < MOST_STRANGERS && this.#commands.size < MOST_COMMANDS;
    if (this.#isDraining || !hasRoom) return void socket.destroy();
    this.#strangers.add(socket);
    const timer = clock.later(PROOF_WITHIN_MS, () => socket.destroy());
    socket.once("close", () => this.#strangers.delete(socket));
    const nonce = newNonce();
    socket.write(`${JSON.stringify({ channel: CHANNEL_VERSION, nonce })}\n`);
    readFirstLine(socket, MAX_HELLO_BYTES, (line, rest) => {
      timer.cancel();
      this.#strangers.delete(socket);
      const hello = line === undefined ? undefined : tryParseJson(line);
      if (!isJsonObject(hello) || typeof hello.nonce !== "string") return void socket.destroy();
      const nonces = [nonce, hello.nonce];
      if (!isSameSecret(hello.proof, proofOf("command", key, nonces))) {
        this.#options.logger.warn("refused a command at the channel: it does not know the key");
        return void socket.destroy();
      }
      const welcome = { proof: proofOf("gateway", key, nonces) };
      socket.write(`${JSON.stringify(welcome)}\n`);
      this.#serve(socket, commandIn(hello), rest);
    });
  }

  #serve(socket: Socket, info: CommandInfo, rest: Buffer): void {
    const { logger } = this.#options;
    const peer = `the command '${info.command}' (pid ${info.pid})`;
    const link = new Link(socket, { peer, rest, waitsForReader: true });
    const command = new ServedCommand(link, info, this.#options);
    this.#commands.add(command);
    void link.closed.then(async (end) => {
      if (end.kind === "broken") logger.warn(`${peer} was cut off: ${end.reason}`);
      await command.close();
      this.#commands.delete(command);
    });
  }
}

/** One connected command and its sessions. */
class ServedCommand {
  readonly link: Link;
  readonly #info: CommandInfo;
  readonly #options: ServeChannelOptions;
  readonly #sessions = new Map<number, ServedSession | Promise<ServedSession>>();
  readonly #agents = new Map<string, () => void>();
  #closing: Promise<void> | undefined;

  constructor(link: Link, info: CommandInfo, options: ServeChannelOptions) {
    const { host } = options;
    this.link = link;
    this.#info = info;
    this.#options = options;
    link.handle("gateway/status", () => host.status());
    link.handle("gateway/reload", () => host.reload());
    link.handle("gateway/stop", () => host.stop());
    link.handle("session/open", (params) => this.#open(params as unknown as OpenRequest));
    link.handle("session/close", (params) => this.#closeOne(params));
    for (const method of METHODS) {
      link.handle(method, (params, incoming) => {
        const session = this.#session(params);
        return session instanceof ServedSession
          ? session.methods[method](params, incoming)
          : session.then((opened) => opened.methods[method](params, incoming));
      });
    }
    for (const method of NOTIFICATIONS) {
      link.hear(method, (params) => {
        const session = this.#sessions.get(params.session as number);
        if (session instanceof ServedSession) session.notifications[method](params);
      });
    }
  }

  get isAttached(): boolean {
    return this.#agents.size > 0;
  }

  /** Idempotent. Resolves when the sessions are closed. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.link.close();
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const left of this.#agents.values()) left();
    this.#agents.clear();
    await Promise.all(
      sessions.map(async (each) => {
        // One that could not be opened has nothing to close.
        const session = await Promise.resolve(each).catch(() => undefined);
        await session?.close();
      }),
    );
  }

  async #open(request: OpenRequest): Promise<unknown> {
    checkOpen(request);
    const { session: id, agent } = request;
    if (this.#sessions.has(id) || this.#sessions.size >= MOST_SESSIONS) {
      throw invalid(`session ${id} is open already, or there are too many`);
    }
    const opening = this.#openOn(request);
    this.#sessions.set(id, opening);
    try {
      const session = await opening;
      // The command may have gone meanwhile; closing waits for what is being opened.
      if (this.#closing !== undefined) throw invalid("the command is gone");
      this.#sessions.set(id, session);
      if (!this.#agents.has(agent)) {
        this.#agents.set(agent, this.#options.host.attached({ ...this.#info, agent }));
      }
      return session.contents();
    } catch (error) {
      this.#sessions.delete(id);
      throw error;
    }
  }

  async #openOn(given: OpenRequest): Promise<ServedSession> {
    const { host, clock } = this.#options;
    const { command, pid } = this.#info;
    // The audit tells who made a call.
    const request = { ...given, options: { id: `${command}-${pid}`, ...given.options } };
    const board = await host.boardOf(request.agent);
    if (board === undefined) {
      const message = `the gateway has no agent '${oneLine(request.agent, 100)}'`;
      throw new PlugboardError("INVALID_ARGUMENTS", message, { hasNotRun: true });
    }
    return ServedSession.open({ request, board, link: this.link, clock });
  }

  async #closeOne({ session: id }: JsonObject): Promise<void> {
    const session = this.#sessions.get(id as number);
    this.#sessions.delete(id as number);
    await (await session)?.close();
  }

  /** A command need not wait for the answer to `session/open`. */
  #session({ session: id }: JsonObject): ServedSession | Promise<ServedSession> {
    const session = this.#sessions.get(id as number);
    if (session !== undefined) return session;
    throw new PlugboardError("SERVER_UNAVAILABLE", "the session is closed", { hasNotRun: true });
  }
}

const METHODS = [
  "session/call",
  "session/execute",
  "session/find",
  "session/restart",
  "session/setEnabled",
  "session/wake",
  "board/restart",
  "board/signOut",
  "board/refresh",
  "board/trace",
  "board/endTrace",
  "resources/list",
  "resources/templates",
  "resources/read",
  "resources/readOffered",
  "resources/subscribe",
  "resources/unsubscribe",
  "resources/complete",
  "resources/block",
  "prompts/list",
  "prompts/get",
  "prompts/complete",
] as const satisfies (keyof ServedSession["methods"])[];

const NOTIFICATIONS = [
  "session/setLogLevel",
  "session/listen",
] as const satisfies (keyof ServedSession["notifications"])[];

function checkOpen({ session, agent, options, withheld, handlers }: OpenRequest): void {
  const isWhole =
    Number.isSafeInteger(session) &&
    typeof agent === "string" &&
    isJsonObject(options) &&
    Array.isArray(withheld) &&
    isJsonObject(handlers) &&
    isHandler(handlers.approval) &&
    isHandler(handlers.elicitation) &&
    (handlers.sampling === undefined ||
      (isJsonObject(handlers.sampling) && isHandler(handlers.sampling.handler))) &&
    areOptions(options);
  if (!isWhole) throw invalid("session/open is not well formed");
}

function isHandler(value: unknown): boolean {
  return value === undefined || typeof value === "number";
}

/** What a session is opened with. One that fails half-way would be left on the agent's board. */
function areOptions({ cwd, id, toolNames, tools, ...rest }: JsonObject): boolean {
  const { defaultToolTimeout, toolTimeout } = rest;
  const isOptional = (value: unknown, type: "number" | "string"): boolean =>
    value === undefined || typeof value === type;
  return (
    typeof cwd === "string" &&
    isOptional(id, "string") &&
    isOptional(defaultToolTimeout, "number") &&
    isOptional(toolTimeout, "number") &&
    (tools === undefined || isJsonObject(tools)) &&
    (toolNames === undefined ||
      (isJsonObject(toolNames) &&
        typeof toolNames.template === "string" &&
        isOptional(toolNames.length, "number")))
  );
}

function commandIn({ command, pid, cwd }: JsonObject): CommandInfo {
  return {
    command: typeof command === "string" ? oneLine(command, 40) : "unknown",
    pid: typeof pid === "number" ? pid : 0,
    cwd: typeof cwd === "string" ? oneLine(cwd, 1000) : "",
  };
}

function cannotListen(path: string, reason: unknown): PlugboardError {
  const why = reason instanceof Error ? reason.message : String(reason);
  return new PlugboardError("SYSTEM_ERROR", `the channel cannot be opened at ${path}: ${why}`);
}

function invalid(message: string): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", message, { hasNotRun: true });
}
