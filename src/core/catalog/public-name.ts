// A tool's public name: a pure function of template, server and tool, so that it stays the same whatever other
// servers there are. Nothing parses it; the catalog maps it back to the tool.

import { createHash } from "node:crypto";
import { OF_SEVERAL_SERVERS, OWN_NAMES } from "../types/agent-config.ts";

/** As long as every model provider takes. */
const MAX_LENGTH = 64;
const HASH_LENGTH = 8;
/** What a tool may be called in MCP. */
const VALID = /^[A-Za-z0-9_.-]{1,128}$/;
/** A name that ends like this gets a hash too. Otherwise a server could choose a name equal to a hashed one. */
const HASHED = /_[0-9a-f]{8}$/;

/** How the tools of a board are named. */
export interface Naming {
  /** Has the server and the tool in it. */
  template: string;
  /** The most characters of a name that is not the tool's own. */
  maxLength: number;
  /** The server whose tools keep their own names. */
  ownNamesOf?: string | undefined;
}

/**
 * `toolNames` and `toolNameLength` as configured, for a board with these servers. With several of them, two tools of one
 * name must not depend on which server is faster, so the name of each tool gets its server's in front.
 */
export function namingFor(
  toolNames: string,
  servers: readonly { name: string; enabled: boolean }[],
  toolNameLength = MAX_LENGTH,
): Naming {
  const maxLength = toolNameLength;
  if (toolNames !== OWN_NAMES) return { template: toolNames, maxLength };
  const [only, ...others] = servers.filter(({ enabled }) => enabled);
  const ownNamesOf = others.length === 0 ? only?.name : undefined;
  return { template: OF_SEVERAL_SERVERS, maxLength, ownNamesOf };
}

/** The tool's own name where it is a valid one that is not taken. */
export function usableOwnName(
  server: string,
  tool: string,
  maxLength: number,
  isTaken: (name: string) => boolean,
): string {
  return VALID.test(tool) && !isTaken(tool) ? tool : hashed(safe(tool), server, tool, maxLength);
}

export function publicName(
  template: string,
  server: string,
  tool: string,
  maxLength = MAX_LENGTH,
): string {
  const serverPart = safe(server);
  const toolPart = safe(tool);
  const name = fullName(template, serverPart, toolPart);
  const isUnchanged = serverPart === server && toolPart === tool;
  const isPlain = isUnchanged && fits(name, maxLength) && !HASHED.test(name);
  if (isPlain && isUnambiguous(template, serverPart, toolPart)) return name;
  return hashed(name, server, tool, maxLength);
}

/** Begins like `name`, and ends in a hash of the server and the tool. */
function hashed(name: string, server: string, tool: string, maxLength: number): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex")
    .slice(0, HASH_LENGTH);
  const started = /^[A-Za-z]/.test(name) ? name : `t_${name}`;
  const kept = started.slice(0, maxLength - HASH_LENGTH - 1).replace(/[_-]+$/, "");
  return `${kept}_${hash}`;
}

function fits(name: string, maxLength: number): boolean {
  return name.length <= maxLength && /^[A-Za-z]/.test(name);
}

/** Two pairs of parts must not give the same name: joined by `__`, `a` + `_b` and `a_` + `b` would. */
function isUnambiguous(template: string, server: string, tool: string): boolean {
  if (server.includes("__") || tool.includes("__")) return false;
  const serverFirst = template.indexOf("{server}") < template.indexOf("{tool}");
  const [first, between] = serverFirst
    ? [server, betweenParts(template, "{server}", "{tool}")]
    : [tool, betweenParts(template, "{tool}", "{server}")];
  if (between === "") return false;
  return `${first}${between}`.indexOf(between) === first.length;
}

function betweenParts(template: string, first: string, second: string): string {
  return template.slice(template.indexOf(first) + first.length, template.indexOf(second));
}

/** What the template gives before anything is replaced, cut or added. People write it in rules. */
export function fullName(template: string, server: string, tool: string): string {
  return template.replace(/\{(server|tool)\}/g, (_, part) => (part === "server" ? server : tool));
}

function safe(part: string): string {
  return part.replace(/[^A-Za-z0-9_-]/g, "_");
}
