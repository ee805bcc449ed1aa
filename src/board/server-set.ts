// The servers of a board, and the catalog of their tools. A session's set has servers of its own. It also has the
// agent's servers (the base's), except those that one of its own replaces or that the session has disabled.

import type { Catalog, CatalogChange, CatalogEntry } from "../catalog/catalog.ts";
import type { CachedTools } from "../catalog/catalog-cache.ts";
import type { BoardOptions } from "../model/board-options.ts";
import type { ServerIdentity, ToolList } from "../model/connection.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { unknownServer } from "../model/errors.ts";
import type { ToolsEvent } from "../model/events.ts";
import type { ToolSubject } from "../model/guard.ts";
import type { ServerDefinition } from "../model/server-definition.ts";
import type { ServerState } from "../model/server-state.ts";
import type { LoggedMessage } from "../server/log/server-log.ts";
import { within } from "../util/clock.ts";
import { Emitter } from "../util/emitter.ts";
import { advertisedTo, createServer, type CreateServerContext } from "./create-server.ts";
import type { EarlierRuns, RememberedServer } from "./earlier-runs.ts";
import type { BoardGuard } from "./guard.ts";
import type { ServerEntry } from "./server-entry.ts";

const DISABLED: ServerState = { kind: "disabled" };

export interface ServerSetOptions extends Omit<
  CreateServerContext,
  "onState" | "onTools" | "onLog"
> {
  catalog: Catalog;
  guard: Pick<BoardGuard, "open" | "inspect" | "check" | "offer">;
  /** Only for an agent's set, and only with a state directory. */
  earlier?: EarlierRuns;
  /** For a session's set: the agent's. */
  base?: ServerSet;
}

/** What a server has listed, without what must not reach anybody. */
interface Listed extends Pick<ToolList, "tools" | "diagnostics"> {
  /** What was found in the definitions. The guard has logged it. */
  found: Diagnostic[];
}

export interface ServerSetEvents {
  /** A server has listed its tools, or its tools are gone. Also emitted if that changes nothing. */
  tools: ToolsEvent & { server: string };
  state: { entry: ServerEntry; state: ServerState; previous: ServerState };
  log: LoggedMessage & { server: string };
  removed: ServerEntry;
}

export class ServerSet {
  readonly events: Emitter<ServerSetEvents>;
  readonly #options: ServerSetOptions;
  readonly #catalog: Catalog;
  readonly #base: ServerSet | undefined;
  readonly #own = new Map<string, ServerEntry>();
  /** Names of the base's servers that the session has disabled for itself. */
  readonly #withheld = new Set<string>();
  /** The base's servers as they were last shared, and why some of their tools are not on this board. */
  readonly #lastShared = new Map<string, { entry: ServerEntry; diagnostics: Diagnostic[] }>();
  /** What each server has listed, before the pins decide what of it is offered. */
  readonly #listed = new WeakMap<ServerEntry, Listed>();
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

  /** Throws UNKNOWN_SERVER with a similar name. */
  named(name: string): ServerEntry {
    const entry = this.get(name);
    if (entry === undefined) throw unknownServer(name, this.#names());
    return entry;
  }

  /** Also finds shared servers that the session has disabled: to enable them again, not to use them. */
  namedOrWithheld(name: string): ServerEntry {
    const entry = this.get(name) ?? this.withheld().find((each) => each.name === name);
    if (entry === undefined) throw unknownServer(name, [...this.#names(), ...this.#withheld]);
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
    return (this.#base?.own() ?? []).filter((entry) => this.isWithheld(entry));
  }

  isWithheld({ name }: ServerEntry): boolean {
    return this.#withheld.has(name) && !this.#own.has(name);
  }

  /** Whether sessions share the server of this tool. */
  isSharedWithSessions({ source, origin }: ToolSubject): boolean {
    if (source.kind !== "mcp" || origin === "session") return false;
    const entry = this.#own.get(source.server);
    return entry !== undefined && isShareable(entry);
  }

  /** The tools of shared servers in the base's order, then those of its own servers. */
  tools(): CatalogEntry[] {
    return this.#catalog.entries(this.#names());
  }

  toolsOf(server: string): CatalogEntry[] {
    return this.#catalog.entries([server]);
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
    const known = await Promise.all(definitions.map((each) => this.#readEarlier(each, cwd)));
    const entries = definitions.map((each, index) => this.#create(each, cwd, known[index]));
    this.#followBase();
    await this.#options.guard.open(entries, this.#offerAgain);
    entries.forEach((entry, index) => this.#addCachedTools(entry, known[index]?.tools));
  }

  async #readEarlier(definition: ServerDefinition, cwd: string): Promise<RememberedServer> {
    const { earlier } = this.#options;
    return earlier?.read(definition, cwd, advertisedTo(definition, this.#options)) ?? {};
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
    await this.#options.guard.open([entry], this.#offerAgain);
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
    await Promise.all(this.#background);
    this.events.clear();
  }

  #create(definition: ServerDefinition, cwd: string, known: RememberedServer = {}): ServerEntry {
    const { earlier } = this.#options;
    const entry = createServer(definition, cwd, known, {
      ...this.#options,
      onState: (state, previous) => {
        if (earlier !== undefined && previous.kind === "starting") {
          this.inBackground(earlier.saveStart(definition, cwd, state));
        }
        // A removed server is not reported: another server may have its name by now.
        if (this.isOwn(entry)) this.events.emit("state", { entry, state, previous });
      },
      onTools: (list, identity) => this.#onTools(entry, list, identity),
      onLog: (message) => {
        if (this.isOwn(entry)) this.events.emit("log", { server: entry.name, ...message });
      },
    });
    // A server that replaces another keeps its place: prompt caches depend on the order of tools.
    this.#own.set(definition.name, entry);
    this.#catalog.add(definition);
    return entry;
  }

  /** Cached tools are checked against the pins like any other list, but never become the pins of a server. */
  #addCachedTools(entry: ServerEntry, cached: CachedTools | undefined): void {
    if (cached === undefined) return;
    const { guard } = this.#options;
    // What is in the cache was searched before, unless an older version wrote it.
    const { tools, found } = cached.found
      ? { tools: cached.tools, found: cached.found }
      : guard.inspect(entry.name, cached.tools, []);
    guard.check(entry.name, { ...cached, tools }, cached.identity.instructions, "cache");
    this.#listed.set(entry, { tools, diagnostics: [], found });
    this.#offer(entry);
  }

  #onTools(entry: ServerEntry, list: ToolList, identity: ServerIdentity): void {
    const { guard, earlier } = this.#options;
    const { name } = entry;
    // A removed server may still complete its start.
    if (!this.isOwn(entry)) return;
    const { tools, found } = guard.inspect(name, list.tools, this.#listed.get(entry)?.found ?? []);
    // Comes before the catalog has the tools, so that nobody can call a changed tool before it is checked.
    guard.check(name, { ...list, tools }, identity.instructions);
    this.#listed.set(entry, { tools, diagnostics: list.diagnostics, found });
    entry.toolsListed(identity);
    const { capabilities } = list;
    if (earlier !== undefined) {
      this.inBackground(earlier.saveTools(entry.hash, { identity, capabilities, tools, found }));
    }
    this.#offer(entry);
  }

  /** Puts what the server has listed into the catalog, as far as the pins allow it. */
  #offer(entry: ServerEntry): void {
    const listed = this.#listed.get(entry);
    if (listed === undefined) return;
    const { guard, logger } = this.#options;
    const { name } = entry;
    const offer = guard.offer(name, listed.tools);
    const change = this.#catalog.set(name, offer.tools);
    const diagnostics = [...listed.diagnostics, ...change.diagnostics, ...offer.diagnostics];
    entry.diagnose(diagnostics, logger, listed.found);
    this.#emitTools(name, change);
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
        if (this.#shared(event.entry.name) === event.entry) this.events.emit("state", event);
      }),
      base.events.on("log", (event) => {
        if (this.#shared(event.server) !== undefined) this.events.emit("log", event);
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
    if (entry === undefined) return;
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
    return entry !== undefined && isShareable(entry) ? entry : undefined;
  }

  #names(): string[] {
    return [...this.shared().map(({ name }) => name), ...this.#own.keys()];
  }
}

function isShareable({ definition }: ServerEntry): boolean {
  return definition.scope !== "session";
}
