// What is valid and still worth saying: keys whose feature this version does not have, keys that do not
// go with the server's transport, and milliseconds that look like seconds.

import { isJsonObject } from "../model/json.ts";
import type { JsonObject } from "../model/json.ts";
import { REMOTE_KEYS, STDIO_KEYS } from "./connection.ts";
import type { Family } from "./connection.ts";
import { atKey } from "./issue.ts";
import type { Issue, KeyPath } from "./issue.ts";
import type { LayerServer } from "./servers.ts";

const NO_EFFECT = "is accepted, but has no effect in this version";

const AGENT_MODE = 'says "agent", which is "always" in this version';

/** Keys to warn about, with what is said of them. */
type Unbuilt = Readonly<Record<string, string>>;

/** Of `mcp.session`: what such a server is has been decided. */
const SESSION_KEYS: Unbuilt = {
  scope: "has no effect on the servers of a session",
  pins: "has no effect on the servers of a session",
};

const TOOLS_KEYS: Unbuilt = { native: NO_EFFECT };

const MCP_KEYS: Unbuilt = { toolSearch: NO_EFFECT };

const ROOT_KEYS: Unbuilt = {
  gateway: NO_EFFECT,
  secrets: NO_EFFECT,
};

/** Values that ask for nothing but what happens anyway. */
const ASKS_NOTHING: Readonly<Record<string, unknown>> = {
  toolSearch: false,
};

/** What a server of each family has no use for. */
const UNUSED_KEYS: Record<Family, readonly string[]> = {
  stdio: REMOTE_KEYS,
  remote: [...STDIO_KEYS, "workingDir"],
};

/** Nobody means so few milliseconds; 0 has a meaning of its own. */
const LOOKS_LIKE_SECONDS = 100;

const SERVER_DURATIONS = ["timeout", "toolTimeout", "idleTimeout", "resourceRefreshMs"];

/** `family` is that of the server as merged: an override need not name it. */
export function serverWarnings({ config, path }: LayerServer, family: Family | undefined): Issue[] {
  const unused = family === undefined ? [] : UNUSED_KEYS[family];
  const used: JsonObject = { ...config };
  const issues: Issue[] = [];
  for (const key of unused) {
    if (used[key] === undefined) continue;
    issues.push(atKey([...path, key], `has no effect on a ${family} server`));
    delete used[key];
  }
  return [
    ...issues,
    ...includeWarnings(used["include"], path),
    ...durationWarnings(used, SERVER_DURATIONS, path),
  ];
}

/** `block` is `agents.defaults` or an entry of `agents.list`. */
export function agentWarnings(block: JsonObject, path: KeyPath): Issue[] {
  const mcp = isJsonObject(block["mcp"]) ? block["mcp"] : {};
  const tools = isJsonObject(block["tools"]) ? block["tools"] : {};
  return [
    ...unbuiltKeys(tools, TOOLS_KEYS, [...path, "tools"]),
    ...unbuiltKeys(mcp, MCP_KEYS, [...path, "mcp"]),
    ...durationWarnings(mcp, ["startupWait"], [...path, "mcp"]),
    ...sessionWarnings(mcp["session"], [...path, "mcp", "session"]),
  ];
}

/** `defaults` are those for servers that a session brings. */
export function sessionWarnings(defaults: unknown, path: KeyPath): Issue[] {
  if (!isJsonObject(defaults)) return [];
  return [
    ...unbuiltKeys(defaults, SESSION_KEYS, path),
    ...includeWarnings(defaults["include"], path),
    ...durationWarnings(defaults, SERVER_DURATIONS, path),
  ];
}

export function rootWarnings(root: JsonObject): Issue[] {
  return unbuiltKeys(root, ROOT_KEYS, []);
}

/** An id names an entry of the list; the defaults belong to all of them. */
export function defaultsWarnings(block: JsonObject, path: KeyPath): Issue[] {
  return block["id"] === undefined ? [] : [atKey([...path, "id"], "has no effect in the defaults")];
}

function includeWarnings(include: unknown, path: KeyPath): Issue[] {
  const { default: general = include, tools } = isJsonObject(include) ? include : {};
  const modes = [general, ...(isJsonObject(tools) ? Object.values(tools) : [])];
  return modes.includes("agent") ? [atKey([...path, "include"], AGENT_MODE)] : [];
}

function unbuiltKeys(object: JsonObject, unbuilt: Unbuilt, path: KeyPath): Issue[] {
  return Object.entries(unbuilt).flatMap(([key, message]) =>
    asksForSomething(key, object[key]) ? [atKey([...path, key], message)] : [],
  );
}

function asksForSomething(key: string, value: unknown): boolean {
  if (value === undefined) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (isJsonObject(value)) return Object.keys(value).length > 0;
  return ASKS_NOTHING[key] !== value;
}

export function durationWarnings(
  object: JsonObject,
  keys: readonly string[],
  path: KeyPath,
): Issue[] {
  return keys.flatMap((key) => {
    const value = object[key];
    if (typeof value !== "number" || value <= 0 || value >= LOOKS_LIKE_SECONDS) return [];
    const message = `is ${value} milliseconds; did you mean ${value}000?`;
    return [atKey([...path, key], message)];
  });
}
