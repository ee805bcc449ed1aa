// Limits how many servers and tools a session may have, and names those that are left out, so that the user
// learns of them.

import { PlugboardError } from "../types/errors.ts";
import type { AgentGuard } from "../types/guard-settings.ts";
import { canonicalName, type Tool } from "../types/tool.ts";
import { oneLine, plural } from "../../util/text.ts";

export interface SessionLimits {
  servers: number;
  tools: number;
}

export interface Selection<Item> {
  kept: Item[];
  leftOut: Item[];
  /** Absent if everything fits. */
  notice?: string;
}

const SERVERS = { fallback: 10, max: 1000, variable: "PLUGBOARD_MAX_SESSION_SERVERS" } as const;
const TOOLS = { fallback: 100, max: 10_000, variable: "PLUGBOARD_MAX_SESSION_TOOLS" } as const;
const MOST_PROCESSES = 5;

const LEFT_OUT = "left out";

/** Nobody reads a longer list in a sentence. `leftOut` has them all. */
const MOST_NAMED = 50;

/** The environment wins over the configuration. Throws CONFIG_INVALID for a value that is not a valid limit. */
export function sessionLimits(
  guard: AgentGuard | undefined,
  env: Readonly<Record<string, string | undefined>>,
): SessionLimits {
  const { sessionServers = SERVERS.fallback, sessionTools = TOOLS.fallback } = guard?.limits ?? {};
  return {
    servers: fromEnvironment(env, SERVERS.variable, SERVERS.max) ?? sessionServers,
    tools: fromEnvironment(env, TOOLS.variable, TOOLS.max) ?? sessionTools,
  };
}

/** Keeps the first ones. */
export function selectServers(
  names: readonly string[],
  { servers }: SessionLimits,
): Selection<string> {
  const settings = `limits.sessionServers or ${SERVERS.variable}`;
  return select(names, servers, (name) => name, { noun: "server", settings });
}

/** Keeps the first ones. `areFound`: a model finds the others by search. */
export function selectTools<Item extends Pick<Tool, "name" | "source">>(
  tools: readonly Item[],
  { tools: limit }: SessionLimits,
  areFound: boolean,
): Selection<Item> {
  const settings = `limits.sessionTools or ${TOOLS.variable}`;
  const fate = areFound ? "found by search alone" : LEFT_OUT;
  return select(tools, limit, canonicalName, { noun: "tool", settings, fate });
}

/** Many programs are allowed, but each takes memory and time to start, so the user gets a warning. */
export function processWarning(count: number): string | undefined {
  if (count <= MOST_PROCESSES) return undefined;
  return `the session starts ${plural(count, "program")} of its own; more than ${MOST_PROCESSES} make it slow to start`;
}

function select<Item>(
  items: readonly Item[],
  limit: number,
  nameOf: (item: Item) => string,
  { noun, settings, fate = LEFT_OUT }: { noun: string; settings: string; fate?: string },
): Selection<Item> {
  const kept = items.slice(0, limit);
  const leftOut = items.slice(limit);
  if (leftOut.length === 0) return { kept, leftOut };
  const names = leftOut.slice(0, MOST_NAMED).map((item) => oneLine(nameOf(item), 200));
  const more = leftOut.length > MOST_NAMED ? ` and ${leftOut.length - MOST_NAMED} more` : "";
  const count = `${plural(leftOut.length, noun)} of the session ${leftOut.length === 1 ? "is" : "are"}`;
  return {
    kept,
    leftOut,
    notice: `${count} ${fate}, the limit is ${limit}: ${names.join(", ")}${more}; raise it with ${settings}`,
  };
}

function fromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  variable: string,
  max: number,
): number | undefined {
  const value = env[variable];
  if (value === undefined || value === "") return undefined;
  if (/^\d{1,9}$/.test(value) && Number(value) <= max) return Number(value);
  const message = `is "${oneLine(value, 64)}"; expected a whole number from 0 to ${max}`;
  throw new PlugboardError("CONFIG_INVALID", `${variable} ${message}`, {
    permanent: true,
    problems: [{ path: variable, message }],
  });
}
