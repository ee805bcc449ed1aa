// The servers of a board, and the catalog of their tools. A session's set has servers of its own. It also has the
// agent's servers (the base's), except those that one of its own replaces or that the session has disabled.

import type { Catalog, CatalogChange } from "../catalog/catalog.ts";
import type { CachedTools } from "../catalog/catalog-cache.ts";
import type { ListedContents } from "../catalog/content-files.ts";
import type { Naming } from "../catalog/public-name.ts";
import type { AgentConfig } from "../types/agent-config.ts";
import type { ReloadReport } from "../types/board.ts";
import type { BoardOptions } from "../types/board-options.ts";
import type { ServerIdentity, ToolList } from "../types/connection.ts";
import type { Diagnostic } from "../types/diagnostic.ts";
import { type PlugboardError, unknownServer } from "../types/errors.ts";
import type { ToolsEvent } from "../types/events.ts";
import type { Subject } from "../types/guard.ts";
import type { PinnedServer } from "../types/pin.ts";
import { isPerUser, isRemote, type ServerDefinition } from "../types/server-definition.ts";
import type { ServerState } from "../types/server-state.ts";
import type { LoggedMessage } from "../upstream/log/server-log.ts";
import type { CatalogEntry } from "../types/tool.ts";
import type { ToolPattern } from "../types/tool-pattern.ts";
import { boundedMap, READERS } from "../../util/bounded-map.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { within } from "../../util/clock.ts";
import { type Deferred, deferred } from "../../util/deferred.ts";
import { Emitter } from "../../util/emitter.ts";
import {
  advertisedTo,
  createServer,
  type CreateServerContext,
  withDefaults,
} from "./create-server.ts";
import type { EarlierRuns, RememberedServer } from "./earlier-runs.ts";
import { type BoardGuard, type PinnedEntry, pinId, pinMode } from "./guard.ts";
import type { ServerEntry } from "./server-entry.ts";
import { untrustedError } from "./untrusted-servers.ts";

const DISABLED: ServerState = { kind: "disabled" };

export interface ServerSetOptions extends Omit<
  CreateServerContext,
  "onState" | "onTools" | "onLog"
> {
  catalog: Catalog;
  guard: Pick<
    BoardGuard,
    "open" | "prepareToOpen" | "inspect" | "check" | "offer" | "leaves" | "reaches"
  >;
  /** Only for an agent's set, and only with a state directory. */
  earlier?: EarlierRuns;
  /** For a session's set: the agent's. */
  base?: ServerSet;
}

/** What a server has listed, without what must not reach anybody. */
interface Listed extends Pick<ToolList, "tools" | "diagnostics" | "capabilities"> {
  /** When the server listed them in an earlier run; undefined if it did in this one. */
  cachedAt?: number;
  instructions: string | undefined;
  /** What was found in the definitions. The guard has logged it. */
  found: Diagnostic[];
}

export interface ServerSetEvents {
  /** A server has listed its tools, or its tools are gone. Also emitted if that changes nothing. */
  tools: ToolsEvent & { server: string };
  state: { entry: ServerEntry; state: ServerState; previous: ServerState };
  log: LoggedMessage & { server: string };
  /** A server of another definition takes the place of one of the same name. */
  replaced: { before: ServerEntry; entry: ServerEntry };
  removed: ServerEntry;
}

/** What becomes of one server when the configuration is replaced. */
type PlannedServer =
  | { kind: "kept"; entry: ServerEntry; definition: ServerDefinition; isPinnedAnew: boolean }
  | NewServer;

interface NewServer {
  kind: "new";
  entry: ServerEntry;
  known: RememberedServer;
  predecessor: ServerEntry | undefined;
  /** Resolves when nothing is left of the predecessor. */
  gone: Deferred<void>;
}

/** Another configuration of a set, read and compared. Nothing has changed yet. */
export interface PreparedServers {
  agent: AgentConfig;
  planned: readonly PlannedServer[];
  openPins: () => void;
}

/** What a new configuration has done to a set. Nothing has started yet. */
export interface ReplacedServers extends ReloadReport {
  /** The servers to start, and whether only to list their tools. */
  toStart: { entry: ServerEntry; onlyToList: boolean }[];
  /** Servers that run on, but whose lists are offered anew, because `pins` is set to another mode. */
  pinnedAnew: ServerEntry[];
}

export class ServerSet {
  readonly events: Emitter<ServerSetEvents>;
  #options: ServerSetOptions;
  readonly #catalog: Catalog;
  readonly #base: ServerSet | undefined;
  readonly #own = new Map<string, ServerEntry>();
  /** Names of the base's servers that the session has disabled for itself. */
  readonly #withheld = new Set<string>();
  /** The base's servers as they were last shared, and why some of their tools are not on this board. */
  readonly #lastShared = new Map<string, { entry: ServerEntry; diagnostics: Diagnostic[] }>();
  /** What each server has listed, before the pins decide what of it is offered. */
  readonly #listed = new WeakMap<ServerEntry, Listed>();
  /** The pins of servers that are gone: one that comes back under the name is compared with them. */
  readonly #formerPins = new Map<string, PinnedServer>();
  #offBase: (() => void)[] = [];
  /** What `close` waits for in addition to the servers. None of these promises rejects. */
  readonly #background = new Set<Promise<void>>();

  constructor(options: ServerSetOptions) {
    this.#options = options;
    this.#catalog = options.catalog;
    this.#base = options.base;
    this.events = new Emitter((error) =>
      options.logger.error("a listener threw", { reason: String(error) }),
    );
  }

  get(name: string): ServerEntry | undefined {
    return this.#own.get(name) ?? this.#shared(name);
  }

  /** Throws UNKNOWN_SERVER with a similar name, or UNTRUSTED. */
  named(name: string): ServerEntry {
    const entry = this.get(name);
    if (entry === undefined) throw this.missing(name, this.#reachedNames());
    return entry;
  }

  /** Use this for a name that the board's user gives. A server of which they are not told is answered as if there were none. */
  told(name: string): ServerEntry {
    const entry = this.named(name);
    if (!this.reaches(entry)) throw this.missing(name, this.#reachedNames());
    return entry;
  }

  /** Why there is no server of this name. `names` are those that may have been meant. */
  missing(name: string, names: readonly string[]): PlugboardError {
    const { agent, clock } = this.#options;
    const untrusted = this.isTold(name) ? untrustedError(name, agent, clock) : undefined;
    return untrusted ?? unknownServer(name, names);
  }

  #reachedNames(): string[] {
    return this.reached().map(({ name }) => name);
  }

  /** Also finds shared servers that the session has disabled: to enable them again, not to use them. */
  toldOrWithheld(name: string): ServerEntry {
    const among = [...this.reached(), ...this.withheld()];
    const entry = among.find((each) => each.name === name);
    if (entry === undefined)
      throw this.missing(
        name,
        among.map((each) => each.name),
      );
    return entry;
  }

  own(): ServerEntry[] {
    return [...this.#own.values()];
  }

  isOwn(entry: ServerEntry): boolean {
    return this.#own.get(entry.name) === entry;
  }

  /**
   * In the order in which servers are searched for a URI or a prompt. A session's own servers come first, so that
   * a warning about one of them is never attached to a shared server.
   */
  all(): ServerEntry[] {
    return [...this.#own.values(), ...this.shared()];
  }

  /** The base's servers that are on this board, in the base's order. */
  shared(): ServerEntry[] {
    return (this.#base?.own() ?? []).filter((entry) => this.#shared(entry.name) === entry);
  }

  /** The base's servers that the session has disabled for itself. */
  withheld(): ServerEntry[] {
    return (this.#base?.own() ?? []).filter(
      (entry) => this.isWithheld(entry) && this.reaches(entry),
    );
  }

  /**
   * Whether the board's user is told of the server. If not, its tools are on the board nevertheless, so that calls of them
   * are refused and audited.
   */
  reaches(entry: ServerEntry): boolean {
    return this.isOwn(entry) || this.#options.guard.reaches(entry.definition);
  }

  /** Whether the board's user would be told of a server of the agent with this name. */
  isTold(name: string): boolean {
    return this.#options.guard.reaches({ name, origin: "agent" });
  }

  /** `all`, without the servers of which the board's user is not told. */
  reached(): ServerEntry[] {
    return [...this.#own.values(), ...this.reachedShared()];
  }

  /** Those of `reached` of which the rules leave something of this kind to use. */
  leaving(kind: ToolPattern["kind"]): ServerEntry[] {
    return this.reached().filter(({ definition }) => this.#options.guard.leaves(definition, kind));
  }

  reachedShared(): ServerEntry[] {
    return this.shared().filter((entry) => this.reaches(entry));
  }

  isWithheld({ name }: ServerEntry): boolean {
    return this.#withheld.has(name) && !this.#own.has(name);
  }

  /** Whether sessions share the server of this tool. */
  isSharedWithSessions({ source, origin }: Subject): boolean {
    if (source.kind !== "mcp" || origin === "session") return false;
    const entry = this.#own.get(source.server);
    return entry !== undefined && isShareable(entry);
  }

  /** The names of shared servers in the base's order, then those of its own servers: the order of their tools. */
  names(): string[] {
    return [...this.shared().map(({ name }) => name), ...this.#own.keys()];
  }

  /** The same array until the server's tools are set again. */
  toolsOf(server: string): readonly CatalogEntry[] {
    return this.#catalog.entriesOf(server);
  }

  /** Finds a tool by its public name or its canonical name `server/tool`. */
  findTool(name: string): CatalogEntry | undefined {
    return this.#catalog.find(name);
  }

  diagnostics(entry: ServerEntry): readonly Diagnostic[] {
    const shared = this.#lastShared.get(entry.name);
    return shared?.entry === entry ? shared.diagnostics : [];
  }

  /** Adds the board's first servers with their cached tools. Nothing starts. */
  async open(definitions: readonly ServerDefinition[], cwd: string): Promise<void> {
    // Before anything is read or listed: a server may repeat the credentials of another.
    this.#options.secrets.learn(definitions);
    const known = await boundedMap(definitions, READERS, (each) => this.#readEarlier(each, cwd));
    const entries = definitions.map((each, index) => this.#create(each, cwd, known[index]));
    this.#followBase();
    await this.#options.guard.open(guardedHere(entries), this.#offerAgain);
    entries.forEach((entry, index) => this.#addKnownTools(entry, known[index]?.tools));
  }

  async #readEarlier(definition: ServerDefinition, cwd: string): Promise<RememberedServer> {
    const earlier = this.#earlierOf(definition);
    if (earlier === undefined) return {};
    const known = await earlier.read(definition, cwd, advertisedTo(definition, this.#options));
    return this.#waitsForNobody ? { tools: known.listedElsewhere, ...known } : known;
  }

  /**
   * A gateway knows its servers itself, and nothing is kept about a server that a session has brought, or that one person has
   * for themselves. Of one that is disabled nobody sees anything: a file may hold thousands of them.
   */
  #earlierOf(definition: ServerDefinition): EarlierRuns | undefined {
    const { name, origin, enabled } = definition;
    const { earlier, gateway, person } = this.#options;
    if (!enabled || (person !== undefined && isPerUser(definition))) return undefined;
    return origin === "session" || gateway?.server(name) !== undefined ? undefined : earlier;
  }

  /** Whether the board opens without waiting for servers: its user takes the tools that are known, and hears of changes. */
  get #waitsForNobody(): boolean {
    const { agent, options } = this.#options;
    const { start = "eager" } = options;
    return agent.startupWait === 0 && (start === "eager" || start === "stale");
  }

  /**
   * Adds a server. It replaces a server of the same name, its own or the base's. Nothing starts. `replaced`
   * resolves when no process of a replaced server of its own is left.
   */
  async add(
    definition: ServerDefinition,
    cwd: string,
  ): Promise<{ entry: ServerEntry; replaced: Promise<void> | undefined }> {
    const before = this.#own.get(definition.name);
    const removed = this.#catalog.remove(definition.name);
    const entry = this.#create(definition, cwd);
    // Only now that the new server is on the board: earlier, the stop would be reported as the new server's.
    const replaced = before && this.#close(before);
    this.#emitTools(definition.name, { removed });
    await this.#options.guard.open(guardedHere([entry]), this.#offerAgain);
    return { entry, replaced };
  }

  /** Resolves when no process of the server is left. If it had replaced a base server, that is back at once. */
  async remove(name: string): Promise<void> {
    const entry = this.#own.get(name);
    if (entry === undefined) return;
    this.#own.delete(name);
    this.#emitTools(name, { removed: this.#catalog.remove(name) });
    const ended = this.#close(entry);
    this.#updateShared(name);
    await ended;
  }

  /**
   * Compares another configuration with this one: a server that is started and reached as before is kept. Reads what is
   * needed for the others. Nothing changes and nothing starts.
   */
  async prepare(
    definitions: readonly ServerDefinition[],
    cwd: string,
    agent: AgentConfig,
  ): Promise<PreparedServers> {
    const { options, guard, secrets } = this.#options;
    // Before anything is read or listed: a server may repeat the credentials of another.
    secrets.learn(definitions);
    const planned = await boundedMap(
      definitions,
      READERS,
      async (configured): Promise<PlannedServer> => {
        const definition = withDefaults(configured, options);
        const before = this.#own.get(definition.name);
        if (before !== undefined && this.#isKept(before, definition, cwd, agent)) {
          const isPinnedAnew =
            pinMode(before.definition, this.#options.agent) !== pinMode(definition, agent);
          return { kind: "kept", entry: before, definition, isPinnedAnew };
        }
        const known = await this.#readEarlier(configured, cwd);
        const gone = deferred();
        const tools = known.tools ?? this.#toolsOfPredecessor(before, definition);
        const entry = this.#make(configured, cwd, { ...known, tools }, agent, gone.promise);
        return { kind: "new", entry, known: { ...known, tools }, predecessor: before, gone };
      },
    );
    const openPins = await guard.prepareToOpen(
      planned.flatMap((each): PinnedEntry[] => {
        const { entry } = each;
        if (entry.inGateway) return [];
        if (each.kind === "kept") {
          return each.isPinnedAnew ? [{ entry, definition: each.definition }] : [];
        }
        const predecessor = each.predecessor
          ? pinId(each.predecessor)
          : this.#formerPins.get(entry.name);
        return [{ entry, definition: entry.definition, predecessor }];
      }),
      agent,
      this.#offerAgain,
    );
    return { agent, planned, openPins };
  }

  /**
   * Replaces the configuration of its own servers, and the names of all tools. Servers that are gone or that others
   * replace are stopped; new ones are on the board, and do not run yet.
   */
  replace(
    { agent, planned, openPins }: PreparedServers,
    naming: Naming,
    reserved: Iterable<string>,
  ): ReplacedServers {
    const before = new Map(this.#own);
    const ofRunning = new Set(
      planned.filter((each) => each.kind === "new" && isUp(each.predecessor)),
    );
    this.#options = { ...this.#options, agent };
    this.#own.clear();
    for (const { entry } of planned) this.#own.set(entry.name, entry);
    openPins();
    this.#catalog.rename(naming, reserved, () => {
      this.#lastShared.clear();
      for (const { name } of this.#base?.own() ?? []) this.#updateShared(name);
      for (const each of planned) this.#putBack(each);
    });
    const removed = [...before.values()].filter(({ name }) => !this.#own.has(name));
    for (const entry of removed) {
      this.#formerPins.set(entry.name, pinId(entry));
      const { state: previous } = entry.supervisor;
      void this.#close(entry);
      this.events.emit("state", { entry, state: { kind: "stopped" }, previous });
    }
    const names = (kind: "kept" | "changed" | "added"): string[] =>
      planned.flatMap((each) => (kindOf(each) === kind ? [each.entry.name] : []));
    return {
      added: names("added"),
      changed: names("changed"),
      removed: removed.map(({ name }) => name),
      unchanged: names("kept"),
      toStart: planned.flatMap((each) =>
        each.kind === "kept" ? [] : (this.#startOf(each, ofRunning.has(each)) ?? []),
      ),
      pinnedAnew: planned.flatMap((each) =>
        each.kind === "kept" && each.isPinnedAnew ? [each.entry] : [],
      ),
    };
  }

  /** Resolves when each is ready or has failed, or `wait` milliseconds have passed. Default: its own `timeout`. */
  async startAll(toStart: ReplacedServers["toStart"], wait: number | undefined): Promise<void> {
    const { clock } = this.#options;
    await Promise.all(
      toStart.map(({ entry: { supervisor }, onlyToList }) =>
        wait === undefined
          ? supervisor.attempt(onlyToList)
          : within(clock, wait, supervisor.start(onlyToList)),
      ),
    );
  }

  /** Undefined for a server that waits until somebody needs it. */
  #startOf(
    { entry, known, predecessor }: NewServer,
    didPredecessorRun: boolean,
  ): ReplacedServers["toStart"][number] | undefined {
    const { options, clock } = this.#options;
    if (!entry.definition.enabled) return undefined;
    if (didPredecessorRun) return { entry, onlyToList: false };
    const reason = entry.startReason(options.start, clock.now());
    if (reason !== undefined) return { entry, onlyToList: reason === "to-be-known" };
    if (options.start === "none" || predecessor === undefined) return undefined;
    // Tools that are known only from a predecessor are not those of the new server.
    return known.tools && { entry, onlyToList: true };
  }

  #isKept(
    before: ServerEntry,
    definition: ServerDefinition,
    cwd: string,
    agent: AgentConfig,
  ): boolean {
    const { agent: last, roots, gateway } = this.#options;
    const inGateway = gateway?.server(definition.name) !== undefined;
    // How a gateway starts it is the gateway's affair.
    if (before.inGateway || inGateway) return before.inGateway === inGateway && definition.enabled;
    const networkOf = ({ networkAllow = [], networkProxy, networkInherit }: AgentConfig): string =>
      canonicalJson(
        isRemote(definition.target)
          ? [networkAllow, networkProxy]
          : [networkInherit === false ? false : networkProxy],
      );
    const isReachedAlike = networkOf(agent) === networkOf(last);
    return (
      before.isStartedLike(definition, cwd) &&
      isReachedAlike &&
      // A server hears only when it is started whether there are roots.
      roots.areTold(before.definition, last.roots) === roots.areTold(definition, agent.roots)
    );
  }

  /**
   * Until the new server has listed its tools, it has those of its predecessor, as after a restart: otherwise they would
   * leave the list for a moment.
   */
  #toolsOfPredecessor(
    before: ServerEntry | undefined,
    definition: ServerDefinition,
  ): CachedTools | undefined {
    if (before === undefined || !definition.enabled) return undefined;
    const listed = this.#listed.get(before);
    const { identity } = before;
    if (listed === undefined || identity === undefined) return undefined;
    const { tools, capabilities, found } = listed;
    const savedAt = this.#options.clock.now();
    return { tools, capabilities, found, identity, origin: before.keys.pin, savedAt };
  }

  #putBack(each: PlannedServer): void {
    const { entry } = each;
    if (each.kind === "kept") {
      entry.reconfigure(each.definition);
      this.#catalog.add(entry.definition);
      const listed = this.#listed.get(entry);
      if (each.isPinnedAnew && listed !== undefined) {
        const { instructions, cachedAt } = listed;
        this.#options.guard.check(entry.name, listed, instructions, cachedAt);
      }
      return this.#offer(entry);
    }
    this.#catalog.add(entry.definition);
    this.#addKnownTools(entry, each.known.tools);
    const { predecessor, gone } = each;
    if (predecessor === undefined) return gone.resolve();
    const { state: previous } = predecessor.supervisor;
    this.events.emit("replaced", { before: predecessor, entry });
    void this.#close(predecessor).finally(() => gone.resolve());
    this.events.emit("state", { entry, state: entry.supervisor.state, previous });
  }

  /** Removes a shared server from this board until it is released. It keeps running for others. */
  withhold(name: string): void {
    const entry = this.#shared(name);
    if (entry === undefined) return;
    this.#withheld.add(name);
    this.#emitTools(name, { removed: this.#catalog.remove(name) });
    const { state } = entry.supervisor;
    this.events.emit("state", { entry, state: DISABLED, previous: state });
  }

  release(name: string): void {
    if (!this.#withheld.delete(name)) return;
    this.#updateShared(name);
    const entry = this.#shared(name);
    if (entry === undefined) return;
    const { state } = entry.supervisor;
    this.events.emit("state", { entry, state, previous: DISABLED });
  }

  /**
   * Starts its own servers, as `mode` and their definitions say. Waits for those whose tools are not known, until
   * their first attempt has ended or `wait` milliseconds have passed. Default: each server's own `timeout`.
   */
  async start(mode: BoardOptions["start"], wait: number | undefined): Promise<void> {
    await Promise.all(this.own().map((entry) => this.startOne(entry, mode, wait)));
  }

  /** Starts those that nobody has started yet, or that were stopped for being idle. Waits for none of them. */
  startIdle(mode: BoardOptions["start"]): void {
    const idle = this.own().filter(({ supervisor }) => supervisor.state.kind === "idle");
    for (const entry of idle) this.inBackground(this.startOne(entry, mode, 0));
  }

  async startOne(
    entry: ServerEntry,
    mode: BoardOptions["start"],
    wait: number | undefined,
  ): Promise<void> {
    const { clock } = this.#options;
    const reason = entry.startReason(mode, clock.now());
    if (reason === undefined) return;
    const { supervisor } = entry;
    // A server that the gateway has given up, or waits with, is left to the gateway.
    if (entry.inGateway && supervisor.state.kind !== "idle") return;
    const onlyToList = reason === "to-be-known";
    if (!entry.isKnown && wait === undefined) return supervisor.attempt(onlyToList);
    const start = supervisor.start(onlyToList);
    if (!entry.isKnown) await within(clock, wait ?? 0, start);
  }

  /** `close` waits for the task, which must not reject. */
  inBackground(task: Promise<void>): void {
    this.#background.add(task);
    void task.finally(() => this.#background.delete(task));
  }

  /** Resolves when no process of its own servers is left. Shared servers leave this board at once. */
  async close(): Promise<void> {
    const shared = this.shared();
    for (const off of this.#offBase.splice(0)) off();
    for (const { name } of shared) this.#catalog.remove(name);
    await Promise.all(this.own().map((entry) => entry.close()));
    await Promise.all([...this.#background, this.#options.earlier?.flush()]);
    this.events.clear();
  }

  #create(definition: ServerDefinition, cwd: string, known: RememberedServer = {}): ServerEntry {
    const entry = this.#make(definition, cwd, known, this.#options.agent);
    // A server that replaces another keeps its place: prompt caches depend on the order of tools.
    this.#own.set(definition.name, entry);
    this.#catalog.add(definition);
    return entry;
  }

  #make(
    definition: ServerDefinition,
    cwd: string,
    known: RememberedServer,
    agent: AgentConfig,
    after?: Promise<void>,
  ): ServerEntry {
    const follow = this.#earlierOf(definition)?.followStarts(definition, cwd, (task) =>
      this.inBackground(task),
    );
    const context: CreateServerContext = {
      ...this.#options,
      agent,
      onState: (state, previous) => {
        follow?.(state, previous);
        // A removed server is not reported: another server may have its name by now.
        if (this.isOwn(entry)) this.events.emit("state", { entry, state, previous });
      },
      onTools: (list, identity) => this.#onTools(entry, list, identity),
      onLog: (message) => {
        if (this.isOwn(entry)) this.events.emit("log", { server: entry.name, ...message });
      },
    };
    const entry = createServer(definition, cwd, known, context, after);
    return entry;
  }

  /** Its tools, as far as the gateway or an earlier run knows them. */
  #addKnownTools(entry: ServerEntry, cached: CachedTools | undefined): void {
    const { state, told } = entry.supervisor;
    if (told?.tools !== undefined && told.status.identity !== undefined) {
      const list = { tools: told.tools, diagnostics: [], capabilities: {} };
      this.#onTools(entry, list, told.status.identity);
    } else this.#addCachedTools(entry, cached);
    // It was ready before the board knew of it.
    if (entry.inGateway && state.kind === "ready") {
      this.events.emit("state", { entry, state, previous: { kind: "idle" } });
    }
  }

  /** Cached tools are checked against the pins like any other list, but never become the pins of a server. */
  #addCachedTools(entry: ServerEntry, cached: CachedTools | undefined): void {
    if (cached === undefined) return;
    const { guard } = this.#options;
    const { tools, found, capabilities, identity, savedAt: cachedAt } = cached;
    const { instructions } = identity;
    guard.check(entry.name, cached, instructions, cachedAt);
    const listed: Listed = {
      tools,
      capabilities,
      diagnostics: [],
      found,
      instructions,
      cachedAt,
    };
    this.#listed.set(entry, listed);
    this.#offer(entry);
  }

  #onTools(entry: ServerEntry, list: ToolList, identity: ServerIdentity): void {
    const { guard, clock } = this.#options;
    const { name } = entry;
    const earlier = this.#earlierOf(entry.definition);
    // A removed server may still complete its start.
    if (!this.isOwn(entry)) return;
    if (entry.inGateway) {
      // The gateway has inspected them, and compared them with the pins.
      const { instructions } = identity;
      this.#listed.set(entry, { ...list, found: [], instructions });
      entry.toolsListed(identity);
      return this.#offer(entry);
    }
    const before = this.#listed.get(entry);
    if (list.hasFailed) {
      // What is known from earlier stays, and nothing is saved or compared with the pins.
      const known = before ?? { ...list, found: [], instructions: identity.instructions };
      this.#listed.set(entry, { ...known, diagnostics: list.diagnostics });
      if (earlier !== undefined) this.inBackground(earlier.doubt(entry.keys.hash));
      return this.#offer(entry);
    }
    const { tools, found } = guard.inspect(name, list.tools, before?.found);
    // Comes before the catalog has the tools, so that nobody can call a changed tool before it is checked.
    const { instructions } = identity;
    guard.check(name, { ...list, tools }, instructions);
    this.#listed.set(entry, { ...list, tools, found, instructions });
    const { capabilities } = list;
    // Writing is most of what a start costs that changes nothing.
    const isSaved =
      before?.cachedAt !== undefined &&
      entry.isCacheFresh(clock.now()) &&
      canonicalJson([entry.identity, before.capabilities, before.tools, before.found]) ===
        canonicalJson([identity, capabilities, tools, found]);
    entry.toolsListed(identity);
    if (earlier !== undefined && !isSaved) {
      const origin = entry.keys.pin;
      const saved = { origin, identity, capabilities, tools, found };
      earlier.saveTools(entry.keys.hash, saved);
    }
    this.#offer(entry);
  }

  /** Puts what the server has listed into the catalog, as far as the pins allow it. */
  #offer(entry: ServerEntry): void {
    const listed = this.#listed.get(entry);
    if (listed === undefined) return;
    const { guard, logger } = this.#options;
    const { name } = entry;
    const offer = entry.inGateway
      ? { tools: listed.tools, diagnostics: [] }
      : guard.offer(name, listed.tools);
    const change = this.#catalog.set(name, offer.tools);
    const diagnostics = [...listed.diagnostics, ...change.diagnostics, ...offer.diagnostics];
    entry.diagnose(diagnostics, logger, listed.found);
    this.#emitTools(name, change);
  }

  /** Keeps for the next run what an own server has listed besides its tools. */
  saveContents(entry: ServerEntry, listed: ListedContents): void {
    if (!this.isOwn(entry) || entry.inGateway) return;
    this.#earlierOf(entry.definition)?.saveContents(entry.keys.hash, listed);
  }

  readonly #offerAgain = (entry: ServerEntry): void => {
    if (this.isOwn(entry)) this.#offer(entry);
  };

  #emitTools(server: string, change: Partial<CatalogChange>): void {
    const { added = [], removed = [], changed = [] } = change;
    this.events.emit("tools", { server, added, removed, changed });
  }

  #close(entry: ServerEntry): Promise<void> {
    this.events.emit("removed", entry);
    const ended = entry.close();
    // The caller may not wait for it, so `close` does.
    this.inBackground(ended);
    return ended;
  }

  #followBase(): void {
    const base = this.#base;
    if (base === undefined) return;
    this.#offBase = [
      base.events.on("tools", ({ server }) => this.#updateShared(server)),
      base.events.on("state", (event) => {
        const { entry } = event;
        if (this.#shared(entry.name) === entry && this.reaches(entry)) {
          this.events.emit("state", event);
        }
      }),
      base.events.on("log", (event) => {
        const entry = this.#shared(event.server);
        if (entry !== undefined && this.reaches(entry)) this.events.emit("log", event);
      }),
    ];
    for (const { name } of base.own()) this.#updateShared(name);
  }

  /** Updates the catalog with the base's server of that name, or removes its tools if it is no longer shared. */
  #updateShared(name: string): void {
    if (this.#own.has(name)) return;
    const entry = this.#shared(name);
    // The base may have replaced the server by one with another prefix.
    const isSame = entry !== undefined && this.#lastShared.get(name)?.entry === entry;
    const removed = isSame ? [] : this.#catalog.remove(name);
    if (removed.length > 0) this.#emitTools(name, { removed });
    if (entry === undefined) {
      this.#lastShared.delete(name);
      return;
    }
    this.#catalog.add(entry.definition);
    const tools = this.#base?.toolsOf(name).map(({ tool }) => tool) ?? [];
    const change = this.#catalog.set(name, tools);
    this.#lastShared.set(name, { entry, diagnostics: change.diagnostics });
    for (const { message, server, subject } of change.diagnostics) {
      this.#options.logger.warn(message, { server, tool: subject });
    }
    this.#emitTools(name, change);
  }

  #shared(name: string): ServerEntry | undefined {
    if (this.#offBase.length === 0 || this.#own.has(name) || this.#withheld.has(name)) return;
    const entry = this.#base?.get(name);
    if (entry === undefined || !isShareable(entry)) return undefined;
    // The base's connection is signed in as the agent's own user, so nobody else may share it.
    return this.#options.person !== undefined && isPerUser(entry.definition) ? undefined : entry;
  }
}

function kindOf(planned: PlannedServer): "kept" | "changed" | "added" {
  if (planned.kind === "kept") return "kept";
  return planned.predecessor === undefined ? "added" : "changed";
}

/** Whether the server runs, or is about to start by itself. */
function isUp(entry: ServerEntry | undefined): boolean {
  return ["starting", "ready", "backoff"].includes(entry?.supervisor.state.kind ?? "");
}

function guardedHere(entries: readonly ServerEntry[]): ServerEntry[] {
  return entries.filter(({ inGateway }) => !inGateway);
}

function isShareable({ definition }: ServerEntry): boolean {
  return definition.scope !== "session";
}
