// What the servers of a session are held to: its own as they are now, the others as the agent's board has it.

import { type ServerGuards, serverGuards } from "../../guard/server-guards.ts";
import type { ServerDefinition } from "../../model/server-definition.ts";

/** `own` changes with the servers that come and go. */
export function sessionGuards(
  configured: readonly ServerDefinition[],
  own: ReadonlyMap<string, ServerDefinition>,
): ServerGuards {
  const guards = serverGuards(configured);
  return {
    own: (subject) => {
      const { origin, source } = subject;
      if (origin !== "session" || source.kind !== "mcp") return guards.own(subject);
      return own.get(source.server)?.guard ?? {};
    },
    shadowed: (subject) => guards.shadowed(subject),
  };
}
