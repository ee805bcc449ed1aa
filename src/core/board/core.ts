// Wires the parts of a board together. An agent's board and a session's board have the same parts; a session's
// board also uses the servers of the agent's board.

import { toFailure } from "../tools/failure.ts";
import { Catalog } from "../catalog/catalog.ts";
import {
  type ComparedServer,
  doubleDiagnostics,
  findDoubles,
  programKey,
} from "../catalog/doubles.ts";
import { type Naming, namingFor } from "../catalog/public-name.ts";
import { placedRules, reachOf, type ReachedServer, toldOf } from "../guard/policy.ts";
import { guardsOver, serverGuards } from "../guard/server-guards.ts";
import type { AgentConfig } from "../types/agent-config.ts";
import type {
  BoardBase,
  BoardCallOptions,
  ReloadReport,
  ServerInstructions,
} from "../types/board.ts";
import type { BoardOptions, SessionOptions, SessionPerson } from "../types/board-options.ts";
import type { Diagnostic } from "../types/diagnostic.ts";
import { cancelled, PlugboardError } from "../types/errors.ts";
import type { BoardEvents, ToolsEvent } from "../types/events.ts";
import type { JsonObject } from "../types/json.ts";
import { FUNCTION, requireKind } from "../types/kinds.ts";
import type { Logger } from "../types/logger.ts";
import type { SendMcpMessage } from "../types/mcp-message.ts";
import type { ExchangeMemory } from "../auth/exchange-authorizer.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { SecretReview } from "../types/secret-use.ts";
import { DEFAULT_TOOL_TIMEOUT_MS, type ServerDefinition } from "../types/server-definition.ts";
import type { ServerLogLevel } from "../types/server-log.ts";
import type { ServerStatus } from "../types/server-status.ts";
import type { GatewayPort, BoardInGateway } from "../types/gateway-port.ts";
import type { CallOutcome, Tool } from "../types/tool.ts";
import type { KnownNames } from "../types/tool-pattern.ts";
import { openFileState } from "../state/files/open.ts";
import { abortSignalOf, type CallSignal, untilAborted } from "../../util/abort.ts";
import { type Clock, systemClock, within } from "../../util/clock.ts";
import { Emitter } from "../../util/emitter.ts";
import { QuestionQueue } from "../../util/question-queue.ts";
import { oneLine } from "../../util/text.ts";
import { Calls } from "./calls.ts";
import { BoardChanges } from "./changes.ts";
import { BoardContent } from "./content/content.ts";
import { askServers } from "./content/content-requests.ts";
import type { Prompts } from "./content/prompts.ts";
import { RESOURCE_TOOLS } from "./content/resource-tools.ts";
import type { Resources } from "./content/resources.ts";
import { EarlierRuns } from "./earlier-runs.ts";
import { findByFullName, type FindContext, findTool, unknownTool } from "./find-tool.ts";
import { BoardGuard, type GuardBeneath, type GuardedSession } from "./guard.ts";
import { BoardLogLevel } from "./log-level.ts";
import { type HostTools, NativeTools, type PreparedTools } from "./native-tools.ts";
import { BoardRoots } from "./roots.ts";
import { BoardRules } from "./rules.ts";
import { BoardSecrets } from "./secrets.ts";
import type { ServerEntry } from "./server-entry.ts";
import { type PreparedServers, type ReplacedServers, ServerSet } from "./server-set.ts";
import { type BoardTool, BoardTools, type OwnTool } from "./tools.ts";
import { BoardTrace } from "./trace.ts";

/** How long a closing board waits for its calls to end. */
const CLOSE_WAIT_MS = 1000;

/** Nobody can use a server in one of these states, so its instructions are left out. */
const WITHOUT_INSTRUCTIONS: ReadonlySet<string> = new Set(["disabled", "untrusted", "stopped"]);

/** What a configuration of its agent means for one board. */
export interface Configuration {
  /** For a session's board: with the session's settings laid over it. */
  agent: AgentConfig;
  /** The board's own servers. */
  definitions: readonly ServerDefinition[];
  cwd: string;
  /** The native tools that the host brings. */
  native: HostTools;
  /** For a session's board: the agent's configuration, whose servers the session shares or replaces. */
  base?: AgentConfig;
}

export interface BoardCoreOptions {
  configuration: Configuration;
  options: BoardOptions;
  /** The servers that a gateway runs. Only for an agent's board. */
  gateway?: GatewayPort | undefined;
  /** For a session's board. */
  over?: BoardBeneath;
}

/** The agent's board, and the session that is laid over it. */
export interface BoardBeneath {
  core: BoardCore;
  /** Events of the agent's board name the session by it, also where the audit does not. */
  sessionId: string;
  session: GuardedSession;
  /** What `roots: true` stands for in the session. */
  directories: readonly string[];
  /** How long a call of the session may take without progress, in milliseconds. Default: as the server's definition says. */
  timeoutOf?: (definition: Pick<ServerDefinition, "toolTimeout" | "hasToolTimeout">) => number;
  /** The way to servers in the ACP client that opened the session. */
  sendMcpMessage?: SendMcpMessage | undefined;
  /** Whether what the rules refuse is answered as if there were no such tool, resource or prompt. */
  hidesRefused?: boolean;
  /** Who the session is for, if not the agent's own user. */
  person?: SessionPerson | false | undefined;
}

/** Another configuration, read and checked. Nothing has changed yet. */
export interface PreparedConfiguration extends Configuration, Names {
  servers: PreparedServers;
  tools: PreparedTools;
}

interface BoardDoubles {
  /** The public name of each, with that of the tool that it copies. */
  originals: ReadonlyMap<string, string>;
  /** What is told of each server that has some. */
  diagnostics: ReadonlyMap<string, readonly Diagnostic[]>;
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
  /** A session's board uses the trace of its agent's board. */
  readonly trace: BoardTrace;
  /** The servers of the agent's board that a gateway runs. */
  readonly gateway: GatewayPort | undefined;
  /** Only on an agent's board, which reports them for all sessions. */
  readonly rules: BoardRules | undefined;
  readonly on: BoardBase["on"] = (event, listener) => {
    requireEvent(event);
    requireKind("the listener", listener, FUNCTION);
    return this.#events.on(event, listener);
  };
  readonly watchCalls: BoardBase["watchCalls"] = (watcher) => this.#calls.watch(watcher);
  readonly #over: BoardBeneath | undefined;
  readonly #secrets: BoardSecrets;
  readonly #events = new Emitter<BoardEvents>((error) =>
    this.logger.error("a listener threw", { reason: String(error) }),
  );
  readonly #native: NativeTools;
  readonly #guard: BoardGuard;
  readonly #calls: Calls;
  readonly #content: BoardContent;
  readonly #changes: BoardChanges;
  readonly #closing = new AbortController();
  /** Tokens that were exchanged for people's JWTs. The sessions of one person share them. */
  readonly #exchanges: ExchangeMemory;
  #configuration: Configuration;
  #doubles: BoardDoubles | undefined;

  /** Makes the parts in order: each uses those before it. Throws CONFIG_INVALID or INVALID_ARGUMENTS. */
  constructor({ configuration, options: given, gateway, over }: BoardCoreOptions) {
    const { agent } = configuration;
    const base = over?.core;
    this.#configuration = configuration;
    this.#over = over;
    this.gateway = base ? base.gateway : gateway;
    this.clock = given.clock ?? systemClock;
    const clock = this.clock;
    this.#secrets = new BoardSecrets({ agent, options: given, clock, base: base && base.#secrets });
    this.#secrets.redactor.elsewhere = this.gateway?.redactor;
    this.logger = this.#secrets.logger;
    this.options = withFileState(given, clock, this.logger);
    this.roots = new BoardRoots({
      given: given.roots,
      configured: agent.roots,
      workspace: this.#directories(agent),
      base: base?.roots,
    });
    this.#exchanges = base ? base.#exchanges : new Map();
    this.trace = base?.trace ?? new BoardTrace({ clock, logger: this.logger });
    this.logLevel = new BoardLogLevel(given.serverLogLevel, base?.logLevel);
    this.#native = new NativeTools({
      agent,
      options: given,
      given: configuration.native,
      resources: () => this.resources,
      saved: () => this.#guard.saved,
    });
    const names = namesFor(agent, this.#native.all);
    this.#guard = this.#makeGuard(names);
    this.servers = this.#makeServers(names);
    this.#calls = this.#makeCalls();
    this.tools = new BoardTools({
      native: this.#native.all,
      servers: this.servers,
      calls: this.#calls,
      guard: this.#guard,
      execute: (...call) => this.call(...call),
    });
    this.#content = this.#makeContent();
    ({ resources: this.resources, prompts: this.prompts } = this.#content);
    this.rules = over === undefined ? this.#makeRules(names) : undefined;
    // Listens first: other listeners of this event read the doubles.
    this.servers.events.on("tools", () => {
      this.#doubles = undefined;
    });
    this.#changes = this.#makeChanges();
  }

  #makeGuard({ known }: Names): BoardGuard {
    const { options, clock, logger } = this;
    return new BoardGuard({
      agent: this.agent,
      options,
      clock,
      logger,
      redactor: this.#secrets.redactor,
      known,
      gateway: this.gateway,
      learnSecrets: () => {
        this.learnSecrets(this.agent.servers);
      },
      readTool: () => {
        const { readerName } = this.#native;
        if (readerName === undefined) return undefined;
        this.#changes.reportOffered();
        return this.tools.find(readerName)?.isListed === true ? readerName : undefined;
      },
      showing: (server, uri) => this.tools.showing(server, uri),
      over: this.#guardOver(this.#configuration),
    });
  }

  #makeServers({ naming }: Names): ServerSet {
    const { options, clock, logger, roots, logLevel, trace } = this;
    const { redactor, ofServers } = this.#secrets;
    const { stateDir } = options;
    return new ServerSet({
      agent: this.agent,
      options,
      clock,
      logger,
      redactor,
      secrets: ofServers,
      roots,
      logLevel,
      questions: new QuestionQueue(),
      trace,
      catalog: new Catalog(naming, this.#native.all.keys()),
      guard: this.#guard,
      earlier:
        stateDir === undefined
          ? undefined
          : new EarlierRuns(stateDir, { clock, logger, redactor, options }),
      base: this.#over?.core.servers,
      gateway: this.#over === undefined ? this.gateway : undefined,
      sendMcpMessage: this.#over?.sendMcpMessage,
      person: this.#over?.person,
      exchanges: this.#exchanges,
    });
  }

  #makeCalls(): Calls {
    const { options, clock, logger } = this;
    const over = this.#over;
    const { redactor } = this.#secrets;
    const timeoutOf = over?.timeoutOf ?? (({ toolTimeout }) => toolTimeout);
    const { defaultToolTimeout = DEFAULT_TOOL_TIMEOUT_MS } = options;
    return new Calls({
      clock,
      logger,
      events: this.#events,
      guard: this.#guard,
      redactor,
      timeoutOf,
      nativeTimeout: timeoutOf({ toolTimeout: defaultToolTimeout }),
      over: over && {
        handlers: options,
        closing: this.#closing.signal,
        events: over.core.#events,
        session: over.sessionId,
      },
    });
  }

  #makeContent(): BoardContent {
    const { servers, clock, logger } = this;
    return new BoardContent({
      servers,
      gateway: this.gateway,
      guard: this.#guard,
      calls: this.#calls,
      clock,
      logger,
      redactor: this.#secrets.redactor,
      events: this.#events,
      base: this.#over && this.#over.core.#content,
      hidesRefused: this.#over?.hidesRefused === true,
      hasTools: () => RESOURCE_TOOLS.every((name) => this.tools.find(name)?.isListed === true),
      onListed: () => this.rules?.changed(),
    });
  }

  #makeRules({ known }: Names): BoardRules {
    const { agent, tools, servers, logger } = this;
    const { redactor } = this.#secrets;
    return new BoardRules({
      agent,
      known,
      tools,
      nameOf: (subject) => this.#guard.nameOf(subject),
      servers,
      caches: this.#content.caches,
      logger,
      redact: (value) => redactor.value(value),
    });
  }

  #makeChanges(): BoardChanges {
    const { servers, tools, rules } = this;
    return new BoardChanges({
      events: this.#events,
      servers,
      tools,
      content: this.#content,
      rules,
      calls: this.#calls,
      redactor: this.#secrets.redactor,
      secrets: this.#secrets.ofServers,
    });
  }

  /** As it is configured now. */
  get configuration(): Configuration {
    return this.#configuration;
  }

  get agent(): AgentConfig {
    return this.#configuration.agent;
  }

  /** Whether the session is closed. Its shared servers would still answer. */
  get #hasEnded(): boolean {
    return this.#over !== undefined && this.#closing.signal.aborted;
  }

  /** Adds its own servers, with what is known of them. Nothing starts. */
  async addServers(): Promise<void> {
    const { agent, definitions, cwd } = this.#configuration;
    const { known } = namesFor(agent, this.#native.all);
    await this.servers.open(this.#toldOf(agent, known, definitions), cwd);
  }

  /** The servers of which the session's user is told: no session starts a server that it cannot use. */
  #toldOf(
    { guard, servers }: AgentConfig,
    known: KnownNames,
    definitions: readonly ServerDefinition[],
  ): ServerDefinition[] {
    const { owner } = this.options;
    const rules = guard?.rules;
    const isTold =
      this.#over?.hidesRefused === true
        ? reachOf({ rules, servers: serverGuards(servers), known, owner })
        : toldOf({ rules, known });
    return definitions.filter((each) => each.origin === "session" || isTold(each));
  }

  /** Call this when the board is open. Changed tools are reported only from then on. */
  opened(): void {
    this.#changes.opened();
  }

  /** Reads and checks another configuration. Rejects with CONFIG_INVALID. Nothing has changed yet. */
  async prepare(next: Configuration): Promise<PreparedConfiguration> {
    const { agent, definitions, cwd, native } = next;
    const tools = this.#native.prepare(agent, native);
    const names = namesFor(agent, tools.all);
    const reached = this.#toldOf(agent, names.known, definitions);
    const servers = await this.servers.prepare(reached, cwd, agent);
    return { ...next, ...names, servers, tools };
  }

  /**
   * From the next call on, another configuration applies. The servers to be started are on the board, and do not run
   * yet. What has changed is told by the returned `tell`, when the boards of all sessions have changed too.
   */
  replace(
    prepared: PreparedConfiguration,
  ): ReplacedServers & { tell: (shared?: ReloadReport) => void } {
    const { servers, naming, known, tools, ...next } = prepared;
    const { agent } = next;
    const isListedAnew = contentSettings(this.agent) !== contentSettings(agent);
    this.#changes.hold();
    const { result: replaced, tools: change } = this.tools.renew(tools.all, () => {
      this.#configuration = next;
      this.#secrets.reconfigure(agent);
      this.#native.replace(agent, tools);
      this.#guard.reconfigure({ agent, known, over: this.#guardOver(next) });
      this.roots.reconfigure({ configured: agent.roots, workspace: this.#directories(agent) });
      return this.servers.replace(servers, naming, tools.all.keys());
    });
    for (const name of replaced.unchanged) {
      const entry = this.servers.named(name);
      this.#content.caches.settingsChanged(entry, replaced.pinnedAnew.includes(entry));
    }
    this.#doubles = undefined;
    const tell = this.#changes.release({ servers: replaced, tools: change, isListedAnew });
    return {
      ...replaced,
      tell: (shared) => {
        this.rules?.reconfigure({ agent, known });
        tell(shared);
      },
    };
  }

  /** What `roots: true` stands for. */
  #directories(agent: AgentConfig): readonly string[] {
    const { workspaceDir = agent.workspace } = this.options;
    return this.#over?.directories ?? [workspaceDir ?? process.cwd()];
  }

  #guardOver({ base }: Configuration): GuardBeneath | undefined {
    const over = this.#over;
    if (over === undefined) return undefined;
    const { core, session } = over;
    return {
      session,
      guard: core.#guard,
      servers: guardsOver(base?.servers ?? [], (name) => {
        const entry = this.servers.get(name);
        return entry && this.servers.isOwn(entry) ? entry.definition : undefined;
      }),
      isShared: (subject) => core.servers.isSharedWithSessions(subject),
      hasConnection: (server) => {
        const entry = this.servers.get(server);
        return entry !== undefined && this.servers.isOwn(entry);
      },
      hidesRefused: over.hidesRefused === true,
    };
  }

  /** Not async, so that a call to a known tool does not pay for a second promise. */
  call(
    name: string,
    args: JsonObject,
    options: BoardCallOptions,
    signal: CallSignal | undefined = options.signal,
  ): Promise<CallOutcome> {
    if (this.#hasEnded) return Promise.resolve(toFailure(sessionClosed()));
    try {
      const known = this.tools.find(name);
      const isOfGateway = known === undefined || known.subject.inGateway;
      const settling = isOfGateway ? this.gateway?.settled() : undefined;
      if (settling !== undefined) return this.#callAfter(settling, name, args, options, signal);
      if (known !== undefined) {
        const outcome = this.#calls.run(known, args, options, signal);
        return this.#isHidden(known) ? this.#asUnknown(name, outcome, signal) : outcome;
      }
    } catch (error) {
      return Promise.resolve(toFailure(error));
    }
    return this.#findAndCall(name, args, options, signal);
  }

  /** `settling` ends when it is known who runs the servers. */
  async #callAfter(
    settling: Promise<void>,
    name: string,
    args: JsonObject,
    options: BoardCallOptions,
    signal: CallSignal | undefined,
  ): Promise<CallOutcome> {
    try {
      await this.#calls.untilClosed(signal, (either) => untilAborted(settling, either, cancelled));
    } catch (error) {
      return toFailure(error);
    }
    return this.call(name, args, options, signal);
  }

  async find(name: string, signal: AbortSignal | undefined): Promise<Tool> {
    if (this.#hasEnded) throw sessionClosed();
    const known = this.tools.find(name);
    if (known !== undefined && !known.subject.inGateway && !this.#isHidden(known)) {
      return known.tool;
    }
    const context = this.#findContext;
    return askServers(this, signal, async () => (await findTool(name, context, signal)).tool);
  }

  status(entry: ServerEntry): ServerStatus {
    const { ofServers } = this.#secrets;
    const status = entry.status(this.tools.listedOf(entry.name), [
      ...this.#content.caches.diagnostics(entry),
      ...this.servers.diagnostics(entry),
      ...(this.rules?.diagnostics(entry) ?? []),
      ...ofServers.diagnostics(entry.name),
      ...(this.doubles.diagnostics.get(entry.name) ?? []),
    ]);
    return ofServers.withoutSecrets(status);
  }

  /** The server's resources and prompts may have changed. */
  listContentAgain(server: string): Promise<void> {
    return this.#content.caches.of(server).listAgain();
  }

  /** In the order of the configuration; a session's own servers come last, as with tools. */
  instructions(): ServerInstructions[] {
    return [...this.servers.reachedShared(), ...this.servers.own()].flatMap((entry) => {
      const { name, identity, supervisor } = entry;
      const text = identity?.instructions;
      if (!text?.trim() || WITHOUT_INSTRUCTIONS.has(supervisor.state.kind)) return [];
      if (!this.#guard.offersInstructions(name)) return [];
      // The board may have learnt more secrets since the handshake.
      return [{ server: name, text: this.#secrets.redactor.text(text) }];
    });
  }

  /** Whether the board's user is told of the server. */
  reaches(server: ReachedServer): boolean {
    return this.#guard.reaches(server);
  }

  /** Of which servers something is left to a session with these rights, before it is opened. */
  leftTo({ tools, owner }: Pick<SessionOptions, "tools" | "owner">): (server: string) => boolean {
    const { guard, servers } = this.agent;
    const leaves = reachOf({
      rules: [...(guard?.rules ?? []), ...(tools === undefined ? [] : [placedRules(tools)])],
      servers: serverGuards(servers),
      known: namesFor(this.agent, this.#native.all).known,
      owner,
    });
    return (server) => servers.some((each) => each.name === server && leaves(each));
  }

  /** The tools of the server that are not as they were pinned; undefined if none of them is pinned. */
  unpinned(server: string): string[] | undefined {
    return this.#guard.unpinned(server);
  }

  /** When the server was pinned, in milliseconds since the epoch. */
  pinnedAt(server: string): number | undefined {
    return this.#guard.pinnedAt(server);
  }

  /** The tools on the list that copy another server's. Kept until tools change, since it is asked for often. */
  get doubles(): BoardDoubles {
    this.#doubles ??= this.#findDoubles();
    return this.#doubles;
  }

  #findDoubles(): BoardDoubles {
    const servers = new Map<string, ComparedServer>();
    const compared = this.tools.list({ all: true }).flatMap((tool) => {
      const { source, title, ownDescription: description, parameters: schema } = tool;
      if (source.kind === "native") return [];
      const server = servers.get(source.server) ?? this.#comparedServer(source.server);
      servers.set(source.server, server);
      return [{ server, name: source.tool, title, publicName: tool.name, description, schema }];
    });
    const doubles = findDoubles(compared);
    return {
      originals: new Map([...doubles].map(([one, other]) => [one.publicName, other.publicName])),
      diagnostics: doubleDiagnostics(doubles, compared),
    };
  }

  #comparedServer(name: string): ComparedServer {
    const entry = this.servers.named(name);
    const { definition, supervisor } = entry;
    const home = this.servers.isOwn(entry) ? this : (this.#over?.core ?? this);
    const pinned = supervisor.told ?? {
      pinnedAt: home.pinnedAt(name),
      unpinned: home.unpinned(name),
    };
    return {
      name,
      program: programKey(definition),
      identity: entry.identity?.name,
      isOfSession: definition.origin === "session",
      pinnedAt: pinned.pinnedAt,
      unpinned: new Set(pinned.unpinned),
    };
  }

  /** Tells the gateway about this board, which can then use the gateway's servers. */
  async openInGateway(sharing: Omit<BoardInGateway, "onNotice">): Promise<void> {
    const onNotice = (text: string): void => this.#events.emit("notice", { text });
    await this.gateway?.open(this.#calls, { ...sharing, onNotice });
  }

  setLogLevel(level: ServerLogLevel | undefined): void {
    this.logLevel.set(level);
    this.gateway?.setLogLevel(this.#calls, level);
  }

  /** Tells the user something. */
  notify(text: string): void {
    this.logger.warn(text);
    this.#events.emit("notice", { text });
  }

  /** The include mode of some tools has changed. */
  toolsChanged(change: ToolsEvent): void {
    this.#changes.toolsChanged(change);
  }

  get secretReview(): SecretReview {
    return this.#secrets.review(() => this.agent);
  }

  get redactor(): Redactor {
    return this.#secrets.redactor;
  }

  /** Redacts the secrets of these servers from now on, also if they never start. */
  learnSecrets(servers: readonly ServerDefinition[]): void {
    this.#secrets.ofServers.learn(servers);
  }

  /** Resolves when no process of its own servers is left. The guard closes after `others`, which use it. */
  async close(others?: Promise<void>): Promise<void> {
    this.#closing.abort();
    if (this.#over !== undefined) this.resources.unsubscribeAll();
    this.logLevel.close();
    this.#content.close();
    await Promise.all([this.servers.close(), others, this.gateway?.close(this.#calls)]);
    // Calls end when their servers close, except those that wait for a person, so this wait has a limit.
    await within(this.clock, CLOSE_WAIT_MS, this.#calls.idle());
    await this.#guard.close();
    await this.#secrets.close();
    this.#events.clear();
  }

  async #findAndCall(
    name: string,
    args: JsonObject,
    options: BoardCallOptions,
    signal: CallSignal | undefined,
  ): Promise<CallOutcome> {
    try {
      return await this.#calls.untilClosed(signal, async (either) => {
        const ending = either && abortSignalOf(either);
        const tool = await askServers(this, ending, async () => {
          const found = await findByFullName(name, this, ending);
          if (found === undefined) throw unknownTool(name, this.#findContext);
          return found;
        });
        const outcome = this.#calls.run(tool, args, options, signal);
        return this.#isHidden(tool) ? this.#asUnknown(name, outcome, signal) : outcome;
      });
    } catch (error) {
      return toFailure(error);
    }
  }

  #isHidden({ isAllowed }: BoardTool): boolean {
    return this.#over?.hidesRefused === true && !isAllowed;
  }

  /** Finds only tools of which the caller may know. */
  get #findContext(): FindContext {
    const { tools, servers, clock } = this;
    if (this.#over?.hidesRefused !== true) return this;
    const find = (name: string): BoardTool | undefined => {
      const found = tools.find(name);
      return found && this.#isHidden(found) ? undefined : found;
    };
    const all = (): BoardTool[] => tools.all().filter((each) => !this.#isHidden(each));
    const leaving: ServerSet["leaving"] = (kind) => servers.leaving(kind);
    return {
      tools: { find, all },
      servers: {
        leaving,
        // Of a server whose resources are left, only those may know what it does with calls who may call it.
        reached: () => leaving("tool"),
        withheld: () => servers.withheld(),
        missing: (...asked) => servers.missing(...asked),
      },
      clock,
    };
  }

  /** Answers a refused call exactly as one of an unknown name. */
  async #asUnknown(
    name: string,
    refused: Promise<CallOutcome>,
    signal: CallSignal | undefined,
  ): Promise<CallOutcome> {
    await refused;
    const context = this.#findContext;
    try {
      return await this.#calls.untilClosed(signal, async (either) => {
        const ending = either && abortSignalOf(either);
        await askServers(this, ending, () => findByFullName(name, context, ending));
        throw unknownTool(name, context);
      });
    } catch (error) {
      return toFailure(error);
    }
  }
}

/** How the tools are named, and the names that rules may contain. */
interface Names {
  naming: Naming;
  known: KnownNames;
}

function namesFor(agent: AgentConfig, native: ReadonlyMap<string, OwnTool>): Names {
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

/** No other part of the board knows whether files or engines are behind the shared state. */
function withFileState(options: BoardOptions, clock: Clock, logger: Logger): BoardOptions {
  const { stateDir, state } = options;
  if (stateDir === undefined || state !== undefined) return options;
  return { ...options, state: openFileState(stateDir, { clock, logger }) };
}

const EVENTS: Readonly<Record<keyof BoardEvents, true>> = {
  tools: true,
  appTools: true,
  resources: true,
  prompts: true,
  server: true,
  callStart: true,
  call: true,
  log: true,
  notice: true,
};

/** Throws INVALID_ARGUMENTS: a listener for another one would never be called. */
function requireEvent(event: unknown): void {
  if (typeof event === "string" && Object.hasOwn(EVENTS, event)) return;
  const what = typeof event === "string" ? `'${oneLine(event, 100)}'` : `a ${typeof event}`;
  const names = Object.keys(EVENTS).join(", ");
  throw new PlugboardError("INVALID_ARGUMENTS", `the event must be one of ${names}, not ${what}`);
}
