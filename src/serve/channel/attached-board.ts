// The board of a command that uses a running gateway. Servers that the agent's sessions share run there; servers of
// `scope: "session"` and the command's own tools run here. If the gateway goes away, another one takes over, or this
// process starts the servers itself.

import { randomUUID } from "node:crypto";
import { isAgentConfig, openBoard } from "../../core/board/board.ts";
import { presentInFull } from "../../core/board/content/prompts.ts";
import { resourceTools } from "../../core/board/content/resource-tools.ts";
import { parseAgentConfig } from "../../core/config/parse.ts";
import { type AgentConfig, type BoardConfig, templateFor } from "../../core/types/agent-config.ts";
import {
  type Board,
  type BoardBase,
  joinReports,
  type ReloadReport,
  type SessionBoard,
} from "../../core/types/board.ts";
import type { SignInRequest, SignOutOutcome } from "../../core/types/authorization.ts";
import type { BoardOptions, SessionOptions } from "../../core/types/board-options.ts";
import { boardClosed, toPlugboardError, unknownServer, withHint } from "../../core/types/errors.ts";
import type { UnmatchedRule } from "../../core/types/guard-settings.ts";
import { type Logger, silentLogger } from "../../core/types/logger.ts";
import type { ToolSearchSetting } from "../../core/types/include.ts";
import type { OfferedResources } from "../../core/types/resource.ts";
import {
  DEFAULT_TOOL_TIMEOUT_MS,
  type ServerDefinition,
} from "../../core/types/server-definition.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import type { NativeToolFactory } from "../../core/types/tool.ts";
import type { EndTrace, TraceListener, TraceOptions } from "../../core/types/trace.ts";
import { type Clock, pause, systemClock } from "../../util/clock.ts";
import type { Link } from "./link.ts";
import { Overlay } from "./overlay.ts";
import { OverlaySession } from "./overlay-session.ts";
import { type ExecuteTool, RemoteSession } from "./remote-session.ts";
import type { SharedSessionOptions } from "./wire.ts";

export interface AttachedBoardOptions extends BoardOptions {
  /** The whole configuration of the command's agent. */
  agent: AgentConfig;
  /** A link to a gateway of the same configuration. */
  link: Link;
  /**
   * False for a command that calls a tool or two: `tools()` has those that it has found, and there are no instructions.
   * Default true.
   */
  lists?: boolean;
  /** Milliseconds that a call may take without progress, whatever the configuration says. */
  toolTimeout?: number;
  /** Finds the gateway again, or a new one of the same configuration. Undefined if there is none now. */
  reattach?: () => Promise<Link | undefined>;
  /** Milliseconds that another gateway is looked for. Default 5000: one that is being restarted is back by then. */
  reattachFor?: number;
  /** Told when the gateway is gone, and what has taken its place. */
  onLost?: (message: string) => void;
}

const REATTACH_MS = 5000;
const RETRY_MS = 200;

/** Rejects as `openBoard` does, and with SERVER_UNAVAILABLE if the gateway cannot be used. Then nothing is left open. */
export async function openAttachedBoard(options: AttachedBoardOptions): Promise<Board> {
  options.signal?.throwIfAborted();
  const parts = new BoardParts(options);
  try {
    return await AttachedBoard.open(parts);
  } catch (error) {
    await parts.close();
    throw error;
  }
}

/** The boards that an attached board is made of, and how each of them is configured. */
class BoardParts {
  readonly options: AttachedBoardOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  agent: AgentConfig;
  link: Link;
  readonly toolSearch = (): ToolSearchSetting => this.agent.toolSearch ?? "auto";
  /** Opened when it is needed first: most commands have nothing of their own. */
  #own: Promise<Board> | undefined;
  /** Opened when the gateway is gone and no other was found. */
  #fallback: Promise<Board> | undefined;

  constructor(options: AttachedBoardOptions) {
    const { clock = systemClock, logger = silentLogger } = options;
    this.options = options;
    this.clock = clock;
    this.logger = logger;
    this.agent = options.agent;
    this.link = options.link;
  }

  get cwd(): string {
    return this.options.workspaceDir ?? this.agent.workspace ?? process.cwd();
  }

  get hasOwn(): boolean {
    return this.agent.servers.some(isPerSession) || (this.options.native?.length ?? 0) > 0;
  }

  /** Whether a model gets tools to read resources. */
  get resourceTools(): boolean | "auto" {
    const { resourceTools: configured } = this.agent;
    const { resourceTools: given = configured ?? false } = this.options;
    return given === "auto" ? (configured ?? given) : given;
  }

  /** The configuration of the own part. What the gateway runs is known, and never started. */
  ownAgent(agent = this.agent): AgentConfig {
    const { nativeModules: _, resourceTools: __, ...own } = agent;
    const [perSession, shared] = split(agent);
    return { ...own, servers: perSession, elsewhere: shared };
  }

  /** The configuration of the servers that the gateway runs. */
  sharedAgent(agent = this.agent): AgentConfig {
    const [perSession, shared] = split(agent);
    return { ...agent, servers: shared, elsewhere: perSession };
  }

  /** The board of the own part. `base` has the tools of the board itself, which its sessions do not get. */
  ownBoard(base: readonly NativeToolFactory[] = []): Promise<Board> {
    const { native = [], onToolsChanged: _, signal: __, ...options } = this.options;
    this.#own ??= openBoard(this.ownAgent(), {
      ...options,
      native: [...native, ...base],
      resourceTools: false,
    });
    return this.#own;
  }

  /** The board that runs the shared servers in this process, where no gateway does. */
  fallback(): Promise<Board> {
    const { native: _, onToolsChanged: __, signal: ___, ...options } = this.options;
    this.#fallback ??= openBoard(this.sharedAgent(), { ...options, onlyInSessions: false });
    return this.#fallback;
  }

  remote(
    of: "board" | "session",
    options: SharedSessionOptions,
    given: Pick<SessionOptions, "onApproval" | "onElicitation" | "onSampling"> & {
      withheld?: readonly string[];
      execute: ExecuteTool;
    },
    link = this.link,
  ): Promise<RemoteSession> {
    const { lists = true } = this.options;
    return RemoteSession.open(link, {
      agent: this.agent.agentId,
      of,
      lists: of === "session" || lists,
      options,
      ...this.#handlers(given),
      ...(given.withheld && { withheld: given.withheld }),
      execute: given.execute,
      presentPrompt: presentInFull,
      logger: this.logger,
    });
  }

  /** What the gateway's part of a session gets. `brought` is how many servers the session brings. */
  sharedOptions(
    { cwd, id, approval, framing, tools, rateLimit, ...given }: SessionOptions,
    brought: number,
  ): SharedSessionOptions {
    const { toolNames, toolNameLength, servers } = this.agent;
    const {
      owner = this.options.owner,
      defaultToolTimeout = this.options.defaultToolTimeout ?? DEFAULT_TOOL_TIMEOUT_MS,
      toolTimeout = this.options.toolTimeout,
    } = given;
    const count = servers.filter(({ enabled }) => enabled).length + brought;
    const template = templateFor(toolNames, count);
    return {
      cwd,
      ...(id !== undefined && { id }),
      ...(approval !== undefined && { approval }),
      ...(framing !== undefined && { framing }),
      ...(tools !== undefined && { tools }),
      ...(rateLimit !== undefined && { rateLimit }),
      ...(owner !== undefined && { owner }),
      toolNames: { template, ...(toolNameLength !== undefined && { length: toolNameLength }) },
      defaultToolTimeout,
      ...(toolTimeout !== undefined && { toolTimeout }),
      resourceTools: this.resourceTools,
    };
  }

  /** The shared part of a session, on the board in this process. */
  async fallbackSession(
    options: SharedSessionOptions,
    given: Pick<SessionOptions, "onApproval" | "onElicitation" | "onSampling">,
    withheld: readonly string[],
  ): Promise<SessionBoard> {
    const board = await this.fallback();
    const session = await board.openSession({
      ...options,
      ...this.#handlers(given),
      perSession: false,
      startupWait: 0,
    });
    for (const { name } of session.status()) {
      if (withheld.includes(name)) await session.setEnabled(name, false);
    }
    return session;
  }

  /** Signs in where the person is, and has the gateway use the new login. */
  async signIn(server: string, request?: SignInRequest): Promise<void> {
    const [perSession, shared] = split(this.agent);
    const only = shared.filter(({ name }) => name === server);
    const others = [...perSession, ...shared.filter(({ name }) => name !== server)];
    const { onToolsChanged: _, native: __, ...options } = this.options;
    await using board = await openBoard(
      { ...this.ownAgent(), servers: only, elsewhere: others },
      { ...options, start: "none" },
    );
    await board.signIn(server, request);
  }

  async close(): Promise<void> {
    const end = async (opening: Promise<Board> | undefined): Promise<void> => {
      // One that could not be opened has nothing to close.
      const board = await opening?.catch(() => undefined);
      await board?.close();
    };
    await Promise.all([end(this.#own), end(this.#fallback)]);
    this.link.close();
  }

  #handlers({
    onApproval = this.options.onApproval,
    onElicitation = this.options.onElicitation,
    onSampling = this.options.onSampling,
  }: Pick<SessionOptions, "onApproval" | "onElicitation" | "onSampling">): Pick<
    SessionOptions,
    "onApproval" | "onElicitation" | "onSampling"
  > {
    return {
      ...(onApproval && { onApproval }),
      ...(onElicitation && { onElicitation }),
      ...(onSampling && { onSampling }),
    };
  }
}

/** A trace of the shared servers. */
interface SharedTrace {
  begin: (shared: BoardBase) => EndTrace;
  end: EndTrace;
}

function traceShared(shared: BoardBase, listener: TraceListener, options: TraceOptions): EndTrace {
  if (!(shared instanceof RemoteSession)) {
    // In place of a gateway, this process has a board of its own.
    return (shared as Board).trace(listener, options);
  }
  const ending = new AbortController();
  // If the gateway goes away, the board hears of it.
  const ended = shared.traceShared(listener, options, ending.signal).catch(() => {});
  return () => {
    ending.abort();
    return ended;
  };
}

class AttachedBoard extends Overlay<BoardBase, Board> implements Board {
  readonly #parts: BoardParts;
  readonly #sessions = new Set<{
    session: OverlaySession;
    /** Opens its shared part on a gateway's board, or on one in this process. */
    reopen: (base: BoardBase) => Promise<SessionBoard>;
  }>();
  readonly #traces = new Set<SharedTrace>();
  readonly #ending = new AbortController();
  readonly #onAbort = (): void => void this.close();
  #closing: Promise<void> | undefined;
  #recovering: Promise<BoardBase> | undefined;

  private constructor(shared: RemoteSession, own: Board | undefined, parts: BoardParts) {
    super(shared, {
      own,
      toolSearch: parts.toolSearch,
      clock: parts.clock,
      logger: parts.logger,
      embed: parts.options.embed,
    });
    this.#parts = parts;
    const { onToolsChanged, signal } = parts.options;
    if (onToolsChanged) this.on("tools", () => onToolsChanged(this.tools()));
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    this.#follow(parts.link);
  }

  static async open(parts: BoardParts): Promise<AttachedBoard> {
    const made: { board?: AttachedBoard } = {};
    const tools = parts.hasOwn
      ? onlyForBoard(toolsFor(parts.resourceTools, () => resourcesOf(made.board)))
      : [];
    const execute: ExecuteTool = (...args) => boardOf(made.board).execute(...args);
    const [shared, own] = await Promise.all([
      parts.remote("board", boardOptions(parts), { execute }),
      parts.hasOwn ? parts.ownBoard(tools) : undefined,
    ]);
    made.board = new AttachedBoard(shared, own, parts);
    return made.board;
  }

  override status(): ServerStatus[] {
    const order = new Map(this.#parts.agent.servers.map(({ name }, at) => [name, at]));
    const place = ({ name }: ServerStatus): number => order.get(name) ?? order.size;
    return super.status().sort((a, b) => place(a) - place(b));
  }

  async restart(server: string): Promise<ServerStatus> {
    if (this.own !== undefined && this.isOwnServer(server)) return this.own.restart(server);
    const shared = await this.whenShared();
    if (shared instanceof RemoteSession) return shared.restartShared(server);
    return (await this.#parts.fallback()).restart(server);
  }

  async signIn(server: string, request?: SignInRequest): Promise<ServerStatus> {
    if (this.own !== undefined && this.isOwnServer(server)) return this.own.signIn(server, request);
    const shared = await this.whenShared();
    if (!(shared instanceof RemoteSession)) {
      return (await this.#parts.fallback()).signIn(server, request);
    }
    await this.#parts.signIn(server, request);
    return shared.restartShared(server);
  }

  async signOut(server: string): Promise<SignOutOutcome> {
    if (this.own !== undefined && this.isOwnServer(server)) return this.own.signOut(server);
    const shared = await this.whenShared();
    if (shared instanceof RemoteSession) return shared.signOut(server);
    return (await this.#parts.fallback()).signOut(server);
  }

  async refresh(): Promise<ServerStatus[]> {
    const shared = await this.whenShared();
    await Promise.all([
      shared instanceof RemoteSession ? shared.refresh() : (await this.#parts.fallback()).refresh(),
      this.own?.refresh(),
    ]);
    return this.status();
  }

  trace(listener: TraceListener, options: TraceOptions = {}): EndTrace {
    const { server } = options;
    const isOwn = server !== undefined && this.isOwnServer(server);
    const names = this.status().map(({ name }) => name);
    if (server !== undefined && !names.includes(server)) throw unknownServer(server, names);
    const endOwn =
      isOwn || server === undefined ? this.own?.trace(listener, { ...options }) : undefined;
    if (isOwn) return endOwn ?? (async () => {});
    const begin = (shared: BoardBase): EndTrace => traceShared(shared, listener, options);
    const trace: SharedTrace = { begin, end: begin(this.lastShared) };
    this.#traces.add(trace);
    return async () => {
      this.#traces.delete(trace);
      await Promise.all([endOwn?.(), trace.end()]);
    };
  }

  /** Traces go on with what has taken the place of the gateway. */
  protected override replaced(shared: BoardBase): void {
    for (const trace of this.#traces) {
      void trace.end();
      trace.end = trace.begin(shared);
    }
  }

  /** A rule about all servers is for both parts, so it matches nothing only if it matches in neither. */
  unmatchedRules(): UnmatchedRule[] {
    const shared = this.lastShared as Partial<Pick<Board, "unmatchedRules">>;
    const theirs = shared.unmatchedRules?.() ?? [];
    const mine = this.own?.unmatchedRules() ?? [];
    const isOwn = ({ servers }: UnmatchedRule): boolean =>
      servers?.some((server) => this.isOwnServer(server)) ?? false;
    return [...theirs.filter((rule) => !isOwn(rule)), ...mine.filter(isOwn)];
  }

  /** Shared servers keep the gateway's roots. */
  setRoots(roots: readonly string[]): void {
    this.own?.setRoots(roots);
    const shared = this.lastShared as Partial<Pick<Board, "setRoots">>;
    if (!(shared instanceof RemoteSession)) shared.setRoots?.(roots);
  }

  /** The gateway reloads what it runs by itself. */
  async reload(config: BoardConfig | AgentConfig): Promise<ReloadReport> {
    const parts = this.#parts;
    const agent = isAgentConfig(config) ? config : parseAgentConfig(config);
    const fallback = this.lastShared instanceof RemoteSession ? undefined : await parts.fallback();
    const own = this.own ?? (this.#sessions.size > 0 ? await parts.ownBoard() : undefined);
    const reports = [
      await fallback?.reload(parts.sharedAgent(agent)),
      await own?.reload(parts.ownAgent(agent)),
    ];
    parts.agent = agent;
    this.ownServersChanged();
    return joinReports(reports.filter((each) => each !== undefined));
  }

  async openSession(given: SessionOptions): Promise<SessionBoard> {
    if (this.#closing !== undefined) throw boardClosed();
    const parts = this.#parts;
    const brought = Object.keys(given.servers ?? {});
    const options = { ...given, id: given.id ?? randomUUID() };
    const shared = parts.sharedOptions(options, brought.length);
    const made: { session?: OverlaySession } = {};
    const execute: ExecuteTool = (...args) => boardOf(made.session).execute(...args);
    const own = await (
      await parts.ownBoard()
    ).openSession({
      ...options,
      defaultToolTimeout: shared.defaultToolTimeout,
      ...(shared.toolTimeout !== undefined && { toolTimeout: shared.toolTimeout }),
      native: [
        ...(given.native ?? []),
        ...toolsFor(parts.resourceTools, () => resourcesOf(made.session)),
      ],
    });
    const reopen = async (base: BoardBase): Promise<SessionBoard> => {
      const withheld = made.session?.withheld ?? own.status().map(({ name }) => name);
      return base instanceof RemoteSession
        ? parts.remote("session", shared, { ...given, withheld, execute }, base.link)
        : parts.fallbackSession(shared, given, withheld);
    };
    try {
      const part = await this.again(reopen);
      const onClosed = (): void => void this.#sessions.delete(entry);
      const { clock, logger, toolSearch } = parts;
      const { embed } = parts.options;
      const overlay = { own, toolSearch, clock, logger, embed, onClosed };
      const session = new OverlaySession(part, overlay);
      const entry = { session, reopen };
      made.session = session;
      this.#sessions.add(entry);
      // The gateway may have gone just now, when it did not know of this session.
      const isGone = part instanceof RemoteSession && !part.isOpen;
      if (isGone && this.#recovering !== undefined) session.lost(this.#recovering.then(reopen));
      return session;
    } catch (error) {
      await own.close();
      throw error;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.closes();
    this.#ending.abort();
    this.#parts.options.signal?.removeEventListener("abort", this.#onAbort);
    await Promise.all([...this.#sessions].map(({ session }) => session.close()));
    if (this.lastShared instanceof RemoteSession) await this.closeShared(this.lastShared);
    await this.#parts.close();
    this.clearEvents();
  }

  #follow(link: Link): void {
    let isLost = false;
    const lost = (how: "is stopping" | "has stopped"): void => {
      if (isLost || this.#closing !== undefined) return;
      isLost = true;
      this.#lose(link, how);
    };
    // A gateway that stops takes no more calls, and ends those that run.
    link.hear("gateway/closing", () => lost("is stopping"));
    void link.closed.then(() => lost("has stopped"));
  }

  #lose(link: Link, how: "is stopping" | "has stopped"): void {
    const { onLost, agent } = this.#parts.options;
    const { logger } = this.#parts;
    const whose = `the servers of agent '${agent.agentId}'`;
    onLost?.(`the gateway that runs ${whose} ${how}; calls wait for what takes its place`);
    const next = link.closed.then(() => this.#successor());
    this.#recovering = next;
    this.lost(next);
    for (const { session, reopen } of this.#sessions) session.lost(next.then(reopen));
    next.then(
      (board) => {
        const isGateway = board instanceof RemoteSession;
        if (isGateway) this.#follow(board.link);
        onLost?.(
          isGateway
            ? `another gateway runs ${whose} now`
            : `no other gateway has come, so ${whose} run in this process now`,
        );
      },
      (error: unknown) => {
        if (this.#closing !== undefined) return;
        const reason = withHint(toPlugboardError(error, "SERVER_UNAVAILABLE"));
        logger.error(`nothing has taken the place of the gateway: ${reason}`);
        onLost?.(`nothing has taken its place: ${reason}`);
      },
    );
  }

  async #successor(): Promise<BoardBase> {
    const { clock, options } = this.#parts;
    const { signal } = this.#ending;
    const until = clock.monotonic() + (options.reattachFor ?? REATTACH_MS);
    while (options.reattach !== undefined && !signal.aborted) {
      const board = await this.#reattach(options.reattach);
      if (board !== undefined) return board;
      if (clock.monotonic() >= until) break;
      await pause(clock, RETRY_MS, signal);
    }
    if (signal.aborted) throw boardClosed();
    return this.#parts.fallback();
  }

  /** Undefined if there is no gateway, or it cannot be used. */
  async #reattach(reattach: () => Promise<Link | undefined>): Promise<RemoteSession | undefined> {
    const parts = this.#parts;
    const { execute } = this;
    let link: Link | undefined;
    try {
      link = await reattach();
      if (link === undefined) return undefined;
      parts.link = link;
      return await parts.remote("board", boardOptions(parts), { execute }, link);
    } catch (error) {
      link?.close();
      parts.logger.debug("no gateway could be attached to", { reason: String(error) });
      return undefined;
    }
  }
}

/** What the command's board itself is on the gateway: no session of anybody, so without a session's limits. */
function boardOptions(parts: BoardParts): SharedSessionOptions {
  const { start: startShared = "eager" } = parts.options;
  // The command may ask before calls that the file says nothing about.
  const approval = parts.agent.guard?.approval;
  const own = { cwd: parts.cwd, rateLimit: false, ...(approval && { approval }) } as const;
  return { ...parts.sharedOptions(own, 0), startShared };
}

/** The tools with which a model reads the resources of both parts. */
function toolsFor(
  wanted: boolean | "auto",
  resources: () => OfferedResources,
): ReturnType<typeof resourceTools> {
  if (wanted === false) return [];
  const tools = resourceTools(resources);
  if (wanted === true) return tools;
  return tools.map((tool) => ({ ...tool, isOffered: () => resources().hasAny }));
}

/** A session inherits the tools of its board. It has its own of these, over its own resources. */
function onlyForBoard(tools: ReturnType<typeof resourceTools>): NativeToolFactory[] {
  return tools.map((tool) => {
    let isMade = false;
    return () => {
      if (isMade) return undefined;
      isMade = true;
      return tool;
    };
  });
}

const NO_RESOURCES = { hasAny: false } as OfferedResources;

/** While a board opens, its tools ask for resources that are not there yet. */
function resourcesOf(board: { resources: OfferedResources } | undefined): OfferedResources {
  return board?.resources ?? NO_RESOURCES;
}

function boardOf<Made>(board: Made | undefined): Made {
  if (board === undefined) throw boardClosed();
  return board;
}

function split({
  servers,
}: AgentConfig): [perSession: ServerDefinition[], shared: ServerDefinition[]] {
  return [servers.filter(isPerSession), servers.filter((each) => !isPerSession(each))];
}

function isPerSession({ scope }: ServerDefinition): boolean {
  return scope === "session";
}
