// Makes one server of its definition: what opens its connections, its sign-in, and the supervisor over both.

import { type CachedTools, definitionHash } from "../catalog/catalog-cache.ts";
import type { Environment } from "../util/environment.ts";
import { resolveEndpoint } from "../config/resolve.ts";
import type { AgentConfig } from "../model/agent-config.ts";
import type { BoardOptions } from "../model/board-options.ts";
import type { Logger } from "../model/logger.ts";
import type { RootsSource } from "../model/roots.ts";
import type { Endpoint, RemoteEndpoint, ServerDefinition } from "../model/server-definition.ts";
import { behindProxy } from "../net/behind-proxy.ts";
import { collectSecrets } from "../secrets/collect.ts";
import type { Redactor } from "../secrets/redactor.ts";
import type { HostAnswers } from "../server/requests/requests.ts";
import { SamplingLimits } from "../server/requests/sampling-limits.ts";
import type { Turns } from "../server/requests/turns.ts";
import type { ServerOpenerOptions } from "../server/open.ts";
import type { OpenConnection } from "../server/open-connection.ts";
import { Supervisor, type SupervisorOptions } from "../server/supervisor.ts";
import type { Clock } from "../util/clock.ts";
import { sessionAuthHint } from "./matching-server.ts";
import { ServerEntry } from "./server-entry.ts";
import { ServerSignIn } from "./sign-in.ts";

export interface CreateServerContext extends Pick<SupervisorOptions, "onState" | "onTools"> {
  agent: AgentConfig;
  options: BoardOptions;
  clock: Clock;
  logger: Logger;
  /** Is told the secrets that servers are started with. */
  redactor: Redactor;
  roots: RootsSource;
  turns: Turns;
}

export function createServer(
  definition: ServerDefinition,
  cwd: string,
  cached: CachedTools | undefined,
  context: CreateServerContext,
): ServerEntry {
  const { agent, options, clock, logger, redactor, onState, onTools } = context;
  const { env = process.env, random = Math.random, programPath } = options;
  const { networkAllow = [] } = agent;
  const networkEnv = behindProxy(env, agent.networkProxy);
  const signIn = signInFor(definition, env, networkEnv, context);
  const open = lazyConnector({
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
    path: programPath,
    authorize: signIn && ((endpoint) => signIn.authorizer(endpoint)),
    era: cached?.identity.era,
    transport: cached?.identity.transport,
  });
  return new ServerEntry({
    definition,
    supervisor: new Supervisor({
      definition,
      open,
      clock,
      random,
      logger,
      onState,
      onTools,
      untrusted: isConfigured(definition) ? agent.untrusted : undefined,
      authHint: isConfigured(definition) ? undefined : sessionAuthHint(definition),
    }),
    signIn,
    hash: definitionHash(definition, cwd),
    pinKey: definitionHash(definition, ""),
    cached,
  });
}

/** Loads the code that starts servers with the first start: a list of tools from the cache needs none of it. */
function lazyConnector(options: ServerOpenerOptions): OpenConnection {
  let opener: Promise<OpenConnection> | undefined;
  return async (signal, onRemains) => {
    opener ??= import("../server/open.ts").then(({ createOpener }) => createOpener(options));
    return (await opener)(signal, onRemains);
  };
}

/** A call can be refused before its server has ever started, and its arguments may hold the server's secrets. */
export function learnSecrets(
  servers: readonly ServerDefinition[],
  env: Environment,
  redactor: Redactor,
): void {
  for (const definition of servers) {
    try {
      resolveSecretly(definition, env, redactor);
    } catch {
      // The server's start reports what is missing.
    }
  }
}

/** The answers to what the server may ask of this host. */
function answersFor(
  { name, sampling }: ServerDefinition,
  { options, roots, turns, clock, logger }: CreateServerContext,
): HostAnswers {
  const { onElicitation, onSampling, serverLogLevel = "warn" } = options;
  if (sampling !== undefined && onSampling === undefined) {
    logger.info("sampling is not available: there is no model to ask here", { server: name });
  }
  return {
    roots,
    turns,
    logLevel: serverLogLevel,
    onElicitation,
    sampling:
      sampling === undefined || onSampling === undefined
        ? undefined
        : {
            onSampling,
            approvalRequired: sampling === "ask",
            limits: new SamplingLimits(clock),
          },
  };
}

/** Tells the redactor every secret among the values, so that nothing repeats one. */
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
  { agent, options, clock, logger, redactor }: CreateServerContext,
): ServerSignIn | undefined {
  if (definition.endpoint.kind === "stdio") return undefined;
  // A session's server gets no token that was granted to another server, and stores none.
  const { matchingServer } = definition;
  const owner = matchingServer ?? definition;
  const { stateDir } = isConfigured(owner) ? options : {};
  const { onAuthorization } = isConfigured(definition) ? options : {};
  return new ServerSignIn({
    server: owner.name,
    // Resolving fills in values and never changes the kind.
    resolve: () => resolveSecretly(owner, env, redactor) as RemoteEndpoint,
    isOfMatchingServer: matchingServer !== undefined,
    onSecret: (secret) => redactor.add(secret),
    stateDir,
    networkAllow: agent.networkAllow ?? [],
    env: networkEnv,
    onAuthorization,
    clock,
    logger,
  });
}

/** Whether it came from the configuration, and not with a session. */
function isConfigured({ origin }: ServerDefinition): boolean {
  return origin !== "session";
}
