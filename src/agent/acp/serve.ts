// Serves ACP on one connection: each method of the protocol, and the end of all sessions with the connection.

import {
  agent,
  type AuthMethod,
  DEFAULT_MAX_MESSAGE_BYTES,
  type InitializeResponse,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
} from "@agentclientprotocol/sdk";
import { PlugboardError, withHint } from "../../core/types/errors.ts";
import { objectIn } from "../../core/types/json.ts";
import { type Logger, silentLogger } from "../../core/types/logger.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { packageVersion } from "../../util/version.ts";
import { History } from "./history/history.ts";
import type { NewResponder } from "./responder/responder.ts";
import { AcpSessions } from "./session/acp-sessions.ts";
import type { OpenSession, Session } from "./session/session.ts";
import {
  changeMode,
  changeOption,
  configOptions,
  modeState,
  optionsUpdate,
} from "./session/settings.ts";
import { authenticate, authMethods, logout, type SignInOptions } from "./sign-in.ts";
import { AcpClient } from "./wire/client.ts";
import { McpMessages } from "./wire/mcp-messages.ts";
import {
  invalidParams,
  parseAuthenticate,
  parseConfigOption,
  parseList,
  parseLoad,
  parseMode,
  parseNew,
  parsePrompt,
  parseResume,
  parseSession,
} from "./wire/params.ts";
import { boundLines, INVALID_REQUEST, REFUSED } from "./wire/stdio.ts";

export interface AcpOptions {
  input: ReadableStream<Uint8Array>;
  output: WritableStream<Uint8Array>;
  openSession: OpenSession;
  /** Answers prompts with a model. Without it only commands are answered. */
  newResponder?: NewResponder;
  /** The agent's own servers, to sign in to. Without it the client is offered no authentication. */
  signIn?: SignInOptions;
  /** Tells the user of an agent without a model how to configure one. */
  modelAdvice?: string;
  /** Where sessions are kept. Without it none is kept, and none can be loaded. */
  historyDir?: string;
  /**
   * Values that the record of a session must not contain, beside the credentials of its servers. Asked before each prompt:
   * the key of a model is known once the model is open.
   */
  secrets?: () => Promise<Iterable<string>>;
  /** Takes servers that run in the client (MCP over ACP), which the protocol still calls unstable. Default false. */
  mcpOverAcp?: boolean;
  /** Aborting it ends the connection. */
  signal?: AbortSignal;
  clock?: Clock;
  logger?: Logger;
}

/** Resolves when the client is gone or the signal aborts, and nothing of its sessions is left. */
export async function serveAcp(options: AcpOptions): Promise<void> {
  const { signal, clock = systemClock, logger = silentLogger, historyDir } = options;
  const { mcpOverAcp = false } = options;
  const client = new AcpClient();
  const messages = new McpMessages((...request) => client.ask(...request));
  const sessions = new AcpSessions({
    client,
    clock,
    logger,
    newResponder: options.newResponder,
    modelAdvice: options.modelAdvice,
    openSession: options.openSession,
    sendMcpMessage: mcpOverAcp ? messages.send : undefined,
    secrets: options.secrets,
    history: historyDir === undefined ? undefined : new History(historyDir, clock),
  });
  const app = describeAgent(sessions, client, { signIn: options.signIn, mcpOverAcp });
  const lines = boundLines({
    maxBytes: DEFAULT_MAX_MESSAGE_BYTES,
    onDropped: (reason) => logger.warn(`dropped a message from the client: ${reason}`),
  });
  const input = options.input.pipeThrough(lines);
  const { readable, writable } = ndJsonStream(options.output, input);
  const received = mcpOverAcp ? messages.taken(readable) : readable;
  const connection = app.connect({ readable: received, writable });
  client.connect(connection);
  const onAbort = (): void => connection.close();
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  try {
    await connection.closed;
  } finally {
    signal?.removeEventListener("abort", onAbort);
    await sessions.closeAll();
  }
}

function describeAgent(
  sessions: AcpSessions,
  client: AcpClient,
  { signIn, mcpOverAcp }: { signIn: SignInOptions | undefined; mcpOverAcp: boolean },
) {
  const { session } = methods.agent;
  return agent({ name: "plugboard" })
    .onRequest(methods.agent.initialize, ({ params }) => {
      client.initialize(params.clientCapabilities ?? {});
      const hasTerminal = params.clientCapabilities?.auth?.terminal === true;
      const offered = signIn === undefined ? [] : authMethods(signIn, { hasTerminal });
      return initializeResponse(offered, mcpOverAcp);
    })
    .onRequest(methods.agent.authenticate, parseAuthenticate, ({ params, signal }) => {
      if (signIn === undefined) throw RequestError.methodNotFound(methods.agent.authenticate);
      return authenticate(params.methodId, signIn, signal);
    })
    .onRequest(methods.agent.logout, () => {
      if (signIn === undefined) throw RequestError.methodNotFound(methods.agent.logout);
      return logout(signIn);
    })
    .onRequest(session.new, parseNew, async ({ params }) => {
      const opened = await asRequestError(sessions.create(params));
      return { sessionId: opened.id, ...settingsOf(opened) };
    })
    .onRequest(session.load, parseLoad, async ({ params }) =>
      settingsOf(await asRequestError(sessions.reopen(params.sessionId, params, true))),
    )
    .onRequest(session.resume, parseResume, async ({ params }) =>
      settingsOf(await asRequestError(sessions.reopen(params.sessionId, params, false))),
    )
    .onRequest(session.list, parseList, ({ params: { cwd, cursor } }) =>
      sessions.list({ cwd: cwd ?? undefined, cursor: cursor ?? undefined }),
    )
    .onRequest(session.close, parseSession, async ({ params }) => {
      await sessions.close(params.sessionId);
      return {};
    })
    .onRequest(session.delete, parseSession, async ({ params }) => {
      await sessions.delete(params.sessionId);
      return {};
    })
    .onRequest(session.setMode, parseMode, async ({ params: { sessionId, modeId } }) => {
      const open = sessions.get(sessionId);
      changeMode(open, modeId, "modeId");
      await client.update(sessionId, optionsUpdate(open));
      return {};
    })
    .onRequest(session.setConfigOption, parseConfigOption, async ({ params }) => {
      const { sessionId, configId, value } = params;
      const open = sessions.get(sessionId);
      await client.update(sessionId, await changeOption(open, configId, value));
      return { configOptions: configOptions(open) };
    })
    .onRequest(session.prompt, parsePrompt, async ({ params, signal }) => ({
      stopReason: await sessions.get(params.sessionId).prompt(params.prompt, signal),
    }))
    .onRequest(
      REFUSED,
      (params) => objectIn(params),
      // An editor may send it too.
      ({ params: { message } }) => {
        throw new RequestError(
          INVALID_REQUEST,
          typeof message === "string" ? message : "no request",
        );
      },
    )
    .onNotification(session.cancel, parseSession, ({ params }) =>
      sessions.cancel(params.sessionId),
    );
}

/** We always answer with our version; a client that does not support it closes the connection. */
function initializeResponse(offered: AuthMethod[], mcpOverAcp: boolean): InitializeResponse {
  const transports = { http: true, sse: true, ...(mcpOverAcp && { acp: true }) };
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "plugboard", title: "Plugboard", version: packageVersion() },
    agentCapabilities: {
      loadSession: true,
      mcpCapabilities: transports,
      promptCapabilities: { image: true, embeddedContext: true },
      sessionCapabilities: {
        list: {},
        resume: {},
        close: {},
        delete: {},
        additionalDirectories: {},
      },
      ...(offered.length > 0 && { auth: { logout: {} } }),
    },
    authMethods: offered,
  };
}

function settingsOf(session: Session) {
  return { modes: modeState(session.mode), configOptions: configOptions(session) };
}

/** The client sent the configuration, so a mistake in it is an invalid parameter. */
async function asRequestError<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    if (error.code === "CONFIG_INVALID" || error.code === "INVALID_ARGUMENTS") {
      const [problem] = error.problems;
      const text = problem?.message ?? withHint(error);
      throw invalidParams(problem?.path ?? "", text, error.code);
    }
    throw RequestError.internalError({ code: error.code }, withHint(error));
  }
}
