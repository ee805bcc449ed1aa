// Plugs one server in: what opens its connections, what signs in to it, and the supervisor over both.

import { type CachedTools, definitionHash } from "../catalog/catalog-cache.ts";
import type { Environment } from "../config/environment.ts";
import { resolveEndpoint } from "../config/resolve.ts";
import type { AgentConfig } from "../model/agent-config.ts";
import type { BoardOptions } from "../model/board-options.ts";
import type { ServerIdentity } from "../model/connection.ts";
import type { Logger } from "../model/logger.ts";
import type { RootsSource } from "../model/roots.ts";
import type { Endpoint, RemoteEndpoint, ServerDefinition } from "../model/server-definition.ts";
import { withProxy } from "../net/proxy-env.ts";
import { collectSecrets } from "../secrets/collect.ts";
import type { Redactor } from "../secrets/redactor.ts";
import type { HostAnswers } from "../server/requests/requests.ts";
import { SamplingLimits } from "../server/requests/sampling-limits.ts";
import type { Turns } from "../server/requests/turns.ts";
import { Supervisor, type SupervisorOptions } from "../server/supervisor.ts";
import type { Clock } from "../util/clock.ts";
import { sessionAuthHint } from "./lender.ts";
import { lazyOpener } from "./opener.ts";
import { ServerSignIn } from "./sign-in.ts";
import type { Slot } from "./slot.ts";

export interface PlugContext extends Pick<SupervisorOptions, "onState" | "onTools"> {
  agent: AgentConfig;
  options: BoardOptions;
  clock: Clock;
  logger: Logger;
  /** Gets to know the secrets that servers are started with. */
  redactor: Redactor;
  roots: RootsSource;
  turns: Turns;
}

export function plug(
  definition: ServerDefinition,
  cwd: string,
  cached: CachedTools | undefined,
  context: PlugContext,
): Slot {
  const { agent, options, clock, logger, redactor, onState, onTools } = context;
  const { env = process.env, random = Math.random, programPath } = options;
  const { networkAllow = [] } = agent;
  const networkEnv = withProxy(env, agent.networkProxy);
  const signIn = signInFor(definition, env, networkEnv, context);
  const open = lazyOpener({
    definition,
    resolve: () => resolveSecretly(definition, env, redactor),
    cwd,
    env,
    networkEnv,
    networkAllow,
    clock,
    logger,
    redact: (text, isCut) => redactor.text(text, isCut),
    answers: answersFor(definition, context),
    ...(programPath !== undefined && { path: programPath }),
    ...(signIn !== undefined && { authorize: (endpoint) => signIn.authorizer(endpoint) }),
    ...(cached !== undefined && earlier(cached.identity)),
  });
  return {
    definition,
    supervisor: new Supervisor({
      definition,
      open,
      clock,
      random,
      logger,
      onState,
      onTools,
      ...(isConfigured(definition) &&
        agent.untrusted !== undefined && { untrusted: agent.untrusted }),
      ...(!isConfigured(definition) && { authHint: sessionAuthHint(definition) }),
    }),
    signIn,
    hash: definitionHash(definition, cwd),
    pinKey: definitionHash(definition, ""),
    knowledge: cached === undefined ? "none" : "cached",
    cachedAt: cached?.savedAt,
    identity: cached?.identity,
    diagnostics: [],
  };
}

/** For what is refused before its server was ever started: the arguments may hold its secrets already. */
export function learnSecrets(
  servers: readonly ServerDefinition[],
  env: Environment,
  redactor: Redactor,
): void {
  for (const definition of servers) {
    try {
      resolveSecretly(definition, env, redactor);
    } catch {
      // What is missing is told when the server starts.
    }
  }
}

/** What the server may ask of this host. */
function answersFor(
  { name, sampling }: ServerDefinition,
  { options, roots, turns, clock, logger }: PlugContext,
): HostAnswers {
  const { onElicitation, onSampling, serverLogLevel = "warn" } = options;
  if (sampling !== undefined && onSampling === undefined) {
    logger.info("sampling is not offered: there is no model to ask here", { server: name });
  }
  return {
    roots,
    turns,
    logLevel: serverLogLevel,
    ...(onElicitation !== undefined && { onElicitation }),
    ...(sampling !== undefined &&
      onSampling !== undefined && {
        sampling: {
          onSampling,
          approvalRequired: sampling === "ask",
          limits: new SamplingLimits(clock),
        },
      }),
  };
}

/** From here on nothing repeats what was a secret among the values. */
function resolveSecretly(
  definition: ServerDefinition,
  env: Environment,
  redactor: Redactor,
): Endpoint {
  const resolved = resolveEndpoint(definition, env);
  for (const secret of collectSecrets(definition.endpoint, resolved)) redactor.add(secret);
  return resolved;
}

function signInFor(
  definition: ServerDefinition,
  env: Environment,
  networkEnv: Environment,
  { agent, options, clock, logger, redactor }: PlugContext,
): ServerSignIn | undefined {
  if (definition.endpoint.kind === "stdio") return undefined;
  // What a session brings gets no token that somebody granted to another server, and leaves none.
  const { lender } = definition;
  const whose = lender ?? definition;
  const { stateDir } = isConfigured(whose) ? options : {};
  const { onAuthorization } = isConfigured(definition) ? options : {};
  return new ServerSignIn({
    server: whose.name,
    // Resolving fills in values and never changes the kind.
    resolve: () => resolveSecretly(whose, env, redactor) as RemoteEndpoint,
    isLent: lender !== undefined,
    onSecret: (secret) => redactor.add(secret),
    stateDir,
    networkAllow: agent.networkAllow ?? [],
    env: networkEnv,
    onAuthorization,
    clock,
    logger,
  });
}

/** Whether it came from the configuration, and not from who opened a session. */
function isConfigured({ origin }: ServerDefinition): boolean {
  return origin !== "session";
}

/** What an earlier run found out about how to talk to a server. */
function earlier({ era, transport }: ServerIdentity): Pick<ServerIdentity, "era" | "transport"> {
  return { era, ...(transport !== undefined && { transport }) };
}
