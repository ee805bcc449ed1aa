// Remembers how each server's tools were defined when they were first seen, and reports what has changed since. In
// the mode `block` it refuses calls of changed tools and keeps what is not approved out of what a model is offered.

import type { Diagnostic } from "../../types/diagnostic.ts";
import { cancelled } from "../../types/errors.ts";
import type { PinMode } from "../../types/guard-settings.ts";
import type { GuardedCall, StageFor } from "../../types/guard.ts";
import type { JsonObject } from "../../types/json.ts";
import { type Logger, silentLogger } from "../../types/logger.ts";
import type { LostPins, PinnedServer, ServerPins } from "../../types/pin.ts";
import {
  type Invalidation,
  type PinStore,
  type StoredPins,
  UNCHANGED,
} from "../../types/shared-state.ts";
import type { ToolDefinition } from "../../types/tool.ts";
import { untilAborted } from "../../../util/abort.ts";
import { type Clock, systemClock } from "../../../util/clock.ts";
import { compare, isFirstFor, observe, type PinChange, type Sighting, toSighting } from "./pin.ts";
import { lostReason, refusal, toDiagnostics, nameOnly } from "./report.ts";
import { reasonOf } from "../../../util/system-problem.ts";

export interface PinsOptions {
  store: PinStore;
  /** Says when others have approved or forgotten something. */
  changes?: Pick<Invalidation, "subscribe">;
  clock?: Clock;
  logger?: Logger;
}

export interface PinnedServerHooks {
  /** Asks the server for its tools again, and starts it if it does not run. Must not reject. */
  relist?: () => Promise<void>;
  /** Called when other tools of the server are offered than before, although it has not listed them again. */
  onOffer?: () => void;
}

/** One server whose pins are checked. */
interface Watch extends PinnedServerHooks {
  readonly id: PinnedServer;
  readonly mode: PinMode;
  pins: ServerPins | undefined;
  /** The store had these pins. If it has none later, the user has made it forget them. */
  isStored: boolean;
  /** With `block`: nobody can tell what has changed, so everything is refused. */
  lost: LostPins | undefined;
  sighting: Sighting | undefined;
  /** The sighting is from an earlier run. It is compared with the pins, but nothing is pinned for the first time by it. */
  isFromCache: boolean;
  blocked: ReadonlyMap<string, PinChange>;
  instructions: PinChange | undefined;
}

export class Pins {
  readonly #store: PinStore;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #watches = new Map<string, Watch>();
  readonly #changes: PinsOptions["changes"];
  #unsubscribe: (() => void) | undefined;
  #saving: Promise<void> = Promise.resolve();
  /** Those that have begun and not ended. */
  readonly #reads = new Set<Promise<unknown>>();
  #isClosed = false;
  #hasWarned = false;

  constructor({ store, changes, clock = systemClock, logger = silentLogger }: PinsOptions) {
    this.#store = store;
    this.#changes = changes;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Must be awaited before the server's tools are listed, from the cache or live. With `off`, nothing is kept. */
  async open(id: PinnedServer, mode: PinMode, hooks: PinnedServerHooks = {}): Promise<void> {
    (await this.prepare(id, mode, hooks))();
  }

  /**
   * `open` in two steps: the pins known so far apply until the returned function is called. A definition that takes the
   * place of its `predecessor` begins with the pins of that one: what it lists is compared, and not trusted as the
   * first sight of a server.
   */
  async prepare(
    id: PinnedServer,
    mode: PinMode,
    hooks: PinnedServerHooks = {},
    predecessor?: PinnedServer,
  ): Promise<() => void> {
    if (mode === "off") return () => this.#watches.delete(id.server);
    if (mode === "block") {
      this.#unsubscribe ??= this.#changes?.subscribe("pins", () => this.#lookAgain());
    }
    const reading = this.#readOrInherit(id, predecessor);
    this.#reads.add(reading);
    const stored = await reading.finally(() => this.#reads.delete(reading));
    const lost = stored.kind === "lost" ? stored.lost : undefined;
    if (lost !== undefined && mode === "warn") {
      // The next listing counts as the first one, which is trusted. The user must know that.
      const { server, file } = lost;
      const message = `${lostReason(lost)}; the tools the server has now are pinned instead`;
      this.#logger.warn(message, { server, file });
    }
    const watch: Watch = {
      ...hooks,
      id,
      mode,
      pins: stored.kind === "pinned" ? stored.pins : undefined,
      isStored: stored.kind === "pinned",
      lost: mode === "block" ? lost : undefined,
      sighting: undefined,
      isFromCache: false,
      blocked: new Map(),
      instructions: undefined,
    };
    return () => this.#watches.set(id.server, watch);
  }

  /** What is stored for the definition; for one that nobody has seen, what its predecessor had. */
  async #readOrInherit(
    id: PinnedServer,
    predecessor: PinnedServer | undefined,
  ): Promise<StoredPins> {
    const stored = await this.#store.read(id);
    if (stored.kind !== "none" || predecessor === undefined) return stored;
    // What the predecessor has listed last may not be saved yet.
    await this.#saving;
    const before = await this.#store.read(predecessor);
    if (before.kind !== "pinned") return before;
    const inherited = { ...before.pins, server: id.server, key: id.key };
    try {
      const pins = await this.#store.update(id, (now) => now ?? inherited);
      return { kind: "pinned", pins: pins ?? inherited };
    } catch (error) {
      this.#logger.warn("pins could not be saved", { server: id.server, reason: reasonOf(error) });
      return { kind: "pinned", pins: inherited };
    }
  }

  /**
   * Reports what differs from the pins. From now on that decides which calls are refused. New sightings are saved
   * in the background.
   */
  check(
    server: string,
    tools: readonly ToolDefinition[],
    instructions: string | undefined,
    /** What the host had advertised to the server. */
    capabilities: JsonObject = {},
    from: "server" | "cache" = "server",
  ): Diagnostic[] {
    const watch = this.#watches.get(server);
    if (watch === undefined) return [];
    watch.sighting = toSighting(tools, instructions, this.#clock.now(), capabilities);
    watch.isFromCache = from === "cache";
    if (watch.lost !== undefined) {
      // They may have been restored or forgotten since.
      void this.#save(watch);
      return this.report(server);
    }
    if (watch.pins === undefined) {
      // Its pins were forgotten. The list that is known may be the very one that the user does not want.
      if (watch.isFromCache) return [];
      this.#logger.info("seen for the first time: pinned", { server, tools: tools.length });
    } else if (isFirstFor(watch.pins, watch.sighting)) {
      const advertised = watch.sighting.capabilities;
      const message = "listed for these capabilities for the first time: what it adds is pinned";
      this.#logger.info(message, { server, advertised });
    }
    const seen = observe(watch.pins, watch.id, watch.sighting);
    const isNew = seen !== watch.pins;
    applyPins(watch, seen, watch.sighting);
    // What looks blocked may have been approved in another process.
    const isBlocked = watch.mode === "block" && offerOf(watch) !== NOTHING_BLOCKED;
    if (isNew || isBlocked) void this.#save(watch);
    return this.report(server);
  }

  /** What differs from the pins now. */
  report(server: string): Diagnostic[] {
    const watch = this.#watches.get(server);
    if (watch === undefined) return [];
    const { lost, mode } = watch;
    if (lost !== undefined) return toDiagnostics([{ kind: "lost", ...lost }], mode, true);
    const changes = [
      ...(watch.instructions ? [watch.instructions] : []),
      ...watch.blocked.values(),
    ];
    return toDiagnostics(changes, mode, this.#store.isPersistent);
  }

  /**
   * These tools of the server as a model may see them. With `block`, a changed tool has its approved definition,
   * and of a tool that was never approved nothing is left but its name.
   */
  offered(server: string, tools: readonly ToolDefinition[]): ToolDefinition[] {
    if (this.#watches.get(server)?.mode !== "block") return [...tools];
    return tools.map((tool) => {
      const change = this.#changeOf(server, tool.name);
      if (change === undefined || change.kind === "instructions") return tool;
      if (change.kind !== "changed") return nameOnly(change, tool.name);
      const { _meta, execution } = tool;
      return { ...change.before, ...(_meta && { _meta }), ...(execution && { execution }) };
    });
  }

  /** False for a tool of which `offered` leaves nothing but its name. */
  offers(server: string, tool: string): boolean {
    const kind = this.#changeOf(server, tool)?.kind;
    return kind !== "new" && kind !== "lost";
  }

  /** False while anything of the server is blocked. If true, `offers` is true for each of its tools. */
  offersAll(server: string): boolean {
    const watch = this.#watches.get(server);
    return watch?.mode !== "block" || (watch.lost === undefined && watch.blocked.size === 0);
  }

  /** False while the server's instructions have changed and nobody has approved that, or nobody can tell. */
  offersInstructions(server: string): boolean {
    const watch = this.#watches.get(server);
    return watch?.mode !== "block" || (watch.lost ?? watch.instructions) === undefined;
  }

  readonly stage: StageFor = ({ source }) => {
    if (source.kind !== "mcp") return undefined;
    if (this.#watches.get(source.server)?.mode !== "block") return undefined;
    return { before: (call) => this.#checkIfBlocked(call, true) };
  };

  /**
   * Rejects with CHANGED_TOOL if the tool is blocked by now; undefined if there is nothing to await. A server that
   * is started for the call may turn out to have other tools than were known.
   */
  recheck(call: GuardedCall): Promise<void> | undefined {
    return this.#checkIfBlocked(call, false);
  }

  /** Resolves when all sightings are saved, or could not be. */
  async flush(): Promise<void> {
    await this.#saving;
  }

  /** Like `flush`, and no longer listens to what others approve. What is seen later is not saved: the files may be gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    await Promise.allSettled([...this.#reads, this.#saving]);
  }

  /** What is blocked may have been approved elsewhere, and what is not offered nobody calls. */
  #lookAgain(): void {
    for (const watch of this.#watches.values()) {
      const isBlocked = watch.mode === "block" && offerOf(watch) !== NOTHING_BLOCKED;
      if (isBlocked) void this.#save(watch);
    }
  }

  /** Undefined at once if nothing suggests that the tool is blocked. */
  #checkIfBlocked(call: GuardedCall, mayRelist: boolean): Promise<void> | undefined {
    const { source } = call.subject;
    if (source.kind !== "mcp") return undefined;
    const { server, tool } = source;
    if (this.#changeOf(server, tool) === undefined) return undefined;
    return this.#throwIfBlocked(server, tool, call, mayRelist);
  }

  /** Why the tool is blocked; undefined if it is not. */
  #changeOf(server: string, tool: string): PinChange | undefined {
    const watch = this.#watches.get(server);
    if (watch?.mode !== "block") return undefined;
    if (watch.lost !== undefined) return { kind: "lost", ...watch.lost };
    return watch.blocked.get(tool) ?? watch.instructions;
  }

  /**
   * Looks again before it refuses: the user may have approved the change in another process, and the server may
   * have changed the tool back since it was listed, perhaps by an earlier process.
   */
  async #throwIfBlocked(
    server: string,
    tool: string,
    call: GuardedCall,
    mayRelist: boolean,
  ): Promise<void> {
    const watch = this.#watches.get(server);
    if (watch !== undefined) await this.#save(watch);
    if (mayRelist && this.#changeOf(server, tool) !== undefined && watch?.lost === undefined) {
      await untilAborted(watch?.relist?.() ?? Promise.resolve(), call.signal, cancelled);
    }
    const change = this.#changeOf(server, tool);
    if (change === undefined) return;
    call.decision = { verdict: "refused", rule: "pins: block" };
    throw refusal(change, tool, this.#store.isPersistent);
  }

  #save(watch: Watch): Promise<void> {
    if (this.#isClosed) return this.#saving;
    const saved = this.#saving.then(() => this.#merge(watch));
    this.#saving = saved;
    return saved;
  }

  /** Adds the sighting to what is stored by now, and takes over the result. Never rejects. */
  async #merge(watch: Watch): Promise<void> {
    const { id, sighting } = watch;
    if (sighting === undefined) return;
    try {
      let lost: LostPins | undefined;
      const stored = await this.#store.update(id, (pins, missing) => {
        lost = undefined;
        // Pins that this process still knows take the place of those that are lost.
        const isForgotten = watch.isStored && missing === undefined;
        const known = pins ?? (isForgotten ? undefined : watch.pins);
        const isLost = missing !== undefined && watch.mode === "block";
        if (known !== undefined || !(isLost || watch.isFromCache)) {
          return observe(known, id, sighting);
        }
        if (isLost) lost = missing;
        return UNCHANGED;
      });
      const before = watch.sighting && offerOf(watch);
      watch.lost = lost;
      if (stored !== undefined) {
        watch.isStored = true;
        if (watch.sighting !== undefined) applyPins(watch, stored, watch.sighting);
      }
      if (before !== undefined && before !== offerOf(watch)) watch.onOffer?.();
    } catch (error) {
      if (this.#hasWarned) return;
      this.#hasWarned = true;
      this.#logger.warn("pins could not be saved", { server: id.server, reason: reasonOf(error) });
    }
  }
}

const NOTHING_BLOCKED = JSON.stringify([[], false]);

/** Tells apart what is offered at two times: which tools are blocked, and by which kind of change. */
function offerOf({ lost, blocked, instructions }: Watch): string {
  if (lost !== undefined) return "lost";
  const kinds = [...blocked].map(([tool, { kind }]) => [tool, kind]);
  return JSON.stringify([kinds, instructions !== undefined]);
}

/** From now on these pins decide which of the sighted tools are blocked. */
function applyPins(watch: Watch, pins: ServerPins, sighting: Sighting): void {
  const changes = compare(pins, sighting);
  watch.pins = pins;
  watch.instructions = changes.find(({ kind }) => kind === "instructions");
  watch.blocked = new Map(
    changes.flatMap((each) => ("tool" in each ? [[each.tool, each] as const] : [])),
  );
}
