// Wires the parts of a board together. An agent's board and a session's board have the same parts; a session's
// board also uses the servers of the agent's board.

import { toFailure } from "../tools/failure.ts";
import { collectNative } from "../tools/native.ts";
import { Catalog } from "../catalog/catalog.ts";
import { type Naming, namingFor } from "../catalog/public-name.ts";
import type { SendMcpMessage } from "../types/mcp-message.ts";
import type { ServerGuards } from "../guard/server-guards.ts";
import type { AgentConfig } from "../types/agent-config.ts";
import type {
  BoardBase,
  BoardCallOptions,
  ReloadReport,
  ServerInstructions,
} from "../types/board.ts";
import type { BoardOptions } from "../types/board-options.ts";
import { PlugboardError } from "../types/errors.ts";
import type { BoardEvents, ToolsEvent } from "../types/events.ts";
import type { JsonObject } from "../types/json.ts";
import { type Logger, silentLogger } from "../types/logger.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import type { ServerLogLevel } from "../types/server-log.ts";
import type { ServerStatus } from "../types/server-status.ts";
import type { SharedServers, SharingBoard } from "../types/shared-servers.ts";
import type { CallOutcome, NativeToolFactory, Tool } from "../types/tool.ts";
import type { KnownNames } from "../types/tool-pattern.ts";
import { redactingLogger, Redactor } from "../redaction/redactor.ts";
import { openFileState } from "../state/files/open.ts";
import { ModelKeyFile } from "../state/model-key-file.ts";
import { type Clock, systemClock, within } from "../../util/clock.ts";
import { Emitter } from "../../util/emitter.ts";
import { QuestionQueue } from "../../util/question-queue.ts";
import { AgentSecrets } from "./agent-secrets.ts";
import { Calls } from "./calls.ts";
import { ContentCaches } from "./content/content-caches.ts";
import { ContentRequests } from "./content/content-requests.ts";
import { Prompts } from "./content/prompts.ts";
import { RESOURCE_TOOLS, resourceTools } from "./content/resource-tools.ts";
import { Resources } from "./content/resources.ts";
import { EarlierRuns } from "./earlier-runs.ts";
import { findByFullName, findTool, unknownTool } from "./find-tool.ts";
import { BoardGuard, type SessionGuard } from "./guard.ts";
import { BoardLogLevel } from "./log-level.ts";
import { BoardRoots } from "./roots.ts";
import { BoardRules } from "./rules.ts";
import { savedResultTool } from "./saved-results.ts";
import type { ServerEntry } from "./server-entry.ts";
import { ServerSecrets } from "./server-secrets.ts";
import { type PreparedServers, type ReplacedServers, ServerSet } from "./server-set.ts";
import { BoardTrace } from "./trace.ts";
import { BoardTools, type OwnTool } from "./tools.ts";

/** How long a closing board waits for its calls to end. */
const CLOSE_WAIT_MS = 1000;

export interface BoardCoreOptions {
  agent: AgentConfig;
  options: BoardOptions;
  /** The servers that a gateway runs. Only for an agent's board. */
  shared?: SharedServers | undefined;
  /** For a session's board: the agent's board, and the session. */
  over?: {
    base: BoardCore;
    session: Omit<SessionGuard, "guard" | "isShared">;
    /** What `roots: true` stands for in the session. */
    directories: readonly string[];
    /** How long a call of the session may take without progress, in milliseconds. Default: as the server's definition says. */
    timeoutOf?: (definition: ServerDefinition) => number;
    /** The way to servers in the ACP client that opened the session. */
    sendMcpMessage?: SendMcpMessage | undefined;
  };
}

/** Another configuration of a board. */
export interface NextConfiguration {
  agent: AgentConfig;
  /** The servers of its own. */
  definitions: readonly ServerDefinition[];
  cwd: string;
  /** The native tools that the host brings. */
  native: NonNullable<BoardOptions["native"]>;
  /** For a session's board: the guard settings of shared servers and of its own. */
  guards?: ServerGuards;
}

/** Another configuration, read and checked. Nothing has changed yet. */
export interface PreparedConfiguration extends NextConfiguration {
  servers: PreparedServers;
  naming: Naming;
  known: KnownNames;
  tools: ReadonlyMap<string, OwnTool>;
}

export class BoardCore {
  readonly options: BoardOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly servers: ServerSet;
  readonly tools: BoardTools;
  readonly resources: Resources;
  readonly prompts: Prompts;
  readonly roots: BoardRoots;
  readonly logLevel: BoardLogLevel;
  /** That of the agent's board traces the servers of its sessions too. */
  readonly trace: BoardTrace;
  /** The servers of the agent's board that a gateway runs. */
  readonly shared: SharedServers | undefined;
  /** Only on an agent's board, which reports them for all sessions. */
  readonly rules: BoardRules | undefined;
  readonly on: BoardBase["on"] = (event, listener) => this.#events.on(event, listener);
  readonly #redactor: Redactor;
  readonly #secrets: ServerSecrets;
  /** Those of the agent's board serve its sessions too. */
  readonly #agentSecrets: AgentSecrets;
  readonly #events: Emitter<BoardEvents>;
  readonly #guard: BoardGuard;
  readonly #calls: Calls;
  readonly #caches: ContentCaches;
  readonly #offBase: (() => void)[] = [];
  readonly #over: BoardCoreOptions["over"];
  /** With it a model reads what was saved of a long result. */
  readonly #reader = savedResultTool(() => this.#guard.saved);
  #agent: AgentConfig;
  #native: NonNullable<BoardOptions["native"]>;
  #ownTools: ReadonlyMap<string, OwnTool>;
  /** Servers that are new since the board opened: its users hear what they have once they are ready. */
  readonly #joining = new WeakSet<ServerEntry>();
  #isOpen = false;
  readonly #closing = new AbortController();
  /** While the configuration is replaced: what is told when all of it is. */
  #untold: (() => void)[] | undefined;

  constructor({ agent, options: given, shared, over }: BoardCoreOptions) {
    const base = over?.base;
    this.shared = base ? base.shared : shared;
    this.#agent = agent;
    this.#over = over;
    this.clock = given.clock ?? systemClock;
    this.#redactor = new Redactor(base && base.#redactor);
    this.logger = redactingLogger(given.logger ?? silentLogger, this.#redactor);
    const options = withFileState(given, this.clock, this.logger);
    this.options = options;
    const { env = process.env } = options;
    this.#agentSecrets =
      base === undefined
        ? new AgentSecrets({
            settings: agent.secrets,
            proxy: agent.networkProxy,
            env,
            clock: this.clock,
            logger: this.logger,
            path: options.programPath,
            providers: options.secretProviders,
            onValue: (value, place) => this.#redactor.addCertain(value, place),
          })
        : base.#agentSecrets;
    this.#secrets = new ServerSecrets({
      env,
      redactor: this.#redactor,
      logger: this.logger,
      secrets: this.#agentSecrets,
    });
    this.#redactor.addNames(agent.servers.map(({ name }) => name));
    for (const key of storedModelKeys(options)) this.#redactor.add(key);
    this.#events = new Emitter((error) =>
      this.logger.error("a listener threw", { reason: String(error) }),
    );
    const { stateDir } = options;
    this.roots = new BoardRoots({
      given: options.roots,
      configured: agent.roots,
      workspace: this.#directories(agent),
      base: base?.roots,
    });
    this.trace = base?.trace ?? new BoardTrace({ clock: this.clock, logger: this.logger });
    this.logLevel = new BoardLogLevel(options.serverLogLevel, base?.logLevel);
    this.#native = options.native ?? [];
    this.#ownTools = this.#collectTools(agent, this.#native);
    const common = {
      agent,
      options,
      clock: this.clock,
      logger: this.logger,
      redactor: this.#redactor,
      secrets: this.#secrets,
    };
    const { naming, known } = namesFor(agent, this.#ownTools);
    this.#guard = new BoardGuard({
      ...common,
      known,
      learnSecrets: () => {
        this.learnSecrets(this.#agent.servers);
      },
      readTool: () => {
        const { name } = this.#reader;
        if (this.#ownTools.get(name) !== this.#reader) return undefined;
        this.#reportOffered();
        return this.tools.find(name)?.isListed === true ? name : undefined;
      },
      session: this.#sessionGuard(over?.session.servers),
    });
    this.servers = new ServerSet({
      ...common,
      roots: this.roots,
      logLevel: this.logLevel,
      questions: new QuestionQueue(),
      trace: this.trace,
      catalog: new Catalog(naming, this.#ownTools.keys()),
      guard: this.#guard,
      // Nothing about a session's own servers is kept after it.
      earlier: over || stateDir === undefined ? undefined : new EarlierRuns(stateDir, common),
      base: base?.servers,
      shared,
      sendMcpMessage: over?.sendMcpMessage,
    });
    const timeoutOf = over?.timeoutOf ?? (({ toolTimeout }) => toolTimeout);
    this.#calls = new Calls({
      clock: this.clock,
      logger: this.logger,
      events: this.#events,
      guard: this.#guard,
      redact: (text, isCut) => this.#redactor.text(text, isCut),
      timeoutOf,
      over: over && { handlers: options, closing: this.#closing.signal },
    });
    this.tools = new BoardTools({
      native: this.#ownTools,
      servers: this.servers,
      calls: this.#calls,
      guard: this.#guard,
      execute: (...args) => this.call(...args),
    });
    this.#caches = new ContentCaches({
      ...common,
      servers: this.servers,
      guard: this.#guard,
      base: base && base.#caches,
      onResources: (event) => {
        const { server, change } = event;
        if (change === "list") return this.#events.emit("resources", event);
        const uris = this.#redactor.value(this.resources.nameable(server, event.uris));
        if (uris.length > 0) this.#events.emit("resources", { server, change, uris });
      },
      onPrompts: (event) => this.#events.emit("prompts", event),
      onListed: () => this.rules?.changed(),
    });
    const content = {
      shared: this.shared,
      caches: this.#caches,
      requests: new ContentRequests({ calls: this.#calls, guard: this.#guard }),
      guard: this.#guard,
      redact: <Value>(value: Value): Value => this.#redactor.value(value),
    };
    if (over === undefined) {
      const { tools, servers, logger } = this;
      const { caches, redact } = content;
      this.rules = new BoardRules({ agent, known, tools, servers, caches, logger, redact });
    }
    this.resources = new Resources({
      ...content,
      hasTools: () => RESOURCE_TOOLS.every((name) => this.tools.find(name)?.isListed === true),
      now: () => this.clock.monotonic(),
    });
    this.prompts = new Prompts(content);
    this.#emitServerEvents();
    if (base !== undefined) this.#forwardContentEvents(base);
  }

  /** As it is configured now. */
  get agent(): AgentConfig {
    return this.#agent;
  }

  /** The native tools that the host brings. */
  get native(): NonNullable<BoardOptions["native"]> {
    return this.#native;
  }

  /** Reads and checks another configuration. Rejects with CONFIG_INVALID. Nothing has changed yet. */
  async prepare(next: NextConfiguration): Promise<PreparedConfiguration> {
    const { agent, definitions, cwd, native } = next;
    const isSame =
      native === this.#native &&
      agent.resourceTools === this.#agent.resourceTools &&
      agent.workspace === this.#agent.workspace;
    const tools = isSame ? this.#ownTools : this.#collectTools(agent, native);
    const { naming, known } = namesFor(agent, tools);
    const servers = await this.servers.prepare(definitions, cwd, agent);
    return { ...next, servers, naming, known, tools };
  }

  /**
   * From the next call on, another configuration applies. The servers to be started are on the board, and do not run
   * yet. What has changed is told by the returned `tell`, when the boards of all sessions have changed too.
   */
  replace(
    next: PreparedConfiguration,
  ): ReplacedServers & { tell: (shared?: ReloadReport) => void } {
    const { agent, native, guards, servers, naming, known, tools } = next;
    const last = this.#agent;
    this.#untold = [];
    let replaced: ReplacedServers | undefined;
    const change = this.tools.renew(tools, () => {
      this.#agent = agent;
      if (this.#over === undefined) this.#agentSecrets.reconfigure(agent.secrets);
      this.#native = native;
      this.#ownTools = tools;
      this.#guard.reconfigure({ agent, known, session: this.#sessionGuard(guards) });
      this.roots.reconfigure({ configured: agent.roots, workspace: this.#directories(agent) });
      replaced = this.servers.replace(servers, naming, tools.keys());
    });
    if (replaced === undefined) throw new Error("the servers were not replaced");
    const { added, changed, removed, unchanged, pinnedAnew } = replaced;
    for (const { entry } of replaced.toStart) this.#joining.add(entry);
    for (const name of unchanged) {
      const entry = this.servers.named(name);
      this.#caches.settingsChanged(entry, pinnedAnew.includes(entry));
    }
    this.tools.offeredChange();
    const forApps = this.tools.appChange();
    const tell = (shared?: ReloadReport): void => {
      const untold = this.#untold ?? [];
      this.#untold = undefined;
      this.rules?.reconfigure({ agent, known });
      for (const each of untold) each();
      if (this.#isOpen && change !== undefined) this.#events.emit("tools", change);
      if (this.#isOpen && forApps !== undefined) this.#events.emit("appTools", forApps);
      const others = [...added, ...changed, ...removed, ...(shared?.changed ?? [])];
      const gone = shared?.removed ?? [];
      const all = this.servers.all().map(({ name }) => name);
      const isListedAnew = contentSettings(last) !== contentSettings(agent);
      for (const server of gone) {
        const state = { kind: "stopped" } as const;
        this.#events.emit("server", { server, state, previous: state });
      }
      for (const server of new Set([...others, ...gone, ...(isListedAnew ? all : [])])) {
        this.#tellContent(server);
      }
    };
    return { ...replaced, tell };
  }

  #tellContent(server: string): void {
    this.#events.emit("resources", { server, change: "list", uris: [] });
    this.#events.emit("prompts", { server });
  }

  /** What `roots: true` stands for. */
  #directories(agent: AgentConfig): readonly string[] {
    const { workspaceDir = agent.workspace } = this.options;
    return this.#over?.directories ?? [workspaceDir ?? process.cwd()];
  }

  #sessionGuard(guards: ServerGuards | undefined): SessionGuard | undefined {
    const over = this.#over;
    return (
      over && {
        ...over.session,
        servers: guards ?? over.session.servers,
        guard: over.base.#guard,
        isShared: (subject) => over.base.servers.isSharedWithSessions(subject),
      }
    );
  }

  /** The native tools of the host, and those of the board itself. Throws CONFIG_INVALID. */
  #collectTools(
    agent: AgentConfig,
    native: NonNullable<BoardOptions["native"]>,
  ): ReadonlyMap<string, OwnTool> {
    const { stateDir, workspaceDir = agent.workspace } = this.options;
    const own = [
      ...native,
      ...this.#resourceTools(agent),
      ...(stateDir === undefined ? [] : [unlessTaken(this.#reader)]),
    ];
    return collectNative(own, workspaceDir ? { workspaceDir } : {});
  }

  /** Call this when the board is open. Changed tools are reported only from then on. */
  opened(): void {
    this.#isOpen = true;
    this.tools.offeredChange();
    this.rules?.opened();
  }

  /** Not async, so that a call to a known tool does not pay for a second promise. */
  call(name: string, args: JsonObject, options: BoardCallOptions): Promise<CallOutcome> {
    if (this.#over !== undefined && this.#closing.signal.aborted) {
      return Promise.resolve(toFailure(sessionClosed()));
    }
    try {
      const known = this.tools.find(name);
      const settling = known?.subject.guardedElsewhere && this.shared?.settled(options.signal);
      if (settling !== undefined) return this.#callAfter(settling, name, args, options);
      if (known !== undefined) return this.#calls.run(known, args, options);
    } catch (error) {
      return Promise.resolve(toFailure(error));
    }
    return this.#findAndCall(name, args, options);
  }

  async #callAfter(
    settling: Promise<void>,
    name: string,
    args: JsonObject,
    options: BoardCallOptions,
  ): Promise<CallOutcome> {
    try {
      await settling;
    } catch (error) {
      return toFailure(error);
    }
    return this.call(name, args, options);
  }

  async find(name: string, signal: AbortSignal | undefined): Promise<Tool> {
    const known = this.tools.find(name);
    if (known === undefined || known.subject.guardedElsewhere) await this.shared?.settled(signal);
    return (await findTool(name, this, signal)).tool;
  }

  status(entry: ServerEntry): ServerStatus {
    const status = entry.status(this.tools.listedOf(entry.name), [
      ...this.#caches.diagnostics(entry),
      ...this.servers.diagnostics(entry),
      ...(this.rules?.diagnostics(entry) ?? []),
      ...this.#secrets.diagnostics(entry.name),
    ]);
    return this.#secrets.withoutSecrets(status);
  }

  /** In the order of the configuration; a session's own servers come last, as with tools. */
  instructions(): ServerInstructions[] {
    return [...this.servers.shared(), ...this.servers.own()].flatMap(({ name, supervisor }) => {
      const text = supervisor.live?.identity.instructions;
      if (!text?.trim() || !this.#guard.offersInstructions(name)) return [];
      // The board may have learnt more secrets since the handshake.
      return [{ server: name, text: this.#redactor.text(text) }];
    });
  }

  /** Has a gateway know of this board, so that it can use the gateway's servers. */
  async openShared(sharing: Omit<SharingBoard, "onNotice">): Promise<void> {
    const onNotice = (text: string): void => this.#events.emit("notice", { text });
    await this.shared?.open(this.#calls, { ...sharing, onNotice });
  }

  setLogLevel(level: ServerLogLevel | undefined): void {
    this.logLevel.set(level);
    this.shared?.setLogLevel(this.#calls, level);
  }

  /** Tells the user something. */
  notify(text: string): void {
    this.logger.warn(text);
    this.#events.emit("notice", { text });
  }

  /** Models get some tools in another way than before. */
  toolsChanged(change: ToolsEvent): void {
    if (this.#isOpen) this.#events.emit("tools", change);
  }

  /** Redacts the secrets of these servers from now on, also if they never start. */
  learnSecrets(servers: readonly ServerDefinition[]): void {
    this.#secrets.learn(servers);
  }

  /** Resolves when no process of its own servers is left. The guard closes after `others`, which use it. */
  async close(others?: Promise<void>): Promise<void> {
    this.#closing.abort();
    for (const off of this.#offBase) off();
    this.logLevel.close();
    this.#caches.close();
    await Promise.all([this.servers.close(), others, this.shared?.close(this.#calls)]);
    // Calls end when their servers close, except those that wait for a person, so this wait has a limit.
    await within(this.clock, CLOSE_WAIT_MS, this.#calls.idle());
    await this.#guard.close();
    if (this.#over === undefined) await this.#agentSecrets.close();
    this.#events.clear();
  }

  async #findAndCall(
    name: string,
    args: JsonObject,
    options: BoardCallOptions,
  ): Promise<CallOutcome> {
    try {
      return await this.#calls.untilClosed(options.signal, async (signal) => {
        const tool = await findByFullName(name, this, signal);
        if (tool === undefined) return toFailure(unknownTool(name, this));
        return this.#calls.run(tool, args, options);
      });
    } catch (error) {
      return toFailure(error);
    }
  }

  #emitServerEvents(): void {
    this.servers.events.on("tools", (event) => {
      // How the whole list has changed is told at the end.
      if (this.#untold !== undefined) return;
      this.rules?.changed();
      const change = this.tools.listedChange(event);
      if (this.#isOpen && change !== undefined) this.#events.emit("tools", change);
      const forApps = this.tools.appChange([event.server]);
      if (this.#isOpen && forApps !== undefined) this.#events.emit("appTools", forApps);
    });
    this.servers.events.on("log", ({ board, data, ...message }) => {
      // What is about a call is for the board that made it.
      if (board !== undefined && board !== this.#calls) return;
      this.#events.emit("log", { ...message, data: this.#redactor.value(data) });
    });
    this.servers.events.on("state", ({ entry, state, previous }) => {
      const tell = (): void => {
        this.#events.emit("server", {
          server: entry.name,
          state: this.#secrets.stateWithoutSecrets(state),
          previous: this.#secrets.stateWithoutSecrets(previous),
        });
        this.#reportOffered();
        if (state.kind === "ready" && this.#joining.delete(entry)) this.#tellContent(entry.name);
      };
      if (this.#untold === undefined) tell();
      else this.#untold.push(tell);
    });
  }

  #resourceTools(agent: AgentConfig): OwnTool[] {
    const { options } = this;
    const configured = agent.resourceTools;
    const { resourceTools: given = configured ?? false } = options;
    const wanted = given === "auto" ? (configured ?? given) : given;
    if (wanted === false) return [];
    const tools = resourceTools(() => this.resources);
    return wanted === true
      ? tools
      : tools.map((tool) => ({ ...tool, isOffered: () => this.resources.hasAny }));
  }

  /** Reports the board's own tools that have joined or left the list. */
  #reportOffered(): void {
    if (!this.#isOpen || this.#untold !== undefined) return;
    const change = this.tools.offeredChange();
    if (change !== undefined) this.#events.emit("tools", change);
  }

  /** The agent's board reports what changes on shared servers; this board repeats it. */
  #forwardContentEvents(base: BoardCore): void {
    const isShared = (server: string): boolean =>
      this.servers.shared().some(({ name }) => name === server);
    const onPrompts = base.on("prompts", (event) => {
      if (isShared(event.server)) this.#events.emit("prompts", event);
    });
    const onResources = base.on("resources", (event) => {
      if (!isShared(event.server)) return;
      if (event.change === "list") return this.#events.emit("resources", event);
      // Another session may have subscribed to the other URIs.
      const uris = this.resources
        .nameable(event.server, event.uris)
        .filter((uri) => this.resources.isSubscribed(event.server, uri));
      if (uris.length > 0) this.#events.emit("resources", { ...event, uris });
    });
    this.#offBase.push(onPrompts, onResources);
  }
}

/** How the tools are named, and the names that rules may contain. */
function namesFor(
  agent: AgentConfig,
  native: ReadonlyMap<string, OwnTool>,
): { naming: Naming; known: KnownNames } {
  const { servers } = agent;
  const naming = namingFor(agent.toolNames, servers, agent.toolNameLength);
  const known: KnownNames = {
    servers: [...servers, ...(agent.leftOut ?? [])],
    template: naming.template,
    ownNamesOf: naming.ownNamesOf,
    native: new Set(native.keys()),
  };
  return { naming, known };
}

export function sessionClosed(): PlugboardError {
  return new PlugboardError("SERVER_UNAVAILABLE", "the session is closed");
}

/** What decides which resources and prompts are listed. */
function contentSettings({ guard, servers }: AgentConfig): string {
  const ofServers = servers.map(({ name, guard: own, resources }) => [name, own, resources]);
  return JSON.stringify([guard, ofServers]);
}

/** Leaves the tool out if there is another one of its name. */
function unlessTaken(tool: OwnTool): NativeToolFactory {
  return ({ has }) => (has(tool.name) ? undefined : tool);
}

/** Below the board's own, nobody knows what is behind the shared state. */
function withFileState(options: BoardOptions, clock: Clock, logger: Logger): BoardOptions {
  const { stateDir, state } = options;
  if (stateDir === undefined || state !== undefined) return options;
  return { ...options, state: openFileState(stateDir, { clock, logger }) };
}

/** A server that reads files can read the file that they are in. */
function storedModelKeys({ stateDir }: BoardOptions): Iterable<string> {
  return stateDir === undefined ? [] : new ModelKeyFile(stateDir).readNow();
}
