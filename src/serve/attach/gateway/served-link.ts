// A gateway's side of one link: the agent's board, of whose servers the command is told, and one session on it, in which the
// command calls and reads. The guard runs here; questions go back to the command.

import { serversOf } from "../../../core/board/board.ts";
import type { Board, SessionBoard } from "../../../core/types/board.ts";
import { PlugboardError } from "../../../core/types/errors.ts";
import type { BoardInGateway } from "../../../core/types/gateway-port.ts";
import { isJsonObject } from "../../../core/types/json.ts";
import type { Logger } from "../../../core/types/logger.ts";
import {
  SERVER_LOG_LEVELS,
  type ServerLine,
  type ServerLines,
} from "../../../core/types/server-log.ts";
import { isGivenUp } from "../../../core/types/server-state.ts";
import type { Tool } from "../../../core/types/tool.ts";
import type { EndTrace, TraceListener, TraceOptions } from "../../../core/types/trace.ts";
import type { Clock } from "../../../util/clock.ts";
import { oneLine } from "../../../util/text.ts";
import type { CommandInfo } from "../greeting.ts";
import type { IncomingOptions, Link } from "../link.ts";
import {
  type Args,
  type Member,
  type Method,
  METHODS,
  type Result,
  stateToWire,
  type Told,
} from "../wire.ts";
import { ToldServers } from "./told-servers.ts";

/** What a channel needs of its gateway. */
export interface ChannelHost {
  /** Opens the agent's board, if it is not open. Undefined for an agent that is not configured. */
  boardOf(agent: string): Promise<Board | undefined>;
  reload(): Promise<unknown>;
  /** Begins to stop the gateway, and returns. */
  stop(): void;
  /** A link that opens the gateway's page once. */
  pageLink(role: "owner" | "viewer"): Promise<string>;
  /** What the gateway tells about itself. */
  status(): unknown;
  /** What its servers have written. */
  logs: ServerLines;
  /** Hears of every session of a command. Returns what is called when it closes. */
  watch?(agent: string, session: SessionBoard, command: CommandInfo): () => void;
  /** A command uses an agent's board from now on. Returns what is called when it does no longer. */
  attached(command: CommandInfo & { agent: string }): () => void;
}

export interface ServedLinkOptions {
  host: ChannelHost;
  clock: Clock;
  logger: Logger;
  /** Called after each request in the session: counters change with it. */
  onAnswered: () => void;
}

type Methods = {
  [Name in Exclude<Method, Member>]: (
    ...given: [...Args<Name>, IncomingOptions]
  ) => Result<Name> | Promise<Result<Name>>;
};
type Members = Record<string, (...args: unknown[]) => Promise<unknown>>;

export class ServedLink {
  readonly link: Link;
  readonly info: CommandInfo;
  readonly #options: ServedLinkOptions;
  /** What ends each trace, by the number that the command has given it. */
  readonly #traces = new Map<number, EndTrace>();
  readonly #undo: (() => void)[] = [];
  #board: Board | undefined;
  told: ToldServers | undefined;
  #session: Promise<SessionBoard> | undefined;
  #closing: Promise<void> | undefined;

  constructor(link: Link, info: CommandInfo, options: ServedLinkOptions) {
    this.link = link;
    this.info = info;
    this.#options = options;
    const methods: Record<string, ((...given: never[]) => unknown) | undefined> = this.#methods;
    for (const [method, examples] of Object.entries(METHODS)) {
      link.handle(method, (args, given) => {
        // One more would take the place of the options.
        if (!areLike(args, examples)) throw invalid(`${method} is not well formed`);
        const own = methods[method];
        return own === undefined
          ? this.#ask(method, args, given)
          : own(...(args as never[]), given as never);
      });
    }
  }

  /** Idempotent. Ends the session's calls, and resolves when it is closed. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.link.close();
    for (const end of this.#traces.values()) void end();
    // One that could not be opened has nothing to close.
    await this.#session?.then(
      (session) => session.close(),
      () => {},
    );
    for (const undo of this.#undo.splice(0)) undo();
  }

  #atEnd(undo: () => void): void {
    if (this.#closing === undefined) this.#undo.push(undo);
    else undo();
  }

  readonly #methods: Methods = {
    "gateway/status": () => this.#options.host.status(),
    "gateway/reload": () => this.#options.host.reload(),
    "gateway/stop": () => this.#options.host.stop(),
    "gateway/page": (role) => this.#options.host.pageLink(role === "viewer" ? "viewer" : "owner"),
    "gateway/logs": (server, { onLine }) => {
      const { logs } = this.#options.host;
      const isMeant = (line: ServerLine): boolean => server === "" || line.server === server;
      if (typeof onLine === "function") {
        const end = logs.listen((line) => {
          if (isMeant(line) && !this.link.isFull) onLine(line);
        });
        this.#atEnd(end);
      }
      return logs.lines().filter(isMeant);
    },
    "agent/attach": async (agent, { onServers }) => {
      const board = await this.#use(agent);
      if (typeof onServers !== "function") return;
      const tell = onServers as (told: Told) => void;
      const { clock } = this.#options;
      this.told ??= new ToldServers(board, this.link, clock, tell, (undo) => this.#atEnd(undo));
      this.told.tell();
    },
    "agent/trace": (trace, server, maxSize, { onEntry }) => {
      const options = { ...(server && { server }), ...(maxSize > 0 && { maxSize }) };
      if (typeof onEntry === "function") this.#trace(trace, options, onEntry as TraceListener);
    },
    "agent/endTrace": (trace) => this.#traces.get(trace)?.(),
    "agent/redact": ({ texts }) => {
      const redactor = this.#redactor();
      if (!Array.isArray(texts)) throw invalid("agent/redact is not well formed");
      return texts.map((text) => redactor.text(String(text)));
    },
    "agent/redactBeginning": (text, covered, isEnd) =>
      this.#redactor().beginning(text, covered, isEnd),
    "server/start": (server, onlyToList) =>
      this.#change((board) => serversOf(board).start(server, onlyToList)),
    "server/acquire": (server, { signal }) =>
      this.#change((board) => serversOf(board).acquire(server, signal)),
    "server/refresh": (server) => this.#change((board) => serversOf(board).refresh(server)),
    "server/restart": (server) =>
      this.#change(async (board) => {
        const { state, tools } = await board.restart(server);
        return { state: stateToWire(state), tools };
      }),
    "session/open": async (agent, options) => {
      if (this.#session !== undefined) throw invalid("the link has a session already");
      this.#session = this.#open(agent, options);
      await this.#session;
    },
    "session/close": async () => (await this.#session)?.close(),
    "session/logLevel": async (level) =>
      (await this.#opened()).setLogLevel(SERVER_LOG_LEVELS.find((each) => each === level)),
    "session/find": async (name, { signal }) => {
      const session = await this.#opened();
      const tool = await session.find(name, { signal });
      await tryAgain(tool, session);
      return { tool, isListed: session.tools({ all: true }).includes(tool) };
    },
  };

  /** The agent's board. The command is attached from now on. */
  async #use(agent: string): Promise<Board> {
    const { host } = this.#options;
    const board = await host.boardOf(agent);
    if (board === undefined) throw invalid(`the gateway has no agent '${oneLine(agent, 100)}'`);
    if (!this.link.isOpen) throw invalid("the command is gone");
    this.#atEnd(host.attached({ ...this.info, agent }));
    this.#board = board;
    return board;
  }

  #redactor(): ReturnType<ReturnType<typeof serversOf>["redactor"]> {
    if (this.#board === undefined) throw invalid("the command is not attached");
    return serversOf(this.#board).redactor();
  }

  /** Does something with the servers. The command hears of the change before it gets the answer. */
  async #change<Done>(change: (board: Board) => Promise<Done>): Promise<Done> {
    if (this.#board === undefined) throw invalid("the command is not attached");
    try {
      return await change(this.#board);
    } finally {
      this.told?.tell();
    }
  }

  async #open(agent: string, options: IncomingOptions): Promise<SessionBoard> {
    const board = await this.#use(agent);
    const { command, pid } = this.info;
    // The board checks what it gets.
    const { owner, id = `${command}-${pid}`, ...given } = options as unknown as BoardInGateway;
    const { cwd, approval, tools, rateLimit, toolNames, onApproval, onElicitation } = given;
    const { defaultToolTimeout, toolTimeout, onSampling } = given;
    const rules = { approval, tools, rateLimit, toolNames, defaultToolTimeout, toolTimeout };
    const handlers = { onApproval, onElicitation, onSampling };
    const session = await board.openSession({
      cwd,
      ...rules,
      ...handlers,
      // The audit tells who made a call.
      id,
      // On this channel the command says so: whoever can open it is the owner.
      owner: owner === true,
      // These are the command's own, as are the servers of each session.
      resourceTools: false,
      perSession: false,
      startupWait: 0,
    });
    const { onEvent } = options;
    for (const event of ["resources", "prompts", "log", "notice"] as const) {
      session.on(event, (value) => {
        // A flood of log messages must not pile up where nobody reads.
        const isLeftOut = event === "log" && this.link.isFull;
        if (typeof onEvent === "function" && !isLeftOut) onEvent(event, value);
      });
    }
    // What is approved of a tool can change what the session's rules allow, although the agent's board is the same.
    session.on("tools", this.#options.onAnswered);
    const unwatch = this.#options.host.watch?.(agent, session, this.info);
    if (unwatch !== undefined) this.#atEnd(unwatch);
    return session;
  }

  /** A command need not wait for the answer to `session/open`. */
  #opened(): Promise<SessionBoard> {
    if (this.#session !== undefined) return this.#session;
    throw new PlugboardError("SERVER_UNAVAILABLE", "the session is closed", { hasNotRun: true });
  }

  /** Uses a member of the session's board. */
  async #ask(member: string, args: unknown[], options: IncomingOptions): Promise<unknown> {
    const [, part = "", name] = member.split("/");
    const session = (await this.#opened()) as unknown as Members & Record<string, Members>;
    const { onUpdate: tell } = options;
    const onUpdate =
      typeof tell === "function" && ((update: unknown) => this.link.isFull || tell(update));
    const given = [...args, { ...options, ...(onUpdate && { onUpdate }) }];
    const asked: Members | undefined = name === undefined ? session : session[part];
    try {
      return await asked?.[name ?? part]?.(...given);
    } finally {
      this.#options.onAnswered();
    }
  }

  /**
   * Sends the messages of a server from now on. Whoever can open the channel owns the servers. What the command does not
   * read in time is left out and counted: no call waits for it. No request stays open meanwhile, because a gateway that
   * stops would wait for it.
   */
  #trace(trace: number, options: TraceOptions, send: TraceListener): void {
    if (this.#board === undefined) throw invalid("the command is not attached");
    // A number that is used again would leave the first trace running.
    void this.#traces.get(trace)?.();
    const { link } = this;
    const lost = new Map<string, number>();
    const tellLost = (at: number): void => {
      for (const [server, count] of lost) send({ kind: "lost", server, at, count });
      lost.clear();
    };
    const end = this.#board.trace((entry) => {
      if (link.isFull) {
        const count = entry.kind === "lost" ? entry.count : 1;
        return void lost.set(entry.server, (lost.get(entry.server) ?? 0) + count);
      }
      tellLost(entry.at);
      send(entry);
    }, options);
    this.#traces.set(trace, async () => {
      this.#traces.delete(trace);
      await end();
      tellLost(this.#options.clock.now());
    });
  }
}

/** A person names the tool on a command line, so its server is tried again, also where calls no longer start it. */
async function tryAgain({ source }: Pick<Tool, "source">, session: SessionBoard): Promise<void> {
  const server = source.kind === "mcp" ? source.server : undefined;
  const status = session.status().find(({ name }) => name === server);
  if (status !== undefined && isGivenUp(status.state)) await session.restart(status.name);
}

function areLike(args: readonly unknown[], examples: readonly unknown[]): boolean {
  return (
    args.length === examples.length &&
    args.every((each, at) =>
      typeof each === "object"
        ? isJsonObject(each) && isJsonObject(examples[at])
        : typeof each === typeof examples[at],
    )
  );
}

function invalid(message: string): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", message, { hasNotRun: true });
}
