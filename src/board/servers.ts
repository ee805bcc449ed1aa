// The servers that a board has plugged in by itself: starts them, learns their tools, says how they are and
// ends them.

import { type CachedTools, type CatalogCache, definitionHash } from "../catalog/catalog-cache.ts";
import type { BoardOptions } from "../model/board-options.ts";
import type { ServerIdentity, ToolList } from "../model/connection.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { BoardEvents } from "../model/events.ts";
import type { ServerDefinition } from "../model/server-definition.ts";
import type { ServerStatus } from "../model/server-status.ts";
import { within } from "../util/clock.ts";
import type { Emitter } from "../util/emitter.ts";
import type { BoardGuard } from "./guard.ts";
import type { ContentCaches } from "./content-caches.ts";
import { plug, type PlugContext } from "./plug.ts";
import { diagnose, type Slot, slotNamed, statusOf } from "./slot.ts";
import { startReason } from "./start-reason.ts";
import type { BoardTools } from "./tools.ts";

/** A start that runs into its timeout is waited for a little longer, so that its end can be told. */
const TELLING_MS = 500;

export interface BoardServersOptions extends Omit<PlugContext, "onState" | "onTools"> {
  /** Everything that can be used on the board; what is plugged in here is put there. */
  slots: Map<string, Slot>;
  events: Emitter<BoardEvents>;
  guard: BoardGuard;
  tools: BoardTools;
  contents: ContentCaches;
  /** Where lists of tools are remembered between runs. */
  cache: CatalogCache | undefined;
}

export class BoardServers {
  /** Until the board is open, what is learnt is no news. */
  announces = false;
  readonly #options: BoardServersOptions;
  readonly #own = new Map<string, Slot>();
  readonly #listeners = new Set<(server: string) => void>();
  /** What `close` waits for besides the servers. None of them rejects. */
  readonly #background = new Set<Promise<void>>();

  constructor(options: BoardServersOptions) {
    this.#options = options;
  }

  get own(): ReadonlyMap<string, Slot> {
    return this.#own;
  }

  /** Plugs them in, with what earlier runs have left of their tools. Nothing starts. */
  async open(definitions: readonly ServerDefinition[], cwd: string): Promise<void> {
    const { cache, guard } = this.#options;
    const cached = await Promise.all(
      definitions.map(async (each) => cache?.read(definitionHash(each, cwd))),
    );
    definitions.forEach((each, index) => this.plug(each, cwd, cached[index]));
    await guard.open(this.#own.values());
    definitions.forEach(({ name }, index) => this.#recall(name, cached[index]));
  }

  plug(definition: ServerDefinition, cwd: string, cached?: CachedTools): Slot {
    const { name } = definition;
    const { contents, events, redactor, slots } = this.#options;
    const slot = plug(definition, cwd, cached, {
      ...this.#options,
      onState: (state, previous) => {
        // One that has been taken off is no news, and another may have its name by now.
        if (this.#own.get(name) !== slot) return;
        if (state.kind === "ready") contents.connected(name);
        events.emit("server", redactor.value({ server: name, state, previous }));
      },
      onTools: (list, identity) => this.#learn(slot, list, identity),
    });
    this.#own.set(name, slot);
    slots.set(name, slot);
    return slot;
  }

  /**
   * Starts those that have a reason to. Resolves when each that was not known has ended its attempt, or
   * `wait` milliseconds have passed; without it, the server's own `timeout`.
   */
  async start(mode: BoardOptions["start"], wait: number | undefined): Promise<void> {
    await Promise.all([...this.#own.values()].map((slot) => this.startOne(slot, mode, wait)));
  }

  async startOne(slot: Slot, mode: BoardOptions["start"], wait: number | undefined): Promise<void> {
    const { clock } = this.#options;
    const reason = startReason(slot, mode, clock.now());
    if (reason === undefined) return;
    const attempt = slot.supervisor.start(reason === "to-be-known");
    if (slot.knowledge !== "none") return;
    await within(clock, wait ?? slot.definition.timeout + TELLING_MS, attempt);
  }

  /** Takes it off the board; resolves when nothing of it is left. */
  async unplug(server: string): Promise<void> {
    const slot = slotNamed(server, this.#own);
    this.#own.delete(server);
    this.#options.slots.delete(server);
    this.#options.contents.forget(slot);
    const gone = ended(slot);
    // Nobody may wait for it any more when the board is closed.
    this.inBackground(gone);
    await gone;
  }

  /** Of any on the board, whoever has plugged it in. `more` is what is odd about it there. */
  status(slot: Slot, more: readonly Diagnostic[] = []): ServerStatus {
    const { tools, contents, redactor } = this.#options;
    const count = tools.count(slot.definition.name);
    return redactor.value(statusOf(slot, count, [...contents.diagnostics(slot), ...more]));
  }

  /** Tells of every list that is learnt, news or not. */
  onLearnt(listener: (server: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  inBackground(task: Promise<void>): void {
    this.#background.add(task);
    void task.finally(() => this.#background.delete(task));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#own.values()].map(ended));
    await Promise.all(this.#background);
  }

  /** What an earlier run has left is held against the pins like any other list. */
  #recall(server: string, cached: CachedTools | undefined): void {
    if (cached === undefined) return;
    const { guard, tools: board, logger } = this.#options;
    const { tools, identity } = cached;
    const changes = guard.check(server, tools, identity.instructions);
    diagnose(slotNamed(server, this.#own), changes, logger);
    board.set(server, tools);
  }

  #learn(slot: Slot, list: ToolList, identity: ServerIdentity): void {
    const { guard, tools, logger, events } = this.#options;
    const { name } = slot.definition;
    // One that has been taken off may still end its start.
    if (this.#own.get(name) !== slot) return;
    // Before they can be called: what has changed may have to be refused.
    const pinned = guard.check(name, list.tools, identity.instructions);
    const change = tools.set(name, list.tools);
    slot.knowledge = "live";
    slot.identity = identity;
    diagnose(slot, [...list.diagnostics, ...change.diagnostics, ...pinned], logger);
    this.#remember(slot, list, identity);
    for (const listener of this.#listeners) listener(name);
    const { added, removed, changed } = change;
    if (!this.announces || added.length + removed.length + changed.length === 0) return;
    events.emit("tools", { added, removed, changed });
  }

  /** Behind the caller's back: a cache that cannot be written costs time at the next start, no more. */
  #remember(slot: Slot, list: ToolList, identity: ServerIdentity): void {
    const { cache, clock, logger } = this.#options;
    if (cache === undefined) return;
    const entry = { savedAt: clock.now(), identity, tools: list.tools };
    this.inBackground(
      cache
        .write(slot.hash, entry)
        .catch((error: unknown) =>
          logger.warn("the catalog could not be saved", { reason: String(error) }),
        ),
    );
  }
}

async function ended({ supervisor, signIn }: Slot): Promise<void> {
  await supervisor.close();
  await signIn?.close();
}
