// A tool's public name: a pure function of template, server and tool, so that it stays the same whatever other
// servers there are. Nothing parses it; the catalog maps it back to the tool.

import { createHash } from "node:crypto";

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;
/** A name that ends like this gets a hash too. Otherwise a server could choose a name equal to a hashed one. */
const HASHED = /_[0-9a-f]{8}$/;

export function publicName(template: string, server: string, tool: string): string {
  const serverPart = safe(server);
  const toolPart = safe(tool);
  const name = fill(template, serverPart, toolPart);
  const isUnchanged = serverPart === server && toolPart === tool;
  const isPlain = isUnchanged && fits(name) && !HASHED.test(name);
  if (isPlain && isUnambiguous(template, serverPart, toolPart)) return name;
  const hash = createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex")
    .slice(0, HASH_LENGTH);
  const started = /^[A-Za-z]/.test(name) ? name : `t_${name}`;
  const maxLength = MAX_LENGTH - HASH_LENGTH - 1;
  return `${started.slice(0, maxLength).replace(/[_-]+$/, "")}_${hash}`;
}

/** What the template gives before anything is replaced, cut or added. People write it in rules. */
export function fullName(template: string, server: string, tool: string): string {
  return fill(template, server, tool);
}

function fits(name: string): boolean {
  return name.length <= MAX_LENGTH && /^[A-Za-z]/.test(name);
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

function fill(template: string, server: string, tool: string): string {
  return template.replace(/\{(server|tool)\}/g, (_, part) => (part === "server" ? server : tool));
}

function safe(part: string): string {
  return part.replace(/[^A-Za-z0-9_-]/g, "_");
}
