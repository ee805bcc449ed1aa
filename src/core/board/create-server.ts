// Creates a server from its definition: the function that connects to it, its sign-in, and its supervisor.

import { definitionHash } from "../catalog/catalog-cache.ts";
import type { Environment } from "../../util/environment.ts";
import type { AgentConfig } from "../types/agent-config.ts";
import type { BoardOptions, SessionPerson } from "../types/board-options.ts";
import type { JsonObject } from "../types/json.ts";
import type { Logger } from "../types/logger.ts";
import type { SendMcpMessage } from "../types/mcp-message.ts";
import type { LogLevelSource } from "../types/server-log.ts";
import type { GatewayPort } from "../types/gateway-port.ts";
import {
  isExchanged,
  isPerUser,
  isRemote,
  type RemoteTarget,
  type ResolvedTarget,
  type ServerDefinition,
} from "../types/server-definition.ts";
import { withProxy } from "../net/proxy-env.ts";
import { programEnvironment } from "../process/environment.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { Connect, ConnectOptions } from "../upstream/connect.ts";
import type { LoggedMessage } from "../upstream/log/server-log.ts";
import { SamplingLimits } from "../upstream/requests/sampling-limits.ts";
import { capabilitiesOf, type HostAnswers } from "../upstream/requests/host-answers.ts";
import { Supervisor, type SupervisorOptions } from "../upstream/supervisor/supervisor.ts";
import { memoryGrants } from "../state/memory.ts";
import type { ExchangeMemory } from "../auth/exchange-authorizer.ts";
import type { Clock } from "../../util/clock.ts";
import type { QuestionQueue } from "../../util/question-queue.ts";
import { approvalKey } from "./approval-key.ts";
import type { RememberedServer } from "./earlier-runs.ts";
import { sessionAuthHint } from "./matching-server.ts";
import type { BoardRoots, ServerRoots } from "./roots.ts";
import { ServerEntry, type ServerKeys } from "./server-entry.ts";
import type { ServerSecrets } from "./server-secrets.ts";
import { ServerSignIn } from "./sign-in.ts";
import type { BoardTrace } from "./trace.ts";

export interface CreateServerContext extends Pick<SupervisorOptions, "onState" | "onTools"> {
  agent: AgentConfig;
  options: BoardOptions;
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
  secrets: ServerSecrets;
  roots: BoardRoots;
  logLevel: LogLevelSource;
  onLog: (message: LoggedMessage) => void;
  questions: QuestionQueue;
  trace: BoardTrace;
  /** The servers that a gateway runs. Only the board of an agent has them. */
  gateway?: GatewayPort | undefined;
  /** The way to servers in the ACP client. Only a session's board has one. */
  sendMcpMessage?: SendMcpMessage | undefined;
  /** Who the session is for, if not the agent's own user. */
  person?: SessionPerson | false | undefined;
  /** The tokens that people's JWTs were exchanged for, on all boards of the agent. */
  exchanges: ExchangeMemory;
}

/** `after` is the end of the server whose place this one takes. */
export function createServer(
  configured: ServerDefinition,
  cwd: string,
  { tools: cached, listedElsewhere, reached, contents, lastStart }: RememberedServer,
  context: CreateServerContext,
  after?: Promise<void>,
): ServerEntry {
  const definition = withDefaults(configured, context.options);
  const { agent, options, clock, logger, redactor, secrets, onState, onTools } = context;
  const { env = process.env, random = Math.random, programPath } = options;
  const { restartHint = restartInCode } = options;
  const { networkAllow = [] } = agent;
  const networkEnv = withProxy(env, agent.networkProxy);
  const signIn = signInFor(definition, networkEnv, context);
  const keys = (): ServerKeys => ({
    hash: definitionHash(definition, cwd),
    pin: definitionHash(definition, ""),
    approval: approvalKey(definition, cwd, env),
  });
  const common = { cwd, signIn, keys };
  const inGateway = context.gateway?.server(definition.name);
  if (inGateway !== undefined) {
    const { onLog } = context;
    const supervisor = inGateway.supervise(definition, { onState, onTools, onLog });
    const unknown = { cached: undefined, isListedElsewhere: false };
    return new ServerEntry({ ...common, supervisor, ...unknown });
  }
  const tap = context.trace.tap(definition.name, redactor);
  if (definition.sampling !== undefined && options.onSampling === undefined) {
    const server = definition.name;
    logger.info("sampling is not available: the board has no onSampling", { server });
  }
  let hasStarted = false;
  const makeOptions = (): ConnectOptions => {
    const roots = context.roots.of(definition, env);
    return {
      definition,
      timeout: () => supervisor.definition.timeout,
      resolve: (signal) => {
        roots.resolve();
        const isFirst = !hasStarted;
        hasStarted = true;
        return isFirst
          ? secrets.resolve(definition, signal)
          : secrets.resolveAnew(definition, signal);
      },
      cwd,
      env: isRemote(definition.target) ? env : programEnvironment(env, agent),
      networkEnv,
      networkAllow,
      clock,
      logger,
      redact: (text, isCut) => redactor.text(text, isCut),
      answers: answersFor(definition, roots, context),
      onLog: context.onLog,
      tap,
      path: programPath,
      authorize: signIn && ((target) => signIn.authorizer(target)),
      onInstalling: (installer) => supervisor.installing(installer),
      era: reached?.isEraDoubtful ? undefined : reached?.era,
      transport: reached?.transport,
      sendMcpMessage: context.sendMcpMessage,
    };
  };
  const connect = lazyConnector(makeOptions, redactor);
  const supervisor = new Supervisor({
    definition,
    connect,
    clock,
    random,
    logger,
    failed: lastStart?.error,
    // A server that was only late may be ready in time now.
    skipFailed: options.skipFailed && lastStart?.kind === "failed",
    after,
    onState: (state, previous) => {
      tap.state(state);
      onState(state, previous);
    },
    onTools,
    authHint: authHintOf(definition, context),
    restartHint: restartHint(definition.name),
  });
  return new ServerEntry({
    ...common,
    supervisor,
    cached,
    contents,
    isListedElsewhere: cached !== undefined && cached === listedElsewhere,
  });
}

/** Whose sign-in the server uses, if not that of the agent's own user. */
function personOf(
  definition: ServerDefinition,
  { person }: Pick<CreateServerContext, "person">,
): SessionPerson | undefined {
  return isPerUser(definition.matchingServer ?? definition) && person ? person : undefined;
}

/** How somebody without a token signs in. Undefined: the failure itself says so. */
function authHintOf(
  definition: ServerDefinition,
  context: Pick<CreateServerContext, "person">,
): string | undefined {
  if (isExchanged(definition.matchingServer ?? definition)) return undefined;
  const hint = personOf(definition, context)?.signInHint(definition.name);
  return hint ?? (isConfigured(definition) ? undefined : sessionAuthHint(definition));
}

function restartInCode(server: string): string {
  return `to start it again: board.restart(${JSON.stringify(server)})`;
}

export function withDefaults(
  definition: ServerDefinition,
  { defaultToolTimeout }: BoardOptions,
): ServerDefinition {
  if (definition.hasToolTimeout || defaultToolTimeout === undefined) return definition;
  return { ...definition, toolTimeout: defaultToolTimeout };
}

/** Loads the code that starts servers with the first start, and asks for the options then. Listing tools from the cache needs neither. */
function lazyConnector(makeOptions: () => ConnectOptions, redactor: Redactor): Connect {
  let connector: Promise<Connect> | undefined;
  let begun: ReturnType<ConnectOptions["resolve"]> | undefined;
  return async (signal, onRemains) => {
    try {
      if (connector === undefined) {
        const options = makeOptions();
        // Secrets are on their way while the code is loaded.
        begun = options.resolve(signal);
        begun.catch(() => {});
        const resolve: ConnectOptions["resolve"] = (given) => {
          const first = begun;
          begun = undefined;
          return first ?? options.resolve(given);
        };
        connector = import("../upstream/connect.ts").then(({ createConnector }) =>
          createConnector({ ...options, resolve }),
        );
      }
      return await (
        await connector
      )(signal, onRemains);
    } catch (error) {
      // Whatever is asked of the server from now on fails with this error, also where no call is made.
      throw redactor.value(error);
    }
  };
}

type AnswersContext = Pick<
  CreateServerContext,
  "options" | "roots" | "questions" | "clock" | "logLevel"
>;

/** What would be advertised to the server now. */
export function advertisedTo(definition: ServerDefinition, context: AnswersContext): JsonObject {
  const roots = context.roots.of(definition, context.options.env ?? process.env);
  return capabilitiesOf(answersFor(definition, roots, context));
}

/** What the server gets when it asks for roots, for a person or for a model. */
function answersFor(
  { sampling }: ServerDefinition,
  roots: ServerRoots,
  { options, questions, clock, logLevel }: AnswersContext,
): HostAnswers {
  const { onElicitation, onSampling, showsApps } = options;
  return {
    roots,
    ...(showsApps && { showsApps }),
    questions,
    logLevel,
    onElicitation,
    maySample: sampling !== undefined,
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

function signInFor(
  definition: ServerDefinition,
  networkEnv: Environment,
  context: CreateServerContext,
): ServerSignIn | undefined {
  const { agent, options, clock, logger, redactor, secrets } = context;
  if (!isRemote(definition.target)) return undefined;
  // A session's server only gets the tokens of a matching server, and its own are not stored.
  const { matchingServer } = definition;
  const owner = matchingServer ?? definition;
  const { state } = isConfigured(owner) ? options : {};
  const person = personOf(definition, context);
  // Nobody at this machine can sign in for somebody else.
  const { onAuthorization } = isConfigured(definition) && person === undefined ? options : {};
  return new ServerSignIn({
    server: owner.name,
    person: person?.id,
    hint: person?.signInHint(owner.name),
    subjectToken: person?.subjectToken,
    exchanges: context.exchanges,
    signInAs: owner.signInAs,
    // Resolving a target does not change its kind.
    resolve: () => secrets.resolve(owner) as Promise<ResolvedTarget<RemoteTarget>>,
    isOfMatchingServer: matchingServer !== undefined,
    onSecrets: (document, found) => redactor.replace(document, found),
    grants: state?.grants ?? memoryGrants(),
    onChange: async () => state?.changes.publish("grants"),
    networkAllow: agent.networkAllow ?? [],
    isOfSession: !isConfigured(owner),
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
