// A board: opens its servers, gives access to their tools, resources and prompts, and closes them. A session has a board of
// its own, laid over the agent's board. board/core.ts wires the parts. Read this file first.

import { BoardCore, type Configuration, sessionClosed } from "./core.ts";
import { Inclusion, withInclude } from "./inclusion.ts";
import type { HostTools } from "./native-tools.ts";
import { OwnServers } from "./own-servers.ts";
import type { ServerEntry } from "./server-entry.ts";
import type { ServerSignIn } from "./sign-in.ts";
import {
  type FollowingBoard,
  OpenSessions,
  type PreparedBoard,
  type ReplacedBoard,
} from "./session/open-sessions.ts";
import type { SessionLayer } from "./session/session-layer.ts";
import { BoardSearch } from "./tool-search.ts";
import { statusOffBoard, untrustedStatus } from "./untrusted-servers.ts";
import { parseBoardConfig } from "../config/parse.ts";
import { formatProblem } from "../config/issue.ts";
import { requireProviders } from "../config/secret-references.ts";
import type { Selection } from "../guard/session-limits.ts";
import { toFailure } from "../tools/failure.ts";
import { type AgentConfig, type BoardConfig, toolNamesOf } from "../types/agent-config.ts";
import type { SignInRequest, SignOutOutcome } from "../types/authorization.ts";
import {
  type Board,
  type BoardCallOptions,
  joinReports,
  type ReloadReport,
  type ServerInstructions,
  type SessionBoard,
} from "../types/board.ts";
import type { BoardOptions, SessionOptions } from "../types/board-options.ts";
import { boardClosed, type ConfigProblem, PlugboardError } from "../types/errors.ts";
import type { UnmatchedRule } from "../types/guard-settings.ts";
import { loggerOf } from "../types/logger.ts";
import { isShownToModels, type ToolSearchSetting } from "../types/include.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import {
  CALLER_OPTIONS,
  CLOCK,
  FLAG,
  FUNCTION,
  type Kind,
  type Kinds,
  LIST,
  LOGGER,
  NUMBER,
  OBJECT,
  objectWith,
  readGiven,
  requireKind,
  requireOptions,
  ROOTS,
  SAMPLING,
  SIGNAL,
  TEXT,
  TEXT_OR_TEXTS,
  TEXTS,
  TIME,
} from "../types/kinds.ts";
import type { BoardPrompts } from "../types/prompt.ts";
import type { BoardRedactor } from "../types/redactor.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { BoardResources } from "../types/resource.ts";
import type { SearchOptions, ToolHit } from "../types/search.ts";
import type { SecretReview } from "../types/secret-use.ts";
import type { ServerConfig } from "../types/server-config.ts";
import { isExchanged, isRemote, type ServerDefinition } from "../types/server-definition.ts";
import type { ServerLogLevel } from "../types/server-log.ts";
import type { ServerState } from "../types/server-state.ts";
import type { ServerStatus } from "../types/server-status.ts";
import type { GatewayPort, ToldServer } from "../types/gateway-port.ts";
import type { ServerSupervisor } from "../types/supervisor.ts";
import type { CallOutcome, CatalogEntry, JudgedTool, NativeTool, Tool } from "../types/tool.ts";
import type { EndTrace, TraceListener, TraceOptions } from "../types/trace.ts";
import { checkStateDirectory } from "../state/state-directory.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { inWords, plural } from "../../util/text.ts";
import type { LightSignal } from "../../util/abort.ts";

/**
 * Opens a board with the given servers. Resolves when the tools of every server that starts with it are known,
 * or the server has failed its first attempt, or `startupWait` has passed. A failed server does not reject the
 * promise. An invalid configuration does, with CONFIG_INVALID, before any server starts.
 */
export async function openBoard(
  config: BoardConfig | AgentConfig,
  options: BoardOptions = {},
): Promise<Board> {
  return openBoardBeside(config, options, undefined);
}

/** As `openBoard`, but the servers that `gateway` has run there. */
export async function openBoardBeside(
  config: BoardConfig | AgentConfig,
  given: BoardOptions,
  gateway: GatewayPort | undefined,
): Promise<Board> {
  let board: LiveBoard | undefined;
  try {
    requireConfig(config);
    requireOptions(given, KINDS);
    const options = given.logger ? { ...given, logger: loggerOf(given.logger) } : given;
    const { env = process.env } = options;
    const agent = isAgentConfig(config) ? config : parseBoardConfig(config, env);
    requireProviders(agent, namesOf(options.secretProviders));
    const native = await nativeFor(agent, options, gateway);
    const configuration = configurationOf(agent, native, options);
    board = new LiveBoard({ configuration, options, gateway });
    await board.open();
    return board;
  } catch (error) {
    // Without a board, nobody else lets go of the gateway, and its link would keep the process alive.
    await (board === undefined ? gateway?.close({}) : board.close());
    throw error;
  }
}

const STORES = ["pins", "approvals", "grants", "audit", "limits", "changes"] as const;

const KINDS: Kinds<BoardOptions> = {
  native: LIST,
  workspaceDir: TEXT,
  stateDir: TEXT,
  state: [
    `an object with ${inWords(STORES)}`,
    (value) => isJsonObject(value) && STORES.every((name) => isJsonObject(value[name])),
  ],
  start: [
    "eager, unknown, stale or none",
    (value) => ["eager", "unknown", "stale", "none"].includes(value as string),
  ],
  skipFailed: FLAG,
  onAuthorization: FUNCTION,
  restartHint: FUNCTION,
  onApproval: FUNCTION,
  onElicitation: FUNCTION,
  onSampling: SAMPLING,
  onlyInSessions: FLAG,
  owner: FLAG,
  roots: ROOTS,
  defaultToolTimeout: TIME,
  showsApps: FLAG,
  embed: FUNCTION,
  serverLogLevel: TEXT,
  onToolsChanged: FUNCTION,
  signal: SIGNAL,
  logger: LOGGER,
  secretProviders: [
    "a list of providers with a name each",
    (value) =>
      Array.isArray(value) && value.every((each) => typeof (each as JsonObject)?.name === "string"),
  ],
  env: OBJECT,
  programPath: objectWith("a promise", "then"),
  clock: CLOCK,
  random: FUNCTION,
};

/** Throws INVALID_ARGUMENTS. Checks the outer shape alone: the check of the configuration reports everything inside. */
function requireConfig(config: BoardConfig | AgentConfig): void {
  requireKind("the configuration", config, OBJECT);
  if (!readGiven("the configuration", () => isAgentConfig(config))) return;
  const { servers, warnings } = config as AgentConfig;
  const isDefinition = (each: unknown): boolean =>
    isJsonObject(each) && typeof each.name === "string" && isJsonObject(each.target);
  requireKind("servers of the configuration", servers, [
    "an object, or a list of definitions from loadConfig",
    // With it comes what `loadConfig` has found wrong.
    () => Array.isArray(warnings) && servers.every(isDefinition),
  ]);
}

/** A board's servers one by one, for a gateway that shares them. */
export function serversOf(board: Board): LiveBoard["served"] {
  if (board instanceof LiveBoard) return board.served;
  throw new TypeError("only a board of this process has servers to share");
}

/** Sign-ins to a board's servers from which the browser comes back elsewhere, perhaps to another process. */
export function signInsOf(board: Board | SessionBoard): LiveBoard["signIns"] {
  if (board instanceof LiveBoard) return board.signIns;
  throw new TypeError("only a board of this process has sign-ins to begin");
}

type Left = ReturnType<BoardCore["leftTo"]>;

/** Of which servers of an agent's board something is left to a session with these rights, before it is opened. */
export function leftTo(board: Board, ...rights: Parameters<BoardCore["leftTo"]>): Left {
  if (board instanceof LiveBoard) return board.leftTo(...rights);
  throw new TypeError("only a board of this process has rules");
}

function namesOf(providers: BoardOptions["secretProviders"] = []): string[] {
  return providers.map(({ name }) => name);
}

/** The native tools of the host, and those of the modules that are configured. */
async function nativeFor(
  { nativeModules = [], workspace }: AgentConfig,
  { workspaceDir = workspace, native = [] }: BoardOptions,
  gateway: GatewayPort | undefined,
): Promise<HostTools> {
  if (nativeModules.length === 0) return native;
  const elsewhere = gateway?.native();
  if (elsewhere !== undefined) return [...native, ...elsewhere];
  // Loaded here, since most boards have no modules.
  const { loadNativeModules } = await import("./native-modules.ts");
  const loaded = await loadNativeModules(nativeModules, workspaceDir ? { workspaceDir } : {});
  return [...native, ...loaded];
}

/** What a configuration means for the agent's own board. */
function configurationOf(
  agent: AgentConfig,
  native: HostTools,
  options: BoardOptions,
): Configuration {
  return {
    agent,
    definitions: agent.servers.filter((each) => !isOnlyInSessions(each, options)),
    cwd: options.workspaceDir ?? agent.workspace ?? process.cwd(),
    native,
  };
}

function isOnlyInSessions(
  { scope }: ServerDefinition,
  { onlyInSessions = false }: BoardOptions,
): boolean {
  return scope === "session" && onlyInSessions;
}

/** The board itself does not have the server, and people must learn from its status where it is. */
function statusInSessions(definition: ServerDefinition, sessions: number): ServerStatus {
  const { name, enabled } = definition;
  const message = `runs once for each session, and there ${sessions === 1 ? "is 1" : `are ${sessions}`} now; clients without a session are not offered it`;
  return {
    ...statusOffBoard(definition, { kind: enabled ? "idle" : "disabled" }),
    diagnostics: enabled ? [{ server: name, message }] : [],
  };
}

/** Whether a reload would change nothing. Warnings do not count. */
function isSameConfig(one: AgentConfig, other: AgentConfig): boolean {
  const textOf = (agent: AgentConfig): string => canonicalJson({ ...agent, warnings: undefined });
  return textOf(one) === textOf(other);
}

function isAgentConfig(config: BoardConfig | AgentConfig): config is AgentConfig {
  return Array.isArray(config.servers);
}

/** What a gateway tells commands about one server. `tools` stays the same array until a tool changes. */
interface ServedServer extends Omit<ToldServer, "tools"> {
  state: ServerState;
  tools: readonly CatalogEntry[] | undefined;
}

interface LiveBoardParts {
  configuration: Configuration;
  options: BoardOptions;
  /** The servers that a gateway runs. Only for an agent's board. */
  gateway?: GatewayPort | undefined;
  /** For a session's board: what it lays over the agent's. */
  session?: SessionLayer;
  onClosed?: () => void;
}

function requireServer(name: string): void {
  requireKind("the name of the server", name, TEXT);
}

const CALL_OPTIONS: Kinds<BoardCallOptions> = {
  ...CALLER_OPTIONS,
  onUpdate: FUNCTION,
  framed: FLAG,
};

const TOOL: Kind = [
  "a tool or its name",
  (value) =>
    typeof value === "string" ||
    (isJsonObject(value) && typeof value.name === "string" && isJsonObject(value.source)),
];

/** A board with servers in this process: an agent's, or that of a session over an agent's. */
class LiveBoard implements Board, SessionBoard, FollowingBoard {
  readonly resources: BoardResources;
  readonly prompts: BoardPrompts;
  readonly on: Board["on"];
  readonly watchCalls: Board["watchCalls"];
  readonly #core: BoardCore;
  readonly #session: SessionLayer | undefined;
  /** The agent's board, for a session's. */
  readonly #base: BoardCore | undefined;
  readonly #own: OwnServers;
  readonly #sessions: OpenSessions<LiveBoard>;
  readonly #inclusion: Inclusion;
  readonly #search: BoardSearch;
  readonly #onAbort = (): void => void this.close();
  readonly #onClosed: () => void;
  /** Servers of which tools were left out before: each is reported once. */
  readonly #leftOutOf = new Set<string>();
  /** Where the tools of configured modules run now. */
  #nativeInGateway: ReturnType<GatewayPort["native"]>;
  #reloading: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor({ configuration, options, gateway, session, onClosed = () => {} }: LiveBoardParts) {
    const over = session?.beneath;
    const core = new BoardCore({ configuration, options, gateway, over });
    const { onToolsChanged, embed } = options;
    this.#core = core;
    this.#session = session;
    this.#base = over?.core;
    this.#onClosed = onClosed;
    this.#nativeInGateway = gateway?.native();
    this.#own = new OwnServers({
      core,
      base: over?.core.servers,
      configured: (name) => session?.configured(name, core.configuration),
    });
    this.#sessions = new OpenSessions(core, (layer, onEnd) => {
      const { first, options: given } = layer;
      const parts = { configuration: first, options: given, session: layer, onClosed: onEnd };
      return new LiveBoard(parts);
    });
    this.#inclusion = new Inclusion({
      tools: () => core.tools.list({ all: true }),
      onChange: (change) => core.toolsChanged(change),
    });
    this.#search = new BoardSearch(this, {
      embed,
      clock: core.clock,
      logger: core.logger,
      doubles: () => core.doubles.originals,
    });
    ({ resources: this.resources, prompts: this.prompts, on: this.on } = core);
    this.watchCalls = core.watchCalls;
    if (onToolsChanged) this.on("tools", () => onToolsChanged(this.tools()));
  }

  async open(): Promise<void> {
    const { agent, options, servers } = this.#core;
    const { signal, start } = options;
    if (this.#session === undefined) this.#beginAgent();
    else this.#session.startShared();
    signal?.throwIfAborted();
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    await this.#openInGateway();
    await this.#core.addServers();
    const started = servers.start(start, agent.startupWait);
    if (this.#session === undefined) {
      this.#reportStarts();
      this.#cleanUp();
    }
    await started;
    if (this.#session !== undefined) this.#tellNotices();
    this.#core.opened();
    if (!signal?.aborted) return;
    await this.close();
    signal.throwIfAborted();
  }

  /** Tells the gateway about this board. An agent's board belongs to no session, so a session's limits do not apply to it. */
  async #openInGateway(): Promise<void> {
    const { gateway, options, agent } = this.#core;
    if (gateway === undefined) return;
    const { owner, defaultToolTimeout, onApproval, onElicitation, onSampling } = options;
    const common = {
      cwd: this.cwd,
      owner,
      toolNames: toolNamesOf({ ...agent, servers: (this.#base?.agent ?? agent).servers }),
      defaultToolTimeout,
      onApproval,
      onElicitation,
      onSampling,
    };
    if (this.#session !== undefined) {
      await this.#core.openInGateway({ ...common, ...this.#session.sharing });
      return;
    }
    gateway.onChange = () => this.#divideAnew();
    // The command may ask before calls that the file says nothing about.
    await this.#core.openInGateway({
      ...common,
      rateLimit: false,
      approval: agent.guard?.approval,
    });
  }

  /** The gateway runs other servers than before, or none. This process starts those that it no longer runs. */
  async #divideAnew(): Promise<void> {
    await this.#inTurn(() => this.#replace(this.#core.agent));
  }

  /** What a gateway needs to share the servers one by one. */
  readonly served = {
    list: (): ServedServer[] => {
      const words = new Map(this.instructions().map(({ server, text }) => [server, text]));
      return this.#core.servers.own().map((entry) => this.#served(entry, words.get(entry.name)));
    },
    supervisor: (name: string): ServerSupervisor => this.#core.servers.named(name).supervisor,
    /**
     * Another gateway has seen a server's lists change. Lists the servers at URLs again, which both gateways use; each
     * gateway runs its own programs. `listed` settles when the server has answered.
     */
    listAgain: (): { server: string; listed: Promise<unknown> }[] =>
      this.#core.servers
        .own()
        .filter(({ definition }) => isRemote(definition.target))
        .filter(({ supervisor: { state } }) => state.kind === "ready" || state.kind === "idle")
        .map(({ name, supervisor }) => ({
          server: name,
          listed: Promise.allSettled([supervisor.refresh(), this.#core.listContentAgain(name)]),
        })),
    /** Hears when a server's lists have changed here, and when it says itself that they have. */
    onLists: (listener: (server: string, how: "changed" | "said") => void): (() => void) => {
      const { servers } = this.#core;
      let isOver = false;
      const listen = (entry: ServerEntry): void => {
        const { live } = entry.supervisor;
        const said = (): void => {
          if (!isOver) listener(entry.name, "said");
        };
        live?.onToolsChanged?.(said);
        live?.content.onChange(({ kind }) => kind !== "updated" && said());
      };
      for (const entry of servers.own()) listen(entry);
      const changed = ({ server }: { server: string }): void => listener(server, "changed");
      const off = [
        servers.events.on("state", ({ entry, state }) => state.kind === "ready" && listen(entry)),
        servers.events.on("tools", (event) => {
          const { added, removed, changed: others } = event;
          if (added.length + removed.length + others.length > 0) changed(event);
        }),
        this.on("prompts", changed),
        this.on("resources", (event) => event.change === "list" && changed(event)),
      ];
      return () => {
        isOver = true;
        for (const each of off) each();
      };
    },
    redactor: (): Pick<Redactor, "text" | "beginning"> => this.#core.redactor,
    /** The host's own tools, those of configured modules among them. */
    native: (): NativeTool[] =>
      this.#core.configuration.native.flatMap((each) => (typeof each === "function" ? [] : [each])),
  };

  /** Leaves out what the command's board knows itself. Pins may hold `instructions` back. */
  #served(entry: ServerEntry, instructions: string | undefined): ServedServer {
    const { name, isKnown, supervisor } = entry;
    const { transport, cached, cachedAt, identity, ...status } = this.#core.status(entry);
    const { state, restarts, lastError, pid, calls, diagnostics, stderr } = status;
    const counted = { restarts, lastError, pid, calls, diagnostics, stderr };
    const introduced = identity && { ...identity, instructions };
    return {
      name,
      state,
      status: { transport, cached, cachedAt, identity: introduced, ...counted },
      tools: isKnown ? this.#core.servers.toolsOf(name) : undefined,
      unpinned: this.#core.unpinned(name),
      pinnedAt: this.#core.pinnedAt(name),
      has: supervisor.live?.content.has,
    };
  }

  #beginAgent(): void {
    const { agent, options, logger } = this.#core;
    const { stateDir, env = process.env } = options;
    this.#warn(agent.warnings);
    for (const note of agent.notes ?? []) logger.info(formatProblem(note));
    if (stateDir !== undefined) checkStateDirectory(stateDir, env);
  }

  /** Logs which servers are disabled, and, when every first attempt has ended, how many are ready. */
  #reportStarts(): void {
    const { servers, logger } = this.#core;
    const all = servers.own();
    const enabled = all.filter(({ definition }) => definition.enabled);
    const disabled = all.filter(({ definition }) => !definition.enabled).map(({ name }) => name);
    if (disabled.length > 0) logger.info(`disabled: ${disabled.join(", ")}`);
    const inState = (kind: string): ServerEntry[] =>
      enabled.filter(({ supervisor }) => supervisor.state.kind === kind);
    if (inState("starting").length === 0) return;
    const off = servers.events.on("state", () => {
      const isOver = this.#closing !== undefined;
      if (inState("starting").length > 0 && !isOver) return;
      off();
      const count = `${inState("ready").length} of ${plural(enabled.length, "server")}`;
      if (!isOver) logger.info(`${count} ready`);
    });
  }

  /** Loaded here, so that the start of the servers does not wait for code that only cleans up. */
  #cleanUp(): void {
    const { servers, clock, logger } = this.#core;
    servers.inBackground(
      import("../process/reap-orphans.ts").then(({ reapOrphansOnce }) =>
        reapOrphansOnce(clock, logger),
      ),
    );
  }

  #tellNotices(): void {
    for (const notice of this.notices) this.#core.logger.warn(notice);
    this.#reportLeftOut();
    this.on("tools", () => {
      const notice = this.#reportLeftOut();
      if (notice !== undefined) this.#core.notify(notice);
    });
  }

  /** The session's id; on an agent's board, the agent's. */
  get id(): string {
    return this.#session?.id ?? this.#core.agent.agentId;
  }

  get cwd(): string {
    return this.#core.configuration.cwd;
  }

  get secrets(): SecretReview {
    return this.#core.secretReview;
  }

  get redactor(): BoardRedactor {
    return this.#core.redactor;
  }

  get notices(): readonly string[] {
    if (this.#session === undefined) return [];
    const { notices } = this.#session;
    const slow = this.#session.warningOf(this.#own.programs);
    return [...notices, ...this.#own.warnings, slow, this.#pastLimit().notice].filter(
      (notice) => notice !== undefined,
    );
  }

  tools(options: { all?: boolean } = {}): Tool[] {
    requireKind("options", options, OBJECT);
    const listed = this.#inclusion.ofAll(this.#core.tools.list(options));
    const { leftOut } = this.#pastLimit();
    if (leftOut.length === 0) return listed;
    const isLeftOut = new Set(leftOut);
    return this.toolSearch === "off"
      ? listed.filter((tool) => !isLeftOut.has(tool))
      : listed.map((tool) => (isLeftOut.has(tool) ? withInclude(tool, "agent") : tool));
  }

  get toolSearch(): ToolSearchSetting {
    return this.#core.agent.toolSearch ?? "auto";
  }

  include(tool: string | Pick<Tool, "name" | "source">): Tool {
    requireKind("the tool", tool, TOOL);
    return this.#inclusion.choose(tool, "always");
  }

  exclude(tool: string | Pick<Tool, "name" | "source">): Tool {
    requireKind("the tool", tool, TOOL);
    return this.#inclusion.choose(tool, "manual");
  }

  async search(query: string | readonly string[], options: SearchOptions = {}): Promise<ToolHit[]> {
    requireKind("the query", query, TEXT_OR_TEXTS);
    requireOptions(options, { limit: NUMBER, servers: TEXTS, all: FLAG });
    return this.#search.search(query, options);
  }

  call(name: string, args: JsonObject = {}, options: BoardCallOptions = {}): Promise<CallOutcome> {
    try {
      requireKind("the name of the tool", name, TEXT);
      requireKind("the arguments", args, OBJECT);
      requireOptions<BoardCallOptions>(options, CALL_OPTIONS);
    } catch (error) {
      return Promise.resolve(toFailure(error));
    }
    return this.#core.call(name, args, options);
  }

  /** `call` for an endpoint, which has a signal of its own kind. */
  callUntil(
    signal: LightSignal,
    name: string,
    args: JsonObject,
    options: BoardCallOptions,
  ): Promise<CallOutcome> {
    return this.#core.call(name, args, options, signal);
  }

  async find(name: string, options: { signal?: AbortSignal } = {}): Promise<Tool> {
    requireKind("the name of the tool", name, TEXT);
    requireOptions(options, { signal: SIGNAL });
    const tool = this.#inclusion.of(await this.#core.find(name, options.signal));
    const isPastLimit = this.toolSearch !== "off" && this.#pastLimit().leftOut.includes(tool);
    return isPastLimit ? withInclude(tool, "agent") : tool;
  }

  /** Tools beyond the session's limit, of servers that the session brought. */
  #pastLimit(): Pick<Selection<Tool>, "leftOut" | "notice"> {
    if (this.#session === undefined) return { leftOut: [] };
    const tools = this.#core.tools
      .listOf(new Set(this.#own.brought))
      // Only tools that go into a prompt count. A tool that somebody has added stays.
      .filter((tool) => isShownToModels(tool) && !this.#inclusion.hasChosen(tool));
    return this.#session.selectTools(tools, this.toolSearch !== "off");
  }

  /** Returns the notice if tools of another server are left out than before. */
  #reportLeftOut(): string | undefined {
    const { leftOut, notice } = this.#pastLimit();
    const servers = leftOut.flatMap(({ source }) => (source.kind === "mcp" ? [source.server] : []));
    const isNew = servers.some((server) => !this.#leftOutOf.has(server));
    for (const server of servers) this.#leftOutOf.add(server);
    return isNew ? notice : undefined;
  }

  status(): ServerStatus[] {
    const { agent, servers, options } = this.#core;
    const onBoard =
      this.#session === undefined
        ? agent.servers.flatMap((definition) => {
            if (isOnlyInSessions(definition, options)) {
              return [statusInSessions(definition, this.#sessions.withPerSession)];
            }
            const entry = servers.get(definition.name);
            return entry === undefined ? [] : [this.#statusOf(entry)];
          })
        : [...servers.reachedShared(), ...servers.withheld(), ...servers.own()].map((entry) =>
            this.#statusOf(entry),
          );
    const untrusted = untrustedStatus(agent, onBoard);
    return [...onBoard, ...untrusted.filter((each) => this.#core.reaches(each))];
  }

  leftTo(...rights: Parameters<BoardCore["leftTo"]>): Left {
    return this.#core.leftTo(...rights);
  }

  #statusOf(entry: ServerEntry): ServerStatus {
    const status = this.#core.status(entry);
    status.diagnostics.push(...this.#own.replacing(entry.definition));
    if (!this.#core.servers.isWithheld(entry)) return status;
    // For this session, whatever its state is for others.
    const { pid: _, ...disabled } = status;
    return { ...disabled, state: { kind: "disabled" }, available: false };
  }

  instructions(): ServerInstructions[] {
    return this.#core.instructions();
  }

  setLogLevel(level: ServerLogLevel | undefined): void {
    if (level !== undefined) requireKind("the level", level, TEXT);
    this.#core.setLogLevel(level);
  }

  setRoots(roots: readonly string[]): void {
    requireKind("the roots", roots, TEXTS);
    this.#core.roots.set(roots);
  }

  unmatchedRules(): UnmatchedRule[] {
    return this.#core.rules?.unmatched() ?? [];
  }

  judged(): JudgedTool[] {
    return this.#core.tools.judged();
  }

  async restart(server: string): Promise<ServerStatus> {
    requireServer(server);
    const shared = this.#core.servers.shared().find(({ name }) => name === server);
    if (shared !== undefined && shared.supervisor.live === undefined) {
      // A call would start it too, and nobody uses it while it is down.
      await shared.supervisor.start();
      return this.#statusOf(shared);
    }
    const entry = this.#own.named(server);
    await entry.supervisor.restart();
    return this.#statusOf(entry);
  }

  async stop(server: string): Promise<ServerStatus> {
    requireServer(server);
    const entry = this.#own.named(server);
    await entry.supervisor.stop();
    return this.#statusOf(entry);
  }

  async signIn(server: string, request: SignInRequest = {}): Promise<ServerStatus> {
    requireServer(server);
    requireOptions(request, { onAuthorization: FUNCTION, signal: SIGNAL }, "request");
    const entry = this.#own.named(server);
    await entry.requireSignIn().signIn(request);
    await entry.supervisor.restart();
    return this.#statusOf(entry);
  }

  readonly signIns = {
    /** Rejects with UNKNOWN_SERVER or UNSUPPORTED if there is nothing to sign in to. */
    begin: (
      server: string,
      back: { redirectUri: string; state: string },
    ): ReturnType<ServerSignIn["begin"]> => this.#own.named(server).requireSignIn().begin(back),
    /** Resolves when the server has been tried with it. */
    finish: async (...[server, ...ended]: [string, ...Parameters<ServerSignIn["finish"]>]) => {
      const entry = this.#own.named(server);
      await entry.requireSignIn().finish(...ended);
      await entry.supervisor.restart();
      return this.#statusOf(entry);
    },
    end: (server: string): Promise<SignOutOutcome> => this.signOut(server),
    /** `look` of the server's sign-in. */
    look: (server: string): Promise<string> => this.#own.named(server).requireSignIn().look(),
    /** Ends connections that use a token exchanged for an expired JWT. False while calls are under way on one. */
    rest: (): boolean =>
      this.#core.servers
        .own()
        .filter(({ definition }) => isExchanged(definition))
        .map(({ supervisor }) => supervisor.rest?.() ?? true)
        .every(Boolean),
    /** Tries servers that wait for a sign-in again: the person may have signed in elsewhere. Never rejects. */
    retry: async (): Promise<void> => {
      if (this.#closing !== undefined) return;
      await Promise.all(this.#core.servers.own().map((entry) => entry.retryLogin()));
    },
    /** Forgets the tokens of people who have signed out elsewhere, and ends their connections. Never rejects. */
    drop: async (): Promise<void> => {
      if (this.#closing !== undefined) return;
      await Promise.all(this.#core.servers.own().map((entry) => entry.dropLogin()));
    },
  };

  async signOut(server: string): Promise<SignOutOutcome> {
    requireServer(server);
    const entry = this.#own.named(server);
    const outcome = await entry.requireSignIn().signOut();
    if (entry.supervisor.live !== undefined) await entry.supervisor.restart();
    return outcome;
  }

  async refresh(): Promise<ServerStatus[]> {
    await Promise.all(this.#core.servers.own().map(({ supervisor }) => supervisor.refresh()));
    return this.status();
  }

  async wake(): Promise<void> {
    if (this.#closing !== undefined) return;
    this.#own.wake();
    await Promise.all(this.#core.servers.all().map((entry) => entry.retryLogin()));
  }

  async setEnabled(server: string, enabled: boolean): Promise<ServerStatus> {
    requireServer(server);
    requireKind("enabled", enabled, FLAG);
    await this.#untilFree();
    return this.#statusOf(await this.#own.setEnabled(server, enabled));
  }

  async add(name: string, config: ServerConfig): Promise<ServerStatus> {
    requireServer(name);
    await this.#untilFree();
    if (this.#session === undefined) {
      const message = "the servers of an agent's board are those of its configuration";
      throw new PlugboardError("UNSUPPORTED", message, {
        hint: "open a session, and add it there",
      });
    }
    const { agent } = this.#core;
    const definition = this.#session.bring(name, config, this.#own.brought, agent);
    this.#core.learnSecrets([definition]);
    return this.#statusOf(await this.#own.add(definition));
  }

  async remove(name: string): Promise<void> {
    requireServer(name);
    await this.#own.free();
    if (this.#own.named(name).definition.origin !== "session") {
      const message = `server '${name}' comes from the configuration`;
      throw new PlugboardError("UNSUPPORTED", message, {
        server: name,
        hint: "you can remove only servers that the session brought",
      });
    }
    this.#session?.forget(name);
    await this.#own.remove(name);
  }

  /** Waits until the servers may be changed. */
  async #untilFree(): Promise<void> {
    await this.#own.free();
    if (this.#closing !== undefined) throw this.#session ? sessionClosed() : boardClosed();
  }

  trace(listener: TraceListener, options: TraceOptions = {}): EndTrace {
    if (this.#session !== undefined) throw ofAgentAlone("traced");
    requireKind("the listener", listener, FUNCTION);
    requireOptions(options, { server: TEXT, maxSize: NUMBER });
    const { server } = options;
    const { agent, servers, trace } = this.#core;
    if (server !== undefined && agent.servers.every(({ name }) => name !== server)) {
      servers.named(server);
    }
    const end = trace.begin(listener, options);
    const endInGateway = this.#core.gateway?.trace(listener, options);
    return async () => {
      await Promise.all([end(), endInGateway?.()]);
    };
  }

  async openSession(options: SessionOptions): Promise<SessionBoard> {
    if (this.#session !== undefined) throw ofAgentAlone("the base of a session");
    return this.#sessions.open(options);
  }

  get hasPerSession(): boolean {
    return this.#session?.hasPerSession ?? false;
  }

  get isUpToDate(): boolean {
    return this.#core.configuration.base === this.#base?.agent;
  }

  async catchUp(): Promise<void> {
    if (this.#base === undefined || this.isUpToDate) return;
    const { configuration, servers } = this.#base;
    const prepared = await this.prepare(configuration.agent, configuration.native);
    const replaced = prepared.replace();
    prepared.release();
    const names = servers.own().map(({ name }) => name);
    replaced?.tell({ added: [], changed: names, removed: [], unchanged: [] });
    await replaced?.start();
  }

  async prepare(agent: AgentConfig, native: HostTools): Promise<PreparedBoard> {
    const core = this.#core;
    const release = this.#own.hold();
    try {
      const next =
        this.#session?.next(agent, native, core) ?? configurationOf(agent, native, core.options);
      const prepared = await core.prepare({
        ...next,
        definitions: next.definitions.map((each) => this.#own.asChosen(each)),
      });
      return {
        release,
        replace: () => {
          if (this.#closing !== undefined) return undefined;
          this.#session?.follow(agent);
          const { tell, toStart, ...report } = core.replace(prepared);
          return {
            report,
            tell,
            start: () => core.servers.startAll(toStart, core.agent.startupWait),
          };
        },
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  async reload(config: BoardConfig | AgentConfig): Promise<ReloadReport> {
    if (this.#session !== undefined) throw ofAgentAlone("configured anew");
    requireConfig(config);
    const { secretProviders, env = process.env } = this.#core.options;
    const agent = isAgentConfig(config) ? config : parseBoardConfig(config, env);
    requireProviders(agent, namesOf(secretProviders));
    // Before this reload takes its turn: if the gateway is lost meanwhile, taking over its servers needs a turn too.
    await this.#core.gateway?.lookAgain();
    return this.#inTurn(() => this.#reload(agent));
  }

  /** Changes run one after another: each compares with what the one before has left. */
  #inTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    const changed = this.#reloading.then(change);
    this.#reloading = changed.then(
      () => {},
      () => {},
    );
    return changed;
  }

  async #reload(agent: AgentConfig): Promise<ReloadReport> {
    const last = this.#core.agent;
    if (isSameConfig(last, agent)) {
      const unchanged = agent.servers.map(({ name }) => name);
      return { added: [], changed: [], removed: [], unchanged };
    }
    const { report, started } = await this.#replace(agent);
    this.#warn(agent.warnings, last.warnings);
    await started;
    return joinReports([report, this.#sessionServers(last, agent)]);
  }

  /** `started` resolves when the servers that it has started are ready, have failed, or `startupWait` has passed. */
  async #replace(agent: AgentConfig): Promise<{ report: ReloadReport; started: Promise<unknown> }> {
    const native = await this.#nativeFor(agent);
    const own = await this.prepare(agent, native);
    const sessions: PreparedBoard[] = [];
    const starting: Promise<void>[] = [];
    let replaced: ReplacedBoard | undefined;
    try {
      sessions.push(...(await this.#sessions.prepare(agent, native)));
      // From here to the end of the block nothing is awaited, so that no call sees one half of each configuration.
      replaced = own.replace();
      if (replaced === undefined) throw boardClosed();
      const followers = sessions.flatMap((session) => session.replace() ?? []);
      starting.push(...[replaced, ...followers].map((each) => each.start()));
      replaced.tell();
      for (const session of followers) session.tell(replaced.report);
    } finally {
      for (const each of [own, ...sessions]) each.release();
    }
    const { report } = replaced;
    return { report, started: Promise.all([...starting, this.#sessions.catchUp()]) };
  }

  /** What a reload changes about servers that run only in sessions. */
  #sessionServers(last: AgentConfig, agent: AgentConfig): ReloadReport {
    const onlyInSessions = ({ servers }: AgentConfig): Map<string, string> =>
      new Map(
        servers.flatMap((each) =>
          isOnlyInSessions(each, this.#core.options) ? [[each.name, canonicalJson(each)]] : [],
        ),
      );
    const before = onlyInSessions(last);
    const now = onlyInSessions(agent);
    const names = [...now.keys()];
    const isSame = (name: string): boolean => before.get(name) === now.get(name);
    return {
      added: names.filter((name) => !before.has(name)),
      changed: names.filter((name) => before.has(name) && !isSame(name)),
      removed: [...before.keys()].filter((name) => !now.has(name)),
      unchanged: names.filter(isSame),
    };
  }

  /** The same list if the modules are the same. */
  async #nativeFor(agent: AgentConfig): Promise<HostTools> {
    const { configuration, options, gateway } = this.#core;
    const before = this.#nativeInGateway;
    this.#nativeInGateway = gateway?.native();
    const modulesOf = ({ nativeModules, workspace }: AgentConfig): string =>
      canonicalJson([nativeModules ?? [], workspace ?? null]);
    const isSame = modulesOf(configuration.agent) === modulesOf(agent);
    if (isSame && before === this.#nativeInGateway) return configuration.native;
    return nativeFor(agent, options, gateway);
  }

  #warn(warnings: readonly ConfigProblem[], told: readonly ConfigProblem[] = []): void {
    // The command that puts a credential away is worth a few more words; `doctor` shows the other remedies.
    const textOf = (problem: ConfigProblem): string =>
      problem.isCredential && problem.remedy !== undefined
        ? `${formatProblem(problem)}; ${problem.remedy}`
        : formatProblem(problem);
    const before = new Set(told.map(textOf));
    for (const text of warnings.map(textOf)) {
      if (!before.has(text)) this.#core.logger.warn(text);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    this.#core.options.signal?.removeEventListener("abort", this.#onAbort);
    await this.#core.close(this.#sessions.close());
    this.#onClosed();
  }
}

function ofAgentAlone(what: string): PlugboardError {
  const message = `the board of a session cannot be ${what}`;
  return new PlugboardError("UNSUPPORTED", message, { hint: "do this on the agent's board" });
}
