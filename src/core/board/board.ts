// The board of one agent: opens its servers, gives access to their tools, resources and prompts, and closes
// them. board/core.ts wires its parts. Read this file first.

import { BoardCore } from "./core.ts";
import { Inclusion } from "./inclusion.ts";
import { loadReapOrphans } from "./lazy.ts";
import { SessionBoards } from "./session/session-boards.ts";
import { BoardSearch } from "./tool-search.ts";
import { statusOffBoard, untrustedStatus } from "./untrusted-servers.ts";
import { parseAgentConfig } from "../config/parse.ts";
import { formatProblem } from "../config/issue.ts";
import { requireProviders } from "../config/secret-references.ts";
import { type AgentConfig, type BoardConfig, toolNamesOf } from "../types/agent-config.ts";
import type { ServerEntry } from "./server-entry.ts";
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
import { boardClosed, type ConfigProblem } from "../types/errors.ts";
import type { UnmatchedRule } from "../types/guard-settings.ts";
import type { ToolSearchSetting } from "../types/include.ts";
import type { JsonObject } from "../types/json.ts";
import type { BoardPrompts } from "../types/prompt.ts";
import type { BoardResources } from "../types/resource.ts";
import type { SearchOptions, ToolHit } from "../types/search.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import type { ServerLogLevel } from "../types/server-log.ts";
import type { ServerStatus } from "../types/server-status.ts";
import type { ServedServer, ServedServers, SharedServers } from "../types/shared-servers.ts";
import type { CallOutcome, Tool } from "../types/tool.ts";
import type { EndTrace, TraceListener, TraceOptions } from "../types/trace.ts";
import { checkStateDirectory } from "../state/state-directory.ts";
import { canonicalJson } from "../../util/canonical-json.ts";

/**
 * Opens a board with the given servers. Resolves when the tools of every server that starts with it are known,
 * or the server has failed its first attempt, or `startupWait` has passed. A server that fails does not reject
 * it. An invalid configuration does, with CONFIG_INVALID, before anything starts.
 */
export async function openBoard(
  config: BoardConfig | AgentConfig,
  options: BoardOptions = {},
): Promise<Board> {
  return openSharingBoard(config, options, undefined);
}

/** A board some of whose servers a gateway runs: those that `shared` knows. Everything else is as `openBoard` has it. */
export async function openSharingBoard(
  config: BoardConfig | AgentConfig,
  options: BoardOptions,
  shared: SharedServers | undefined,
): Promise<Board> {
  const agent = isAgentConfig(config) ? config : parseAgentConfig(config);
  requireProviders(agent, namesOf(options.secretProviders));
  const opened = await withModules(agent, options, shared);
  const board = new LiveBoard(agent, opened, options, shared);
  try {
    await board.open();
  } catch (error) {
    await board.close();
    throw error;
  }
  return board;
}

/** A board's servers one by one, for a gateway that shares them. */
export function serversOf(board: Board): ServedServers {
  if (board instanceof LiveBoard) return board.served;
  throw new TypeError("only a board of this process has servers to share");
}

function namesOf(providers: BoardOptions["secretProviders"] = []): string[] {
  return providers.map(({ name }) => name);
}

async function withModules(
  { nativeModules = [], workspace }: AgentConfig,
  options: BoardOptions,
  shared: SharedServers | undefined,
): Promise<BoardOptions> {
  if (nativeModules.length === 0) return options;
  const { workspaceDir = workspace, native = [] } = options;
  const elsewhere = shared?.native();
  if (elsewhere !== undefined) return { ...options, native: [...native, ...elsewhere] };
  // Loaded here, since most boards have no modules.
  const { loadNativeModules } = await import("./native-modules.ts");
  const loaded = await loadNativeModules(nativeModules, workspaceDir ? { workspaceDir } : {});
  return { ...options, native: [...native, ...loaded] };
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

/** Whether there is nothing to do. Where it comes from and what it warns of does not matter. */
function isSameConfig(one: AgentConfig, other: AgentConfig): boolean {
  const textOf = (agent: AgentConfig): string => canonicalJson({ ...agent, warnings: undefined });
  return textOf(one) === textOf(other);
}

export function isAgentConfig(config: BoardConfig | AgentConfig): config is AgentConfig {
  return Array.isArray(config.servers);
}

class LiveBoard implements Board {
  readonly resources: BoardResources;
  readonly prompts: BoardPrompts;
  readonly on: Board["on"];
  readonly #core: BoardCore;
  readonly #sessions: SessionBoards;
  readonly #inclusion = new Inclusion({
    tools: () => this.#core.tools.list({ all: true }),
    onChange: (change) => this.#core.toolsChanged(change),
  });
  readonly #search: BoardSearch;
  readonly #onAbort = (): void => void this.close();
  #reloading: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;
  /** The options without the tools of configured modules. */
  readonly #given: BoardOptions;
  /** Where the tools of configured modules run now. */
  #sharedNative: ReturnType<SharedServers["native"]>;

  constructor(
    agent: AgentConfig,
    options: BoardOptions,
    given: BoardOptions,
    shared: SharedServers | undefined,
  ) {
    const { onToolsChanged } = options;
    this.#given = given;
    this.#sharedNative = shared?.native();
    this.#core = new BoardCore({ agent, options, shared });
    this.#sessions = new SessionBoards(this.#core);
    const { clock, logger } = this.#core;
    this.#search = new BoardSearch(this, { embed: options.embed, clock, logger });
    ({ resources: this.resources, prompts: this.prompts, on: this.on } = this.#core);
    if (onToolsChanged) this.on("tools", () => onToolsChanged(this.tools()));
  }

  async open(): Promise<void> {
    const { agent, options, clock, logger, servers } = this.#core;
    this.#warn(agent.warnings);
    for (const note of agent.notes ?? []) logger.info(formatProblem(note));
    const { signal, stateDir, env = process.env } = options;
    signal?.throwIfAborted();
    if (stateDir !== undefined) checkStateDirectory(stateDir, env);
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    const here = agent.servers.filter((each) => !this.#isOnlyInSessions(each));
    await this.#openShared(agent);
    await servers.open(here, this.#cwd(agent));
    const started = servers.start(options.start, agent.startupWait);
    // Loaded here, so that the start of the servers does not wait for code that only cleans up.
    servers.inBackground(
      loadReapOrphans().then(({ reapOrphansOnce }) => reapOrphansOnce(clock, logger)),
    );
    await started;
    this.#core.opened();
    if (!signal?.aborted) return;
    await this.close();
    signal.throwIfAborted();
  }

  /** What the gateway is told: this board is no session of anybody, so it has none of a session's limits. */
  async #openShared(agent: AgentConfig): Promise<void> {
    const { shared, options } = this.#core;
    if (shared === undefined) return;
    const { owner, defaultToolTimeout, onApproval, onElicitation, onSampling } = options;
    shared.onChange = () => this.#shareAnew();
    await this.#core.openShared({
      cwd: this.#cwd(agent),
      rateLimit: false,
      // The command may ask before calls that the file says nothing about.
      approval: agent.guard?.approval,
      owner,
      toolNames: toolNamesOf(agent),
      defaultToolTimeout,
      onApproval,
      onElicitation,
      onSampling,
    });
  }

  /** Other servers are shared than before, or none: the others run in this process from now on. */
  async #shareAnew(): Promise<void> {
    await this.#inTurn(() => this.#replace(this.#core.agent));
  }

  readonly served: ServedServers = {
    list: () => this.#core.servers.own().map((entry) => this.#served(entry)),
    start: (name, onlyToList) => this.#core.servers.named(name).supervisor.start(onlyToList),
    acquire: async (name, signal) =>
      void (await this.#core.servers.named(name).supervisor.acquire(signal)),
    refresh: (name) => this.#core.servers.named(name).supervisor.refresh(),
    native: () => this.#core.native.flatMap((each) => (typeof each === "function" ? [] : [each])),
  };

  #served(entry: ServerEntry): ServedServer {
    const { name, isKnown, supervisor } = entry;
    return {
      name,
      tools: isKnown ? this.#core.servers.toolsOf(name) : undefined,
      has: supervisor.live?.content.has,
    };
  }

  tools(options: { all?: boolean } = {}): Tool[] {
    return this.#inclusion.ofAll(this.#core.tools.list(options));
  }

  get toolSearch(): ToolSearchSetting {
    return this.#core.agent.toolSearch ?? "auto";
  }

  include(tool: string | Pick<Tool, "name" | "source">): Tool {
    return this.#inclusion.choose(tool, "always");
  }

  exclude(tool: string | Pick<Tool, "name" | "source">): Tool {
    return this.#inclusion.choose(tool, "manual");
  }

  search(query: string | readonly string[], options?: SearchOptions): Promise<ToolHit[]> {
    return this.#search.search(query, options);
  }

  call(name: string, args: JsonObject = {}, options: BoardCallOptions = {}): Promise<CallOutcome> {
    return this.#core.call(name, args, options);
  }

  async find(name: string, options: { signal?: AbortSignal } = {}): Promise<Tool> {
    return this.#inclusion.of(await this.#core.find(name, options.signal));
  }

  status(): ServerStatus[] {
    const { agent, servers } = this.#core;
    const onBoard = agent.servers.flatMap((definition) => {
      if (this.#isOnlyInSessions(definition)) {
        return [statusInSessions(definition, this.#sessions.withPerSession)];
      }
      const entry = servers.get(definition.name);
      return entry === undefined ? [] : [this.#core.status(entry)];
    });
    return [...onBoard, ...untrustedStatus(agent, onBoard)];
  }

  instructions(): ServerInstructions[] {
    return this.#core.instructions();
  }

  setLogLevel(level: ServerLogLevel | undefined): void {
    this.#core.setLogLevel(level);
  }

  unmatchedRules(): UnmatchedRule[] {
    return this.#core.rules?.unmatched() ?? [];
  }

  async restart(server: string): Promise<ServerStatus> {
    const entry = this.#core.servers.named(server);
    await entry.supervisor.restart();
    return this.#core.status(entry);
  }

  async signIn(server: string, request?: SignInRequest): Promise<ServerStatus> {
    const entry = this.#core.servers.named(server);
    await entry.requireSignIn().signIn(request);
    await entry.supervisor.restart();
    return this.#core.status(entry);
  }

  async signOut(server: string): Promise<SignOutOutcome> {
    const entry = this.#core.servers.named(server);
    const outcome = await entry.requireSignIn().signOut();
    if (entry.supervisor.live !== undefined) await entry.supervisor.restart();
    return outcome;
  }

  async refresh(): Promise<ServerStatus[]> {
    await Promise.all(this.#core.servers.own().map(({ supervisor }) => supervisor.refresh()));
    return this.status();
  }

  setRoots(roots: readonly string[]): void {
    this.#core.roots.set(roots);
  }

  async reload(config: BoardConfig | AgentConfig): Promise<ReloadReport> {
    const agent = isAgentConfig(config) ? config : parseAgentConfig(config);
    requireProviders(agent, namesOf(this.#given.secretProviders));
    return this.#inTurn(() => this.#reload(agent));
  }

  /** One after another: each configuration is compared with what the one before has left. */
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
    await this.#core.shared?.decideAnew();
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
    const definitions = agent.servers.filter((each) => !this.#isOnlyInSessions(each));
    const native = await this.#nativeFor(agent);
    const prepared = await this.#core.prepare({
      agent,
      definitions,
      cwd: this.#cwd(agent),
      native,
    });
    const sessions = await this.#sessions.prepare(agent, native);
    let starting: Promise<void>[];
    let replaced: ReloadReport;
    try {
      if (this.#closing !== undefined) throw boardClosed();
      // From here to the end of the block nothing is awaited, so that no call sees one half of each configuration.
      const { tell, toStart, ...report } = this.#core.replace(prepared);
      replaced = report;
      const followers = sessions.flatMap((session) => session.replace() ?? []);
      starting = [
        this.#core.servers.startAll(toStart, agent.startupWait),
        ...followers.map((session) => session.start()),
      ];
      tell();
      for (const session of followers) session.tell(report);
    } finally {
      for (const session of sessions) session.release();
    }
    return { report: replaced, started: Promise.all([...starting, this.#sessions.catchUp()]) };
  }

  /** What has become of servers that are not on the board itself. */
  #sessionServers(last: AgentConfig, agent: AgentConfig): ReloadReport {
    const onlyInSessions = ({ servers }: AgentConfig): Map<string, string> =>
      new Map(
        servers.flatMap((each) =>
          this.#isOnlyInSessions(each) ? [[each.name, canonicalJson(each)]] : [],
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

  /** The native tools of the host, and those of the modules that are configured now. */
  async #nativeFor(agent: AgentConfig): Promise<NonNullable<BoardOptions["native"]>> {
    const { agent: last, native, shared } = this.#core;
    const before = this.#sharedNative;
    this.#sharedNative = shared?.native();
    const modulesOf = ({ nativeModules, workspace }: AgentConfig): string =>
      canonicalJson([nativeModules ?? [], workspace ?? null]);
    if (modulesOf(last) === modulesOf(agent) && before === this.#sharedNative) return native;
    return (await withModules(agent, this.#given, shared)).native ?? [];
  }

  #cwd({ workspace }: AgentConfig): string {
    return this.#core.options.workspaceDir ?? workspace ?? process.cwd();
  }

  #warn(warnings: readonly ConfigProblem[], told: readonly ConfigProblem[] = []): void {
    const before = new Set(told.map(formatProblem));
    for (const text of warnings.map(formatProblem)) {
      if (!before.has(text)) this.#core.logger.warn(text);
    }
  }

  trace(listener: TraceListener, options: TraceOptions = {}): EndTrace {
    const { server } = options;
    const { agent, servers, trace } = this.#core;
    if (server !== undefined && agent.servers.every(({ name }) => name !== server)) {
      servers.named(server);
    }
    const ends = [trace.begin(listener, options), this.#core.shared?.trace(listener, options)];
    return async () => {
      await Promise.all(ends.map((end) => end?.()));
    };
  }

  openSession(options: SessionOptions): Promise<SessionBoard> {
    return this.#sessions.open(options);
  }

  #isOnlyInSessions({ scope }: ServerDefinition): boolean {
    return scope === "session" && this.#core.options.onlyInSessions === true;
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
  }
}
