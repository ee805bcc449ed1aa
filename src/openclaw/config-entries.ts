// What Plugboard has in OpenClaw's own configuration: the slots, the entry that all sessions share, and the rules that keep
// that entry from single agents. Reads the value of the file, and says which keys have which value.

import { isJsonObject, type JsonObject, objectIn, valueIn } from "../core/types/json.ts";
import { SHARED_ENTRY, type Slot, slotPath, slotUrl } from "./slots.ts";

/** One value of the file. */
export interface ConfigEntry {
  path: readonly (string | number)[];
  value: JsonObject | string;
}

const SERVERS = ["mcp", "servers"];

/** OpenClaw puts the server's name before the tool's. */
const SHARED_TOOLS = `${SHARED_ENTRY}__*`;

/** OpenClaw waits 30 seconds by itself; a server that `npx` still has to install may take longer. */
const CONNECTION_TIMEOUT_MS = 60_000;
/** Without it, OpenClaw waits 1.5 seconds for the list of tools. It is this long because somebody may have to approve a call. */
const REQUEST_TIMEOUT_MS = 600_000;

export function slotName(number: number): string {
  return `plugboard-${number}`;
}

export function slotEntry(slot: Slot): ConfigEntry {
  return {
    path: [...SERVERS, slot.name],
    value: {
      url: slotUrl(slot),
      transport: "streamable-http",
      headers: { Authorization: `Bearer ${slot.token}` },
      connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      enabled: false,
    },
  };
}

/** `target` is a program and its arguments, or the URL of a gateway. */
export function sharedEntry(target: JsonObject): ConfigEntry {
  const { url, ...rest } = target;
  return {
    path: [...SERVERS, SHARED_ENTRY],
    value: {
      // Without the transport, OpenClaw would speak the older one.
      ...(url !== undefined && { url, transport: "streamable-http" }),
      ...rest,
      connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    },
  };
}

/** The slots that the file has, in its order, with their entries as they are written. */
export function slotsIn(config: unknown): (ConfigEntry & { slot: Slot })[] {
  const servers = valueIn(config, SERVERS);
  return Object.entries(objectIn(servers)).flatMap(([name, value]) => {
    const slot = slotOf(name, value);
    return slot === undefined || !isJsonObject(value)
      ? []
      : [{ path: [...SERVERS, name], value, slot }];
  });
}

function slotOf(name: string, value: unknown): Slot | undefined {
  const url = valueIn(value, ["url"]);
  const header = valueIn(value, ["headers", "Authorization"]);
  if (!/^plugboard-\d+$/.test(name) || typeof url !== "string" || !URL.canParse(url)) {
    return undefined;
  }
  const { pathname, port } = new URL(url);
  // Any text counts: an entry with a token that somebody wrote or could guess is ours, and gets another one.
  const token = typeof header === "string" ? /^Bearer (\S+)$/.exec(header)?.[1] : undefined;
  if (pathname !== slotPath({ name }) || port === "" || token === undefined) return undefined;
  return { name, port: Number(port), token };
}

/** The agents that the file names, under either of the keys that OpenClaw has had for them. */
export function agentsIn(config: unknown): { id: string; path: ConfigEntry["path"] }[] {
  const entries = valueIn(config, ["agents", "entries"]);
  const list = valueIn(config, ["agents", "list"]);
  return [
    ...Object.keys(objectIn(entries)).map((id) => ({
      id,
      path: ["agents", "entries", id],
    })),
    ...(Array.isArray(list) ? list : []).flatMap((agent: unknown, index) => {
      const id = valueIn(agent, ["id"]);
      return typeof id === "string" ? [{ id, path: ["agents", "list", index] }] : [];
    }),
  ];
}

/** The rules of the file that keep the shared entry from an agent. */
export function denialsIn(config: unknown): ConfigEntry[] {
  return agentsIn(config).flatMap(({ path }) => {
    const place = [...path, "tools", "deny"];
    const list = valueIn(config, place);
    const index = Array.isArray(list) ? list.indexOf(SHARED_TOOLS) : -1;
    return index === -1 ? [] : [{ path: [...place, index], value: SHARED_TOOLS }];
  });
}

/** The rules that keep the shared entry from all agents but these. */
export function denialsExcept(config: unknown, agents: readonly string[]): ConfigEntry[] {
  if (agents.length === 0) return [];
  return agentsIn(config)
    .filter(({ id }) => !agents.includes(id))
    .map(({ path }) => {
      const place = [...path, "tools", "deny"];
      const list = valueIn(config, place);
      const at = Array.isArray(list) ? list.indexOf(SHARED_TOOLS) : 0;
      const end = Array.isArray(list) ? list.length : 0;
      return { path: [...place, at === -1 ? end : at], value: SHARED_TOOLS };
    });
}

/** The file that OpenClaw reads a part of its configuration from, and the path of that part. */
export function includeOn(
  config: unknown,
  path: ConfigEntry["path"],
): { path: ConfigEntry["path"]; files: string[] } | undefined {
  for (let length = 0; length <= path.length; length++) {
    const part = path.slice(0, length);
    const include = valueIn(config, [...part, "$include"]);
    const files = (Array.isArray(include) ? include : [include]).filter(
      (each) => typeof each === "string",
    );
    if (files.length > 0) return { path: part, files };
  }
  return undefined;
}
