// The servers of a board and the catalog of their tools, kept in step. A session's set is laid over the
// agent's: it has servers of its own, and shares those of the agent's that none of its own shadows and that
// it has not disabled for itself.

import type { Catalog, CatalogChange, CatalogEntry } from "../catalog/catalog.ts";
import { type CachedTools, type CatalogCache, definitionHash } from "../catalog/catalog-cache.ts";
import type { BoardOptions } from "../model/board-options.ts";
import type { ServerIdentity, ToolList } from "../model/connection.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { PlugboardError } from "../model/errors.ts";
import type { ToolsEvent } from "../model/events.ts";
import type { ToolSubject } from "../model/guard.ts";
import type { ServerDefinition } from "../model/server-definition.ts";
import type { ServerState } from "../model/server-state.ts";
import { within } from "../util/clock.ts";
import { closest } from "../util/closest.ts";
import { Emitter } from "../util/emitter.ts";
import { createServer, type CreateServerContext } from "./create-server.ts";
import type { BoardGuard } from "./guard.ts";
import type { ServerEntry } from "./server-entry.ts";

/** A start that runs into its timeout is waited for a little longer, so that we can report how it ended. */
const REPORT_MS = 500;

const DISABLED: ServerState = { kind: "disabled" };

export interface ServerSetOptions extends Omit<CreateServerContext, "onState" | "onTools"> {
  catalog: Catalog;
  guard: Pick<BoardGuard, "open" | "check">;
  /** Where lists of tools are remembered between runs. */
  cache: CatalogCache | undefined;
  /** The agent's set, for a session's. */
  base?: ServerSet;
}

export interface ServerSetEvents {
  /** A server's tools have been listed, or are gone: also where that changes nothing. */
  tools: ToolsEvent & { server: string };
  state: { entry: ServerEntry; state: ServerState; previous: ServerState };
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
  #offBase: (() => void)[] = [];
  /** What `close` waits for besides the servers. None of them rejects. */
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

  /** Throws UNKNOWN_SERVER, with the name that may be meant. Finds disabled shared servers too. */
  named(name: string): ServerEntry {
    const entry = this.get(name) ?? (this.#withheld.has(name) ? this.#base?.get(name) : undefined);
    if (entry !== undefined) return entry;
    const meant = closest(name, [...this.#names(), ...this.#withheld]);
    throw new PlugboardError("UNKNOWN_SERVER", `no server is named '${name}'`, {
      server: name,
      hint: meant === undefined ? undefined : `did you mean '${meant}'?`,
    });
  }

  own(): ServerEntry[] {
    return [...this.#own.values()];
  }

  isOwn(entry: ServerEntry): boolean {
    return this.#own.get(entry.name) === entry;
  }

  /**
   * In the order in which a URI or a prompt that several servers have is looked for: a session's own servers
   * come first, so that nothing of a session is noted on a shared server.
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

  /** Whether the subject's server is shared with the sessions over this set. Judged by the subject alone. */
  isSharedWithSessions({ source, origin }: ToolSubject): boolean {
    if (source.kind !== "mcp" || origin === "session") return false;
    const entry = this.#own.get(source.server);
    return entry !== undefined && isShareable(entry);
  }

  /** Shared servers' tools in the base's order, then those of its own servers. */
  tools(): CatalogEntry[] {
    return this.#catalog.entries(this.#names());
  }

  toolsOf(server: string): CatalogEntry[] {
    return this.#catalog.entries([server]);
  }

  /** By public name, or by the canonical `server/tool`. */
  findTool(name: string): CatalogEntry | undefined {
    return this.#catalog.find(name);
  }

  diagnostics(entry: ServerEntry): readonly Diagnostic[] {
    const shared = this.#lastShared.get(entry.name);
    return shared?.entry === entry ? shared.diagnostics : [];
  }

  /** Adds the board's first servers, with the tools that earlier runs have cached. Nothing starts. */
  async open(definitions: readonly ServerDefinition[], cwd: string): Promise<void> {
    const { cache, guard } = this.#options;
    const cached = await Promise.all(
      definitions.map(async (each) => cache?.read(definitionHash(each, cwd))),
    );
    const entries = definitions.map((each, index) => this.#create(each, cwd, cached[index]));
    this.#shareBase();
    await guard.open(entries);
    entries.forEach((entry, index) => this.#recall(entry, cached[index]));
  }

  /**
   * Adds a server; it takes the place of one of its own of that name, or shadows one of the base's. Nothing
   * starts. `replaced` resolves when nothing of the one before is left.
   */
  async add(
    definition: ServerDefinition,
    cwd: string,
  ): Promise<{ entry: ServerEntry; replaced: Promise<void> | undefined }> {
    const before = this.#own.get(definition.name);
    const removed = this.#catalog.remove(definition.name);
    const entry = this.#create(definition, cwd);
    // Once it is no longer on the board, so that its stop is not reported as the new server's.
    const replaced = before && this.#end(before);
    this.#changed(definition.name, { removed });
    await this.#options.guard.open([entry]);
    return { entry, replaced };
  }

  /** Resolves when nothing of the server is left. What it shadowed is back at once. */
  async remove(name: string): Promise<void> {
    const entry = this.#own.get(name);
    if (entry === undefined) return;
    this.#own.delete(name);
    this.#changed(name, { removed: this.#catalog.remove(name) });
    const ended = this.#end(entry);
    this.#share(name);
    await ended;
  }

  /** Takes a shared server off this board, until it is released; it goes on for others. */
  withhold(name: string): void {
    const entry = this.#shared(name);
    if (entry === undefined) return;
    this.#withheld.add(name);
    this.#changed(name, { removed: this.#catalog.remove(name) });
    const { state } = entry.supervisor;
    this.events.emit("state", { entry, state: DISABLED, previous: state });
  }

  release(name: string): void {
    if (!this.#withheld.delete(name)) return;
    this.#share(name);
    const entry = this.#shared(name);
    if (entry === undefined) return;
    const { state } = entry.supervisor;
    this.events.emit("state", { entry, state, previous: DISABLED });
  }

  /**
   * Starts its own servers that have a reason to. Resolves when each whose tools were not known has ended its
   * attempt, or `wait` milliseconds have passed; without it, the server's own `timeout`.
   */
  async start(mode: BoardOptions["start"], wait: number | undefined): Promise<void> {
    await Promise.all(this.own().map((entry) => this.startOne(entry, mode, wait)));
  }

  async startOne(
    entry: ServerEntry,
    mode: BoardOptions["start"],
    wait: number | undefined,
  ): Promise<void> {
    const { clock } = this.#options;
    const reason = entry.startReason(mode, clock.now());
    if (reason === undefined) return;
    const attempt = entry.supervisor.start(reason === "to-be-known");
    if (entry.isKnown) return;
    await within(clock, wait ?? entry.definition.timeout + REPORT_MS, attempt);
  }

  /** `close` waits for the task, which must not reject. */
  inBackground(task: Promise<void>): void {
    this.#background.add(task);
    void task.finally(() => this.#background.delete(task));
  }

  /** Resolves when nothing of its own servers is left. Shared ones are off this board at once. */
  async close(): Promise<void> {
    const shared = this.shared();
    for (const off of this.#offBase.splice(0)) off();
    for (const { name } of shared) this.#catalog.remove(name);
    await Promise.all(this.own().map((entry) => entry.close()));
    await Promise.all(this.#background);
    this.events.clear();
  }

  #create(definition: ServerDefinition, cwd: string, cached?: CachedTools): ServerEntry {
    const entry = createServer(definition, cwd, cached, {
      ...this.#options,
      onState: (state, previous) => {
        // A removed server is no longer ours to report, and another may have its name by now.
        if (this.isOwn(entry)) this.events.emit("state", { entry, state, previous });
      },
      onTools: (list, identity) => this.#learn(entry, list, identity),
    });
    // A replaced server keeps its place: the order of tools is part of a prompt cache's key.
    this.#own.set(definition.name, entry);
    this.#catalog.add(definition);
    return entry;
  }

  /** What an earlier run has cached is held against the pins like any other list. */
  #recall(entry: ServerEntry, cached: CachedTools | undefined): void {
    if (cached === undefined) return;
    const { guard, logger } = this.#options;
    const { tools, identity } = cached;
    entry.diagnose(guard.check(entry.name, tools, identity.instructions), logger);
    this.#changed(entry.name, this.#catalog.set(entry.name, tools));
  }

  #learn(entry: ServerEntry, list: ToolList, identity: ServerIdentity): void {
    const { guard, logger } = this.#options;
    const { name } = entry;
    // A removed server may still complete its start.
    if (!this.isOwn(entry)) return;
    // Before its tools can be called: a changed one may have to be refused.
    const pinned = guard.check(name, list.tools, identity.instructions);
    const change = this.#catalog.set(name, list.tools);
    entry.learnt(identity);
    entry.diagnose([...list.diagnostics, ...change.diagnostics, ...pinned], logger);
    this.#remember(entry, list, identity);
    this.#changed(name, change);
  }

  /** In the background: a cache that cannot be written only costs time at the next start. */
  #remember(entry: ServerEntry, list: ToolList, identity: ServerIdentity): void {
    const { cache, clock, logger } = this.#options;
    if (cache === undefined) return;
    const cached = { savedAt: clock.now(), identity, tools: list.tools };
    this.inBackground(
      cache
        .write(entry.hash, cached)
        .catch((error: unknown) =>
          logger.warn("the catalog could not be saved", { reason: String(error) }),
        ),
    );
  }

  #changed(server: string, change: Partial<CatalogChange>): void {
    const { added = [], removed = [], changed = [] } = change;
    this.events.emit("tools", { server, added, removed, changed });
  }

  #end(entry: ServerEntry): Promise<void> {
    this.events.emit("removed", entry);
    const ended = entry.close();
    // The caller need not wait, but closing the board must.
    this.inBackground(ended);
    return ended;
  }

  #shareBase(): void {
    const base = this.#base;
    if (base === undefined) return;
    this.#offBase = [
      base.events.on("tools", ({ server }) => this.#share(server)),
      base.events.on("state", (event) => {
        if (this.#shared(event.entry.name) === event.entry) this.events.emit("state", event);
      }),
    ];
    for (const { name } of base.own()) this.#share(name);
  }

  /** Brings the catalog in step with what the base has by that name. */
  #share(name: string): void {
    if (this.#own.has(name)) return;
    const entry = this.#shared(name);
    // The base may have replaced it by one with another prefix.
    const isSame = entry !== undefined && this.#lastShared.get(name)?.entry === entry;
    const removed = isSame ? [] : this.#catalog.remove(name);
    if (removed.length > 0) this.#changed(name, { removed });
    if (entry === undefined) return;
    this.#catalog.add(entry.definition);
    const tools = this.#base?.toolsOf(name).map(({ tool }) => tool) ?? [];
    const change = this.#catalog.set(name, tools);
    this.#lastShared.set(name, { entry, diagnostics: change.diagnostics });
    for (const { message, server, subject } of change.diagnostics) {
      this.#options.logger.warn(message, { server, tool: subject });
    }
    this.#changed(name, change);
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
