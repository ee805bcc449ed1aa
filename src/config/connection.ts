// What a server's keys say about how to reach it, and whether they say it completely.

import { atKey } from "./issue.ts";
import type { Issue, KeyPath } from "./issue.ts";
import type { PlainServer } from "./servers.ts";

export type Family = "stdio" | "remote";

export const STDIO_KEYS = ["command", "args", "env", "cwd"] as const;

export const REMOTE_KEYS = [
  "url",
  "headers",
  "auth",
  "oauth",
  "tls",
  "allowInsecure",
  "allowPrivate",
] as const;

/** Undefined where the keys do not tell, as in an override that leaves the connection alone. */
export function familyOf({ transport, command, url }: PlainServer): Family | undefined {
  if (transport !== undefined) return transport === "stdio" ? "stdio" : "remote";
  if (command !== undefined) return url === undefined ? "stdio" : undefined;
  return url === undefined ? undefined : "remote";
}

/** Can be judged of a server that is wrong in other ways too. */
export function ambiguityIssues(
  { command, url, transport, type }: Readonly<Record<string, unknown>>,
  path: KeyPath,
): Issue[] {
  if (command === undefined || url === undefined) return [];
  if (transport !== undefined || type !== undefined) return [];
  return [atKey(path, 'has both "command" and "url"; expected one of them, or a "transport"')];
}

/** What keeps a merged server from being started at all. */
export function connectionIssues(server: PlainServer, path: KeyPath): Issue[] {
  const { transport, command, url } = server;
  if (transport === undefined) {
    const ambiguity = ambiguityIssues({ ...server }, path);
    if (ambiguity.length > 0) return ambiguity;
    if (command === undefined && url === undefined) {
      return [atKey(path, 'has neither "command" nor "url"; expected one of them')];
    }
  }
  if (transport === "stdio" && command === undefined) {
    return [atKey(path, 'has the transport stdio and no "command"; expected one')];
  }
  if (transport !== undefined && transport !== "stdio" && url === undefined) {
    return [atKey(path, `has the transport ${transport} and no "url"; expected one`)];
  }
  return [];
}
