// Plugs one server in: what opens its connections, what signs in to it, and the supervisor over both.

import { type CachedTools, definitionHash } from "../catalog/catalog-cache.ts";
import type { Environment } from "../config/environment.ts";
import { resolveEndpoint } from "../config/resolve.ts";
import type { AgentConfig } from "../model/agent-config.ts";
import type { BoardOptions } from "../model/board-options.ts";
import type { ServerIdentity } from "../model/connection.ts";
import type { Logger } from "../model/logger.ts";
import type { RemoteEndpoint, ServerDefinition } from "../model/server-definition.ts";
import { Supervisor, type SupervisorOptions } from "../server/supervisor.ts";
import type { Clock } from "../util/clock.ts";
import { lazyOpener } from "./opener.ts";
import { ServerSignIn } from "./sign-in.ts";
import type { Slot } from "./slot.ts";

export interface PlugContext extends Pick<SupervisorOptions, "onState" | "onTools"> {
  agent: AgentConfig;
  options: BoardOptions;
  clock: Clock;
  logger: Logger;
}

export function plug(
  definition: ServerDefinition,
  cwd: string,
  cached: CachedTools | undefined,
  context: PlugContext,
): Slot {
  const { agent, options, clock, logger, onState, onTools } = context;
  const { env = process.env, random = Math.random, onElicitation } = options;
  const { networkAllow = [] } = agent;
  const networkEnv = behindProxy(env, agent.networkProxy);
  const signIn = signInFor(definition, env, networkEnv, context);
  const open = lazyOpener({
    definition,
    resolve: () => resolveEndpoint(definition, env),
    cwd,
    env,
    networkEnv,
    networkAllow,
    clock,
    logger,
    ...(onElicitation !== undefined && { onElicitation }),
    ...(signIn !== undefined && { authorize: (endpoint) => signIn.authorizer(endpoint) }),
    ...(cached !== undefined && earlier(cached.identity)),
  });
  return {
    definition,
    supervisor: new Supervisor({ definition, open, clock, random, logger, onState, onTools }),
    signIn,
    hash: definitionHash(definition, cwd),
    knowledge: cached === undefined ? "none" : "cached",
    cachedAt: cached?.savedAt,
    identity: cached?.identity,
    diagnostics: [],
  };
}

function signInFor(
  definition: ServerDefinition,
  env: Environment,
  networkEnv: Environment,
  { agent, options, clock, logger }: PlugContext,
): ServerSignIn | undefined {
  if (definition.endpoint.kind === "stdio") return undefined;
  const { stateDir, onAuthorization } = options;
  return new ServerSignIn({
    server: definition.name,
    // Resolving fills in values and never changes the kind.
    resolve: () => resolveEndpoint(definition, env) as RemoteEndpoint,
    stateDir,
    networkAllow: agent.networkAllow ?? [],
    env: networkEnv,
    onAuthorization,
    clock,
    logger,
  });
}

/** What an earlier run found out about how to talk to a server. */
function earlier({ era, transport }: ServerIdentity): Pick<ServerIdentity, "era" | "transport"> {
  return { era, ...(transport !== undefined && { transport }) };
}

/** This machine's own exceptions still hold. */
function behindProxy(env: Environment, proxy: string | undefined): Environment {
  return proxy === undefined ? env : { ...env, https_proxy: proxy, http_proxy: proxy };
}
