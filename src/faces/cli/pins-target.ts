// Which pins somebody means by `server`, `server/tool`, or `server@key` where a name has several
// definitions.

import { PlugboardError } from "../../model/errors.ts";
import type { Pin, PinEntry, ServerPins } from "../../model/pin.ts";
import { closest } from "../../util/closest.ts";

const KEY_LENGTH = 8;

export interface Target {
  servers: readonly ServerPins[];
  /** Absent: everything of the server. */
  tool?: string;
}

/** Throws UNKNOWN_SERVER or UNKNOWN_TOOL, with what may have been meant. */
export function findTarget(text: string, all: readonly ServerPins[]): Target {
  // A server's name has no slash; a tool's may have.
  const at = text.indexOf("/");
  const name = at === -1 ? text : text.slice(0, at);
  const named = all.filter((pins) => pins.server === name || fullName(pins) === name);
  if (named.length === 0) throw unknownServer(name, all);
  if (at === -1) return { servers: named };
  const tool = text.slice(at + 1);
  const servers = named.filter((pins) => pins.tools.has(tool));
  if (servers.length > 0) return { servers, tool };
  const meant = closest(
    tool,
    named.flatMap((pins) => [...pins.tools.keys()]),
  );
  throw new PlugboardError("UNKNOWN_TOOL", `no tool of '${name}' is pinned as '${tool}'`, {
    server: name,
    hint:
      meant === undefined ? "plugboard pins lists them all" : `did you mean '${name}/${meant}'?`,
  });
}

/** All pins of a target; of a server its instructions first. */
export function entriesOf({ servers, tool }: Target): PinEntry[] {
  return servers.flatMap((pins) => {
    const tools = [...pins.tools]
      .filter(([name]) => tool === undefined || name === tool)
      .map(([name, pin]): PinEntry => ({ kind: "tool", pins, tool: name, pin }));
    if (tool !== undefined || isEmpty(pins.instructions)) return tools;
    return [{ kind: "instructions", pins, pin: pins.instructions }, ...tools];
  });
}

/** What is waiting for somebody to look at it. */
export function pendingOf(entries: readonly PinEntry[]): PinEntry[] {
  return entries.filter(({ pin }) => pin.kind !== "pinned");
}

/** `docs@1a2b3c4d`: the one definition of a name. */
export function fullName({ server, key }: ServerPins): string {
  return `${server}@${key.slice(0, KEY_LENGTH)}`;
}

/** As short as it can be told apart from the others. */
export function nameOf({ pins, ...entry }: PinEntry, all: readonly ServerPins[]): string {
  const isOnly = all.every((each) => each.server !== pins.server || each.key === pins.key);
  const server = isOnly ? pins.server : fullName(pins);
  return entry.kind === "tool" ? `${server}/${entry.tool}` : server;
}

function isEmpty(pin: Pin<string>): boolean {
  return pin.kind === "pinned" && pin.approved.value === "";
}

function unknownServer(name: string, all: readonly ServerPins[]): PlugboardError {
  const names = [...new Set(all.map(({ server }) => server))];
  const meant = closest(name, names);
  const known = names.length === 0 ? "there are none" : `there are: ${names.join(", ")}`;
  return new PlugboardError("UNKNOWN_SERVER", `there are no pins of a server '${name}'`, {
    server: name,
    hint: meant === undefined ? known : `did you mean '${meant}'?`,
  });
}
