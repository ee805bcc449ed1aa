// Says which servers are to be kept alive between commands, and for which that would help.

import type { AgentConfig } from "../../core/types/agent-config.ts";
import type { ServerDefinition } from "../../core/types/server-definition.ts";

/** Whether any server is to be kept alive, or the one that a command is `about`. */
export function isKeptAlive({ servers, keepAlive = false }: AgentConfig, about?: string): boolean {
  return servers.some(
    ({ name, enabled, scope, keepAlive: own = keepAlive }) =>
      enabled && own && scope !== "session" && (about === undefined || about === name),
  );
}

/** Servers whose page, or what else they hold, is gone when they end. */
const STATEFUL = /playwright|chrome-devtools|puppeteer/i;

/**
 * What a person is told who has used a server that holds a browser, since its page is gone with it. Undefined for every
 * other server, and for one that the configuration decides about.
 */
export function keepAliveHint(
  { servers, keepAlive }: AgentConfig,
  used: readonly string[],
): string | undefined {
  const server = servers.find((each) => {
    const isDecided = (each.keepAlive ?? keepAlive) !== undefined || each.scope === "session";
    return !isDecided && used.includes(each.name) && isStateful(each);
  });
  if (server === undefined) return undefined;
  return `hint: '${server.name}' has ended with this command, and its page is gone; to keep it for the next one, set "keepAlive": true for it in the configuration`;
}

function isStateful({ target }: ServerDefinition): boolean {
  if (target.kind !== "stdio") return false;
  return [target.command, ...target.args].some((word) => STATEFUL.test(word));
}
