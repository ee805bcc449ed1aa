// A gateway's side of what a command uses: an agent's board, of which the command is told, and sessions on that board, in
// which it calls and reads. The guard runs here; questions go back to the command.

import { serversOf } from "../../../core/board/board.ts";
import type { Board, SessionBoard } from "../../../core/types/board.ts";
import type { CallerOptions } from "../../../core/types/caller-options.ts";
import { PlugboardError } from "../../../core/types/errors.ts";
import { isJsonObject, type JsonObject } from "../../../core/types/json.ts";
import { isOfferedResources } from "../../../core/types/resource.ts";
import type { CompletionQuery } from "../../../core/types/server-content.ts";
import { SERVER_LOG_LEVELS, type ServerLogLevel } from "../../../core/types/server-log.ts";
import { isGivenUp } from "../../../core/types/server-state.ts";
import type { ServerStatus } from "../../../core/types/server-status.ts";
import type { BoardServer } from "../../../core/types/gateway-port.ts";
import type { Tool } from "../../../core/types/tool.ts";
import type { EndTrace, TraceEntry } from "../../../core/types/trace.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import type { Incoming, Link } from "../link.ts";
import { AskedCommand } from "../questions.ts";
import {
  type AgentChange,
  type OpenRequest,
  type SessionEvent,
  stateToWire,
  type WireCallerOptions,
  type WireNative,
  type WireRestarted,
  type WireServer,
} from "../wire.ts";

/** How old the counters in a status may be that a command has. */
const STATUS_AGE_MS = 500;

/** An agent's board, as one command sees it. */
export class SharedAgent {
  readonly board: Board;
  readonly #agent: string;
  readonly #link: Link;
  readonly #clock: Clock;
  readonly #off: (() => void)[];
  /** What ends each trace, by the number that the command has given it. */
  readonly #traces = new Map<unknown, EndTrace>();
  /** What the command was told, to tell it only what differs. */
  #told = new Map<string, { text: string; tools: BoardServer["tools"] }>();
  #toldNative: string | undefined;
  #timer: Timer | undefined;
  #isWaiting = false;
  #isClosed = false;

  constructor(board: Board, agent: string, link: Link, clock: Clock) {
    this.board = board;
    this.#agent = agent;
    this.#link = link;
    this.#clock = clock;
    const changed = (): void => this.changed();
    const events = ["server", "tools", "appTools", "resources", "prompts"] as const;
    this.#off = events.map((event) => board.on(event, changed));
  }

  /** The command's requests about the agent's servers, by their method. */
  readonly methods = {
    "server/start": (params: JsonObject) =>
      this.#after(serversOf(this.board).start(text(params, "server"), params.onlyToList === true)),
    "server/acquire": (params: JsonObject, { signal }: Incoming) =>
      this.#after(serversOf(this.board).acquire(text(params, "server"), signal)),
    "server/refresh": (params: JsonObject) =>
      this.#after(serversOf(this.board).refresh(text(params, "server"))),
    "server/restart": (params: JsonObject) =>
      this.#after(
        this.board
          .restart(text(params, "server"))
          .then(({ state, tools }): WireRestarted => ({ state: stateToWire(state), tools })),
      ),
    "agent/trace": (params: JsonObject) => this.#trace(params),
    "agent/endTrace": ({ trace }: JsonObject) => this.#traces.get(trace)?.(),
  };

  /** Everything, for the answer to `agent/attach`. */
  contents(): AgentChange {
    this.#told = new Map();
    this.#toldNative = undefined;
    return this.#change() ?? {};
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const off of this.#off.splice(0)) off();
    for (const end of this.#traces.values()) void end();
  }

  /** Counters change with every call; the command is told now and then. */
  changedSoon(): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    this.#timer = this.#clock.later(STATUS_AGE_MS, () => {
      this.#timer = undefined;
      this.changed();
    });
  }

  changed(): void {
    const link = this.#link;
    if (this.#isClosed || this.#isWaiting) return;
    if (link.isFull) {
      // All changes become one when there is room again.
      this.#isWaiting = true;
      link.whenRoom(() => {
        this.#isWaiting = false;
        this.changed();
      });
      return;
    }
    const change = this.#change();
    if (change !== undefined) link.notify("agent/changed", { agent: this.#agent, change });
  }

  /** The command hears of the change before it gets the answer. */
  async #after<Result>(promise: Promise<Result>): Promise<Result> {
    try {
      return await promise;
    } finally {
      this.changed();
    }
  }

  /** Undefined if nothing differs from what the command was told. */
  #change(): AgentChange | undefined {
    const { board } = this;
    const statuses = new Map(board.status().map((status) => [status.name, status]));
    const instructions = new Map(
      board.instructions().map(({ server, text: said }) => [server, said]),
    );
    const before = this.#told;
    this.#told = new Map();
    const changed: WireServer[] = [];
    for (const served of serversOf(board).list()) {
      const { name, tools, has, unpinned } = served;
      const status = statuses.get(name);
      if (status === undefined) continue;
      const wire: WireServer = { ...told(status, instructions.get(name)), has, unpinned };
      const known = { text: JSON.stringify(wire), tools };
      const last = before.get(name);
      this.#told.set(name, known);
      if (last?.text === known.text && last.tools === tools) continue;
      if (last?.tools !== tools) wire.tools = tools?.map(({ tool }) => tool);
      changed.push(wire);
    }
    // Functions are left out when they are written as JSON.
    const native: WireNative[] = serversOf(board).native();
    const textOfNative = JSON.stringify(native);
    const isNativeNew = textOfNative !== this.#toldNative;
    this.#toldNative = textOfNative;
    const order = [...this.#told.keys()];
    const isOrderNew = order.join("\n") !== [...before.keys()].join("\n");
    if (changed.length === 0 && !isOrderNew && !isNativeNew) return undefined;
    return { servers: { order, changed }, ...(isNativeNew && { native }) };
  }

  /**
   * Sends the messages of a server from now on. Whoever can open the channel owns the servers. What the command does not
   * read in time is left out and counted: no call waits for it. No request stays open meanwhile, because a gateway that
   * stops would wait for it.
   */
  #trace(params: JsonObject): void {
    const link = this.#link;
    const { maxSize, trace } = params;
    // A number that is used again would leave the first trace running.
    void this.#traces.get(trace)?.();
    const server = optionalText(params, "server");
    const send = (entry: TraceEntry): void => link.notify("agent/trace", { trace, entry });
    const lost = new Map<string, number>();
    const tellLost = (at: number): void => {
      for (const [name, count] of lost) send({ kind: "lost", server: name, at, count });
      lost.clear();
    };
    const end = this.board.trace(
      (entry) => {
        if (link.isFull) {
          const count = entry.kind === "lost" ? entry.count : 1;
          lost.set(entry.server, (lost.get(entry.server) ?? 0) + count);
          return;
        }
        tellLost(entry.at);
        send(entry);
      },
      { ...(server !== undefined && { server }), ...(typeof maxSize === "number" && { maxSize }) },
    );
    this.#traces.set(trace, async () => {
      this.#traces.delete(trace);
      await end();
      tellLost(this.#clock.now());
    });
  }
}

/** One session of a command, on an agent's board. */
export class CommandSession {
  readonly #session: SessionBoard;
  readonly #questions: AskedCommand;
  readonly #link: Link;
  readonly #number: number;
  readonly #off: (() => void)[] = [];
  readonly #onAnswered: () => void;

  private constructor(
    session: SessionBoard,
    {
      link,
      number,
      questions,
      onAnswered,
    }: {
      link: Link;
      number: number;
      questions: AskedCommand;
      onAnswered: () => void;
    },
  ) {
    this.#session = session;
    this.#questions = questions;
    this.#link = link;
    this.#number = number;
    this.#onAnswered = onAnswered;
    for (const event of ["resources", "prompts", "log", "notice"] as const) this.#forward(event);
    // What is approved of a tool can change what the session's rules allow, although the agent's board is the same.
    this.#off.push(session.on("tools", onAnswered));
  }

  /** Rejects as `openSession` does. `onAnswered` is called after each request, since counters change with it. */
  static async open(
    board: Board,
    request: OpenRequest,
    link: Link,
    onAnswered: () => void,
  ): Promise<CommandSession> {
    const questions = new AskedCommand(link);
    const { cwd, id, approval, tools, rateLimit, owner } = request.options;
    const { toolNames, defaultToolTimeout, toolTimeout } = request.options;
    const session = await board.openSession({
      cwd,
      id,
      approval,
      tools,
      rateLimit,
      // On this channel the command says so: whoever can open it is the owner.
      owner: owner === true,
      toolNames,
      defaultToolTimeout,
      toolTimeout,
      // These are the command's own, as are the servers of each session.
      resourceTools: false,
      perSession: false,
      startupWait: 0,
      ...questions.take(request.handlers).handlers,
    });
    const number = request.session;
    return new CommandSession(session, { link, number, questions, onAnswered });
  }

  get board(): SessionBoard {
    return this.#session;
  }

  /** Idempotent. Ends the session's calls. */
  async close(): Promise<void> {
    for (const off of this.#off.splice(0)) off();
    await this.#session.close();
  }

  /** A person names the tool on a command line, so its server is tried again, also where calls no longer start it. */
  async #tryAgain({ source }: Pick<Tool, "source">): Promise<void> {
    if (source.kind !== "mcp") return;
    const { server } = source;
    const status = this.#session.status().find(({ name }) => name === server);
    if (status !== undefined && isGivenUp(status.state)) await this.#session.restart(server);
  }

  /** The command's requests in the session, by their method. */
  readonly methods = {
    "tools/call": (params: JsonObject, { signal, update }: Incoming) => {
      const onUpdate = params.updates === true ? update : undefined;
      const [name, args] = [text(params, "name"), object(params, "args")];
      return this.#with(params, signal, (given) =>
        this.#session.call(name, args, { ...given, onUpdate }),
      );
    },
    "tools/find": async (params: JsonObject, { signal }: Incoming): Promise<unknown> => {
      const tool = await this.#session.find(text(params, "name"), { signal });
      await this.#tryAgain(tool);
      return { tool, isListed: this.#session.tools({ all: true }).includes(tool) };
    },
    "resources/list": (params: JsonObject) => this.#session.resources.list(text(params, "server")),
    "resources/templates": (params: JsonObject) =>
      this.#session.resources.templates(text(params, "server")),
    "resources/read": (params: JsonObject, { signal }: Incoming) => {
      const { resources } = this.#session;
      const [server, uri] = [text(params, "server"), text(params, "uri")];
      if (params.asksNobody === true && isOfferedResources(resources)) {
        return resources.readForPrompt(uri, { server, signal });
      }
      return this.#with(params, signal, (given) => resources.read(uri, { ...given, server }));
    },
    "resources/subscribe": (params: JsonObject, { signal }: Incoming) =>
      this.#session.resources.subscribe(text(params, "uri"), {
        server: text(params, "server"),
        signal,
      }),
    "resources/unsubscribe": (params: JsonObject) =>
      this.#session.resources.unsubscribe(text(params, "uri"), { server: text(params, "server") }),
    "prompts/list": (params: JsonObject) => this.#session.prompts.list(text(params, "server")),
    "prompts/get": (params: JsonObject, { signal }: Incoming) => {
      const name = `${text(params, "server")}/${text(params, "name")}`;
      const args = object(params, "args") as Record<string, string>;
      return this.#with(params, signal, (given) => this.#session.prompts.get(name, args, given));
    },
    "completion/complete": (params: JsonObject, { signal }: Incoming) => {
      const { resources, prompts } = this.#session;
      const server = text(params, "server");
      const { of, argument, value, known } = object(params, "query") as unknown as CompletionQuery;
      return of.type === "ref/prompt"
        ? prompts.complete(`${server}/${of.name}`, argument, value, { known, signal })
        : resources.complete(of.uri, argument, value, { server, known, signal });
    },
  };

  setLogLevel({ level }: JsonObject): void {
    const isLevel = (SERVER_LOG_LEVELS as readonly unknown[]).includes(level);
    this.#session.setLogLevel(isLevel ? (level as ServerLogLevel) : undefined);
  }

  #forward(event: SessionEvent): void {
    this.#off.push(
      this.#session.on(event, (value) => {
        // A flood of log messages must not pile up where nobody reads.
        if (event === "log" && this.#link.isFull) return;
        this.#link.notify("session/event", { session: this.#number, event, value });
      }),
    );
  }

  /** Asks with what the command gives with a request: its options, and its handlers until there is an answer. */
  async #with<Result>(
    params: JsonObject,
    signal: AbortSignal,
    ask: (given: CallerOptions) => Promise<Result>,
  ): Promise<Result> {
    const { handlers = {}, ...given } = (params.options ?? {}) as WireCallerOptions;
    const { callId, caller, approvalsOf, meta, input, clientCapabilities } = given;
    const options = { callId, caller, approvalsOf, meta, input, clientCapabilities, signal };
    const taken = this.#questions.take(handlers);
    try {
      return await ask({ ...options, ...defined(taken.handlers) });
    } finally {
      taken.release();
      this.#onAnswered();
    }
  }
}

/** A handler that is not given must not hide the session's. */
function defined(handlers: object): Partial<CallerOptions> {
  return Object.fromEntries(Object.entries(handlers).filter(([, value]) => value !== undefined));
}

function told(
  { name, state, transport, cached, cachedAt, restarts, lastError, ...status }: ServerStatus,
  instructions: string | undefined,
): WireServer {
  const { pid, calls, diagnostics, stderr, identity } = status;
  return {
    name,
    state: stateToWire(state),
    transport,
    cached,
    cachedAt,
    restarts,
    lastError,
    // What the pins keep back of a server's words stays here.
    identity: identity && { ...identity, instructions },
    pid,
    calls,
    diagnostics,
    stderr,
  };
}

function text(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value === "string") return value;
  throw new PlugboardError("INVALID_ARGUMENTS", `'${name}' must be a text`, { hasNotRun: true });
}

function optionalText(params: JsonObject, name: string): string | undefined {
  return params[name] === undefined ? undefined : text(params, name);
}

function object(params: JsonObject, name: string): JsonObject {
  const value = params[name] ?? {};
  if (isJsonObject(value)) return value;
  throw new PlugboardError("INVALID_ARGUMENTS", `'${name}' must be an object`, { hasNotRun: true });
}
