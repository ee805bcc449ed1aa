// One session of an attached command, in the gateway: a session board over the agent's board. The command calls its
// methods, and is told what it contains. The guard runs here; questions go back to the command.

import { isOfferedResources } from "../../core/types/resource.ts";
import type { Board, BoardCallOptions, SessionBoard } from "../../core/types/board.ts";
import type { AskApproval } from "../../core/types/approval.ts";
import type { OnElicitation } from "../../core/types/elicitation.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/types/json.ts";
import type { OnSampling, SamplingHandler } from "../../core/types/sampling.ts";
import { SERVER_LOG_LEVELS, type ServerLogLevel } from "../../core/types/server-log.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import type { Tool } from "../../core/types/tool.ts";
import type { EndTrace, TraceEntry } from "../../core/types/trace.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import type { Incoming, Link } from "./link.ts";
import {
  type CostlyEvent,
  isCostly,
  type OpenRequest,
  type SessionChange,
  statusToWire,
  type WireCallerOptions,
  type WireHandlers,
} from "./wire.ts";

/** How old the counters in a status may be that a command has. */
const STATUS_AGE_MS = 500;

const START_MODES = ["eager", "unknown", "none"] as const;

export interface ServedSessionOptions {
  request: OpenRequest;
  /** The agent's board. */
  board: Board;
  link: Link;
  clock: Clock;
}

export class ServedSession {
  readonly #options: ServedSessionOptions;
  readonly #session: SessionBoard;
  readonly #handlers: CommandHandlers;
  readonly #sent = new SentContents();
  readonly #off: (() => void)[] = [];
  /** The costly events that the command has asked for. */
  readonly #heard = new Set<CostlyEvent>();
  /** What ends each trace, by the number that the command has given it. */
  readonly #traces = new Map<unknown, EndTrace>();
  #timer: Timer | undefined;
  #isWaiting = false;
  #isClosed = false;

  private constructor(
    options: ServedSessionOptions,
    session: SessionBoard,
    handlers: CommandHandlers,
  ) {
    this.#options = options;
    this.#session = session;
    this.#handlers = handlers;
    this.#watch();
  }

  /** Rejects as `openSession` does. */
  static async open(options: ServedSessionOptions): Promise<ServedSession> {
    const { request, board, link } = options;
    const handlers = new CommandHandlers(link, request.session);
    const { cwd, id, approval, framing, tools, rateLimit, owner } = request.options;
    const { toolNames, defaultToolTimeout, toolTimeout, resourceTools, startShared } =
      request.options;
    const session = await board.openSession({
      cwd,
      id,
      approval,
      framing,
      tools,
      rateLimit,
      // On this channel the command says so: whoever can open it is the owner.
      owner: owner === true,
      toolNames,
      defaultToolTimeout,
      toolTimeout,
      resourceTools,
      startShared: START_MODES.find((mode) => mode === startShared),
      // The servers of each session run in the command.
      perSession: false,
      startupWait: 0,
      ...handlers.take(request.handlers).options,
    });
    const withheld = new Set(request.withheld);
    for (const { name } of session.status()) {
      if (withheld.has(name)) await session.setEnabled(name, false);
    }
    return new ServedSession(options, session, handlers);
  }

  /** What the session has, for the answer to `session/open`. */
  contents(): SessionChange {
    return this.#sent.change(this.#now()) ?? {};
  }

  /** Idempotent. Ends the session's calls. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const off of this.#off.splice(0)) off();
    for (const end of this.#traces.values()) void end();
    await this.#session.close();
  }

  /** The command's requests about the session, by their method. */
  readonly methods = {
    "session/call": (params: JsonObject, incoming: Incoming): unknown => {
      const used = this.#used(params);
      const { framed } = params;
      const options: BoardCallOptions = {
        ...used.options,
        signal: incoming.signal,
        ...(framed === true && { framed }),
        ...(params.updates === true && { onUpdate: incoming.update }),
      };
      return used.until(this.#session.call(text(params, "name"), object(params, "args"), options));
    },
    "session/execute": async (params: JsonObject, incoming: Incoming): Promise<unknown> => {
      const tool = await this.#session.find(text(params, "name"), { signal: incoming.signal });
      const onUpdate = params.updates === true ? incoming.update : undefined;
      const [callId, args] = [text(params, "callId"), object(params, "args")];
      return tool.execute(callId, args, incoming.signal, onUpdate);
    },
    "session/find": async (params: JsonObject, { signal }: Incoming): Promise<unknown> => {
      const tool = await this.#session.find(text(params, "name"), { signal });
      const isListed = this.#session.tools({ all: true }).includes(tool);
      return { tool, isListed };
    },
    "session/restart": (params: JsonObject) =>
      this.#statusAfter(this.#session.restart(text(params, "server"))),
    "session/setEnabled": (params: JsonObject) =>
      this.#statusAfter(this.#session.setEnabled(text(params, "server"), params.enabled === true)),
    "session/wake": async () => {
      await this.#session.wake();
      this.#changed();
    },
    "board/restart": (params: JsonObject) =>
      this.#statusAfter(this.#options.board.restart(text(params, "server"))),
    "board/signOut": (params: JsonObject) => this.#options.board.signOut(text(params, "server")),
    "board/refresh": async () => {
      await this.#options.board.refresh();
      this.#changed();
    },
    "board/trace": (params: JsonObject) => this.#trace(params),
    "board/endTrace": ({ trace }: JsonObject) => this.#traces.get(trace)?.(),
    "resources/list": (params: JsonObject) =>
      this.#after(this.#session.resources.list(optionalText(params, "server"))),
    "resources/templates": (params: JsonObject) =>
      this.#after(this.#session.resources.templates(optionalText(params, "server"))),
    "resources/read": (params: JsonObject, incoming: Incoming) => {
      const used = this.#used(params);
      const server = optionalText(params, "server");
      const options = { ...used.options, server, signal: incoming.signal };
      const uri = text(params, "uri");
      return this.#after(used.until(this.#session.resources.read(uri, options)));
    },
    "resources/readOffered": (params: JsonObject, { signal }: Incoming) => {
      const { resources } = this.#session;
      if (!isOfferedResources(resources)) throw unsupported("resources/readOffered");
      const server = optionalText(params, "server");
      const options = { server, signal, callId: text(params, "callId") };
      return this.#after(resources.readOffered(text(params, "uri"), options));
    },
    "resources/subscribe": (params: JsonObject, { signal }: Incoming) =>
      this.#session.resources.subscribe(text(params, "uri"), {
        server: optionalText(params, "server"),
        signal,
      }),
    "resources/unsubscribe": (params: JsonObject) =>
      this.#session.resources.unsubscribe(text(params, "uri"), {
        server: optionalText(params, "server"),
      }),
    "resources/complete": (params: JsonObject, { signal }: Incoming) =>
      this.#session.resources.complete(
        text(params, "uriTemplate"),
        text(params, "argument"),
        text(params, "value"),
        { server: optionalText(params, "server"), known: texts(params, "known"), signal },
      ),
    "resources/block": (params: JsonObject) => {
      const { maxBytes } = params;
      return this.#after(
        this.#session.resources.block(typeof maxBytes === "number" ? { maxBytes } : {}),
      );
    },
    "prompts/list": (params: JsonObject) =>
      this.#after(this.#session.prompts.list(optionalText(params, "server"))),
    "prompts/get": async (params: JsonObject, incoming: Incoming) => {
      const { prompts } = this.#session;
      const used = this.#used(params);
      const framed = params.framed === true;
      const options = { ...used.options, signal: incoming.signal, framed };
      const name = text(params, "name");
      const getting = used.until(prompts.get(name, texts(params, "args"), options));
      const result = await this.#after(getting);
      // `forModel` must not wait for an answer, so the command gets what it would return.
      const asksFirst = result.inputRequired !== undefined;
      return { result, forModel: asksFirst ? [] : prompts.forModel(result) };
    },
    "prompts/complete": (params: JsonObject, { signal }: Incoming) =>
      this.#session.prompts.complete(
        text(params, "name"),
        text(params, "argument"),
        text(params, "value"),
        { known: texts(params, "known"), signal },
      ),
  };

  /** What the command tells about the session, by the method. */
  readonly notifications = {
    "session/setLogLevel": ({ level }: JsonObject): void => {
      const isLevel = (SERVER_LOG_LEVELS as readonly unknown[]).includes(level);
      this.#session.setLogLevel(isLevel ? (level as ServerLogLevel) : undefined);
    },
    "session/listen": ({ event }: JsonObject): void => {
      if (!isCostly(event) || this.#heard.has(event)) return;
      this.#heard.add(event);
      this.#forward(event);
    },
  };

  #watch(): void {
    const { lists, of } = this.#options.request;
    for (const event of ["resources", "prompts", "notice"] as const) this.#forward(event);
    const changed = (): void => this.#changed();
    this.#off.push(
      this.#session.on("server", changed),
      this.#session.on("call", () => this.#changedSoon()),
    );
    if (!lists) return;
    this.#off.push(this.#session.on("tools", changed), this.#session.on("appTools", changed));
    // The rules of the agent's board follow its tools.
    if (of === "board") this.#off.push(this.#options.board.on("tools", changed));
  }

  #forward(event: "resources" | "prompts" | "notice" | CostlyEvent): void {
    const { link, request } = this.#options;
    const { session } = request;
    this.#off.push(
      this.#session.on(event, (value) => {
        // A flood of log messages must not pile up where nobody reads.
        if (event === "log" && link.isFull) return;
        if (!isCostly(event)) this.#changed();
        link.notify("session/event", { session, event, value });
      }),
    );
  }

  /**
   * Sends the messages of a server from now on. Whoever can open the channel owns the servers. What the command does not
   * read in time is left out and counted: no call waits for it. No request stays open meanwhile, because a gateway that
   * stops would wait for it.
   */
  #trace(params: JsonObject): void {
    const { board, link, request, clock } = this.#options;
    const { maxSize, trace } = params;
    const { session } = request;
    // A number that is used again would leave the first trace running.
    void this.#traces.get(trace)?.();
    const server = optionalText(params, "server");
    const send = (entry: TraceEntry): void =>
      link.notify("session/trace", { session, trace, entry });
    const lost = new Map<string, number>();
    const tellLost = (at: number): void => {
      for (const [name, count] of lost) send({ kind: "lost", server: name, at, count });
      lost.clear();
    };
    const end = board.trace(
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
      tellLost(clock.now());
    });
  }

  /** What the command gives with a call: its options, and the handlers that are in use until the promise settles. */
  #used(params: JsonObject): {
    options: BoardCallOptions;
    until: <Result>(promise: Promise<Result>) => Promise<Result>;
  } {
    const given = (params.options ?? {}) as WireCallerOptions;
    const { callId, caller, approvalsOf, meta, input, clientCapabilities, handlers } = given;
    const options: BoardCallOptions = {
      callId,
      caller,
      approvalsOf,
      meta,
      input,
      clientCapabilities,
    };
    if (handlers === undefined) return { options, until: (promise) => promise };
    const taken = this.#handlers.take(handlers);
    return {
      options: { ...options, ...taken.options },
      until: (promise) => promise.finally(taken.release),
    };
  }

  async #after<Result>(promise: Promise<Result>): Promise<Result> {
    const result = await promise;
    this.#changedSoon();
    return result;
  }

  /** The command hears of the change before it gets the answer. */
  async #statusAfter(promise: Promise<ServerStatus>): Promise<unknown> {
    const status = await promise;
    this.#changed();
    return statusToWire(status);
  }

  /** Counters change with every call; the command is told now and then. */
  #changedSoon(): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    this.#timer = this.#options.clock.later(STATUS_AGE_MS, () => {
      this.#timer = undefined;
      this.#changed();
    });
  }

  #changed(): void {
    const { link, request } = this.#options;
    if (this.#isClosed || this.#isWaiting) return;
    if (link.isFull) {
      // All changes become one when there is room again.
      this.#isWaiting = true;
      link.whenRoom(() => {
        this.#isWaiting = false;
        this.#changed();
      });
      return;
    }
    const change = this.#sent.change(this.#now());
    if (change !== undefined) link.notify("session/changed", { session: request.session, change });
  }

  #now(): Contents {
    const { board, request } = this.#options;
    const { resources } = this.#session;
    const { lists, of } = request;
    const servers = this.#session.status();
    return {
      servers: of === "board" ? withRules(servers, board.status()) : servers,
      notices: this.#session.notices,
      hasResources: isOfferedResources(resources) && resources.hasAny,
      ...(lists && {
        tools: this.#session.tools({ all: true }),
        instructions: this.#session.instructions(),
      }),
      ...(lists && of === "board" && { unmatchedRules: board.unmatchedRules() }),
    };
  }
}

interface Contents extends Omit<SessionChange, "tools" | "servers"> {
  tools?: Tool[];
  servers: ServerStatus[];
}

/** What the command has been told, to tell it only what differs. */
class SentContents {
  #tools: ReadonlyMap<string, Tool> = new Map();
  #toolOrder: string | undefined;
  #servers: ReadonlyMap<string, string> = new Map();
  readonly #rest = new Map<string, string>();

  /** Undefined if nothing differs. */
  change({ tools, servers, ...rest }: Contents): SessionChange | undefined {
    const change: SessionChange = { ...this.#toolChange(tools), ...this.#serverChange(servers) };
    for (const [name, value] of Object.entries(rest)) {
      const written = JSON.stringify(value);
      if (this.#rest.get(name) === written) continue;
      this.#rest.set(name, written);
      Object.assign(change, { [name]: value });
    }
    return Object.keys(change).length === 0 ? undefined : change;
  }

  /** A tool that has changed is another object. */
  #toolChange(tools: readonly Tool[] | undefined): Pick<SessionChange, "tools"> {
    if (tools === undefined) return {};
    const changed = tools.filter((tool) => this.#tools.get(tool.name) !== tool);
    const order = tools.map(({ name }) => name);
    const written = order.join("\n");
    if (changed.length === 0 && written === this.#toolOrder) return {};
    this.#toolOrder = written;
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    return { tools: { order, changed } };
  }

  #serverChange(servers: readonly ServerStatus[]): Pick<SessionChange, "servers"> {
    const before = this.#servers;
    const wires = servers.map(statusToWire);
    const now = new Map(wires.map((wire) => [wire.name, JSON.stringify(wire)]));
    const changed = wires.filter(({ name }) => before.get(name) !== now.get(name));
    const order = [...now.keys()];
    if (changed.length === 0 && order.length === before.size) return {};
    this.#servers = now;
    return { servers: { order, changed } };
  }
}

/** The rules are those of the agent's board, so it alone knows what is wrong with them. */
function withRules(ofSession: ServerStatus[], ofBoard: readonly ServerStatus[]): ServerStatus[] {
  const known = new Map(ofBoard.map((status) => [status.name, status.diagnostics]));
  return ofSession.map((status) => {
    const written = new Set(status.diagnostics.map((each) => JSON.stringify(each)));
    const more = known.get(status.name)?.filter((each) => !written.has(JSON.stringify(each))) ?? [];
    return { ...status, diagnostics: [...status.diagnostics, ...more] };
  });
}

interface TakenHandlers {
  options: Pick<BoardCallOptions, "onApproval" | "onElicitation" | "onSampling">;
  /** Call it when no question can come any more. */
  release: () => void;
}

/**
 * The command's handlers as functions of the gateway. One that is used by several calls at once is the same function for
 * all of them: whoever is asked gets one question at a time.
 */
class CommandHandlers {
  readonly #link: Link;
  readonly #session: number;
  readonly #inUse = new Map<string, { handler: unknown; users: number }>();
  #questions = 0;

  constructor(link: Link, session: number) {
    this.#link = link;
    this.#session = session;
  }

  take({ approval, elicitation, sampling }: WireHandlers): TakenHandlers {
    const taken: string[] = [];
    const use = <Handler>(kind: string, id: number, make: () => Handler): Handler => {
      const key = `${kind} ${id}`;
      const known = this.#inUse.get(key) ?? { handler: make(), users: 0 };
      known.users += 1;
      this.#inUse.set(key, known);
      taken.push(key);
      return known.handler as Handler;
    };
    return {
      options: {
        ...(approval !== undefined && {
          onApproval: use("approval", approval, () => this.#approval(approval)),
        }),
        ...(elicitation !== undefined && {
          onElicitation: use("elicitation", elicitation, () => this.#elicitation(elicitation)),
        }),
        ...(sampling !== undefined && {
          onSampling: use("sampling", sampling.handler, () => this.#sampling(sampling)),
        }),
      },
      release: () => {
        for (const key of taken.splice(0)) this.#release(key);
      },
    };
  }

  #release(key: string): void {
    const known = this.#inUse.get(key);
    if (known === undefined) return;
    known.users -= 1;
    if (known.users === 0) this.#inUse.delete(key);
  }

  #approval(handler: number): AskApproval {
    return (request, signal) =>
      this.#ask("ask/approval", { handler, request }, signal) as ReturnType<AskApproval>;
  }

  #elicitation(handler: number): OnElicitation {
    return ({ signal, ...asked }) => {
      const question = (this.#questions += 1);
      const session = this.#session;
      if (asked.mode === "url") {
        void asked.completed.then(() => this.#link.notify("ask/completed", { session, question }));
      }
      const { completed: _, ...request } = { completed: undefined, ...asked };
      const params = { handler, question, request };
      return this.#ask("ask/elicitation", params, signal) as ReturnType<OnElicitation>;
    };
  }

  #sampling({ handler, tools, maxTokens }: NonNullable<WireHandlers["sampling"]>): OnSampling {
    return {
      ...(tools !== undefined && { tools }),
      ...(maxTokens !== undefined && { maxTokens }),
      handler: ({ signal, ...request }) =>
        this.#ask("ask/sampling", { handler, request }, signal) as ReturnType<SamplingHandler>,
    };
  }

  async #ask(method: string, params: object, signal: AbortSignal | undefined): Promise<unknown> {
    try {
      return await this.#link.request(method, { session: this.#session, ...params }, { signal });
    } catch (error) {
      // What the command's handler threw, as it would be thrown here.
      throw error instanceof PlugboardError && error.cause instanceof Error ? error.cause : error;
    }
  }
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

function texts(params: JsonObject, name: string): Record<string, string> {
  return object(params, name) as Record<string, string>;
}

function unsupported(method: string): PlugboardError {
  return new PlugboardError("UNSUPPORTED", `this board has no '${method}'`, { hasNotRun: true });
}
