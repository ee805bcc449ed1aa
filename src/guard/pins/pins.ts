// Remembers how each server's tools were defined when they were first seen, reports what has changed since, and
// in the mode `block` refuses calls of changed tools.

import type { Diagnostic } from "../../model/diagnostic.ts";
import type { PinMode } from "../../model/guard-settings.ts";
import type { GuardedCall, StageFor } from "../../model/guard.ts";
import type { JsonObject } from "../../model/json.ts";
import { type Logger, silentLogger } from "../../model/logger.ts";
import type { PinnedServer, ServerPins } from "../../model/pin.ts";
import type { ToolDefinition } from "../../model/tool.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { compare, isFirstFor, observe, type PinChange, type Sighting, toSighting } from "./pin.ts";
import type { PinStore } from "./pin-store.ts";
import { refusal, toDiagnostics } from "./report.ts";

export interface PinsOptions {
  store: PinStore;
  clock?: Clock;
  logger?: Logger;
}

/** One server whose pins are checked. */
interface Watch {
  readonly id: PinnedServer;
  readonly mode: PinMode;
  pins: ServerPins | undefined;
  /** The store had these pins. If it has none later, the user has made it forget them. */
  isStored: boolean;
  sighting: Sighting | undefined;
  blocked: ReadonlyMap<string, PinChange>;
  instructions: PinChange | undefined;
}

export class Pins {
  readonly #store: PinStore;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #watches = new Map<string, Watch>();
  #saving: Promise<void> = Promise.resolve();
  #hasWarned = false;

  constructor({ store, clock = systemClock, logger = silentLogger }: PinsOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Must be awaited before the server's tools are listed, from the cache or live. With `off`, nothing is kept. */
  async open(id: PinnedServer, mode: PinMode): Promise<void> {
    if (mode === "off") {
      this.#watches.delete(id.server);
      return;
    }
    // While this is read, the pins known so far still apply.
    const pins = await this.#store.read(id);
    this.#watches.set(id.server, {
      id,
      mode,
      pins,
      isStored: pins !== undefined,
      sighting: undefined,
      blocked: new Map(),
      instructions: undefined,
    });
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
  ): Diagnostic[] {
    const watch = this.#watches.get(server);
    if (watch === undefined) return [];
    watch.sighting = toSighting(tools, instructions, this.#clock.now(), capabilities);
    if (watch.pins === undefined) {
      this.#logger.info("seen for the first time: pinned", { server, tools: tools.length });
    } else if (isFirstFor(watch.pins, watch.sighting)) {
      const advertised = watch.sighting.capabilities;
      const message = "listed for these capabilities for the first time: what it adds is pinned";
      this.#logger.info(message, { server, advertised });
    }
    const seen = observe(watch.pins, watch.id, watch.sighting);
    if (seen !== watch.pins) void this.#save(watch);
    const changes = applyPins(watch, seen, watch.sighting);
    return toDiagnostics(changes, watch.mode, this.#store.isPersistent);
  }

  readonly stage: StageFor = ({ source }) => {
    if (source.kind !== "mcp") return undefined;
    if (this.#watches.get(source.server)?.mode !== "block") return undefined;
    return (call, rest) => {
      const doubt = this.recheck(call);
      return doubt === undefined ? rest(call) : doubt.then(() => rest(call));
    };
  };

  /**
   * Rejects with CHANGED_TOOL if the tool is blocked by now; undefined at once if nothing suggests it. A server
   * that is started for the call may turn out to have other tools than were known.
   */
  recheck(call: GuardedCall): Promise<void> | undefined {
    const { source } = call.subject;
    if (source.kind !== "mcp" || this.#blocking(source.server, source.tool) === undefined) {
      return undefined;
    }
    return this.#throwIfBlocked(source.server, source.tool, call);
  }

  /** Resolves when all sightings are saved, or could not be. */
  async flush(): Promise<void> {
    await this.#saving;
  }

  #blocking(server: string, tool: string): PinChange | undefined {
    const watch = this.#watches.get(server);
    if (watch?.mode !== "block") return undefined;
    return watch.blocked.get(tool) ?? watch.instructions;
  }

  /** Reads the store again first: the user may have approved the change in another process. */
  async #throwIfBlocked(server: string, tool: string, call: GuardedCall): Promise<void> {
    const watch = this.#watches.get(server);
    if (watch !== undefined) await this.#save(watch);
    const change = this.#blocking(server, tool);
    if (change === undefined) return;
    call.decision = { verdict: "refused", rule: "pins: block" };
    throw refusal(change, tool, this.#store.isPersistent);
  }

  #save(watch: Watch): Promise<void> {
    const saved = this.#saving.then(() => this.#merge(watch));
    this.#saving = saved;
    return saved;
  }

  /** Adds the sighting to what is stored by now, and takes over the result. Never rejects. */
  async #merge(watch: Watch): Promise<void> {
    const { id, sighting } = watch;
    if (sighting === undefined) return;
    try {
      const stored = await this.#store.update(id, (pins) =>
        observe(pins ?? (watch.isStored ? undefined : watch.pins), id, sighting),
      );
      watch.isStored = true;
      if (stored !== undefined && watch.sighting !== undefined) {
        applyPins(watch, stored, watch.sighting);
      }
    } catch (error) {
      if (this.#hasWarned) return;
      this.#hasWarned = true;
      this.#logger.warn("pins could not be saved", { server: id.server, reason: String(error) });
    }
  }
}

/** From now on these pins decide which of the sighted tools are blocked. Returns what differs from them. */
function applyPins(watch: Watch, pins: ServerPins, sighting: Sighting): PinChange[] {
  const changes = compare(pins, sighting);
  watch.pins = pins;
  watch.instructions = changes.find(({ kind }) => kind === "instructions");
  watch.blocked = new Map(
    changes.flatMap((each) => (each.kind === "instructions" ? [] : [[each.tool, each] as const])),
  );
  return changes;
}
