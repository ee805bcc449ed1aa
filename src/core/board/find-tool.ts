// Finds a tool by name, and suggests similar names if there is none. What is known answers at once; only if that
// has no such tool, servers whose tools are not known are started.

import { cancelled, PlugboardError, quoteIn } from "../types/errors.ts";
import type { Subject } from "../types/guard.ts";
import { isCallable } from "../types/server-state.ts";
import { canonicalName, type Tool } from "../types/tool.ts";
import { unavailable } from "../upstream/supervisor/unavailable.ts";
import { untilAborted } from "../../util/abort.ts";
import type { Clock } from "../../util/clock.ts";
import { closest, nearness } from "../../util/closest.ts";
import { capitalised, isPlainName, oneLine } from "../../util/text.ts";
import type { ServerEntry } from "./server-entry.ts";
import type { ServerSet } from "./server-set.ts";
import type { BoardTool, BoardTools } from "./tools.ts";

const MOST_SUGGESTIONS = 3;

export interface FindContext {
  tools: Pick<BoardTools, "find" | "all">;
  servers: Pick<ServerSet, "reached" | "leaving" | "withheld" | "missing">;
  clock: Clock;
}

/**
 * Finds a tool by its full name: the public name, `server/tool` or `native/tool`. Starts servers whose tools are
 * not known; for `server/tool` only that server, even if its tools are known from the cache, and none if the board
 * has no such server. Waits until one of them has the tool. Rejects only with CANCELLED.
 */
export async function findByFullName(
  name: string,
  { tools, servers }: FindContext,
  signal: AbortSignal | undefined,
): Promise<BoardTool | undefined> {
  const known = tools.find(name);
  if (known !== undefined) return known;
  const named = serverIn(name, servers);
  if (named === undefined && name.includes("/")) return undefined;
  const asked = named === undefined ? servers.leaving("tool").filter(isStartable) : [named];
  const waiting = new Map<ServerEntry, Promise<ServerEntry>>();
  for (const entry of asked) {
    const { supervisor, definition } = entry;
    // A server that needs a sign-in is tried again when you name it: you may have signed in elsewhere.
    const mayStart = isCallable(supervisor.state) || supervisor.state.kind === "needs-auth";
    // The server that you name may have tools that it did not have in the run that the cache is from.
    const isSettled = named === undefined ? entry.isKnown : entry.isConfirmed;
    if (isSettled || !mayStart) continue;
    const attempt = supervisor.attempt(definition.lazy);
    waiting.set(
      entry,
      attempt.then(() => entry),
    );
  }
  while (waiting.size > 0 && tools.find(name) === undefined) {
    waiting.delete(await untilAborted(Promise.race(waiting.values()), signal, cancelled));
  }
  return tools.find(name);
}

/**
 * Finds a tool by its full name, or by its own name if no other known tool has it. Also finds tools that the rules
 * hide: their calls are refused later, so that the audit log has the real arguments. Rejects with UNKNOWN_TOOL or
 * UNKNOWN_SERVER, with SERVER_UNAVAILABLE if a server that is down may have the tool, or with CANCELLED.
 */
export async function findTool(
  given: string,
  context: FindContext,
  signal: AbortSignal | undefined,
): Promise<BoardTool> {
  const known = context.tools.find(given) ?? findByOwnName(given, context);
  if (known !== undefined) return known;
  const name = slashed(
    given,
    context.servers.reached().map((each) => each.name),
  );
  const found = await findByFullName(name, context, signal);
  const only = found ?? findByOwnName(given, context);
  if (only !== undefined) return only;
  const error = unknownTool(name, context);
  const [silent, ...others] = silentServers(name, context.servers);
  if (error.code !== "UNKNOWN_TOOL" || silent === undefined) throw error;
  const message = `none of the servers that answered has a tool named '${oneLine(name, 200)}'`;
  throw new PlugboardError("SERVER_UNAVAILABLE", message, {
    hint: error.hint,
    cause: others.length > 0 ? undefined : whyUnknown(silent, context.clock),
  });
}

/** Other programs write `server.tool` or `mcp:server:tool`. With one of these servers in front, nothing else is meant. */
function slashed(name: string, servers: readonly string[]): string {
  const [, server = "", tool] = /^mcp:([^:]+):(.+)$/s.exec(name) ?? [];
  if (servers.includes(server)) return `${server}/${tool}`;
  if (name.includes("/")) return name;
  const [only, ...others] = servers.filter((each) => name.startsWith(`${each}.`));
  if (only === undefined || others.length > 0) return name;
  return `${only}/${name.slice(only.length + 1)}`;
}

/** Throws UNKNOWN_TOOL if several have the name. */
function findByOwnName(name: string, { tools, servers }: FindContext): BoardTool | undefined {
  const alike = tools.all().filter((each) => ownName(each) === name);
  if (alike.length === 0) return undefined;
  const reached = new Set(servers.reached().map((each) => each.name));
  // Refusing a tool of a server that the session may not know of would tell that the server exists.
  const named = alike.filter(
    ({ subject: { source } }) => source.kind === "native" || reached.has(source.server),
  );
  const allowed = named.filter(({ isAllowed }) => isAllowed);
  const listed = allowed.filter(({ isListed }) => isListed);
  const meant = [listed, allowed, named].find(({ length }) => length > 0) ?? [];
  const [only, ...others] = meant;
  if (only !== undefined && others.length === 0) return only;
  if (allowed.length > 0) {
    const names = meant.map(({ subject }) => subject.canonical).join(", ");
    throw new PlugboardError("UNKNOWN_TOOL", `several tools are named '${oneLine(name, 200)}'`, {
      hint: `say which: ${names}`,
    });
  }
  // The rules hide all of them, so the call is refused whichever is meant.
  return only;
}

/** Suggests the closest names, and names the servers that could not be asked, since one may have the tool. */
export function unknownTool(name: string, { tools, servers, clock }: FindContext): PlugboardError {
  const why = (entry: ServerEntry): PlugboardError => whyUnknown(entry, clock);
  const named = serverIn(name, servers);
  if (named?.isKnown === false) return why(named);
  if (named === undefined && name.includes("/") && !name.startsWith("native/"))
    return unknownServerOf(name, servers);
  const listed = tools.all().filter(({ isAllowed }) => isAllowed);
  const [silent, ...others] = silentServers(name, servers);
  const hints = didYouMean(nearestNames(name, listed));
  const reason = silent !== undefined && others.length === 0 ? why(silent) : undefined;
  if (reason !== undefined) hints.push(reason.message);
  if (silent !== undefined && others.length > 0) {
    const names = [silent, ...others].map(({ definition }) => definition.name).join(", ");
    hints.push(`these servers did not list their tools: ${names}`);
  }
  const [first, ...more] = hints;
  return new PlugboardError("UNKNOWN_TOOL", `there is no tool named '${oneLine(name, 200)}'`, {
    hint: first === undefined ? undefined : [first, ...more.map(capitalised)].join(" "),
    // Why a server could not be asked may be told in its own words.
    quote: reason && (quoteIn(reason) ?? reason.message),
  });
}

/** For `server/tool` with a server that the board does not have. It suggests servers: which tools are known varies. */
function unknownServerOf(name: string, servers: FindContext["servers"]): PlugboardError {
  const server = oneLine(name.slice(0, name.indexOf("/")), 100);
  if (servers.withheld().some((entry) => entry.name === server)) {
    return new PlugboardError("SERVER_UNAVAILABLE", `server '${server}' is disabled`, { server });
  }
  const names = servers.leaving("tool").map((entry) => entry.name);
  return servers.missing(server, names);
}

/** "did you mean …?" with the nearest of these tools, for a board that has them in parts. */
export function suggestTools(name: string, tools: readonly Tool[]): string | undefined {
  const subjects = tools.map(({ name: publicName, source }) => {
    const canonical = canonicalName({ name: `native/${publicName}`, source });
    return { subject: { canonical, publicName, source } };
  });
  return didYouMean(nearestNames(name, subjects))[0];
}

type NamedTool = { subject: Pick<Subject, "canonical" | "publicName" | "source"> };

/** Returns public names if the given name resembles one, else names in the form `server/tool`. */
function nearestNames(name: string, tools: readonly NamedTool[]): string[] {
  // Other programs write `server.tool`.
  const dotted = tools.find(({ subject }) => subject.canonical === name.replace(".", "/"));
  if (dotted !== undefined) return [dotted.subject.canonical];
  const publicNames = new Set(tools.map(({ subject }) => subject.publicName));
  const names = new Map<string, string>();
  for (const each of tools) {
    const { canonical, publicName, source } = each.subject;
    // A model may read the suggestion, so it holds no name that could be a sentence.
    const isCanonical = source.kind === "mcp" && isPlainName(source.tool);
    const shown = isCanonical ? canonical : publicName;
    // A full name is compared with full names, a tool's own name with own names: a part and a whole never look alike.
    names.set(name.includes("/") ? shown : ownName(each), shown);
  }
  if (!name.includes("/")) for (const each of publicNames) names.set(each, each);
  const nearest: string[] = [];
  let furthest = Infinity;
  while (nearest.length < MOST_SUGGESTIONS) {
    const alias = closest(name, names.keys());
    if (alias === undefined || nearness(name, alias) > furthest) break;
    // Others only help if they are about as near as the best one.
    furthest = Math.min(furthest, nearness(name, alias) + 1);
    const meant = names.get(alias) ?? alias;
    if (!nearest.includes(meant)) nearest.push(meant);
    // Public names are long and similar to each other, so further ones would not help.
    if (publicNames.has(alias)) break;
    names.delete(alias);
  }
  return nearest;
}

function didYouMean(names: readonly string[]): string[] {
  const quoted = names.map((name) => `'${name}'`);
  const last = quoted.pop();
  if (last === undefined) return [];
  return [`did you mean ${quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`}?`];
}

/** Servers whose tools are not known, neither from the cache nor from the server. */
function silentServers(name: string, servers: FindContext["servers"]): ServerEntry[] {
  const named = serverIn(name, servers);
  const candidates = named === undefined ? servers.leaving("tool") : [named];
  return candidates.filter(({ isKnown, definition }) => !isKnown && definition.enabled);
}

/** Why it is not known which tools the server has. */
function whyUnknown({ definition, supervisor }: ServerEntry, clock: Clock): PlugboardError {
  const { state, lastError } = supervisor;
  if (state.kind !== "ready" || lastError === undefined) {
    return unavailable(definition, state, clock);
  }
  const message = `server '${definition.name}' does not tell its tools: ${lastError.message}`;
  return new PlugboardError("SERVER_UNAVAILABLE", message, {
    server: definition.name,
    namesServer: true,
    cause: lastError,
    quote: quoteIn(lastError),
    hasNotRun: true,
  });
}

/** A mistyped name must not start servers that have failed. */
function isStartable({ supervisor }: ServerEntry): boolean {
  return supervisor.state.kind === "idle" || supervisor.state.kind === "starting";
}

function serverIn(name: string, servers: FindContext["servers"]): ServerEntry | undefined {
  const slash = name.indexOf("/");
  const server = name.slice(0, Math.max(slash, 0));
  return slash === -1 ? undefined : servers.reached().find((each) => each.name === server);
}

function ownName({ subject: { source, publicName } }: NamedTool): string {
  return source.kind === "mcp" ? source.tool : publicName;
}
