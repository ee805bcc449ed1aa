// Remembers how everything that a server lists was defined when it was first seen, and reports what has changed since:
// its tools and instructions, resources, templates and prompts. In the mode `block` it refuses what has changed, and keeps
// what is not approved out of what a model is offered.

import type { Diagnostic } from "../../types/diagnostic.ts";
import { cancelled } from "../../types/errors.ts";
import type { PinMode } from "../../types/guard-settings.ts";
import type { GuardedCall, StageFor, Subject } from "../../types/guard.ts";
import type { JsonObject } from "../../types/json.ts";
import { type Logger, silentLogger } from "../../types/logger.ts";
import type { LostPins, PinnedServer, PinnedTool, ServerPins } from "../../types/pin.ts";
import {
  type Invalidation,
  type PinStore,
  type StoredPins,
  UNCHANGED,
} from "../../types/shared-state.ts";
import type { ToolDefinition } from "../../types/tool.ts";
import { untilAborted } from "../../../util/abort.ts";
import { boundedMap, READERS } from "../../../util/bounded-map.ts";
import { type Clock, systemClock } from "../../../util/clock.ts";
import { reasonOf } from "../../../util/system-problem.ts";
import { WriteBehind } from "../../../util/write-behind.ts";
import {
  approvedOf,
  compare,
  type ContentListing,
  contentPin,
  contentSighting,
  isFirst,
  type ListedContent,
  type Listing,
  listingOf,
  LISTINGS,
  nothingPinned,
  observe,
  type PinChange,
  type RedactValue,
  type Sighting,
  toSighting,
} from "./pin.ts";
import { lostReason, nameOnly, refusal, toDiagnostics } from "./report.ts";

export interface PinsOptions {
  store: PinStore;
  /** Says when others have approved or forgotten something. */
  changes?: Pick<Invalidation, "subscribe">;
  clock?: Clock;
  logger?: Logger;
  /** For resources and prompts. A list of tools has no secrets. */
  redact?: RedactValue;
}

export interface PinnedServerHooks {
  /** Asks the server for its tools again, and starts it if it does not run. Must not reject. */
  relist?: () => Promise<void>;
  /** Called when other tools of the server are offered than before, although it has not listed them again. */
  onOffer?: () => void;
}

/** Why a tool does not count as pinned: nothing is pinned, or not yet; or it is not what was pinned. */
export type Unpinned = "off" | "unseen" | "changed" | "new";

/** One server whose pins are checked. */
interface Watch extends PinnedServerHooks {
  readonly id: PinnedServer;
  readonly mode: PinMode;
  /** With `block`, lost pins mean that nobody can tell what has changed, so everything that is listed is refused. */
  known: StoredPins;
  /** The store had these pins. If it has none later, the user has made it forget them. */
  isStored: boolean;
  /** What it has listed last. */
  readonly sightings: Map<Listing, Sighting>;
  /** When the tools were listed, if that was in an earlier run. They are compared with the pins, but nothing is pinned for the first time by them. */
  cachedAt: number | undefined;
  /** How the sightings differ from the pins: of each list, by name. */
  changes: ReadonlyMap<Listing, ReadonlyMap<string, PinChange>>;
  instructions: PinChange | undefined;
}

const NO_CHANGES: Watch["changes"] = new Map();

export class Pins {
  readonly #store: PinStore;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #redact: RedactValue;
  readonly #watches = new Map<string, Watch>();
  readonly #changes: PinsOptions["changes"];
  #unsubscribe: (() => void) | undefined;
  readonly #unsaved: WriteBehind<Watch>;
  /** Those that have begun and not ended. */
  readonly #reads = new Set<Promise<unknown>>();
  #isClosed = false;
  #hasWarned = false;

  constructor(options: PinsOptions) {
    const { store, changes, clock = systemClock, logger = silentLogger } = options;
    this.#store = store;
    this.#changes = changes;
    this.#clock = clock;
    this.#logger = logger;
    this.#redact = options.redact ?? ((value) => value);
    this.#unsaved = new WriteBehind(clock, async (watches) => {
      await boundedMap(watches, READERS, (watch) => this.#merge(watch));
    });
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
    if (mode === "off") return () => this.ignore(id.server);
    if (mode === "block") this.#follow();
    const reading = this.#readOrInherit(id, predecessor);
    this.#reads.add(reading);
    const stored = await reading.finally(() => this.#reads.delete(reading));
    let known = stored;
    if (stored.kind === "lost" && mode === "warn") {
      // The next listing counts as the first one, which is trusted. The user must know that.
      const { server, file } = stored.lost;
      const message = `${lostReason(stored.lost)}; the tools the server has now are pinned instead`;
      this.#logger.warn(message, { server, file });
      known = { kind: "none" };
    }
    const watch: Watch = {
      relist: hooks.relist,
      onOffer: hooks.onOffer,
      id,
      mode,
      known,
      isStored: stored.kind === "pinned",
      sightings: new Map(),
      cachedAt: undefined,
      changes: NO_CHANGES,
      instructions: undefined,
    };
    return () => {
      const before = this.#watches.get(id.server);
      this.#watches.set(id.server, watch);
      if (before?.id.key !== id.key) return;
      // The tools are checked again at once, the others when the server lists them.
      for (const [listing, sighting] of before.sightings) {
        if (listing !== "tools") watch.sightings.set(listing, sighting);
      }
      judge(watch);
    };
  }

  /** From now on nothing that the server lists is compared. */
  ignore(server: string): void {
    this.#watches.delete(server);
  }

  /** What is stored for the definition; for one that nobody has seen, what its predecessor had. */
  async #readOrInherit(
    id: PinnedServer,
    predecessor: PinnedServer | undefined,
  ): Promise<StoredPins> {
    // What was listed last, perhaps before the server was replaced or opened again, may not be saved yet.
    await this.flush();
    const stored = await this.#store.read(id);
    if (stored.kind !== "none" || predecessor === undefined) return stored;
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
   * Reports how the tools differ from the pins. From now on that decides which calls are refused. New sightings are
   * saved in the background.
   */
  check(
    server: string,
    tools: readonly ToolDefinition[],
    instructions: string | undefined,
    /** What the host had advertised to the server. */
    capabilities: JsonObject = {},
    /** When the server listed them in an earlier run. */
    cachedAt?: number,
  ): Diagnostic[] {
    const watch = this.#watches.get(server);
    if (watch === undefined) return [];
    watch.cachedAt = cachedAt;
    const seen = cachedAt ?? this.#clock.now();
    const sighting = toSighting(tools, instructions, seen, capabilities);
    this.#logIfFirst(watch, sighting);
    if (this.#see(watch, sighting)) this.#saveSoon(watch);
    return this.report(server);
  }

  /** `check` for another list of the server. What others have approved by now counts. */
  async checkContent(
    { server, key }: PinnedServer,
    listing: ContentListing,
    contents: readonly ListedContent[],
  ): Promise<Diagnostic[]> {
    const watch = this.#watches.get(server);
    // A server that was replaced may still answer.
    if (watch?.id.key !== key) return [];
    this.#see(watch, contentSighting(listing, contents, this.#clock.now(), this.#redact));
    await this.#save(watch);
    return this.report(server, listing);
  }

  /** What of a list differs from the pins now. */
  report(server: string, listing: Listing = "tools"): Diagnostic[] {
    const watch = this.#watches.get(server);
    if (watch === undefined) return [];
    const { known, mode, instructions, changes } = watch;
    if (known.kind === "lost") {
      const isConcerned = listing === "tools" || watch.sightings.get(listing)?.tools.size;
      const lost: PinChange = { kind: "lost", ...known.lost };
      return isConcerned ? toDiagnostics([lost], listing, mode, true) : [];
    }
    const found = [
      ...(listing === "tools" && instructions ? [instructions] : []),
      ...(changes.get(listing)?.values() ?? []),
    ];
    const told = mode === "block" ? found : found.filter((each) => !isOutdated(each, watch));
    return toDiagnostics(told, listing, mode, this.#store.isPersistent);
  }

  /**
   * These tools of the server as a model may see them. With `block`, a changed tool has its approved definition,
   * and of a tool that was never approved nothing is left but its name.
   */
  offered(server: string, tools: readonly ToolDefinition[]): ToolDefinition[] {
    const watch = this.#watches.get(server);
    if (watch?.mode !== "block") return [...tools];
    return tools.map((tool) => {
      const change = blocking(watch, tool.name);
      if (change === undefined || change.kind === "instructions") return tool;
      if (change.kind !== "changed") return nameOnly(change, tool.name);
      const { _meta, execution } = tool;
      return { ...change.before, _meta, execution };
    });
  }

  /**
   * False for what nobody is told of until it is approved: a tool of which `offered` leaves nothing but its name, and
   * a resource or prompt that is refused. The name is that of its pin.
   */
  offers(server: string, name: string): boolean {
    const kind = blocking(this.#watches.get(server), name)?.kind;
    if (listingOf(name) !== "tools") return kind === undefined;
    return kind !== "new" && kind !== "lost";
  }

  /** Whether a call would be refused, unless somebody has approved the change elsewhere. */
  isBlocked(server: string, name: string): boolean {
    return blocking(this.#watches.get(server), name) !== undefined;
  }

  /** False while anything of the server's tools is blocked. If true, `offers` is true for each of them. */
  offersAll(server: string): boolean {
    const watch = this.#watches.get(server);
    if (watch?.mode !== "block") return true;
    return watch.known.kind !== "lost" && !watch.changes.get("tools")?.size;
  }

  /** False while the server's instructions have changed and nobody has approved that, or nobody can tell. */
  offersInstructions(server: string): boolean {
    const watch = this.#watches.get(server);
    if (watch?.mode !== "block") return true;
    return watch.known.kind !== "lost" && watch.instructions === undefined;
  }

  /**
   * The tool as it is pinned, if that is how its server has it now; otherwise why it does not count as pinned. Whoever
   * asks this counts on it, so what others approve is followed from now on.
   */
  pinned(server: string, name: string): PinnedTool | Unpinned {
    this.#follow();
    const watch = this.#watches.get(server);
    if (watch === undefined) return "off";
    const { known, changes, sightings } = watch;
    if (known.kind !== "pinned" || !sightings.has("tools")) return "unseen";
    const change = changes.get("tools")?.get(name);
    if (change !== undefined) return change.kind === "changed" ? "changed" : "new";
    return approvedOf(known.pins.tools.get(name))?.value ?? "new";
  }

  /** The tools of the server that are not as they were pinned; undefined if none of them is pinned. */
  unpinned(server: string): string[] | undefined {
    const watch = this.#watches.get(server);
    if (watch?.known.kind !== "pinned" || !watch.sightings.has("tools")) return undefined;
    return [...(watch.changes.get("tools")?.keys() ?? [])];
  }

  /** When the server was first seen: now, if its pins are about to be saved; undefined if nothing is pinned. */
  pinnedAt(server: string): number | undefined {
    const known = this.#watches.get(server)?.known;
    if (known?.kind === "none") return this.#clock.now();
    return known?.kind === "pinned" ? known.pins.instructions.firstSeen : undefined;
  }

  /**
   * Looks again at a tool that does not count as pinned: somebody may have approved it, and the server may have changed
   * it back. Undefined if there is nothing to await.
   */
  lookAgain({ subject, signal }: GuardedCall): Promise<void> | undefined {
    const { source } = subject;
    if (source.kind !== "mcp") return undefined;
    const watch = this.#watches.get(source.server);
    const isPinned = (): boolean => typeof this.pinned(source.server, source.tool) === "object";
    return watch === undefined || isPinned() ? undefined : this.#renew(watch, isPinned, signal);
  }

  /** Takes over what is stored; if that is not enough, the server lists its tools again. */
  async #renew(
    watch: Watch,
    isSettled: () => boolean,
    signal: GuardedCall["signal"],
  ): Promise<void> {
    await this.#save(watch);
    if (isSettled()) return;
    await untilAborted(watch.relist?.() ?? Promise.resolve(), signal, cancelled);
  }

  /** The name of its pin: `read`, `prompt:review`. */
  nameOf({ source, content }: Subject): string {
    if (content !== undefined) return contentPin(content, this.#redact);
    return source.kind === "mcp" ? source.tool : "";
  }

  readonly stage: StageFor = ({ source }) => {
    if (source.kind !== "mcp") return undefined;
    if (this.#watches.get(source.server)?.mode !== "block") return undefined;
    return { name: "pins", before: (call) => this.#checkIfBlocked(call, true) };
  };

  /**
   * Rejects with CHANGED_TOOL if it is blocked by now; undefined if there is nothing to await. A server that is
   * started for the call may turn out to list other things than were known.
   */
  recheck(call: GuardedCall): Promise<void> | undefined {
    return this.#checkIfBlocked(call, false);
  }

  /** Resolves when all sightings are saved, or could not be. */
  async flush(): Promise<void> {
    await this.#unsaved.flush();
  }

  /** Like `flush`, and no longer listens to what others approve. What is seen later is not saved: the files may be gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    await Promise.allSettled([...this.#reads, this.flush()]);
  }

  #follow(): void {
    if (this.#isClosed) return;
    this.#unsubscribe ??= this.#changes?.subscribe("pins", () => this.#lookAgain());
  }

  /** What is blocked may have been approved elsewhere, and what is not offered nobody calls. */
  #lookAgain(): void {
    for (const watch of this.#watches.values()) if (isOpen(watch)) void this.#save(watch);
  }

  #logIfFirst({ id: { server }, known, cachedAt }: Watch, sighting: Sighting): void {
    if (known.kind === "none" && cachedAt === undefined) {
      this.#logger.info("seen for the first time: pinned", { server, tools: sighting.tools.size });
    } else if (known.kind === "pinned" && isFirst(known.pins, sighting)) {
      const advertised = sighting.mark;
      const message =
        "lists its tools to a client with these capabilities for the first time: new ones are pinned";
      this.#logger.info(message, { server, advertised });
    }
  }

  /** From now on this sighting decides. Returns whether it is to be saved. */
  #see(watch: Watch, sighting: Sighting): boolean {
    watch.sightings.set(sighting.listing, sighting);
    const { known } = watch;
    // They may have been restored or forgotten since.
    if (known.kind === "lost") return true;
    const before = known.kind === "pinned" ? known.pins : undefined;
    const after = before || mayPin(watch) ? observeAll(before, watch) : undefined;
    if (after !== undefined) watch.known = { kind: "pinned", pins: after };
    judge(watch);
    // What looks blocked may have been approved in another process.
    return after !== before || isBlocking(watch);
  }

  /** Undefined at once if nothing suggests that what is called is blocked. */
  #checkIfBlocked(call: GuardedCall, mayRelist: boolean): Promise<void> | undefined {
    const { source } = call.subject;
    if (source.kind !== "mcp") return undefined;
    const { server } = source;
    if (this.#watches.get(server)?.mode !== "block") return undefined;
    const name = this.nameOf(call.subject);
    if (blocking(this.#watches.get(server), name) === undefined) return undefined;
    return this.#throwIfBlocked(server, name, call, mayRelist);
  }

  /**
   * Looks again before it refuses: the user may have approved the change in another process, and the server may
   * have changed the tool back since it was listed, perhaps by an earlier process.
   */
  async #throwIfBlocked(
    server: string,
    name: string,
    call: GuardedCall,
    mayRelist: boolean,
  ): Promise<void> {
    const change = (): PinChange | undefined => blocking(this.#watches.get(server), name);
    const watch = this.#watches.get(server);
    const mayBeBack = mayRelist && listingOf(name) === "tools";
    const isSettled = (): boolean =>
      !mayBeBack || change() === undefined || watch?.known.kind === "lost";
    if (watch !== undefined) await this.#renew(watch, isSettled, call.signal);
    const found = change();
    if (found === undefined) return;
    call.decision = { verdict: "refused", rule: "pins: block" };
    throw refusal(found, name, this.#store.isPersistent);
  }

  /** At once, for whoever waits for what is stored by now. */
  #save(watch: Watch): Promise<void> {
    this.#saveSoon(watch);
    return this.#unsaved.flush();
  }

  #saveSoon(watch: Watch): void {
    if (!this.#isClosed) this.#unsaved.add(watch);
  }

  /** Adds the sightings to what is stored by now, and takes over the result. Never rejects. */
  async #merge(watch: Watch): Promise<void> {
    if (watch.sightings.size === 0) return;
    try {
      let lost: LostPins | undefined;
      const stored = await this.#store.update(watch.id, (pins, missing) => {
        const { known, mode, isStored } = watch;
        // Pins that this process still knows take the place of those that are lost.
        const isForgotten = isStored && missing === undefined;
        const before = pins ?? (known.kind === "pinned" && !isForgotten ? known.pins : undefined);
        lost = before === undefined && mode === "block" ? missing : undefined;
        const isPinned = before !== undefined || (lost === undefined && mayPin(watch));
        return isPinned ? observeAll(before, watch) : UNCHANGED;
      });
      const before = offerOf(watch);
      if (lost !== undefined) watch.known = { kind: "lost", lost };
      else if (watch.known.kind === "lost") watch.known = { kind: "none" };
      if (stored !== undefined) {
        watch.isStored = true;
        watch.known = { kind: "pinned", pins: stored };
      }
      judge(watch);
      if (before !== offerOf(watch)) watch.onOffer?.();
    } catch (error) {
      if (this.#hasWarned) return;
      this.#hasWarned = true;
      const { server } = watch.id;
      this.#logger.warn("pins could not be saved", { server, reason: reasonOf(error) });
    }
  }
}

/** The first list that is trusted is one of tools, as the server has them now. */
function mayPin({ sightings, cachedAt }: Watch): boolean {
  return sightings.has("tools") && cachedAt === undefined;
}

/**
 * The pins after all that is listed. Cached tools are compared with the pins and never recorded: they may be older than what
 * somebody has approved since.
 */
function observeAll(
  pins: ServerPins | undefined,
  { id, sightings, cachedAt }: Watch,
): ServerPins | undefined {
  return LISTINGS.reduce((each, listing) => {
    const sighting = sightings.get(listing);
    const isOld = cachedAt !== undefined && listing === "tools";
    return sighting === undefined || isOld ? each : observe(each, id, sighting);
  }, pins);
}

/** Whether the list of an earlier run has what somebody has approved something newer for. The server itself will tell. */
function isOutdated(change: PinChange, { known, cachedAt }: Watch): boolean {
  if (cachedAt === undefined || known.kind !== "pinned" || change.kind === "lost") return false;
  const { tools, instructions } = known.pins;
  const pin = "tool" in change ? tools.get(change.tool) : instructions;
  const approved = pin && approvedOf<unknown>(pin);
  return approved !== undefined && approved.seen > cachedAt;
}

/** From now on the pins that are known decide what of the lists is blocked. */
function judge(watch: Watch): void {
  const { id, mode, known, sightings } = watch;
  const changesOf = (sighting: Sighting): PinChange[] => {
    if (known.kind === "pinned") return compare(known.pins, sighting);
    // If the pins of a server were forgotten, the tools of an earlier run may be the very ones that the user does not
    // want. Its other lists are pinned with its tools.
    const isUnpinned = mode === "block" && sighting.listing !== "tools";
    return isUnpinned ? compare(nothingPinned(id, sighting), sighting) : [];
  };
  const found = [...sightings].map(
    ([listing, sighting]) => [listing, changesOf(sighting)] as const,
  );
  watch.instructions = found
    .flatMap(([, changes]) => changes)
    .find(({ kind }) => kind === "instructions");
  watch.changes = new Map(
    found.map(([listing, changes]) => [
      listing,
      new Map(changes.flatMap((each) => ("tool" in each ? [[each.tool, each] as const] : []))),
    ]),
  );
}

/** Why what has this pin is blocked; undefined if it is not. */
function blocking(watch: Watch | undefined, name: string): PinChange | undefined {
  if (watch?.mode !== "block") return undefined;
  const { known, sightings, changes, instructions } = watch;
  const listing = listingOf(name);
  const isTool = listing === "tools";
  if (known.kind === "lost") {
    const isConcerned = isTool || sightings.get(listing)?.tools.has(name);
    return isConcerned ? { kind: "lost", ...known.lost } : undefined;
  }
  return changes.get(listing)?.get(name) ?? (isTool ? instructions : undefined);
}

/** Whether anything is blocked that may have been approved in another process. */
function isBlocking(watch: Watch): boolean {
  return watch.mode === "block" && isOpen(watch);
}

/** Whether anything is not as it was pinned, as far as this process knows. */
function isOpen({ known, changes, instructions }: Watch): boolean {
  const hasChanges = [...changes.values()].some(({ size }) => size > 0);
  return known.kind !== "pinned" || instructions !== undefined || hasChanges;
}

/** Tells apart which tools are offered at two times: which are blocked, and by which kind of change. */
function offerOf({ known, sightings, changes, instructions }: Watch): string {
  if (!sightings.has("tools")) return "nothing";
  if (known.kind === "lost") return "lost";
  const kinds = [...(changes.get("tools") ?? [])].map(([tool, { kind }]) => [tool, kind]);
  return JSON.stringify([known.kind, kinds, instructions !== undefined]);
}
