// Finds the settings that apply to a tool: those of the server definition it came from. A session's server with
// the name of a configured one is another definition.

import type { ServerGuard } from "../types/guard-settings.ts";
import type { Subject } from "../types/guard.ts";
import type { ServerDefinition } from "../types/server-definition.ts";

export type GuardedServer = Pick<ServerDefinition, "name" | "origin" | "guard">;

/** Where something comes from. */
type Origin = Pick<Subject, "source" | "origin">;

export interface ServerGuards {
  /** The settings of the tool's own server; empty for native tools. */
  own(of: Origin): ServerGuard;
  /** The settings of the configured server that a session's server of the same name replaces. */
  shadowed(of: Origin): ServerGuard;
}

export function serverGuards(servers: Iterable<GuardedServer>): ServerGuards {
  const configured = new Map<string, ServerGuard>();
  const session = new Map<string, ServerGuard>();
  for (const { name, origin, guard } of servers) {
    if (guard !== undefined) (origin === "session" ? session : configured).set(name, guard);
  }
  const find = (guards: Map<string, ServerGuard>, { source }: Origin): ServerGuard =>
    (source.kind === "mcp" ? guards.get(source.server) : undefined) ?? {};
  return {
    own: (subject) => find(subject.origin === "session" ? session : configured, subject),
    shadowed: (subject) => (subject.origin === "session" ? find(configured, subject) : {}),
  };
}

/** For a session's board. `own` finds one of its servers by name, on every use: it can add and remove some. */
export function guardsOver(
  configured: Iterable<GuardedServer>,
  own: (server: string) => GuardedServer | undefined,
): ServerGuards {
  const guards = serverGuards(configured);
  return {
    own: (subject) => {
      const { origin, source } = subject;
      if (origin !== "session" || source.kind !== "mcp") return guards.own(subject);
      return own(source.server)?.guard ?? {};
    },
    shadowed: (subject) => guards.shadowed(subject),
  };
}

/** A key that keeps the counts of a configured server and of a session's server of the same name apart. */
export function countedAs(subject: Subject, name: string): string {
  return `${subject.origin === "session" ? "session" : "configured"} ${name}`;
}

/**
 * The name under which an exception is counted. Each tool counts for itself. Resources and prompts count together if
 * one pattern names them: there are any number of URIs.
 */
export function exceptionCountedAs(subject: Subject, pattern = ""): string {
  const { canonical, content, source } = subject;
  if (content === undefined || source.kind !== "mcp") return canonical;
  return pattern.startsWith(`${source.server}/`) ? pattern : `${source.server}/${pattern}`;
}
