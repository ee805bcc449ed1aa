// The gateway's side of the private channel: listens on a Unix socket or a named pipe, lets in who knows the key, and
// serves each command's sessions. Nothing that comes in before the proof of the key costs more than a few kilobytes.

import { createServer, type Server, type Socket } from "node:net";
import type { Board, SessionBoard } from "../../../core/types/board.ts";
import { PlugboardError } from "../../../core/types/errors.ts";
import { isJsonObject, type JsonObject } from "../../../core/types/json.ts";
import type { Logger } from "../../../core/types/logger.ts";
import { listenPrivately } from "../../../core/net/private-socket.ts";
import { Strangers } from "../../../core/net/strangers.ts";
import type { Clock } from "../../../util/clock.ts";
import { isSameSecret } from "../../../util/same-secret.ts";
import { oneLine } from "../../../util/text.ts";
import { CHANNEL_VERSION, type CommandInfo, newNonce, proofOf } from "../greeting.ts";
import { Link } from "../link.ts";
import { CommandSession, SharedAgent } from "./command-session.ts";
import type { OpenRequest } from "../wire.ts";

/** What a channel needs of its gateway. */
export interface ChannelHost {
  /** Opens the agent's board, if it is not open. Undefined for an agent that is not configured. */
  boardOf(agent: string): Promise<Board | undefined>;
  reload(): Promise<unknown>;
  /** Begins to stop the gateway, and returns. */
  stop(): void;
  /** What the gateway tells about itself. */
  status(): unknown;
  /** Hears of every session of a command. Returns what is called when it closes. */
  watch?(agent: string, session: SessionBoard): () => void;
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
  readonly #strangers: Strangers;
  #isDraining = false;

  constructor(options: ServeChannelOptions) {
    this.#options = options;
    this.#strangers = new Strangers({
      clock: options.clock,
      withinMs: PROOF_WITHIN_MS,
      most: MOST_STRANGERS,
      maxBytes: MAX_HELLO_BYTES,
    });
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
    this.#strangers.close();
    const commands = [...this.#commands];
    await Promise.all(commands.map((command) => command.close()));
    const timer = this.#options.clock.after(LAST_WORDS_MS, () => {
      for (const { link } of commands) link.destroy();
    });
    await closed;
    timer.cancel();
  }

  #greet(socket: Socket): void {
    const { key, logger } = this.#options;
    if (this.#isDraining || this.#commands.size >= MOST_COMMANDS) return void socket.destroy();
    const nonce = newNonce();
    this.#strangers.hear(socket, (hello, rest) => {
      if (typeof hello.nonce !== "string") return void socket.destroy();
      const nonces = [nonce, hello.nonce];
      if (!isSameSecret(hello.proof, proofOf("command", key, nonces))) {
        logger.warn("refused a command at the channel: it does not know the key");
        return void socket.destroy();
      }
      const welcome = { proof: proofOf("gateway", key, nonces) };
      socket.write(`${JSON.stringify(welcome)}\n`);
      this.#serve(socket, commandIn(hello), rest);
    });
    if (!socket.destroyed) {
      socket.write(`${JSON.stringify({ channel: CHANNEL_VERSION, nonce })}\n`);
    }
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

/** One connected command: the agents that it uses, and its sessions on their boards. */
class ServedCommand {
  readonly link: Link;
  readonly #info: CommandInfo;
  readonly #options: ServeChannelOptions;
  readonly #agents = new Map<string, AttachedAgent | Promise<AttachedAgent>>();
  readonly #sessions = new Map<unknown, OpenedSession | Promise<OpenedSession>>();
  #closing: Promise<void> | undefined;

  constructor(link: Link, info: CommandInfo, options: ServeChannelOptions) {
    const { host } = options;
    this.link = link;
    this.#info = info;
    this.#options = options;
    link.handle("gateway/status", () => host.status());
    link.handle("gateway/reload", () => host.reload());
    link.handle("gateway/stop", () => host.stop());
    link.handle("agent/attach", async ({ agent }) => (await this.#agent(agent)).shared.contents());
    link.handle("session/open", (params) => this.#open(params as unknown as OpenRequest));
    link.handle("session/close", ({ session }) => this.#closeOne(session));
    link.hear("session/setLogLevel", (params) => {
      const opened = this.#sessions.get(params.session);
      if (opened !== undefined && !(opened instanceof Promise)) opened.session.setLogLevel(params);
    });
    for (const method of AGENT_METHODS) {
      link.handle(method, (params, incoming) => {
        const attached = this.#agent(params.agent);
        const ask = ({ shared }: AttachedAgent): unknown =>
          shared.methods[method](params, incoming);
        return attached instanceof Promise ? attached.then(ask) : ask(attached);
      });
    }
    for (const method of SESSION_METHODS) {
      link.handle(method, (params, incoming) => {
        const opened = this.#session(params.session);
        const ask = ({ session }: OpenedSession): unknown =>
          session.methods[method](params, incoming);
        return opened instanceof Promise ? opened.then(ask) : ask(opened);
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
    const [sessions, agents] = [[...this.#sessions.values()], [...this.#agents.values()]];
    this.#sessions.clear();
    this.#agents.clear();
    // One that could not be opened has nothing to close.
    await Promise.allSettled([
      ...sessions.map(async (opened) => (await opened).close()),
      ...agents.map(async (attached) => (await attached).close()),
    ]);
  }

  /** The agent's board for this command, which its first use attaches. */
  #agent(agent: unknown): AttachedAgent | Promise<AttachedAgent> {
    if (typeof agent !== "string") throw invalid("'agent' must be a text");
    const known = this.#agents.get(agent);
    if (known !== undefined) return known;
    const attaching = this.#attach(agent);
    this.#agents.set(agent, attaching);
    attaching.then(
      (attached) => this.#closing === undefined && this.#agents.set(agent, attached),
      () => this.#agents.delete(agent),
    );
    return attaching;
  }

  async #attach(agent: string): Promise<AttachedAgent> {
    const { host, clock } = this.#options;
    const board = await host.boardOf(agent);
    if (board === undefined) throw invalid(`the gateway has no agent '${oneLine(agent, 100)}'`);
    // The command may have gone meanwhile; closing waits for what is being attached.
    const shared = new SharedAgent(board, agent, this.link, clock);
    const left = host.attached({ ...this.#info, agent });
    return {
      shared,
      close: () => {
        shared.close();
        left();
      },
    };
  }

  async #open(request: OpenRequest): Promise<void> {
    checkOpen(request);
    const { session: number } = request;
    if (this.#sessions.has(number) || this.#sessions.size >= MOST_SESSIONS) {
      throw invalid(`session ${number} is open already, or there are too many`);
    }
    const opening = this.#openOn(request);
    this.#sessions.set(number, opening);
    try {
      const opened = await opening;
      if (this.#closing !== undefined) throw invalid("the command is gone");
      this.#sessions.set(number, opened);
    } catch (error) {
      this.#sessions.delete(number);
      throw error;
    }
  }

  async #openOn(given: OpenRequest): Promise<OpenedSession> {
    const { command, pid } = this.#info;
    // The audit tells who made a call.
    const request = {
      ...given,
      options: { ...given.options, id: given.options.id ?? `${command}-${pid}` },
    };
    const { shared } = await this.#agent(request.agent);
    const session = await CommandSession.open(shared.board, request, this.link, () =>
      shared.changedSoon(),
    );
    const unwatch = this.#options.host.watch?.(request.agent, session.board);
    return {
      session,
      close: async () => {
        unwatch?.();
        await session.close();
      },
    };
  }

  async #closeOne(number: unknown): Promise<void> {
    const opened = this.#sessions.get(number);
    this.#sessions.delete(number);
    await (await opened)?.close();
  }

  /** A command need not wait for the answer to `session/open`. */
  #session(number: unknown): OpenedSession | Promise<OpenedSession> {
    const opened = this.#sessions.get(number);
    if (opened !== undefined) return opened;
    throw new PlugboardError("SERVER_UNAVAILABLE", "the session is closed", { hasNotRun: true });
  }
}

interface AttachedAgent {
  shared: SharedAgent;
  close: () => void;
}

interface OpenedSession {
  session: CommandSession;
  close: () => Promise<void>;
}

const AGENT_METHODS = [
  "server/start",
  "server/acquire",
  "server/refresh",
  "server/restart",
  "agent/trace",
  "agent/endTrace",
] as const satisfies (keyof SharedAgent["methods"])[];

const SESSION_METHODS = [
  "tools/call",
  "tools/find",
  "resources/list",
  "resources/templates",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "prompts/list",
  "prompts/get",
  "completion/complete",
] as const satisfies (keyof CommandSession["methods"])[];

function checkOpen({ session, agent, options, handlers }: OpenRequest): void {
  const isWhole =
    Number.isSafeInteger(session) &&
    typeof agent === "string" &&
    isJsonObject(options) &&
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
