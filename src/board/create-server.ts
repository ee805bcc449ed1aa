// Creates a server from its definition: the function that connects to it, its sign-in, and its supervisor.

import { type CachedTools, definitionHash } from "../catalog/catalog-cache.ts";
import type { Environment } from "../util/environment.ts";
import { resolveEndpoint } from "../config/resolve.ts";
import type { AgentConfig } from "../model/agent-config.ts";
import type { BoardOptions } from "../model/board-options.ts";
import type { Logger } from "../model/logger.ts";
import type { RootsSource } from "../model/roots.ts";
import type { Endpoint, RemoteEndpoint, ServerDefinition } from "../model/server-definition.ts";
import { withProxy } from "../net/proxy-env.ts";
import { collectSecrets } from "../secrets/collect.ts";
import type { Redactor } from "../secrets/redactor.ts";
import type { Connect, ConnectOptions } from "../server/connect.ts";
import { SamplingLimits } from "../server/requests/sampling-limits.ts";
import type { HostAnswers } from "../server/requests/server-requests.ts";
import { Supervisor, type SupervisorOptions } from "../server/supervisor/supervisor.ts";
import type { Clock } from "../util/clock.ts";
import type { QuestionQueue } from "../util/question-queue.ts";
import { loadConnect } from "./lazy.ts";
import { sessionAuthHint } from "./matching-server.ts";
import { ServerEntry } from "./server-entry.ts";
import { ServerSignIn } from "./sign-in.ts";

export interface CreateServerContext extends Pick<
  SupervisorOptions,
  "failed" | "onState" | "onTools"
> {
  agent: AgentConfig;
  options: BoardOptions;
  clock: Clock;
  logger: Logger;
  /** Learns the secrets that servers start with. */
  redactor: Redactor;
  roots: RootsSource;
  questions: QuestionQueue;
}

export function createServer(
  definition: ServerDefinition,
  cwd: string,
  cached: CachedTools | undefined,
  context: CreateServerContext,
): ServerEntry {
  const { agent, options, clock, logger, redactor, failed, onState, onTools } = context;
  const { env = process.env, random = Math.random, programPath } = options;
  const { networkAllow = [] } = agent;
  const networkEnv = withProxy(env, agent.networkProxy);
  const signIn = signInFor(definition, env, networkEnv, context);
  const connect = lazyConnector({
    definition,
    resolve: () => resolveAndRedact(definition, env, redactor),
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
      connect,
      clock,
      random,
      logger,
      failed,
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

/** Loads the code that starts servers with the first start. Listing tools from the cache does not need it. */
function lazyConnector(options: ConnectOptions): Connect {
  let connector: Promise<Connect> | undefined;
  return async (signal, onRemains) => {
    connector ??= loadConnect().then(({ createConnector }) => createConnector(options));
    return (await connector)(signal, onRemains);
  };
}

/**
 * Redacts the secrets of servers that have not started. A call can be refused before its server starts, and its
 * arguments may contain the server's secrets.
 */
export function learnSecrets(
  servers: readonly ServerDefinition[],
  env: Environment,
  redactor: Redactor,
): void {
  for (const definition of servers) {
    try {
      resolveAndRedact(definition, env, redactor);
    } catch {
      // A value is missing. The server's start reports it.
    }
  }
}

/** What the server gets when it asks for roots, for a person or for a model. */
function answersFor(
  { name, sampling }: ServerDefinition,
  { options, roots, questions, clock, logger }: CreateServerContext,
): HostAnswers {
  const { onElicitation, onSampling, serverLogLevel = "warn" } = options;
  if (sampling !== undefined && onSampling === undefined) {
    logger.info("sampling is not available: the board has no onSampling", { server: name });
  }
  return {
    roots,
    questions,
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

/** Resolves the endpoint, and redacts the secrets in it from now on. */
function resolveAndRedact(
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
  // A session's server only gets the tokens of a matching server, and its own are not stored.
  const { matchingServer } = definition;
  const owner = matchingServer ?? definition;
  const { stateDir } = isConfigured(owner) ? options : {};
  const { onAuthorization } = isConfigured(definition) ? options : {};
  return new ServerSignIn({
    server: owner.name,
    // Resolving an endpoint does not change its kind.
    resolve: () => resolveAndRedact(owner, env, redactor) as RemoteEndpoint,
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

/** Whether the server comes from the configuration, not from a session. */
function isConfigured({ origin }: ServerDefinition): boolean {
  return origin !== "session";
}
