// Counts what the boards do. Every call passes here, so counting must be cheap; readers add up the numbers.

import type { BoardBase } from "../../../core/types/board.ts";
import type { CallEvent, ServerEvent } from "../../../core/types/events.ts";

/** Upper bounds of the classes of durations, in milliseconds. */
export const BOUNDS_MS = [
  1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000,
] as const;

/** Equal parts of each class, so that a quantile is within some percent of what callers saw. */
const PARTS = 8;

/** Tools beyond this are counted together, for each server: every one of them costs lines in `/metrics`. */
const MOST_TOOLS = 300;
/** The name under which they are counted. No tool has it, since a tool's name has no space. */
export const OTHER_TOOLS = "other tools";
/** In place of a server's name, for tools that have none. */
export const NATIVE = "native";

export interface ToolTally {
  readonly agent: string;
  readonly server: string;
  /** As its server calls it. */
  readonly tool: string;
  calls: number;
  /** How many failed, by the error's code. TOOL_ERROR: the tool itself said so. */
  readonly errors: Map<string, number>;
  /** As `newDurations` makes them. */
  readonly durations: Float64Array;
  totalMs: number;
}

export interface ServerTally {
  readonly agent: string;
  readonly server: string;
  /** It ended by itself. */
  crashes: number;
  failedStarts: number;
}

type Watched = Pick<BoardBase, "on">;

export class Tally {
  readonly #tools: ToolTally[] = [];
  readonly #others = new Map<string, ToolTally>();
  readonly #servers = new Map<string, ServerTally>();

  get tools(): readonly ToolTally[] {
    return [...this.#tools, ...this.#others.values()];
  }

  get servers(): readonly ServerTally[] {
    return [...this.#servers.values()];
  }

  /** Counts the calls of a board, and what happens to those of its servers that `isOwn`. */
  watch(agent: string, board: Watched, isOwn: (server: string) => boolean): () => void {
    const byName = new Map<string, ToolTally>();
    const offCall = board.on("call", (event) => {
      // Sessions are watched one by one.
      if (event.session !== undefined) return;
      let tally = byName.get(event.tool);
      if (tally === undefined) {
        tally = this.#tallyOf(agent, event);
        byName.set(event.tool, tally);
      }
      count(tally, event);
    });
    const offServer = board.on("server", (event) => {
      if (isOwn(event.server)) this.#countServer(agent, event);
    });
    return () => {
      offCall();
      offServer();
    };
  }

  #tallyOf(agent: string, { source, tool: publicName }: CallEvent): ToolTally {
    const [server, tool] =
      source.kind === "mcp" ? [source.server, source.tool] : [NATIVE, publicName];
    // The boards of several sessions have the same tools.
    const known = this.#tools.find(
      (each) => each.tool === tool && each.server === server && each.agent === agent,
    );
    if (known !== undefined) return known;
    if (this.#tools.length < MOST_TOOLS) {
      const made = newTally(agent, server, tool);
      this.#tools.push(made);
      return made;
    }
    const key = `${agent}/${server}`;
    const others = this.#others.get(key) ?? newTally(agent, server, OTHER_TOOLS);
    this.#others.set(key, others);
    return others;
  }

  #countServer(agent: string, { server, state, previous }: ServerEvent): void {
    if (state.kind !== "backoff" && state.kind !== "failed") return;
    const key = `${agent}/${server}`;
    const tally = this.#servers.get(key) ?? { agent, server, crashes: 0, failedStarts: 0 };
    this.#servers.set(key, tally);
    if (previous.kind === "starting") tally.failedStarts += 1;
    else if (previous.kind === "ready") tally.crashes += 1;
  }
}

function newTally(agent: string, server: string, tool: string): ToolTally {
  return {
    agent,
    server,
    tool,
    calls: 0,
    errors: new Map(),
    durations: newDurations(),
    totalMs: 0,
  };
}

function count(tally: ToolTally, { durationMs, isError, failure }: CallEvent): void {
  tally.calls += 1;
  tally.totalMs += durationMs;
  countDuration(tally.durations, durationMs);
  if (!isError) return;
  const code = failure?.code ?? "TOOL_ERROR";
  tally.errors.set(code, (tally.errors.get(code) ?? 0) + 1);
}

/** How many calls took how long: PARTS of each class one after the other, and the last for what exceeds all. */
export function newDurations(): Float64Array {
  return new Float64Array(BOUNDS_MS.length * PARTS + 1);
}

export function countDuration(durations: Float64Array, ms: number): void {
  let at = 0;
  while (at < BOUNDS_MS.length && ms > (BOUNDS_MS[at] ?? 0)) at += 1;
  const from = BOUNDS_MS[at - 1] ?? 0;
  const to = BOUNDS_MS[at];
  // A part has its upper bound, as a class does.
  const part =
    to === undefined ? 0 : Math.max(0, Math.ceil(((ms - from) * PARTS) / (to - from)) - 1);
  const place = at * PARTS + part;
  durations[place] = (durations[place] ?? 0) + 1;
}

/** How many took as long as each of BOUNDS_MS at most, and longer than the one before; the last is for the rest. */
export function classesOf(durations: ArrayLike<number>): number[] {
  const classes = Array.from({ length: BOUNDS_MS.length + 1 }, () => 0);
  for (let place = 0; place < durations.length; place += 1) {
    const at = Math.floor(place / PARTS);
    classes[at] = (classes[at] ?? 0) + (durations[place] ?? 0);
  }
  return classes;
}

/** The durations of all tools of a server. */
export function durationsOf(
  { tools }: Pick<Tally, "tools">,
  agent: string,
  server: string,
): Float64Array {
  const all = newDurations();
  for (const tool of tools) {
    if (tool.agent !== agent || tool.server !== server) continue;
    tool.durations.forEach((here, at) => {
      all[at] = (all[at] ?? 0) + here;
    });
  }
  return all;
}

/** `p50` milliseconds is what half of the calls did not exceed, `p95` what 95 % did not. Absent without calls. */
export function percentiles(durations: ArrayLike<number>): { p50?: number; p95?: number } {
  const [p50, p95] = [quantileMs(durations, 0.5), quantileMs(durations, 0.95)];
  return { ...(p50 !== undefined && { p50 }), ...(p95 !== undefined && { p95 }) };
}

/** The duration that this share of the calls did not exceed, between the bounds of its part. Undefined without calls. */
export function quantileMs(durations: ArrayLike<number>, share: number): number | undefined {
  let all = 0;
  for (let at = 0; at < durations.length; at += 1) all += durations[at] ?? 0;
  if (all === 0) return undefined;
  let before = 0;
  for (let at = 0; at < durations.length; at += 1) {
    const here = durations[at] ?? 0;
    if (here > 0 && before + here >= all * share) {
      const from = boundOf(at);
      return from + ((boundOf(at + 1) - from) * (all * share - before)) / here;
    }
    before += here;
  }
  return undefined;
}

/** Where a part begins, which is where the one before it ends. */
function boundOf(place: number): number {
  const at = Math.floor(place / PARTS);
  const from = BOUNDS_MS[at - 1] ?? 0;
  const to = BOUNDS_MS[at] ?? from;
  return from + ((to - from) * (place % PARTS)) / PARTS;
}
