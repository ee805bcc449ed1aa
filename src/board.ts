// The composition root: definitions → supervisors → catalog → tools. The file to read first.

import { collectNative } from "./bridge/native.ts";
import { Calls } from "./board/calls.ts";
import { BoardGuard } from "./board/guard.ts";
import { discoverTool, type LookupContext, unknownTool } from "./board/lookup.ts";
import { createOffering, type Offering } from "./board/offering.ts";
import { learnSecrets, plug } from "./board/plug.ts";
import { resourceTools } from "./board/resource-tools.ts";
import { BoardRoots } from "./board/roots.ts";
import { diagnose, signInOf, type Slot, slotNamed, statusOf } from "./board/slot.ts";
import { startReason } from "./board/start-reason.ts";
import { BoardTools } from "./board/tools.ts";
import { type CachedTools, CatalogCache, definitionHash } from "./catalog/catalog-cache.ts";
import { type BoardConfig, parseAgentConfig } from "./config/parse.ts";
import { formatProblem } from "./config/report.ts";
import type { AgentConfig } from "./model/agent-config.ts";
import type { Board, BoardCallOptions } from "./model/board.ts";
import type { BoardOptions } from "./model/board-options.ts";
import type { ServerIdentity, ToolList } from "./model/connection.ts";
import type { BoardEvents } from "./model/events.ts";
import type { JsonObject } from "./model/json.ts";
import { type Logger, silentLogger } from "./model/logger.ts";
import type { ServerDefinition } from "./model/server-definition.ts";
import type { ServerStatus } from "./model/server-status.ts";
import type { CallOutcome, Tool } from "./model/tool.ts";
import { redactingLogger } from "./secrets/redacting-logger.ts";
import { Redactor } from "./secrets/redactor.ts";
import { Turns } from "./server/requests/turns.ts";
import { type Clock, systemClock, within } from "./util/clock.ts";
import { Emitter } from "./util/emitter.ts";

/** A start that runs into its timeout is waited for a little longer, so that its end can be told. */
const TELLING_MS = 500;

/** How long a closing board waits for what its calls came to. */
const LAST_WORDS_MS = 1000;

/**
 * Opens a board over the given servers. Resolves when every server that starts with it is known, has
 * failed its first attempt or is past `startupWait`. A bad server never rejects it; a bad configuration
 * does, with code CONFIG_INVALID and before anything has started.
 */
export async function openBoard(
  config: BoardConfig | AgentConfig,
  options: BoardOptions = {},
): Promise<Board> {
  const agent = isAgentConfig(config) ? config : parseAgentConfig(config);
  const board = new LiveBoard(agent, options);
  await board.open();
  return board;
}

function isAgentConfig(config: BoardConfig | AgentConfig): config is AgentConfig {
  return Array.isArray(config.servers);
}

class LiveBoard implements Board {
  readonly resources: Offering["resources"];
  readonly prompts: Offering["prompts"];
  readonly #agent: AgentConfig;
  readonly #options: BoardOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #cache: CatalogCache | undefined;
  readonly #slots = new Map<string, Slot>();
  readonly #redactor = new Redactor();
  readonly #roots: BoardRoots;
  readonly #turns = new Turns();
  readonly #guard: BoardGuard;
  readonly #events: Emitter<BoardEvents>;
  readonly #calls: Calls;
  readonly #tools: BoardTools;
  readonly #lookup: LookupContext;
  readonly #offers: Offering["offers"];
  /** What `close` waits for besides the servers. None of them rejects. */
  readonly #background = new Set<Promise<void>>();
  readonly #onAbort = (): void => void this.close();
  #announce = false;
  #closing: Promise<void> | undefined;

  constructor(agent: AgentConfig, options: BoardOptions) {
    this.#agent = agent;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#logger = redactingLogger(options.logger ?? silentLogger, this.#redactor);
    const { workspaceDir = agent.workspace } = options;
    const hasTools = options.resourceTools ?? agent.resourceTools ?? false;
    const own = [
      ...(options.native ?? []),
      ...(hasTools ? resourceTools(() => this.resources) : []),
    ];
    const native = collectNative(own, workspaceDir ? { workspaceDir } : {});
    const { roots = workspaceDir === undefined ? undefined : [workspaceDir] } = options;
    this.#roots = new BoardRoots(roots, workspaceDir ?? process.cwd());
    this.#cache = options.stateDir === undefined ? undefined : new CatalogCache(options.stateDir);
    this.#events = new Emitter((error) =>
      this.#logger.error("a listener threw", { reason: String(error) }),
    );
    this.#calls = new Calls(this.#clock, this.#logger, this.#events);
    const common = { clock: this.#clock, logger: this.#logger, redactor: this.#redactor };
    const learn = (): void =>
      learnSecrets(agent.servers, options.env ?? process.env, this.#redactor);
    this.#guard = new BoardGuard({ agent, options, ...common, learnSecrets: learn });
    this.#tools = new BoardTools({
      agent,
      native,
      slots: this.#slots,
      calls: this.#calls,
      guard: this.#guard,
      execute: (name, params, call) => this.call(name, params, call),
    });
    this.#lookup = { catalog: this.#tools.catalog, slots: this.#slots, clock: this.#clock };
    const offering = { ...common, slots: this.#slots, events: this.#events, guard: this.#guard };
    ({
      offers: this.#offers,
      resources: this.resources,
      prompts: this.prompts,
    } = createOffering({ ...offering, hasTools }));
    const { onToolsChanged } = options;
    if (onToolsChanged) this.on("tools", () => onToolsChanged(this.tools()));
  }

  async open(): Promise<void> {
    for (const warning of this.#agent.warnings) {
      this.#logger.warn(formatProblem(warning));
    }
    const { signal } = this.#options;
    signal?.throwIfAborted();
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    const cwd = this.#options.workspaceDir ?? this.#agent.workspace ?? process.cwd();
    const cached = await Promise.all(
      this.#agent.servers.map(async (each) => this.#cache?.read(definitionHash(each, cwd))),
    );
    this.#agent.servers.forEach((each, index) => this.#plug(each, cwd, cached[index]));
    await this.#guard.open(this.#slots.values());
    this.#agent.servers.forEach(({ name }, index) => this.#recall(name, cached[index]));
    const wait = this.#agent.startupWait;
    const starts = [...this.#slots.values()].flatMap((slot) => {
      const reason = startReason(slot, this.#options.start, this.#clock.now());
      if (reason === undefined) return [];
      const attempt = slot.supervisor.start(reason === "to-be-known");
      return slot.knowledge === "none"
        ? [within(this.#clock, wait ?? slot.definition.timeout + TELLING_MS, attempt)]
        : [];
    });
    this.#inBackground(
      import("./server/reap-once.ts").then(({ reapOnce }) => reapOnce(this.#clock, this.#logger)),
    );
    await Promise.all(starts);
    this.#announce = true;
    if (!signal?.aborted) return;
    await this.close();
    signal.throwIfAborted();
  }

  tools(): Tool[] {
    return this.#tools.list();
  }

  async call(
    name: string,
    args: JsonObject = {},
    options: BoardCallOptions = {},
  ): Promise<CallOutcome> {
    const known = this.#tools.find(name);
    if (known !== undefined) return this.#calls.run(known, args, options);
    const found = await discoverTool(name, this.#lookup, options.signal);
    if (found !== undefined) return this.#calls.run(this.#tools.at(found), args, options);
    return unknownTool(name, this.#tools.names(), this.#lookup);
  }

  status(): ServerStatus[] {
    return [...this.#slots.values()].map((slot) => this.#statusOf(slot));
  }

  on<Name extends keyof BoardEvents>(
    event: Name,
    listener: (event: BoardEvents[Name]) => void,
  ): () => void {
    return this.#events.on(event, listener);
  }

  async restart(server: string): Promise<ServerStatus> {
    const slot = slotNamed(server, this.#slots);
    await slot.supervisor.restart();
    return this.#statusOf(slot);
  }

  async signIn(server: string): Promise<ServerStatus> {
    const slot = slotNamed(server, this.#slots);
    await signInOf(slot).signIn();
    await slot.supervisor.restart();
    return this.#statusOf(slot);
  }

  async signOut(server: string): Promise<"none" | "forgotten" | "revoked"> {
    const slot = slotNamed(server, this.#slots);
    const outcome = await signInOf(slot).signOut();
    if (slot.supervisor.live !== undefined) await slot.supervisor.restart();
    return outcome;
  }

  async refresh(): Promise<ServerStatus[]> {
    await Promise.all([...this.#slots.values()].map((slot) => slot.supervisor.refresh()));
    return this.status();
  }

  setRoots(roots: readonly string[]): void {
    this.#roots.set(roots);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#offers.close();
    await Promise.all(
      [...this.#slots.values()].map(async ({ supervisor, signIn }) => {
        await supervisor.close();
        await signIn?.close();
      }),
    );
    await Promise.all(this.#background);
    // Without their servers they end at once; one that waits for a person is not waited for.
    await within(this.#clock, LAST_WORDS_MS, this.#calls.idle());
    await this.#guard.close();
    this.#events.clear();
  }

  #plug(definition: ServerDefinition, cwd: string, cached: CachedTools | undefined): void {
    const { name } = definition;
    const slot = plug(definition, cwd, cached, {
      agent: this.#agent,
      options: this.#options,
      clock: this.#clock,
      logger: this.#logger,
      redactor: this.#redactor,
      roots: this.#roots,
      turns: this.#turns,
      onState: (state, previous) => {
        if (state.kind === "ready") this.#offers.connected(name);
        this.#events.emit("server", this.#redactor.value({ server: name, state, previous }));
      },
      onTools: (list, identity) => this.#learn(name, list, identity),
    });
    this.#slots.set(name, slot);
  }

  /** What an earlier run has left is held against the pins like any other list. */
  #recall(server: string, cached: CachedTools | undefined): void {
    if (cached === undefined) return;
    const { tools, identity } = cached;
    const changes = this.#guard.check(server, tools, identity.instructions);
    diagnose(slotNamed(server, this.#slots), changes, this.#logger);
    this.#tools.set(server, tools);
  }

  #learn(server: string, list: ToolList, identity: ServerIdentity): void {
    const slot = this.#slots.get(server);
    if (slot === undefined) return;
    // Before they can be called: what has changed may have to be refused.
    const pinned = this.#guard.check(server, list.tools, identity.instructions);
    const change = this.#tools.set(server, list.tools);
    slot.knowledge = "live";
    slot.identity = identity;
    diagnose(slot, [...list.diagnostics, ...change.diagnostics, ...pinned], this.#logger);
    this.#remember(slot, list, identity);
    const { added, removed, changed } = change;
    if (!this.#announce || added.length + removed.length + changed.length === 0) return;
    this.#events.emit("tools", { added, removed, changed });
  }

  /** Behind the caller's back: a cache that cannot be written costs time at the next start, no more. */
  #remember(slot: Slot, list: ToolList, identity: ServerIdentity): void {
    if (this.#cache === undefined) return;
    const entry = { savedAt: this.#clock.now(), identity, tools: list.tools };
    this.#inBackground(
      this.#cache
        .write(slot.hash, entry)
        .catch((error: unknown) =>
          this.#logger.warn("the catalog could not be saved", { reason: String(error) }),
        ),
    );
  }

  #inBackground(task: Promise<void>): void {
    this.#background.add(task);
    void task.finally(() => this.#background.delete(task));
  }

  #statusOf(slot: Slot): ServerStatus {
    const tools = this.#tools.count(slot.definition.name);
    return this.#redactor.value(statusOf(slot, tools, this.#offers.diagnostics(slot)));
  }
}
