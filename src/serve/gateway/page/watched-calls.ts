// The calls that the page shows: the last ones as facts, and what was said in them while an owner looks. Of a flood of calls,
// a sample is shown and the rest is counted, so that they pay nothing for it. Nothing is kept while nobody looks, and
// nothing of it is ever written anywhere.

import type { CallStartEvent, WatchedCallEvent } from "../../../core/types/events.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import {
  type CallPlace,
  GUARD_REFUSALS,
  type Monitoring,
  type PlacedCallWatcher,
} from "../monitoring/monitoring.ts";
import type { CallContent, CallFacts, CallStep } from "./wire.ts";

const KEPT_CALLS = 500;
/** How many characters of content are kept of all calls, and of one. */
const MOST_CONTENT = 16 * 1024 * 1024;
const MOST_OF_ONE = 1024 * 1024;
/** A page that is loaded again finds its calls. */
const GRACE_MS = 60_000;
/** The audit notes the time of a call on its own. */
const NEAR_MS = 50;
/** How many calls in a second are shown in the long run, and how many at once. A person can follow no more. */
const SHOWN_IN_A_SECOND = 50;
const SHOWN_AT_ONCE = 100;

/** Without what holds on to the arguments and the answer: both functions do. */
type EndedCall = Omit<WatchedCallEvent, "size" | "read">;

interface Kept {
  id: string;
  place: CallPlace;
  /** When it was sent; if it never was, when it was made. */
  at: number;
  /** When it was made, once it has ended. */
  made?: number;
  call: CallStartEvent | EndedCall;
  /** Reads what was said in it. Absent if nothing of that is kept. */
  read?: WatchedCallEvent["read"] | undefined;
  /** How large the content is that is kept of it. */
  size: number;
}

export interface WatchedCallsOptions {
  monitoring: Pick<Monitoring, "watchCalls">;
  clock: Clock;
  /** Calls have changed: `take` has them. */
  onChange: () => void;
}

export class WatchedCalls implements PlacedCallWatcher {
  readonly #options: WatchedCallsOptions;
  readonly #kept = new Map<string, Kept>();
  /** Changed since they were last taken. */
  readonly #changed = new Set<string>();
  /** Calls since then that are not shown. */
  #left = 0;
  /** How many calls could be shown at once at the time of the last one, in the time of the monotonic clock. */
  #room = SHOWN_AT_ONCE;
  #lastMade = 0;
  #size = 0;
  #owners = 0;
  #readers = 0;
  #off: (() => void) | undefined;
  #isClosed = false;
  #ending: Timer | undefined;
  #contentEnding: Timer | undefined;

  constructor(options: WatchedCallsOptions) {
    this.#options = options;
  }

  /** Somebody looks. Returns what is called when they no longer do. */
  look(isOwner: boolean): () => void {
    const { monitoring, clock } = this.#options;
    this.#ending?.cancel();
    this.#ending = undefined;
    this.#off ??= monitoring.watchCalls(this);
    this.#readers += 1;
    if (isOwner) {
      this.#contentEnding?.cancel();
      this.#contentEnding = undefined;
      this.#owners += 1;
    }
    return () => {
      this.#readers -= 1;
      if (isOwner) this.#owners -= 1;
      // Pages go when the gateway stops: a timer would keep its process alive.
      if (this.#isClosed) return;
      if (isOwner && this.#owners === 0) {
        this.#contentEnding = clock.later(GRACE_MS, () => this.#dropContent());
      }
      if (this.#readers === 0) this.#ending = clock.later(GRACE_MS, () => this.#forget());
    };
  }

  /** Forgets everything, for good. */
  close(): void {
    this.#isClosed = true;
    this.#forget();
  }

  #forget(): void {
    this.#ending?.cancel();
    this.#contentEnding?.cancel();
    this.#ending = undefined;
    this.#contentEnding = undefined;
    this.#off?.();
    this.#off = undefined;
    this.#kept.clear();
    this.#changed.clear();
    this.#left = 0;
    this.#size = 0;
  }

  admits(now: number): boolean {
    const gained = ((now - this.#lastMade) * SHOWN_IN_A_SECOND) / 1000;
    this.#room = Math.min(SHOWN_AT_ONCE, this.#room + gained);
    this.#lastMade = now;
    if (this.#room >= 1) {
      this.#room -= 1;
      return true;
    }
    this.#left += 1;
    if (this.#left === 1) this.#options.onChange();
    return false;
  }

  started(started: CallStartEvent, place: CallPlace): void {
    this.#keep({
      id: started.callId,
      place,
      at: this.#options.clock.now(),
      call: started,
      size: 0,
    });
  }

  ended({ size: sizeOf, read, ...call }: WatchedCallEvent, place: CallPlace): void {
    const { callId: id, durationMs, waitedMs = 0 } = call;
    const known = this.#kept.get(id);
    const made = this.#options.clock.now() - durationMs - waitedMs;
    const at = known?.at ?? made;
    const size =
      this.#owners > 0 || this.#contentEnding !== undefined ? sizeOf(MOST_OF_ONE) : Infinity;
    if (size <= MOST_OF_ONE) this.#keep({ id, place, at, made, call, read, size });
    else this.#keep({ id, place, at, made, call, size: 0 });
  }

  /** The latest last. */
  list(): CallFacts[] {
    return [...this.#kept.values()].map(factsOf);
  }

  /** What has changed since it was last asked, and how many calls there were that are not shown. */
  take(): { calls: CallFacts[]; left: number } {
    const calls = [...this.#changed].flatMap((id) => this.#kept.get(id) ?? []).map(factsOf);
    const left = this.#left;
    this.#changed.clear();
    this.#left = 0;
    return { calls, left };
  }

  /** The id of the call of a tool that was made at that time, if it is kept and there is only one. */
  find(canonical: string, time: number): string | undefined {
    const found = [...this.#kept.values()].filter(({ made, call: { source } }) => {
      const name = source.kind === "mcp" ? `${source.server}/${source.tool}` : "";
      return made !== undefined && Math.abs(made - time) <= NEAR_MS && name === canonical;
    });
    return found.length === 1 ? found[0]?.id : undefined;
  }

  /** Undefined for a call that is no longer kept. */
  show(id: string): { facts: CallFacts; steps: CallStep[]; content?: CallContent } | undefined {
    const kept = this.#kept.get(id);
    if (kept === undefined) return undefined;
    const ended = endOf(kept);
    const { read } = kept;
    return {
      facts: factsOf(kept),
      steps: (ended?.steps ?? []).map((step) => ({ ...step })),
      ...(ended && read && { content: contentOf(ended, read()) }),
    };
  }

  #keep(kept: Kept): void {
    this.#size += kept.size - (this.#kept.get(kept.id)?.size ?? 0);
    this.#kept.delete(kept.id);
    this.#kept.set(kept.id, kept);
    while (this.#kept.size > KEPT_CALLS || this.#size > MOST_CONTENT) this.#forgetOldest();
    if (this.#changed.size === 0) this.#options.onChange();
    this.#changed.delete(kept.id);
    this.#changed.add(kept.id);
  }

  #forgetOldest(): void {
    const [oldest] = this.#kept.values();
    if (oldest === undefined) return;
    this.#kept.delete(oldest.id);
    this.#size -= oldest.size;
    if (this.#changed.delete(oldest.id)) this.#left += 1;
  }

  #dropContent(): void {
    this.#contentEnding = undefined;
    for (const kept of this.#kept.values()) {
      kept.size = 0;
      kept.read = undefined;
    }
    this.#size = 0;
  }
}

function contentOf(
  { durationMs }: EndedCall,
  { args, outcome, redacted }: ReturnType<WatchedCallEvent["read"]>,
): CallContent {
  const { content, structuredContent, isError = false, failure } = outcome;
  return {
    args,
    result: {
      isError,
      content: content.map((block) => ({ ...block })),
      ...(structuredContent !== undefined && { structured: structuredContent }),
      ms: durationMs,
      ...(failure !== undefined && { code: failure.code }),
    },
    redacted: {
      args: redacted.args.map((part) => ({ ...part })),
      answer: redacted.answer.map((part) => ({ ...part })),
    },
  };
}

/** Undefined while it runs. */
function endOf({ call }: Kept): EndedCall | undefined {
  return "durationMs" in call ? call : undefined;
}

function factsOf(kept: Kept): CallFacts {
  const { id, place, at, call } = kept;
  const { tool, source, caller } = call;
  const { agent, command } = place;
  const of = {
    id,
    agent,
    tool: source.kind === "mcp" ? `${source.server}/${source.tool}` : tool,
    ...(source.kind === "mcp" && { server: source.server }),
    ...(caller !== undefined && { who: caller }),
    ...(command !== undefined && { command }),
    at,
  };
  const ended = endOf(kept);
  if (ended === undefined) return of;
  const { durationMs, waitedMs, isError, failure, decision, bytes } = ended;
  return {
    ...of,
    ms: durationMs,
    ...(waitedMs !== undefined && { waitedMs }),
    bytes,
    outcome: !isError
      ? "ok"
      : Object.hasOwn(GUARD_REFUSALS, failure?.code ?? "")
        ? "refused"
        : "error",
    verdict: decision.verdict,
    ...(decision.rule !== undefined && { rule: decision.rule }),
    ...(failure && { code: failure.code, message: failure.message }),
  };
}
