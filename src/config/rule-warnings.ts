// Rules that most likely do not do what they were written for. A rule that matches nothing looks just like
// one that works, and what it should have stopped is not stopped.

import type { ToolRules } from "../model/guard-settings.ts";
import { closest } from "../util/closest.ts";
import { atValue } from "./issue.ts";
import type { Issue, KeyPath } from "./issue.ts";
import { quote } from "./issue.ts";

/** Of an agent's rules; `servers` are the names that there are in the whole configuration. */
export function ruleWarnings(
  rules: ToolRules | undefined,
  path: KeyPath,
  servers: ReadonlySet<string>,
): Issue[] {
  return (["allow", "deny", "ownerOnly"] as const).flatMap((key) => {
    const patterns = rules?.[key];
    if (!Array.isArray(patterns)) return [];
    return patterns.flatMap((pattern, index) =>
      patternWarnings(pattern, [...path, "tools", key, index], servers),
    );
  });
}

function patternWarnings(pattern: string, path: KeyPath, servers: ReadonlySet<string>): Issue[] {
  const slash = pattern.indexOf("/");
  if (slash === -1) {
    const name = pattern.replace(/\*+$/, "");
    if (!servers.has(name)) return [];
    const message = `is a pattern for public names; for the tools of the server write ${quote(`${name}/*`)}`;
    return [atValue(path, message)];
  }
  const server = pattern.slice(0, slash);
  if (server.includes("*") || server === "native" || servers.has(server)) return [];
  // One that is like no other may be meant for a server that a session brings.
  const meant = closest(server, servers);
  return meant === undefined
    ? []
    : [atValue(path, `names the server ${quote(server)}, which there is not`, meant)];
}
