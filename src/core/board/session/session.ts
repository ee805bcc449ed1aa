// A session's board: its own servers and the shared servers of the agent's board, with a guard of its own.

import { randomUUID } from "node:crypto";
import { isAbsolute } from "node:path";
import { parseSessionServers } from "../../config/session.ts";
import { type ServerGuards, serverGuards } from "../../guard/server-guards.ts";
import {
  processWarning,
  type Selection,
  selectServers,
  selectTools,
  type SessionLimits,
  sessionLimits,
} from "../../guard/session-limits.ts";
import { type AgentConfig, toolNamesOf } from "../../types/agent-config.ts";
import type {
  BoardCallOptions,
  ReloadReport,
  ServerInstructions,
  SessionBoard,
} from "../../types/board.ts";
import type { BoardOptions, SessionOptions, SessionRules } from "../../types/board-options.ts";
import { PlugboardError } from "../../types/errors.ts";
import type { ApprovalMode, PlacedRules } from "../../types/guard-settings.ts";
import { isShownToModels, type ToolSearchSetting } from "../../types/include.ts";
import type { JsonObject } from "../../types/json.ts";
import { loggerWith } from "../../types/logger.ts";
import type { BoardPrompts } from "../../types/prompt.ts";
import type { BoardResources } from "../../types/resource.ts";
import type { SearchOptions, ToolHit } from "../../types/search.ts";
import type { ServerConfig, SessionServerConfig } from "../../types/server-config.ts";
import type { ServerDefinition } from "../../types/server-definition.ts";
import type { ServerLogLevel } from "../../types/server-log.ts";
import type { ServerStatus } from "../../types/server-status.ts";
import type { CallOutcome, Tool } from "../../types/tool.ts";
import { deferred } from "../../../util/deferred.ts";
import { oneLine } from "../../../util/text.ts";
import { BoardCore, sessionClosed } from "../core.ts";
import { Inclusion, withInclude } from "../inclusion.ts";
import { withMatchingServer } from "../matching-server.ts";
import type { ServerEntry } from "../server-entry.ts";
import type { ServerSet } from "../server-set.ts";
import { BoardSearch } from "../tool-search.ts";
import { untrustedStatus } from "../untrusted-servers.ts";
import { SessionServers } from "./session-servers.ts";

/** How long opening a session waits for its servers. Slower ones join later. */
const STARTUP_WAIT_MS = 2000;

/** Throws CONFIG_INVALID or INVALID_ARGUMENTS. Starts nothing. */
export function openSession(
  given: SessionOptions,
  base: BoardCore,
  onClosed: () => void,
): LiveSession {
  const { cwd, servers = {}, id = randomUUID(), startupWait = STARTUP_WAIT_MS } = given;
  if (typeof cwd !== "string" || !isAbsolute(cwd)) throw notAbsolute(cwd);
  checkMode(given.tools?.approval);
  const { env = process.env } = base.options;
  const limits = sessionLimits(base.agent.guard, env);
  const { definitions, warnings } = parseSessionServers(
    servers,
    base.agent.session,
    cwd,
    given.sendMcpMessage !== undefined,
  );
  const names = definitions.map(({ name }) => name);
  const { kept, notice } = selectServers(names, limits);
  const agent = agentFor(given, base.agent);
  const brought = definitions
    .filter(({ name }) => kept.includes(name))
    .map((each) => withMatchingServer(each, agent, env));
  return new LiveSession({
    given,
    id,
    cwd,
    directories: [cwd, ...(given.additionalDirectories ?? [])],
    base,
    agent,
    options: optionsFor(given, base.options, id),
    hasPerSession: given.perSession ?? true,
    approval: given.tools?.approval,
    rateLimit: given.rateLimit,
    brought,
    configs: new Map(Object.entries(servers).filter(([name]) => kept.includes(name))),
    limits,
    startupWait,
    timeoutOf: timeoutOf(given),
    startShared: given.startShared ?? "none",
    notices: [...warnings, ...(notice === undefined ? [] : [notice])],
    onClosed,
  });
}

function notAbsolute(cwd: unknown): PlugboardError {
  const given = typeof cwd === "string" ? `'${oneLine(cwd, 200)}'` : typeof cwd;
  const message = `the cwd of a session must be an absolute path, not ${given}`;
  return new PlugboardError("INVALID_ARGUMENTS", message);
}

/** A word that is no mode would restrict nothing. */
function checkMode(mode: unknown): void {
  if (mode === undefined || mode === "never" || mode === "ask" || mode === "destructive") return;
  const message = "tools.approval of a session must be never, ask or destructive";
  throw new PlugboardError("INVALID_ARGUMENTS", message);
}

function agentFor(
  { approval, framing, tools, toolNames }: SessionOptions,
  configured: AgentConfig,
): AgentConfig {
  const agent = toolNames === undefined ? configured : named(configured, toolNames);
  const { guard } = agent;
  if (approval === undefined && framing === undefined && tools === undefined) return agent;
  const rules = tools === undefined ? [] : [placedRules(tools)];
  return {
    ...agent,
    guard: {
      ...guard,
      approval: guard?.approval ?? approval,
      framing: guard?.framing ?? framing,
      // One more layer, and a tool must pass each.
      rules: [...(guard?.rules ?? []), ...rules],
    },
  };
}

function named(
  configured: AgentConfig,
  { template, length }: NonNullable<SessionOptions["toolNames"]>,
): AgentConfig {
  const { toolNameLength: _, ...agent } = configured;
  return { ...agent, toolNames: template, ...(length !== undefined && { toolNameLength: length }) };
}

function timeoutOf({
  toolTimeout: forced,
  defaultToolTimeout,
}: SessionOptions): (definition: ServerDefinition) => number {
  return ({ toolTimeout, hasToolTimeout }) =>
    forced ?? (hasToolTimeout ? toolTimeout : (defaultToolTimeout ?? toolTimeout));
}

function placedRules({ place = "the session's tools", allow, deny }: SessionRules): PlacedRules {
  return {
    place,
    ...(allow !== undefined && { allow: [...allow] }),
    ...(deny !== undefined && { deny: [...deny] }),
  };
}

/** The board's options, without those that are about its own servers and listeners, and with the session's. */
function optionsFor(given: SessionOptions, board: BoardOptions, session: string): BoardOptions {
  const { onToolsChanged: _, signal: _signal, start: _start, ...inherited } = board;
  const {
    cwd,
    roots,
    defaultToolTimeout = board.defaultToolTimeout,
    resourceTools = board.resourceTools,
  } = given;
  return {
    ...inherited,
    ...(defaultToolTimeout !== undefined && { defaultToolTimeout }),
    ...(resourceTools !== undefined && { resourceTools }),
    native: [...(board.native ?? []), ...(given.native ?? [])],
    workspaceDir: cwd,
    roots,
    logger: board.logger && loggerWith({ session }, board.logger),
    onApproval: given.onApproval ?? board.onApproval,
    onElicitation: given.onElicitation ?? board.onElicitation,
    onSampling: given.onSampling ?? board.onSampling,
    owner: given.owner ?? board.owner,
  };
}

interface SessionSettings {
  given: SessionOptions;
  id: string;
  cwd: string;
  /** What `roots: true` stands for: `cwd` and the session's further directories. */
  directories: readonly string[];
  /** The agent's board. */
  base: BoardCore;
  /** The agent, with the session's options applied. */
  agent: AgentConfig;
  options: BoardOptions;
  /** Whether the servers run that the configuration starts for each session. */
  hasPerSession: boolean;
  /** No call of the session needs less approval than this. */
  approval: ApprovalMode | undefined;
  rateLimit: number | false | undefined;
  /** The servers that the session brings when it opens. */
  brought: readonly ServerDefinition[];
  /** The same as they were given, by name. */
  configs: ReadonlyMap<string, SessionServerConfig>;
  limits: SessionLimits;
  startupWait: number;
  timeoutOf: (definition: ServerDefinition) => number;
  startShared: BoardOptions["start"];
  /** What was left out of the session, one sentence each. */
  notices: readonly string[];
  onClosed: () => void;
}

/** Another configuration of a session's board, read and checked. */
export interface PreparedSession {
  /** Applies it, unless the session has closed meanwhile. `tell` tells what has changed. */
  replace(): { tell: (shared: ReloadReport) => void; start: () => Promise<void> } | undefined;
  /** Lets changes of the session's servers go on. */
  release(): void;
}

export class LiveSession implements SessionBoard {
  readonly id: string;
  readonly cwd: string;
  readonly resources: BoardResources;
  readonly prompts: BoardPrompts;
  readonly on: SessionBoard["on"];
  #settings: SessionSettings;
  readonly #core: BoardCore;
  readonly #own: SessionServers;
  /** The definitions of its own servers when it opens. */
  readonly #definitions: readonly ServerDefinition[];
  /** What the session brought, as it was given. */
  readonly #configs: Map<string, SessionServerConfig>;
  /** The agent's configuration that the session follows. */
  #follows: AgentConfig;
  /** While another configuration is prepared, the session's servers must not change. */
  #preparing: Promise<void> | undefined;
  /** The servers of which tools were left out so far. */
  readonly #leftOutOf = new Set<string>();
  #closing: Promise<void> | undefined;
  readonly #inclusion = new Inclusion({
    tools: () => this.#core.tools.list({ all: true }),
    onChange: (change) => this.#core.toolsChanged(change),
  });
  readonly #search: BoardSearch;

  constructor(settings: SessionSettings) {
    const { id, cwd, directories, base, agent, options, brought, startupWait } = settings;
    this.#settings = settings;
    this.id = id;
    this.cwd = cwd;
    this.#configs = new Map(settings.configs);
    this.#follows = base.agent;
    const { perSession, definitions, servers } = serversOf(settings, base.agent, brought);
    this.#definitions = definitions;
    this.#core = new BoardCore({
      agent: { ...agent, servers },
      options,
      over: {
        base,
        directories,
        timeoutOf: settings.timeoutOf,
        sendMcpMessage: settings.given.sendMcpMessage,
        session: {
          id,
          approval: settings.approval,
          rateLimit: settings.rateLimit,
          servers: sessionGuards(base.agent.servers, () => this.#core.servers),
        },
      },
    });
    const { clock, logger } = this.#core;
    this.#search = new BoardSearch(this, { embed: options.embed, clock, logger });
    this.#own = new SessionServers({
      servers: this.#core.servers,
      base: base.servers,
      perSession,
      cwd,
      startupWait,
    });
    ({ resources: this.resources, prompts: this.prompts, on: this.on } = this.#core);
  }

  /** Whether the servers run in it that the configuration starts for each session. */
  get hasPerSession(): boolean {
    return this.#settings.hasPerSession;
  }

  async open(): Promise<void> {
    const { base, startShared, given, cwd, agent } = this.#settings;
    base.servers.startIdle(startShared);
    const { approval, tools, rateLimit, toolTimeout } = given;
    const { onApproval, onElicitation, onSampling, owner, defaultToolTimeout } = this.#core.options;
    await this.#core.openShared({
      cwd,
      id: this.id,
      approval,
      tools,
      rateLimit,
      owner,
      toolNames: toolNamesOf(agent),
      defaultToolTimeout,
      toolTimeout,
      onApproval,
      onElicitation,
      onSampling,
    });
    await this.#own.open(this.#definitions);
    for (const notice of this.notices) this.#core.logger.warn(notice);
    this.#reportLeftOut();
    this.#core.opened();
    this.on("tools", () => {
      const notice = this.#reportLeftOut();
      if (notice !== undefined) this.#core.notify(notice);
    });
  }

  /** Whether it follows the configuration that the agent's board has now. */
  get isUpToDate(): boolean {
    return this.#follows === this.#settings.base.agent;
  }

  /** For a session that was opened while the configuration was replaced. */
  async catchUp(): Promise<void> {
    if (this.isUpToDate) return;
    const { base } = this.#settings;
    const prepared = await this.prepare(base.agent, base.native);
    const replaced = prepared.replace();
    prepared.release();
    const names = base.servers.own().map(({ name }) => name);
    replaced?.tell({ added: [], changed: names, removed: [], unchanged: [] });
    await replaced?.start();
  }

  /** Reads what another configuration of the agent means for the session. `native` are the agent's own tools. */
  async prepare(
    base: AgentConfig,
    native: NonNullable<BoardOptions["native"]>,
  ): Promise<PreparedSession> {
    const preparing = deferred();
    this.#preparing = preparing.promise;
    const release = (): void => {
      this.#preparing = undefined;
      preparing.resolve();
    };
    try {
      const { given, cwd, startupWait } = this.#settings;
      const agent = agentFor(given, base);
      const brought = this.#broughtBy(agent);
      const { perSession, definitions, servers } = serversOf(this.#settings, base, brought);
      const ownTools = given.native ?? [];
      const isSameNative = native === this.#settings.base.native;
      const next = await this.#core.prepare({
        agent: { ...agent, servers },
        definitions: definitions.map((each) => this.#own.asChosen(each)),
        cwd,
        native: isSameNative ? this.#core.native : [...native, ...ownTools],
        guards: sessionGuards(base.servers, () => this.#core.servers),
      });
      return {
        release,
        replace: () => {
          if (this.#closing !== undefined) return undefined;
          this.#follows = base;
          this.#settings = { ...this.#settings, agent, limits: this.#limitsOf(base) };
          this.#own.reconfigure({ perSession });
          const { tell, toStart } = this.#core.replace(next);
          return { tell, start: () => this.#core.servers.startAll(toStart, startupWait) };
        },
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** The definitions of what the session brought, with the agent's settings for such servers. */
  #broughtBy(agent: AgentConfig): ServerDefinition[] {
    const { env = process.env } = this.#core.options;
    try {
      const configs = Object.fromEntries(this.#configs);
      const { definitions } = parseSessionServers(
        configs,
        agent.session,
        this.cwd,
        this.#reachesClient,
      );
      return definitions.map((each) => withMatchingServer(each, agent, env));
    } catch {
      // The new settings do not fit what the session brought. Its servers keep those that they have.
      const own = this.#core.servers.own().map(({ definition }) => ({ ...definition }));
      return own.filter(({ origin }) => origin === "session");
    }
  }

  get #reachesClient(): boolean {
    return this.#settings.given.sendMcpMessage !== undefined;
  }

  /** A value of the environment that is no limit was reported when the session was opened. */
  #limitsOf({ guard }: AgentConfig): SessionLimits {
    return sessionLimits(guard, this.#core.options.env ?? process.env);
  }

  /** Returns the notice if tools of another server are left out than before. */
  #reportLeftOut(): string | undefined {
    const { leftOut, notice } = this.#selection();
    const servers = leftOut.flatMap(({ source }) => (source.kind === "mcp" ? [source.server] : []));
    const isNew = servers.some((server) => !this.#leftOutOf.has(server));
    for (const server of servers) this.#leftOutOf.add(server);
    return isNew ? notice : undefined;
  }

  get notices(): readonly string[] {
    return [
      ...this.#settings.notices,
      ...this.#own.warnings,
      processWarning(this.#own.programs),
      this.#selection().notice,
    ].filter((notice) => notice !== undefined);
  }

  tools(options: { all?: boolean } = {}): Tool[] {
    const leftOut = new Set(this.#selection().leftOut);
    const listed = this.#inclusion.ofAll(this.#core.tools.list(options));
    if (leftOut.size === 0) return listed;
    return this.toolSearch === "off"
      ? listed.filter((tool) => !leftOut.has(tool))
      : listed.map((tool) => (leftOut.has(tool) ? withInclude(tool, "agent") : tool));
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
    if (this.#closing !== undefined) throw sessionClosed();
    const tool = this.#inclusion.of(await this.#core.find(name, options.signal));
    const isPastLimit = this.toolSearch !== "off" && this.#selection().leftOut.includes(tool);
    return isPastLimit ? withInclude(tool, "agent") : tool;
  }

  status(): ServerStatus[] {
    const { servers } = this.#core;
    const onBoard = [...servers.shared(), ...servers.withheld(), ...servers.own()].map((entry) =>
      this.#statusOf(entry),
    );
    return [...onBoard, ...untrustedStatus(this.#settings.base.agent, onBoard)];
  }

  instructions(): ServerInstructions[] {
    return this.#core.instructions();
  }

  setLogLevel(level: ServerLogLevel | undefined): void {
    this.#core.setLogLevel(level);
  }

  async restart(server: string): Promise<ServerStatus> {
    const { servers } = this.#core;
    const shared = servers.shared().find(({ name }) => name === server);
    if (shared !== undefined && shared.supervisor.live === undefined) {
      // A call would start it too, and nobody uses it while it is down.
      await shared.supervisor.start();
      return this.#statusOf(shared);
    }
    const entry = this.#own.named(server);
    await entry.supervisor.restart();
    return this.#statusOf(entry);
  }

  async setEnabled(server: string, enabled: boolean): Promise<ServerStatus> {
    await this.#preparing;
    if (this.#closing !== undefined) throw sessionClosed();
    return this.#statusOf(await this.#own.setEnabled(server, enabled));
  }

  async wake(): Promise<void> {
    if (this.#closing !== undefined) return;
    this.#own.wake();
    await Promise.all(this.#core.servers.all().map((entry) => entry.retryLogin()));
  }

  async add(name: string, config: ServerConfig): Promise<ServerStatus> {
    await this.#preparing;
    if (this.#closing !== undefined) throw sessionClosed();
    const { agent, limits } = this.#settings;
    const { brought } = this.#own;
    const { definitions } = parseSessionServers(
      { [name]: config },
      agent.session,
      this.cwd,
      this.#reachesClient,
    );
    const [definition] = definitions;
    if (definition === undefined || brought.includes(name)) {
      const message = `the session already has a server '${name}'`;
      throw new PlugboardError("INVALID_ARGUMENTS", message, {
        server: name,
        hint: "remove it first, or choose another name",
      });
    }
    const { notice } = selectServers([...brought, name], limits);
    if (notice !== undefined) throw new PlugboardError("INVALID_ARGUMENTS", notice);
    this.#core.learnSecrets(definitions);
    this.#configs.set(name, config);
    const { env = process.env } = this.#core.options;
    return this.#statusOf(await this.#own.add(withMatchingServer(definition, agent, env)));
  }

  async remove(name: string): Promise<void> {
    await this.#preparing;
    if (this.#own.named(name).definition.origin !== "session") {
      const message = `server '${name}' comes from the configuration`;
      throw new PlugboardError("UNSUPPORTED", message, {
        server: name,
        hint: "you can remove only servers that the session brought",
      });
    }
    this.#configs.delete(name);
    await this.#own.remove(name);
  }

  setRoots(roots: readonly string[]): void {
    this.#core.roots.set(roots);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    this.#core.resources.unsubscribeAll();
    await this.#core.close();
    this.#settings.onClosed();
  }

  /** Selects the tools of brought servers that are within the session's limit. */
  #selection(): Selection<Tool> {
    const tools = this.#core.tools
      .listOf(new Set(this.#own.brought))
      // Only tools that a model has to read count, and those that somebody has added stay.
      .filter((tool) => isShownToModels(tool) && !this.#inclusion.hasChosen(tool));
    return selectTools(tools, this.#settings.limits, this.toolSearch !== "off");
  }

  #statusOf(entry: ServerEntry): ServerStatus {
    const status = this.#core.status(entry);
    status.diagnostics.push(...this.#own.replacing(entry.definition));
    if (!this.#core.servers.isWithheld(entry)) return status;
    // For this session, whatever its state is for others.
    const { pid: _, ...disabled } = status;
    return { ...disabled, state: { kind: "disabled" }, available: false };
  }
}

/** The session's own servers and, for the names of tools, those of the agent that it shares. */
function serversOf(
  { hasPerSession }: Pick<SessionSettings, "hasPerSession">,
  agent: AgentConfig,
  brought: readonly ServerDefinition[],
): Record<"perSession" | "definitions" | "servers", ServerDefinition[]> {
  const names = new Set(brought.map(({ name }) => name));
  const isFree = ({ name }: ServerDefinition): boolean => !names.has(name);
  // Without `scope`: in the session they are servers like any other.
  const perSession = agent.servers.flatMap(({ scope, ...definition }) =>
    scope === "session" && hasPerSession ? [definition] : [],
  );
  const shared = agent.servers.filter(({ scope }) => scope !== "session");
  const definitions = [...perSession.filter(isFree), ...brought];
  return { perSession, definitions, servers: [...shared.filter(isFree), ...definitions] };
}

/** Looks up the guard settings of the session's own servers on every use, since it can add and remove servers. */
function sessionGuards(
  configured: readonly ServerDefinition[],
  servers: () => ServerSet,
): ServerGuards {
  const guards = serverGuards(configured);
  return {
    own: (subject) => {
      const { origin, source } = subject;
      if (origin !== "session" || source.kind !== "mcp") return guards.own(subject);
      const entry = servers()
        .own()
        .find(({ name }) => name === source.server);
      return entry?.definition.guard ?? {};
    },
    shadowed: (subject) => guards.shadowed(subject),
  };
}
