// A session board in a gateway, seen from an attached command. Calls and reads go over the link; tools, states and
// instructions are what the gateway told last, and the events are derived from that.

import { Inclusion } from "../../core/board/inclusion.ts";
import { BoardSearch } from "../../core/board/tool-search.ts";
import { toFailure } from "../../core/tools/failure.ts";
import type { AskApproval } from "../../core/types/approval.ts";
import type { SignOutOutcome } from "../../core/types/authorization.ts";
import type { BoardCallOptions, ServerInstructions, SessionBoard } from "../../core/types/board.ts";
import type { CallerOptions } from "../../core/types/caller-options.ts";
import type { ElicitationRequest, OnElicitation } from "../../core/types/elicitation.ts";
import {
  cancelled,
  PlugboardError,
  unknownServer,
  withPossibleEffect,
} from "../../core/types/errors.ts";
import type { BoardEvents } from "../../core/types/events.ts";
import type { UnmatchedRule } from "../../core/types/guard-settings.ts";
import type { ToolSearchSetting } from "../../core/types/include.ts";
import type { JsonObject } from "../../core/types/json.ts";
import type { Logger } from "../../core/types/logger.ts";
import type { BoardPrompts } from "../../core/types/prompt.ts";
import type { RequestHandlers } from "../../core/types/request-handlers.ts";
import type { OfferedResources } from "../../core/types/resource.ts";
import type { OnSampling, SamplingRequest } from "../../core/types/sampling.ts";
import type { SearchOptions, ToolHit } from "../../core/types/search.ts";
import type { ServerLogLevel } from "../../core/types/server-log.ts";
import type { ServerState } from "../../core/types/server-state.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import {
  type CallOutcome,
  canonicalName,
  type Tool,
  type ToolResult,
} from "../../core/types/tool.ts";
import type { TraceEntry, TraceListener, TraceOptions } from "../../core/types/trace.ts";
import { aborted } from "../../util/abort.ts";
import { systemClock } from "../../util/clock.ts";
import { type Deferred, deferred } from "../../util/deferred.ts";
import { Emitter } from "../../util/emitter.ts";
import { isForApps, isForModels, isSameState, toolsChange } from "./changes.ts";
import type { Incoming, Link } from "./link.ts";
import { type PresentPrompt, RemotePrompts, RemoteResources } from "./remote-content.ts";
import {
  isCostly,
  type OpenRequest,
  type SessionChange,
  type SharedSessionOptions,
  statusFromWire,
  type WireCallerOptions,
  type WireHandlers,
  type WireStatus,
  type WireTool,
} from "./wire.ts";

export interface RemoteSessionOptions extends RequestHandlers {
  agent: string;
  options: SharedSessionOptions;
  /** False for a command that calls a tool or two: it is told what it asks for, not every tool. Default true. */
  lists?: boolean;
  /** `board` for a command's own board, which sees what the agent's board sees. Default `session`. */
  of?: OpenRequest["of"];
  /** Names of shared servers that the session does not have from the start. */
  withheld?: readonly string[];
  onApproval?: AskApproval | undefined;
  /** Frames a prompt that is not from this session. Without it, nothing of such a prompt is for a model. */
  presentPrompt?: PresentPrompt;
  /** Runs the `execute` of the tools. Default: on this session. */
  execute?: ExecuteTool;
  logger: Logger;
}

export type ExecuteTool = (
  name: string,
  ...args: Parameters<Tool["execute"]>
) => Promise<ToolResult>;

type CallHandlers = Pick<CallerOptions, "onApproval" | "onElicitation" | "onSampling">;

/** How many pages at once are waited for to be finished. */
const MOST_PAGES = 100;

export class RemoteSession implements SessionBoard {
  readonly id: string;
  readonly cwd: string;
  readonly resources: OfferedResources;
  readonly prompts: BoardPrompts;
  /** The link to the gateway that it is on. */
  readonly link: Link;
  readonly #session: number;
  readonly #options: RemoteSessionOptions;
  readonly #events: Emitter<BoardEvents>;
  readonly #inclusion = new Inclusion({
    tools: () => this.#tools,
    onChange: (change) => this.#events.emit("tools", change),
  });
  readonly #search: BoardSearch;
  readonly #handlers = new NumberedHandlers();
  readonly #questions = new Map<number, Deferred<void>>();
  /** The costly events that the gateway was asked for. */
  readonly #heard = new Set<keyof BoardEvents>();
  /** Who listens to which trace. */
  readonly #traces = new Map<unknown, TraceListener>();
  #lastTrace = 0;
  #tools: Tool[] = [];
  #byName = new Map<string, Tool>();
  #statuses: ServerStatus[] = [];
  #instructions: ServerInstructions[] = [];
  #unmatchedRules: UnmatchedRule[] = [];
  #notices: readonly string[] = [];
  #hasResources = false;
  #isOpen = false;
  #closing: Promise<void> | undefined;

  private constructor(link: Link, options: RemoteSessionOptions) {
    const { id = "", cwd } = options.options;
    this.id = id;
    this.cwd = cwd;
    this.link = link;
    this.#options = options;
    this.#search = new BoardSearch(this, { clock: systemClock, logger: options.logger });
    this.#session = sessionsOf(link).add(this);
    this.#events = new Emitter((error) =>
      options.logger.error("a listener threw", { reason: String(error) }),
    );
    this.resources = new RemoteResources(
      (method, params, given) => this.#ask(method, params, given),
      () => this.#hasResources,
    );
    this.prompts = new RemotePrompts(
      (method, params, given) => this.#ask(method, params, given),
      options.presentPrompt ?? (() => []),
    );
  }

  /** Rejects as `openSession` does, and with SERVER_UNAVAILABLE if the link ends. */
  static async open(link: Link, options: RemoteSessionOptions): Promise<RemoteSession> {
    const session = new RemoteSession(link, options);
    try {
      await session.#open();
    } catch (error) {
      sessionsOf(link).delete(session.#session);
      throw error;
    }
    return session;
  }

  #open(): Promise<void> {
    const { agent, options, lists = true, of = "session", withheld = [] } = this.#options;
    const handlers = this.#handlers.take(this.#options).wire ?? {};
    const request: OpenRequest = {
      session: this.#session,
      agent,
      lists,
      of,
      options,
      withheld: [...withheld],
      handlers,
    };
    return new Promise((resolve, reject) => {
      this.link.start("session/open", request, {
        // Not after a promise: what the gateway tells next is about what it tells here.
        answer: (contents) => {
          this.apply(contents as SessionChange);
          this.#isOpen = true;
          resolve();
        },
        fail: reject,
      });
    });
  }

  /** False once the gateway is gone. What was told of it stays. */
  get isOpen(): boolean {
    return this.link.isOpen;
  }

  get notices(): readonly string[] {
    return this.#notices;
  }

  tools({ all = false }: { all?: boolean } = {}): Tool[] {
    const tools = this.#tools.map((tool) => this.#inclusion.of(tool));
    return all ? tools : tools.filter(({ include }) => include !== "app");
  }

  /** Whoever lays something over it knows the configuration. */
  get toolSearch(): ToolSearchSetting {
    return "auto";
  }

  include(tool: string | Pick<Tool, "name" | "source">): Tool {
    return this.#inclusion.choose(tool, "always");
  }

  exclude(tool: string | Pick<Tool, "name" | "source">): Tool {
    return this.#inclusion.choose(tool, "manual");
  }

  /** The tool of this public name or `server/tool`, if the gateway has told of it. */
  known(name: string): Tool | undefined {
    return this.#byName.get(name);
  }

  search(query: string | readonly string[], options?: SearchOptions): Promise<ToolHit[]> {
    return this.#search.search(query, options);
  }

  async find(name: string, { signal }: { signal?: AbortSignal } = {}): Promise<Tool> {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const found = (await this.#request("session/find", { name }, signal)) as {
      tool: WireTool;
      isListed: boolean;
    };
    const tool = this.#byName.get(found.tool.name) ?? this.#make(found.tool);
    // Without lists, what was found is all that is known to be listed.
    if (found.isListed && this.#options.lists === false) this.#add(tool);
    return tool;
  }

  call(name: string, args: JsonObject = {}, given: BoardCallOptions = {}): Promise<CallOutcome> {
    const { signal, onUpdate, framed } = given;
    const { options, release } = this.#callerOptions(given);
    const params = {
      session: this.#session,
      name,
      args,
      options,
      ...(framed && { framed }),
      ...(onUpdate && { updates: true }),
    };
    return new Promise((resolve) => {
      const answered = {
        answer: (outcome: unknown) => {
          release?.();
          resolve(outcome as CallOutcome);
        },
        fail: (error: PlugboardError) => {
          release?.();
          resolve(this.#failure(error));
        },
      };
      const update = onUpdate as ((value: unknown) => void) | undefined;
      this.link.start("session/call", params, answered, { signal, onUpdate: update });
    });
  }

  /** Runs a tool as its `execute` does: the gateway cuts and frames the result for a model. */
  async execute(name: string, ...args: Parameters<Tool["execute"]>): Promise<ToolResult> {
    const [callId, params, signal, onUpdate] = args;
    const request = {
      session: this.#session,
      name,
      args: params,
      callId,
      ...(onUpdate && { updates: true }),
    };
    const update = onUpdate as ((value: unknown) => void) | undefined;
    try {
      const answer = this.link.request("session/execute", request, { signal, onUpdate: update });
      return (await answer) as ToolResult;
    } catch (error) {
      const outcome = this.#failure(error as PlugboardError);
      const { content, isError } = outcome;
      return { content, ...(isError && { isError }), details: outcome };
    }
  }

  status(): ServerStatus[] {
    return [...this.#statuses];
  }

  instructions(): ServerInstructions[] {
    return [...this.#instructions];
  }

  setLogLevel(level: ServerLogLevel | undefined): void {
    this.link.notify("session/setLogLevel", { session: this.#session, level });
  }

  on<Name extends keyof BoardEvents>(
    event: Name,
    listener: (event: BoardEvents[Name]) => void,
  ): () => void {
    if (isCostly(event) && !this.#heard.has(event)) {
      this.#heard.add(event);
      this.link.notify("session/listen", { session: this.#session, event });
    }
    return this.#events.on(event, listener);
  }

  restart(server: string): Promise<ServerStatus> {
    return this.#statusFrom("session/restart", { server });
  }

  setEnabled(server: string, enabled: boolean): Promise<ServerStatus> {
    return this.#statusFrom("session/setEnabled", { server, enabled });
  }

  async wake(): Promise<void> {
    // Without a gateway there is nothing to wake; whoever holds this session hears that it is gone.
    await this.#request("session/wake", {}).catch(() => {});
  }

  /** A session's own servers are the command's. */
  add(name: string): Promise<ServerStatus> {
    const message = "a gateway runs no servers of a session";
    return Promise.reject(new PlugboardError("UNSUPPORTED", message, { server: name }));
  }

  remove(name: string): Promise<void> {
    const names = this.#statuses.map((status) => status.name);
    if (!names.includes(name)) return Promise.reject(unknownServer(name, names));
    const message = `server '${name}' is shared by all sessions`;
    const details = { server: name, hint: "do this on the agent's board" };
    return Promise.reject(new PlugboardError("UNSUPPORTED", message, details));
  }

  /** Shared servers keep the agent's roots. */
  setRoots(): void {}

  /** Stops and starts a server of the agent's board, for everybody. */
  restartShared(server: string): Promise<ServerStatus> {
    return this.#statusFrom("board/restart", { server });
  }

  async signOut(server: string): Promise<SignOutOutcome> {
    const outcome = await this.#request("board/signOut", { server });
    return outcome as SignOutOutcome;
  }

  /**
   * Resolves when the signal has aborted and everything was delivered. Rejects with UNKNOWN_SERVER, and with
   * SERVER_UNAVAILABLE if the gateway goes away. `onBegun` is called when the gateway traces the server.
   */
  async traceShared(
    listener: TraceListener,
    options: TraceOptions,
    signal: AbortSignal,
    onBegun?: () => void,
  ): Promise<void> {
    this.#lastTrace += 1;
    const trace = this.#lastTrace;
    this.#traces.set(trace, listener);
    try {
      await this.#request("board/trace", { ...options, trace });
      onBegun?.();
      await Promise.race([aborted(signal), this.link.closed]);
      if (!this.link.isOpen && !signal.aborted) {
        throw new PlugboardError("SERVER_UNAVAILABLE", "the gateway has stopped", { quote: "" });
      }
      await this.#request("board/endTrace", { trace });
    } finally {
      this.#traces.delete(trace);
    }
  }

  /** The gateway tells what it has traced. */
  traced(trace: unknown, entry: TraceEntry): void {
    this.#traces.get(trace)?.(entry);
  }

  async refresh(): Promise<ServerStatus[]> {
    await this.#request("board/refresh", {});
    return this.status();
  }

  unmatchedRules(): UnmatchedRule[] {
    return [...this.#unmatchedRules];
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    // If the gateway is gone, so is the session.
    await this.#request("session/close", {}).catch(() => {});
    sessionsOf(this.link).delete(this.#session);
    this.#events.clear();
  }

  /** Takes over what the gateway tells, and emits the events that follow from it. */
  apply({ tools, servers, ...rest }: SessionChange): void {
    const { instructions, notices, unmatchedRules, hasResources } = rest;
    if (instructions !== undefined) this.#instructions = instructions;
    if (notices !== undefined) this.#notices = notices;
    if (unmatchedRules !== undefined) this.#unmatchedRules = unmatchedRules;
    if (hasResources !== undefined) this.#hasResources = hasResources;
    const emits = [
      ...(servers === undefined ? [] : this.#applyServers(servers.order, servers.changed)),
      ...(tools === undefined ? [] : this.#applyTools(tools.order, tools.changed)),
    ];
    if (this.#isOpen) for (const emit of emits) emit();
  }

  emit(event: keyof BoardEvents, value: never): void {
    this.#events.emit(event, value);
  }

  /** Answers a question of the gateway. */
  ask(method: string, params: JsonObject, { signal }: Incoming): unknown {
    const handler = this.#handlers.of(params.handler as number);
    if (handler === undefined) throw cancelled();
    const request = params.request as never;
    switch (method) {
      case "ask/approval":
        return (handler as AskApproval)(request, signal);
      case "ask/elicitation":
        return this.#elicit(handler as OnElicitation, params.question as number, request, signal);
      default: {
        const onSampling = handler as OnSampling;
        const sample = typeof onSampling === "function" ? onSampling : onSampling.handler;
        return sample({ ...(request as SamplingRequest), signal });
      }
    }
  }

  /** The person has finished on the page that a question was about. */
  completed(question: number): void {
    this.#questions.get(question)?.resolve();
    this.#questions.delete(question);
  }

  #elicit(
    handler: OnElicitation,
    question: number,
    request: ElicitationRequest,
    signal: AbortSignal,
  ): ReturnType<OnElicitation> {
    if (request.mode === "form") return handler({ ...request, signal });
    const page = deferred();
    this.#questions.set(question, page);
    // Some servers never say that the person has finished.
    const [oldest] = this.#questions.keys();
    if (this.#questions.size > MOST_PAGES && oldest !== undefined) this.#questions.delete(oldest);
    return handler({ ...request, signal, completed: page.promise });
  }

  #applyServers(order: readonly string[], changed: readonly WireStatus[]): (() => void)[] {
    const before = new Map(this.#statuses.map((status) => [status.name, status]));
    const now = new Map(changed.map((wire) => [wire.name, statusFromWire(wire)]));
    this.#statuses = order.flatMap((name) => now.get(name) ?? before.get(name) ?? []);
    const kept = new Set(order);
    const gone = [...before.values()].filter(({ name }) => !kept.has(name));
    const events: BoardEvents["server"][] = [
      ...[...now.values()].map(({ name: server, state }) => ({
        server,
        state,
        previous: before.get(server)?.state ?? { kind: "idle" as const },
      })),
      ...gone.map(({ name: server, state: previous }) => ({ server, state: STOPPED, previous })),
    ];
    return events
      .filter(({ state, previous }) => !isSameState(state, previous))
      .map((event) => () => this.#events.emit("server", event));
  }

  #applyTools(order: readonly string[], changed: readonly WireTool[]): (() => void)[] {
    const before = new Map(this.#tools.map((tool) => [tool.name, tool]));
    const now = new Map(changed.map((wire) => [wire.name, this.#make(wire)]));
    this.#tools = [];
    this.#byName = new Map();
    for (const name of order) {
      const tool = now.get(name) ?? before.get(name);
      if (tool !== undefined) this.#add(tool);
    }
    const events = [
      { name: "tools", change: toolsChange([...before.values()], this.#tools, isForModels) },
      { name: "appTools", change: toolsChange([...before.values()], this.#tools, isForApps) },
    ] as const;
    return events.flatMap(({ name, change }) =>
      change === undefined ? [] : () => this.#events.emit(name, change),
    );
  }

  #add(tool: Tool): void {
    this.#tools.push(tool);
    this.#byName.set(tool.name, tool);
    const { source } = tool;
    this.#byName.set(source.kind === "mcp" ? canonicalName(tool) : `native/${tool.name}`, tool);
  }

  #make(wire: WireTool): Tool {
    const { execute } = this.#options;
    const { name } = wire;
    return {
      ...wire,
      execute: (...args) => (execute ? execute(name, ...args) : this.execute(name, ...args)),
    };
  }

  #callerOptions(given: CallerOptions): {
    options: WireCallerOptions;
    release: (() => void) | undefined;
  } {
    const { callId, caller, approvalsOf, meta, input, clientCapabilities } = given;
    const { wire: handlers, release } = this.#handlers.take(given);
    const options = { callId, caller, approvalsOf, meta, input, clientCapabilities, handlers };
    return { options, release };
  }

  /** For what resources and prompts ask; `given` has the handlers and the signal. */
  async #ask(method: string, params: object, given: CallerOptions = {}): Promise<unknown> {
    const { options, release } = this.#callerOptions(given);
    try {
      return await this.#request(method, { ...params, options }, given.signal);
    } finally {
      release?.();
    }
  }

  #request(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    return this.link.request(method, { session: this.#session, ...params }, { signal });
  }

  async #statusFrom(method: string, params: object): Promise<ServerStatus> {
    return statusFromWire((await this.#request(method, params)) as WireStatus);
  }

  /** The error of a call that got no answer. If the gateway went away, nobody knows whether the call has run. */
  #failure(error: PlugboardError): CallOutcome {
    if (this.link.isOpen || error.hasNotRun || error.code !== "SERVER_UNAVAILABLE") {
      return toFailure(error);
    }
    const lost = new PlugboardError(
      "SERVER_UNAVAILABLE",
      "the gateway stopped during the call; it may have run",
      { quote: "" },
    );
    const { failure, ...outcome } = toFailure(withPossibleEffect(lost));
    return { ...outcome, ...(failure && { failure: { ...failure, mayHaveRun: true } }) };
  }
}

const STOPPED: ServerState = { kind: "stopped" };

/** The command's handlers by the numbers that the gateway knows them by, while one of them can be asked. */
class NumberedHandlers {
  readonly #numbers = new WeakMap<object, number>();
  readonly #inUse = new Map<number, { handler: object; users: number }>();
  #last = 0;

  of(number: number): object | undefined {
    return this.#inUse.get(number)?.handler;
  }

  take({ onApproval, onElicitation, onSampling }: CallHandlers): {
    wire: WireHandlers | undefined;
    release: (() => void) | undefined;
  } {
    if (!onApproval && !onElicitation && !onSampling) return NO_HANDLERS;
    const taken: number[] = [];
    const use = (handler: object): number => {
      const number = this.#use(handler);
      taken.push(number);
      return number;
    };
    const { tools, maxTokens } = typeof onSampling === "object" ? onSampling : {};
    return {
      wire: {
        ...(onApproval && { approval: use(onApproval) }),
        ...(onElicitation && { elicitation: use(onElicitation) }),
        ...(onSampling && { sampling: { handler: use(onSampling), tools, maxTokens } }),
      },
      release: () => {
        for (const number of taken.splice(0)) this.#release(number);
      },
    };
  }

  #use(handler: object): number {
    let number = this.#numbers.get(handler);
    if (number === undefined) {
      this.#last += 1;
      number = this.#last;
      this.#numbers.set(handler, number);
    }
    const known = this.#inUse.get(number) ?? { handler, users: 0 };
    known.users += 1;
    this.#inUse.set(number, known);
    return number;
  }

  #release(number: number): void {
    const known = this.#inUse.get(number);
    if (known === undefined) return;
    known.users -= 1;
    if (known.users === 0) this.#inUse.delete(number);
  }
}

const NO_HANDLERS = { wire: undefined, release: undefined };

/** The sessions of a command that use one link. */
class LinkSessions {
  readonly #sessions = new Map<number, RemoteSession>();
  #last = 0;

  constructor(link: Link) {
    const of = ({ session }: JsonObject): RemoteSession | undefined =>
      this.#sessions.get(session as number);
    link.hear("session/changed", (params) => of(params)?.apply(params.change as SessionChange));
    link.hear("session/event", (params) =>
      of(params)?.emit(params.event as keyof BoardEvents, params.value as never),
    );
    link.hear("session/trace", (params) =>
      of(params)?.traced(params.trace, params.entry as TraceEntry),
    );
    link.hear("ask/completed", (params) => of(params)?.completed(params.question as number));
    for (const method of ["ask/approval", "ask/elicitation", "ask/sampling"]) {
      link.handle(method, (params, incoming) => {
        const session = of(params);
        if (session === undefined) throw cancelled();
        return session.ask(method, params, incoming);
      });
    }
  }

  add(session: RemoteSession): number {
    this.#last += 1;
    this.#sessions.set(this.#last, session);
    return this.#last;
  }

  delete(session: number): void {
    this.#sessions.delete(session);
  }
}

const sessionsByLink = new WeakMap<Link, LinkSessions>();

function sessionsOf(link: Link): LinkSessions {
  const known = sessionsByLink.get(link) ?? new LinkSessions(link);
  sessionsByLink.set(link, known);
  return known;
}
