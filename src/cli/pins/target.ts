// Finds the pins that a person names: `server`, `server/tool`, or `server@key` where several servers were pinned
// under one name. The name alone means the server that is configured here, if one is.

import { entriesIn } from "../../core/board/pins.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { PinEntry, ServerPins } from "../../core/types/pin.ts";
import { closest } from "../../util/closest.ts";

const KEY_LENGTH = 8;

export interface KnownPins {
  all: readonly ServerPins[];
  /** Of servers as they are configured here. */
  configured: readonly ServerPins[];
}

export interface Target {
  servers: readonly ServerPins[];
  /** Without it: everything the servers have. */
  tool?: string;
}

/** Throws UNKNOWN_SERVER or UNKNOWN_TOOL, with a suggestion. */
export function findTarget(text: string, known: KnownPins): Target {
  // A server's name has no slash, a tool's name may have one.
  const at = text.indexOf("/");
  const name = at === -1 ? text : text.slice(0, at);
  const exact = known.all.filter((pins) => nameWithKey(pins) === name);
  const named = exact.length > 0 ? exact : meantBy(name, known);
  if (named.length === 0) throw unknownServer(name, known.all);
  if (at === -1) return { servers: named };
  const tool = text.slice(at + 1);
  const servers = named.filter((pins) => pins.tools.has(tool));
  if (servers.length > 0) return { servers, tool };
  const meant = closest(
    tool,
    named.flatMap((pins) => [...pins.tools.keys()]),
  );
  throw new PlugboardError("UNKNOWN_TOOL", `server '${name}' has no pinned tool named '${tool}'`, {
    server: name,
    hint:
      meant === undefined ? "to list them all: plugboard pins" : `did you mean '${name}/${meant}'?`,
  });
}

/** All pins of a target. */
export function entriesOf({ servers, tool }: Target): PinEntry[] {
  return servers
    .flatMap(entriesIn)
    .filter((entry) => tool === undefined || (entry.kind === "tool" && entry.tool === tool));
}

/** The entries that wait for approval. */
export function pendingOf(entries: readonly PinEntry[]): PinEntry[] {
  return entries.filter(({ pin }) => pin.kind !== "pinned");
}

/** `docs@1a2b3c4d`: one of several servers with the same name. */
export function nameWithKey({ server, key }: ServerPins): string {
  return `${server}@${key.slice(0, KEY_LENGTH)}`;
}

/** The shortest name that is unique. */
export function nameOf({ pins, ...entry }: PinEntry, known: KnownPins): string {
  const isMeant = meantBy(pins.server, known).every(({ key }) => key === pins.key);
  const server = isMeant ? pins.server : nameWithKey(pins);
  return entry.kind === "tool" ? `${server}/${entry.tool}` : server;
}

function meantBy(name: string, { all, configured }: KnownPins): readonly ServerPins[] {
  const isNamed = ({ server }: ServerPins): boolean => server === name;
  const here = configured.filter(isNamed);
  return here.length > 0 ? here : all.filter(isNamed);
}

function unknownServer(name: string, all: readonly ServerPins[]): PlugboardError {
  const names = [...new Set(all.map(({ server }) => server))];
  const meant = closest(name, names);
  const known =
    names.length === 0 ? "no server has pins" : `servers with pins: ${names.join(", ")}`;
  return new PlugboardError("UNKNOWN_SERVER", `server '${name}' has no pins`, {
    server: name,
    hint: meant === undefined ? known : `did you mean '${meant}'?`,
  });
}
