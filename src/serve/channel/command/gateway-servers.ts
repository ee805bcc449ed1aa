// The servers of a gateway, for a board of this command: their states and tools are what the gateway tells, and calls go to
// the gateway, which guards them. If the gateway goes away, another one takes over, or this process runs the servers itself.

import { NATIVE_MODULES } from "../../../core/config/fingerprint.ts";
import type {
  CallerRequest,
  CallOptions,
  ServerIdentity,
  ToolList,
} from "../../../core/types/connection.ts";
import {
  boardClosed,
  cancelled,
  PlugboardError,
  toPlugboardError,
  withHint,
} from "../../../core/types/errors.ts";
import { isJsonObject, type JsonObject } from "../../../core/types/json.ts";
import type { Logger } from "../../../core/types/logger.ts";
import type { PromptDefinition } from "../../../core/types/prompt.ts";
import type {
  ResourceDefinition,
  ResourceTemplateDefinition,
} from "../../../core/types/resource.ts";
import type {
  CompletionQuery,
  ContentChange,
  PromptList,
  ResourceList,
  ServerContent,
} from "../../../core/types/server-content.ts";
import {
  DEFAULT_TOOL_TIMEOUT_MS,
  type ServerDefinition,
} from "../../../core/types/server-definition.ts";
import type { ServerLogLevel, ServerLogMessage } from "../../../core/types/server-log.ts";
import type { ServerState } from "../../../core/types/server-state.ts";
import type {
  LiveServer,
  ServerSupervisor,
  NativeToolInGateway,
  ServerInGateway,
  GatewayPort,
  BoardInGateway,
  SupervisorListener,
  ToldStatus,
} from "../../../core/types/gateway-port.ts";
import type {
  EndTrace,
  TraceEntry,
  TraceListener,
  TraceOptions,
} from "../../../core/types/trace.ts";
import { abortSignalOf, untilAborted } from "../../../util/abort.ts";
import { type Clock, pause, within } from "../../../util/clock.ts";
import { GatewaySession } from "./gateway-session.ts";
import type { Link } from "../link.ts";
import { type AgentChange, stateFromWire, type WireServer } from "../wire.ts";

/** A gateway that runs the same configuration, and the servers of it that this command would start in the same way. */
export interface Gateway {
  link: Link;
  /** The names of these servers; NATIVE_MODULES stands for the modules of the configuration. */
  shares: ReadonlySet<string>;
}

export interface GatewayServersOptions {
  agentId: string;
  clock: Clock;
  logger: Logger;
  /**
   * Finds the gateway that runs now. Undefined if there is none to share with. `current` is a link that can be used if
   * it leads to the same gateway.
   */
  find: (current: Link | undefined) => Promise<Gateway | undefined>;
  /** Milliseconds that a call may take without progress, whatever the configuration says. */
  toolTimeout?: number | undefined;
  /** Milliseconds that another gateway is looked for. Default 5000: one that is being restarted is back by then. */
  reattachFor?: number;
  /** Told when the gateway is gone, and what has taken its place. */
  onLost?: (message: string) => void;
}

const REATTACH_MS = 5000;
const RETRY_MS = 200;
/** A gateway applies an edit within seconds, or never. */
const LOOK_AGAIN_MS = 2000;
const LOOKS = 5;
/** How long a call waits for what takes the place of a gateway. */
const LONGEST_WAIT_MS = 60_000;
const CLOSE_WAIT_MS = 1000;
/** Callers wait this much longer than a server's timeout, so that they see the timeout as the server's error. */
const REPORT_MS = 500;

type Attachment =
  /** No gateway runs any of the servers. */
  | { kind: "alone" }
  | { kind: "attached"; link: Link }
  /** The gateway has gone, or takes no more calls. `next` settles when something has taken its place, or nothing has. */
  | { kind: "lost"; next: Promise<void> }
  /** Nothing could take its place. */
  | { kind: "failed"; error: PlugboardError };

/** A board or a session of it, and what stands for it in the gateway. */
interface Sharing {
  board: BoardInGateway;
  session: GatewaySession | undefined;
  logLevel: ServerLogLevel | undefined;
}

export class GatewayServers implements GatewayPort {
  onChange: (() => Promise<void>) | undefined;
  readonly #options: GatewayServersOptions;
  readonly #servers = new Map<string, GatewayServer>();
  readonly #boards = new Map<object, Sharing>();
  readonly #traces = new Map<number, { begin: () => void; listener: TraceListener }>();
  readonly #ending = new AbortController();
  #attachment: Attachment = { kind: "alone" };
  /** The link to the gateway that knows the sessions of all boards. */
  #link: Link | undefined;
  #shares: ReadonlySet<string> = new Set();
  #native: readonly NativeToolInGateway[] | undefined;
  #lastTrace = 0;

  private constructor(options: GatewayServersOptions) {
    this.#options = options;
  }

  /** Rejects with SERVER_UNAVAILABLE if the gateway cannot be used. */
  static async open(options: GatewayServersOptions, gateway: Gateway): Promise<GatewayServers> {
    const servers = new GatewayServers(options);
    await servers.#attach(gateway);
    servers.#attachment = { kind: "attached", link: gateway.link };
    return servers;
  }

  /** The link to the gateway, while there is one that takes calls. */
  get link(): Link | undefined {
    return this.#link?.isOpen ? this.#link : undefined;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  server(name: string): ServerInGateway | undefined {
    return this.#shares.has(name) ? this.#servers.get(name) : undefined;
  }

  native(): readonly NativeToolInGateway[] | undefined {
    return this.#shares.has(NATIVE_MODULES) ? this.#native : undefined;
  }

  settled(signal?: AbortSignal): Promise<void> | undefined {
    const attachment = this.#attachment;
    // Its end may not have been told yet.
    if (attachment.kind === "attached" && !attachment.link.isOpen) {
      this.#lose(attachment.link, "has stopped");
      return this.settled(signal);
    }
    if (attachment.kind === "failed") return Promise.reject(attachment.error);
    return attachment.kind === "lost" ? this.#untilSettled(attachment.next, signal) : undefined;
  }

  async open(board: object, given: BoardInGateway): Promise<void> {
    await this.settled();
    const { link } = this;
    const sharing: Sharing = { board: given, session: undefined, logLevel: undefined };
    this.#boards.set(board, sharing);
    try {
      if (link !== undefined) sharing.session = await this.#openSession(link, board, sharing);
    } catch (error) {
      // The gateway may have gone just now: whatever takes its place opens the session then.
      if (link?.isOpen) {
        this.#boards.delete(board);
        throw error;
      }
    }
  }

  async close(board: object): Promise<void> {
    const sharing = this.#boards.get(board);
    this.#boards.delete(board);
    const isLast = this.#boards.size === 0;
    if (isLast) this.#ending.abort();
    // A gateway that hangs does not keep the command.
    if (sharing?.session) await within(this.clock, CLOSE_WAIT_MS, sharing.session.close());
    if (isLast) this.link?.close();
  }

  setLogLevel(board: object, level: ServerLogLevel | undefined): void {
    const sharing = this.#boards.get(board);
    if (sharing === undefined) return;
    sharing.logLevel = level;
    sharing.session?.notify("session/setLogLevel", { level });
  }

  trace(listener: TraceListener, { server, maxSize }: TraceOptions): EndTrace {
    const trace = (this.#lastTrace += 1);
    const isOther = server !== undefined && this.server(server) === undefined;
    if (isOther) return async () => {};
    const { agentId: agent } = this.#options;
    const ask = async (method: string, params: object): Promise<void> => {
      // If the gateway goes away, the trace goes on with the next one.
      await this.link?.request(method, { agent, trace, ...params }).catch(() => {});
    };
    const begin = (): void => void ask("agent/trace", { server, maxSize });
    this.#traces.set(trace, { begin, listener });
    begin();
    return async () => {
      await ask("agent/endTrace", {});
      this.#traces.delete(trace);
    };
  }

  async lookAgain(): Promise<void> {
    await this.settled()?.catch(() => {});
    const { logger } = this.#options;
    const current = this.link;
    let gateway: Gateway | undefined;
    try {
      gateway = await this.#options.find(current);
      // A gateway with another configuration has other rules too, so nothing is left to it.
      if (gateway === undefined) this.#standAlone();
      else if (gateway.link === current) this.#shares = gateway.shares;
      else {
        await this.#attach(gateway);
        this.#attachment = { kind: "attached", link: gateway.link };
        current?.close();
      }
    } catch (error) {
      if (gateway?.link !== current) gateway?.link.close();
      logger.debug("no gateway could be attached to", { reason: String(error) });
    }
  }

  /** Asks the gateway about one of its servers. */
  async ask(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    const { agentId: agent } = this.#options;
    const { link } = this;
    if (link === undefined) throw gone("it has stopped");
    return link.request(method, { agent, ...params }, { signal });
  }

  /** The session of the board that a request is made on; that of the agent's board, if it is on none. */
  sessionOf(board: object | undefined): GatewaySession {
    const [first] = this.#boards.values();
    const sharing = board === undefined ? first : this.#boards.get(board);
    if (sharing?.session === undefined) throw gone("it has stopped");
    return sharing.session;
  }

  /** Resolves when the gateway can be used: its servers are known, and the sessions of all boards are open there. */
  async #attach({ link, shares }: Gateway): Promise<void> {
    const { agentId: agent } = this.#options;
    const later: AgentChange[] = [];
    link.hear("agent/changed", ({ change }) => {
      if (this.#link === link) this.#apply(change as AgentChange);
      else later.push(change as AgentChange);
    });
    link.hear("agent/trace", ({ trace, entry }) =>
      this.#traces.get(trace as number)?.listener(entry as TraceEntry),
    );
    const contents = (await link.request("agent/attach", { agent })) as AgentChange;
    const sessions = new Map<Sharing, GatewaySession>();
    // More boards may open meanwhile.
    for (let left = [...this.#boards]; left.length > 0; left = this.#without(sessions)) {
      await Promise.all(
        left.map(async ([board, sharing]) =>
          sessions.set(sharing, await this.#openSession(link, board, sharing)),
        ),
      );
    }
    // All at once: until here, another gateway may be in use.
    for (const [sharing, session] of sessions) sharing.session = session;
    this.#link = link;
    this.#shares = shares;
    for (const change of [contents, ...later]) this.#apply(change);
    for (const { begin } of this.#traces.values()) begin();
    // A gateway that stops takes no more calls, and ends those that run.
    link.hear("gateway/closing", () => this.#lose(link, "is stopping"));
    void link.closed.then(() => this.#lose(link, "has stopped"));
  }

  #without(sessions: ReadonlyMap<Sharing, GatewaySession>): [object, Sharing][] {
    return [...this.#boards].filter(([, sharing]) => !sessions.has(sharing));
  }

  #apply({ servers, native }: AgentChange): void {
    if (native !== undefined) {
      this.#native = native.map((tool) => ({
        ...tool,
        direct: () => (this.link === undefined ? undefined : connectionTo(this, NATIVE_MODULES)),
        execute: () => Promise.reject(gone("it has stopped")),
      }));
    }
    if (servers === undefined) return;
    const { order, changed } = servers;
    for (const wire of changed) this.#at(wire.name).update(wire);
    for (const [name, server] of this.#servers) if (!order.includes(name)) server.removed();
  }

  #at(name: string): GatewayServer {
    const known = this.#servers.get(name) ?? new GatewayServer(name, this);
    this.#servers.set(name, known);
    return known;
  }

  async #openSession(link: Link, board: object, sharing: Sharing): Promise<GatewaySession> {
    const { agentId: agent, toolTimeout } = this.#options;
    const { onNotice, defaultToolTimeout = DEFAULT_TOOL_TIMEOUT_MS, ...given } = sharing.board;
    const session = await GatewaySession.open(link, {
      agent,
      toolTimeout,
      ...given,
      defaultToolTimeout,
      onEvent: (event, value) => {
        if (event === "notice") return onNotice((value as { text: string }).text);
        const { server, ...rest } = value as { server: string };
        this.#servers.get(server)?.event(event, rest, board);
      },
    });
    if (sharing.logLevel !== undefined) {
      session.notify("session/setLogLevel", { level: sharing.logLevel });
    }
    return session;
  }

  async #untilSettled(next: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
    const settled = next.then(
      () => true,
      () => true,
    );
    const waited = within(this.clock, LONGEST_WAIT_MS, settled);
    if ((await untilAborted(waited, signal, cancelled)) === undefined) throw gone("none came");
    if (this.#ending.signal.aborted) throw boardClosed();
    // Another one may be lost again; whoever waits then waits for the next.
    const attachment = this.#attachment;
    if (attachment.kind !== "lost" || attachment.next !== next) await this.settled(signal);
  }

  #lose(link: Link, how: "is stopping" | "has stopped"): void {
    const attachment = this.#attachment;
    if (attachment.kind !== "attached" || attachment.link !== link) return;
    if (this.#ending.signal.aborted) return;
    const { onLost, agentId, logger } = this.#options;
    const whose = `the servers of agent '${agentId}'`;
    onLost?.(`the gateway that runs ${whose} ${how}; calls wait for what takes its place`);
    const since = this.clock.now();
    const next = link.closed
      .then(() => this.#successor())
      .then(
        (isGateway) =>
          onLost?.(
            isGateway
              ? `another gateway runs ${whose} now`
              : `no other gateway has come, so ${whose} run in this process now`,
          ),
        (error: unknown) => {
          if (this.#ending.signal.aborted) return;
          const failure = toPlugboardError(error, "SERVER_UNAVAILABLE");
          this.#attachment = { kind: "failed", error: failure };
          for (const server of this.#servers.values()) server.failed(failure);
          const reason = withHint(failure);
          logger.error(`nothing has taken the place of the gateway: ${reason}`);
          onLost?.(`nothing has taken its place: ${reason}`);
        },
      );
    this.#attachment = { kind: "lost", next };
    this.#link = undefined;
    for (const server of this.#servers.values()) server.lost(since);
  }

  /** Resolves to whether another gateway has taken over. If not, the board runs the servers in this process. */
  async #successor(): Promise<boolean> {
    const { find, reattachFor = REATTACH_MS, logger } = this.#options;
    const { signal } = this.#ending;
    const until = this.clock.monotonic() + reattachFor;
    const before = this.#shares;
    while (!signal.aborted) {
      let gateway: Gateway | undefined;
      try {
        gateway = await find(undefined);
        if (gateway !== undefined) {
          await this.#attach(gateway);
          if (!areSame(before, this.#shares)) await this.onChange?.();
          this.#attachment = { kind: "attached", link: gateway.link };
          return true;
        }
      } catch (error) {
        gateway?.link.close();
        logger.debug("no gateway could be attached to", { reason: String(error) });
      }
      if (this.clock.monotonic() >= until) break;
      await pause(this.clock, RETRY_MS, signal);
    }
    if (signal.aborted) throw boardClosed();
    this.#shares = new Set();
    for (const sharing of this.#boards.values()) sharing.session = undefined;
    await this.onChange?.();
    this.#attachment = { kind: "alone" };
    return false;
  }

  /** The board runs all servers from now on. A gateway that applies the same edit later is found again. */
  #standAlone(): void {
    if (this.#shares.size === 0) return;
    this.#shares = new Set();
    this.clock.later(LOOK_AGAIN_MS, () => void this.#lookLater(LOOKS));
  }

  async #lookLater(left: number): Promise<void> {
    if (this.#ending.signal.aborted || this.#shares.size > 0) return;
    await this.lookAgain();
    if (this.#shares.size > 0) await this.onChange?.();
    else if (left > 1) this.clock.later(LOOK_AGAIN_MS, () => void this.#lookLater(left - 1));
  }
}

function areSame(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return some.size === others.size && [...some].every((each) => others.has(each));
}

const UNKNOWN_IDENTITY: ServerIdentity = { protocolVersion: "", era: "modern" };

/** One server of the gateway. Speaks for the gateway's supervisor, and starts nothing itself. */
class GatewayServer implements ServerInGateway, ServerSupervisor {
  readonly restarts = 0;
  readonly lastError = undefined;
  readonly stats = { snapshot: () => this.told.calls };
  readonly #name: string;
  readonly #gateway: GatewayServers;
  #definition: ServerDefinition | undefined;
  #listener: SupervisorListener | undefined;
  #state: ServerState = { kind: "idle" };
  #told: ToldStatus | undefined;
  #tools: ToolList | undefined;
  #unpinned: readonly string[] | undefined;
  #has: ServerContent["has"] | undefined;
  /** Another one for each time that the server becomes ready: what was known of the last one may be outdated. */
  #connection: GatewayConnection;

  constructor(name: string, gateway: GatewayServers) {
    this.#name = name;
    this.#gateway = gateway;
    this.#connection = connectionTo(gateway, name);
  }

  supervise(definition: ServerDefinition, listener: SupervisorListener): ServerSupervisor {
    this.#definition = definition;
    this.#listener = listener;
    return this;
  }

  update(wire: WireServer): void {
    const { name: _, state, has, tools, unpinned, ...told } = wire;
    this.#told = told;
    this.#has = has ?? this.#has;
    const isPinnedAnew = JSON.stringify(unpinned) !== JSON.stringify(this.#unpinned);
    this.#unpinned = unpinned;
    if (tools !== undefined) this.#tools = { tools, diagnostics: [], capabilities: {} };
    const areNew = tools !== undefined || isPinnedAnew;
    if (areNew && this.#tools !== undefined && told.identity !== undefined) {
      this.#listener?.onTools(this.#tools, told.identity);
    }
    this.#move(stateFromWire(state));
  }

  lost(since: number): void {
    const { kind } = this.#state;
    if (kind === "disabled" || kind === "untrusted") return;
    if (this.#told !== undefined) this.#told = { ...this.#told, pid: undefined };
    this.#move({ kind: "starting", attempt: 1, since });
  }

  /** Nobody runs it any more. */
  failed(error: PlugboardError): void {
    const { kind } = this.#state;
    if (kind !== "disabled" && kind !== "untrusted") this.#move({ kind: "failed", error });
  }

  /** It is no longer configured in the gateway. */
  removed(): void {
    if (this.#state.kind === "stopped") return;
    this.#tools = { tools: [], diagnostics: [], capabilities: {} };
    this.#listener?.onTools(this.#tools, this.identity ?? UNKNOWN_IDENTITY);
    this.#move({ kind: "stopped" });
  }

  event(event: "resources" | "prompts" | "log", value: object, board: object): void {
    if (event === "log") {
      return this.#listener?.onLog({ ...(value as ServerLogMessage), board });
    }
    if (event === "prompts") return this.#connection.changed({ kind: "prompts" });
    const { change, uris } = value as { change: string; uris: string[] };
    if (change === "list") return this.#connection.changed({ kind: "resources" });
    for (const uri of uris) this.#connection.changed({ kind: "updated", uri });
  }

  get definition(): ServerDefinition {
    if (this.#definition === undefined) throw new Error("nobody supervises it");
    return this.#definition;
  }

  get state(): ServerState {
    return this.#state;
  }

  get tools(): ToolList | undefined {
    return this.#tools;
  }

  get unpinned(): readonly string[] | undefined {
    return this.#unpinned;
  }

  get identity(): ServerIdentity | undefined {
    return this.#told?.identity;
  }

  get told(): ToldStatus {
    const { kind } = this.definition.target;
    return (
      this.#told ?? {
        transport: kind,
        cached: false,
        restarts: 0,
        calls: { total: 0, failed: 0, inFlight: 0 },
        diagnostics: [],
        stderr: [],
      }
    );
  }

  get live(): LiveServer | undefined {
    return this.#state.kind === "ready" ? this.direct : undefined;
  }

  get direct(): LiveServer | undefined {
    return this.#gateway.link === undefined ? undefined : this.#connection;
  }

  stderrTail(): string[] {
    return this.told.stderr;
  }

  async start(onlyToList = false): Promise<void> {
    const { kind } = this.#state;
    if (kind === "ready" || kind === "disabled" || this.#gateway.link === undefined) return;
    await this.#ask("server/start", { onlyToList });
  }

  async attempt(onlyToList = false): Promise<void> {
    const { timeout } = this.definition;
    await within(this.#gateway.clock, timeout + REPORT_MS, this.start(onlyToList));
  }

  async acquire(signal?: AbortSignal): Promise<LiveServer> {
    await this.#gateway.ask("server/acquire", { server: this.#name }, signal);
    return this.#connection;
  }

  /** The gateway counts the calls, and knows when the server is idle. */
  enter(): void {}
  leave(): void {}

  reconfigure(definition: ServerDefinition): void {
    this.#definition = definition;
  }

  async refresh(): Promise<void> {
    await this.#ask("server/refresh", {});
  }

  async restart(): Promise<void> {
    await this.#gateway.ask("server/restart", { server: this.#name });
  }

  /** The server goes on for others. */
  async close(): Promise<void> {
    this.#listener = undefined;
  }

  get has(): ServerContent["has"] | undefined {
    return this.#has;
  }

  /** What comes of it is told as a state. */
  async #ask(method: string, params: object): Promise<void> {
    await this.#gateway.ask(method, { server: this.#name, ...params }).catch(() => {});
  }

  #move(state: ServerState): void {
    const previous = this.#state;
    if (JSON.stringify(previous) === JSON.stringify(state)) return;
    this.#state = state;
    if (state.kind === "ready") {
      this.#connection = connectionTo(this.#gateway, this.#name, this);
    }
    this.#listener?.onState(state, previous);
  }
}

interface GatewayConnection extends LiveServer {
  changed(change: ContentChange): void;
}

const HAS_ALL = { resources: true, subscriptions: true, prompts: true, completions: true };

/** What is asked of one server of the gateway. Answers are those of the gateway's guard. */
function connectionTo(
  gateway: GatewayServers,
  server: string,
  facts?: Pick<GatewayServer, "identity" | "has">,
): GatewayConnection {
  const listeners: ((change: ContentChange) => void)[] = [];
  const ask = (method: string, params: object, request: Partial<CallerRequest> = {}) => {
    const { board, handlers, by, signal, ...given } = request;
    const options = { ...given, signal: signal && abortSignalOf(signal), ...by, ...handlers };
    return gateway.sessionOf(board).request(method, { server, ...params }, options);
  };
  const list = async <Item>(method: string): Promise<Item[]> => {
    const items = (await ask(method, {})) as (Item & { server: string; available: boolean })[];
    return items.map((each) => {
      const { server: _, available: __, ...item } = each;
      return item as Item;
    });
  };
  return {
    get identity() {
      return facts?.identity ?? UNKNOWN_IDENTITY;
    },
    changed: (change) => listeners.forEach((listener) => listener(change)),
    callTool: async (tool, args, { board, handlers, by, signal, ...given }: CallOptions) => {
      const options = { ...given, signal: signal && abortSignalOf(signal), ...handlers, ...by };
      return gateway.sessionOf(board).callTool(`${server}/${tool}`, args, options);
    },
    content: {
      // What is not known is left to the gateway, which refuses what the server does not have.
      get has() {
        return facts?.has ?? HAS_ALL;
      },
      listResources: async (): Promise<ResourceList> => {
        const [resources, templates] = await Promise.all([
          list<ResourceDefinition>("resources/list"),
          list<ResourceTemplateDefinition>("resources/templates"),
        ]);
        return { resources, templates, diagnostics: [] };
      },
      listPrompts: async (): Promise<PromptList> => ({
        prompts: await list<PromptDefinition>("prompts/list"),
        diagnostics: [],
      }),
      readResource: async (uri, request) => {
        const { asksNobody } = request;
        return asAnswer(await ask("resources/read", { uri, asksNobody }, request));
      },
      getPrompt: async (name, args, request) =>
        asAnswer(await ask("prompts/get", { name, args }, request)),
      complete: async (query: CompletionQuery, request) => ({
        completion: await ask("completion/complete", { query }, request),
      }),
      subscribe: async (uri, board) => void (await ask("resources/subscribe", { uri }, { board })),
      unsubscribe: async (uri, board) =>
        void (await ask("resources/unsubscribe", { uri }, { board })),
      onChange: (listener) => void listeners.push(listener),
    },
  };
}

/** A reading or a prompt, as a server would answer with it. */
function asAnswer(result: unknown): JsonObject {
  const { inputRequired, ...answer } = isJsonObject(result) ? result : {};
  if (!isJsonObject(inputRequired)) return answer;
  return { resultType: "input_required", ...inputRequired };
}

function gone(why: string): PlugboardError {
  const message = `the gateway is gone, and nothing has taken its place: ${why}`;
  return new PlugboardError("SERVER_UNAVAILABLE", message, { hasNotRun: true, quote: "" });
}
