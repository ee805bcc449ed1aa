// Pins for what a server lists beside its tools: resources, templates and prompts, as a model or a person is told of
// them. What a resource or prompt contains is not pinned. The pins are kept with those of the server's tools, under
// names such as `prompt:review`, so that they are shown, approved and forgotten in the same way.

import { type ContentName, contentText } from "../../types/content-pattern.ts";
import type { Diagnostic } from "../../types/diagnostic.ts";
import type { PinMode } from "../../types/guard-settings.ts";
import type { GuardedCall, StageFor, ToolSubject } from "../../types/guard.ts";
import type { JsonObject } from "../../types/json.ts";
import { type Logger, silentLogger } from "../../types/logger.ts";
import type { LostPins, PinnedServer, PinnedTool, SeenValue, ServerPins } from "../../types/pin.ts";
import type { PinStore } from "../../types/shared-state.ts";
import { type Clock, systemClock } from "../../../util/clock.ts";
import { oneLine, shellWord } from "../../../util/text.ts";
import { toolHash } from "./hash.ts";
import { type PinChange, see, trust } from "./pin.ts";
import { lostReason, lostRemedy, refusal, toDiagnostics } from "./report.ts";
import { reasonOf } from "../../../util/system-problem.ts";

/** One entry of a list. */
export interface ListedContent extends ContentName {
  title?: string | undefined;
  description?: string | undefined;
  /** Whatever else is told about it, such as the arguments of a prompt. */
  details?: JsonObject;
}

/** Which list it is. */
export type Listing = "resources" | "prompts";

export interface ContentPinsOptions {
  store: PinStore;
  clock?: Clock;
  logger?: Logger;
  /** Removes secrets: pins are kept on disk. */
  redact: <Value>(value: Value) => Value;
}

type ContentChange = Extract<PinChange, { kind: "changed" | "new" | "lost" }>;

type Sights = ReadonlyMap<string, SeenValue<PinnedTool>>;

interface Watch {
  id: PinnedServer;
  mode: PinMode;
  /** What was listed last, by list. */
  sights: Map<Listing, Sights>;
  changes: ReadonlyMap<string, ContentChange>;
}

/** Resources come and go with their data. Beyond this, a server's resources are not pinned. */
const MOST_RESOURCES = 1000;
const MOST_DIAGNOSTICS = 20;

export class ContentPins {
  readonly #options: ContentPinsOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #watches = new Map<string, Watch>();

  constructor(options: ContentPinsOptions) {
    const { clock = systemClock, logger = silentLogger } = options;
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
  }

  /**
   * Reports what differs from the pins. From now on that decides what is offered. The server's tools must have been
   * pinned before.
   */
  async check(
    id: PinnedServer,
    mode: PinMode,
    listing: Listing,
    contents: readonly ListedContent[],
  ): Promise<Diagnostic[]> {
    if (mode === "off") {
      this.#watches.delete(id.server);
      return [];
    }
    const last = this.#watches.get(id.server);
    const watch: Watch =
      last?.id.key === id.key && last.mode === mode
        ? last
        : { id, mode, sights: new Map(), changes: new Map() };
    this.#watches.set(id.server, watch);
    watch.sights.set(listing, this.#toSights(contents));
    await this.#compare(watch);
    return this.#diagnostics(watch, listing);
  }

  /** False for what is kept from everybody until it is approved. */
  offers(subject: ToolSubject): boolean {
    return this.#blocking(subject) === undefined;
  }

  readonly stage: StageFor = (subject) => {
    if (this.offers(subject)) return undefined;
    return { before: (call) => this.#throwIfBlocked(subject, call) };
  };

  /**
   * Rejects with CHANGED_TOOL if it is kept back by now; undefined at once if it is not. Its server may have been
   * started for the request, and have listed only since.
   */
  recheck(call: GuardedCall): Promise<void> | undefined {
    const { subject } = call;
    return this.offers(subject) ? undefined : this.#throwIfBlocked(subject, call);
  }

  #blocking({ source, content }: ToolSubject): ContentChange | undefined {
    if (source.kind !== "mcp" || content === undefined) return undefined;
    const watch = this.#watches.get(source.server);
    return watch?.mode === "block" ? watch.changes.get(this.#nameOf(content)) : undefined;
  }

  /** Reads the store again first: the user may have approved the change in another process. */
  async #throwIfBlocked(subject: ToolSubject, call: GuardedCall): Promise<void> {
    const { source, content } = subject;
    const watch = source.kind === "mcp" ? this.#watches.get(source.server) : undefined;
    if (watch !== undefined) await this.#compare(watch);
    const change = this.#blocking(subject);
    if (change === undefined || content === undefined) return;
    call.decision = { verdict: "refused", rule: "pins: block" };
    throw refusal(change, this.#nameOf(content), this.#options.store.isPersistent);
  }

  #nameOf(content: ContentName): string {
    return this.#options.redact(contentText(content));
  }

  #toSights(contents: readonly ListedContent[]): Sights {
    const seen = this.#clock.now();
    const resources = contents.filter(isResource).slice(0, MOST_RESOURCES);
    const others = contents.filter((each) => !isResource(each));
    return new Map(
      [...others, ...resources].map((content) => {
        const { title, description, details = {} } = content;
        const value = this.#options.redact<PinnedTool>({
          name: contentText(content),
          ...(title !== undefined && { title }),
          ...(description !== undefined && { description }),
          inputSchema: details,
        });
        return [value.name, { hash: toolHash(value), value, seen }] as const;
      }),
    );
  }

  /** Adds what was listed to what is stored by now, and compares the two. Never rejects. */
  async #compare(watch: Watch): Promise<void> {
    let after: ServerPins | undefined;
    let lost: LostPins | undefined;
    try {
      after = await this.#options.store.update(watch.id, (pins, missing) => {
        lost = missing;
        // The pins of its tools are kept first. If they are lost, these are not made anew.
        if (pins === undefined) throw new NotPinned();
        return [...watch.sights].reduce((each, [listing, sights]) => {
          return observeContent(each, listing, sights);
        }, pins);
      });
    } catch (error) {
      if (!(error instanceof NotPinned)) {
        this.#logger.warn("pins could not be saved", {
          server: watch.id.server,
          reason: reasonOf(error),
        });
        return;
      }
    }
    const sighted = after === undefined && watch.mode !== "block" ? [] : watch.sights.values();
    watch.changes = new Map(
      [...sighted].flatMap((sights) => compareContent(watch.id.server, after ?? lost, sights)),
    );
  }

  #diagnostics({ id, mode, sights, changes }: Watch, listing: Listing): Diagnostic[] {
    const { server } = id;
    const names = sights.get(listing) ?? new Map();
    const found = [...changes].flatMap(([name, change]) => (names.has(name) ? [change] : []));
    const [first] = found;
    if (first?.kind === "lost") {
      const effect = `its ${listing} are neither listed nor read`;
      return [
        { server, message: `${lostReason(first)}; ${effect}; ${lostRemedy(first)}`, kind: "pins" },
      ];
    }
    const shown = found.slice(0, MOST_DIAGNOSTICS).flatMap((each): Diagnostic[] => {
      const { isPersistent } = this.#options.store;
      if (each.kind !== "new") return toDiagnostics([each], mode, isPersistent);
      const effect = mode === "block" ? "; not offered and refused until it is approved" : "";
      const name = shellWord(`${server}/${each.tool}`);
      const remedy = isPersistent ? `; to accept it: plugboard pins approve ${name}` : "";
      const message = `new since the server was pinned${effect}${remedy}`;
      return [{ server, subject: oneLine(each.tool, 80), message, kind: "pins" }];
    });
    const rest = found.length - shown.length;
    if (rest === 0) return shown;
    const message = `${rest} more of its ${listing} changed or new since the server was pinned`;
    return [...shown, { server, message, kind: "pins" }];
  }
}

class NotPinned extends Error {}

function isResource({ kind, isTemplate }: ContentName): boolean {
  return kind === "resource" && isTemplate !== true;
}

/** Templates and prompts are few and have a meaning of their own, like tools. A resource is named by its URI alone. */
function isData(name: string): boolean {
  return name.startsWith("resource:") && !name.includes("{");
}

/** The first list of its kind is trusted, and so is every new resource. */
function observeContent(pins: ServerPins, listing: Listing, sights: Sights): ServerPins {
  const mark = `list of ${listing}`;
  const isFirst = pins.seenWith
    ? !pins.seenWith.includes(mark)
    : ![...pins.tools.keys()].some((name) => isOf(listing, name));
  const tools = new Map(pins.tools);
  let isSame = pins.seenWith === undefined || !isFirst;
  for (const [name, sight] of sights) {
    const pin = tools.get(name);
    const isTrusted = pin === undefined && (isFirst || isData(name));
    const now = isTrusted ? trust(sight) : see(pin, sight);
    if (now === pin) continue;
    isSame = false;
    tools.set(name, now);
  }
  // A server could invent URIs for ever.
  const gone = [...tools.keys()].filter((name) => isData(name) && !sights.has(name));
  if (listing === "resources" && gone.length > MOST_RESOURCES) {
    isSame = false;
    for (const name of gone.slice(MOST_RESOURCES)) tools.delete(name);
  }
  if (isSame) return pins;
  const { seenWith } = pins;
  return { ...pins, tools, ...(seenWith && { seenWith: [...new Set([...seenWith, mark])] }) };
}

function isOf(listing: Listing, name: string): boolean {
  return name.startsWith(listing === "prompts" ? "prompt:" : "resource:");
}

/** What differs, by name. Without pins nobody can tell, so nothing is as it was. Only `block` asks then. */
function compareContent(
  server: string,
  pins: ServerPins | LostPins | undefined,
  sights: Sights,
): [string, ContentChange][] {
  return [...sights].flatMap(([tool, sight]): [string, ContentChange][] => {
    if (pins !== undefined && "why" in pins) return [[tool, { kind: "lost", ...pins }]];
    const pin = pins?.tools.get(tool);
    if (pin === undefined || pin.kind === "new") return [[tool, { kind: "new", server, tool }]];
    const { value: before, hash } = pin.approved;
    return hash === sight.hash
      ? []
      : [[tool, { kind: "changed", server, tool, before, after: sight.value }]];
  });
}
