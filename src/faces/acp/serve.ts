// A board as an ACP agent: the methods of the protocol over one connection, and their end with it.

import {
  agent,
  DEFAULT_MAX_MESSAGE_BYTES,
  type InitializeResponse,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
} from "@agentclientprotocol/sdk";
import { PlugboardError } from "../../model/errors.ts";
import { type Logger, silentLogger } from "../../model/logger.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { packageVersion } from "../../util/version.ts";
import { ClientSide } from "./wire/client.ts";
import { History } from "./history/history.ts";
import { boundLines, TOO_LARGE, tooLarge } from "./wire/stdio.ts";
import { modeState } from "./session/mode.ts";
import { changeMode, changeOption, configOptions, optionsUpdate } from "./session/settings.ts";
import {
  invalidParams,
  parseConfigOption,
  parseList,
  parseLoad,
  parseMode,
  parseNew,
  parsePrompt,
  parseResume,
  parseSession,
} from "./wire/params.ts";
import type { NewResponder, OpenSession } from "./responder/responder.ts";
import type { Session } from "./session/session.ts";
import { Sessions } from "./session/acp-sessions.ts";

export interface AcpOptions {
  input: ReadableStream<Uint8Array>;
  output: WritableStream<Uint8Array>;
  openSession: OpenSession;
  /** Answers what is no command. Without it commands alone are answered. */
  newResponder?: NewResponder;
  /** For somebody who asks an agent without a model: a sentence on what gives it one. */
  modelAdvice?: string;
  /** Where sessions are kept. Without it nothing is, and none can be loaded. */
  historyDir?: string;
  /** Aborting it ends the connection. */
  signal?: AbortSignal;
  clock?: Clock;
  logger?: Logger;
}

/** Resolves when the client is gone, or the signal aborts, and nothing of its sessions is left. */
export async function serveAcp(options: AcpOptions): Promise<void> {
  const { signal, clock = systemClock, logger = silentLogger, historyDir } = options;
  const client = new ClientSide();
  const sessions = new Sessions({
    peer: client,
    clock,
    logger,
    newResponder: options.newResponder,
    modelAdvice: options.modelAdvice,
    openSession: options.openSession,
    history: historyDir === undefined ? undefined : new History(historyDir, clock),
  });
  const app = describeAgent(sessions, client);
  const lines = boundLines({
    maxBytes: DEFAULT_MAX_MESSAGE_BYTES,
    onDropped: () => logger.warn("a message of the client's was too large, and was dropped"),
  });
  const input = options.input.pipeThrough(lines);
  const connection = app.connect(ndJsonStream(options.output, input));
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

function describeAgent(sessions: Sessions, client: ClientSide) {
  const { session } = methods.agent;
  return agent({ name: "plugboard" })
    .onRequest(methods.agent.initialize, ({ params }) => {
      client.introduce(params.clientCapabilities ?? {});
      return initializeResponse();
    })
    .onRequest(session.new, parseNew, async ({ params }) => {
      const opened = await asRequest(sessions.create(params));
      return { sessionId: opened.id, ...settingsOf(opened) };
    })
    .onRequest(session.load, parseLoad, async ({ params }) =>
      settingsOf(await asRequest(sessions.reopen(params.sessionId, params, true))),
    )
    .onRequest(session.resume, parseResume, async ({ params }) =>
      settingsOf(await asRequest(sessions.reopen(params.sessionId, params, false))),
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
      TOO_LARGE,
      (params) => params,
      () => {
        throw tooLarge(DEFAULT_MAX_MESSAGE_BYTES);
      },
    )
    .onNotification(session.cancel, parseSession, ({ params }) =>
      sessions.cancel(params.sessionId),
    );
}

/** Whatever version the client asks for: this one is answered, and the client decides whether it goes on. */
function initializeResponse(): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "plugboard", title: "Plugboard", version: packageVersion() },
    agentCapabilities: {
      loadSession: true,
      mcpCapabilities: { http: true, sse: true },
      promptCapabilities: { image: true, embeddedContext: true },
      sessionCapabilities: {
        list: {},
        resume: {},
        close: {},
        delete: {},
        additionalDirectories: {},
      },
    },
    authMethods: [],
  };
}

function settingsOf(session: Session) {
  return { modes: modeState(session.mode), configOptions: configOptions(session) };
}

/** A configuration that a client has sent is a parameter of its. */
async function asRequest<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    if (error.code === "CONFIG_INVALID" || error.code === "INVALID_ARGUMENTS") {
      const [problem] = error.problems;
      throw invalidParams(problem?.path ?? "", problem?.message ?? error.message);
    }
    throw RequestError.internalError({ code: error.code }, error.message);
  }
}
