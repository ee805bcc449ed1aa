// `plugboard acp -- <command …>`: stands between the editor and another ACP agent, until the editor disconnects.

import { randomBytes, randomUUID } from "node:crypto";
import { basename, join } from "node:path";
import type { Readable } from "node:stream";
import { sampleModel } from "../../agent/loop/sample.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { ownBin } from "../../core/config/own-server.ts";
import { SessionEndpoints } from "../../serve/endpoint/session-endpoints.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import type { Board } from "../../core/types/board.ts";
import { reapOrphansOnce } from "../../core/process/reap-orphans.ts";
import type { SamplingOptions } from "../../core/types/sampling.ts";
import { GatewayClient } from "../../openclaw/gateway-client.ts";
import { packageVersion } from "../../util/version.ts";
import {
  type AgentConfigFormat,
  checkAgentConfig,
  FILE_IGNORED,
  removeLeftAgentConfigs,
  writeAgentConfig,
} from "../../agent/front/agent-config.ts";
import { type AgentProcess, startAgentProcess } from "../../agent/front/agent-process.ts";
import { FrontSession } from "../../agent/front/front-session.ts";
import { runFront } from "../../agent/front/front.ts";
import {
  type HandOver,
  mcpServersHandOver,
  noServersHandOver,
} from "../../agent/front/hand-over.ts";
import { findOpenclaw } from "../../openclaw/front/openclaw-agent.ts";
import { slotHandOver } from "../../openclaw/front/slot-hand-over.ts";
import type { RelayOptions } from "../../agent/front/relay.ts";
import { refuseAcp } from "../../agent/acp/refuse.ts";
import { outputStream } from "../../agent/acp/wire/stdio.ts";
import { approvalUnset } from "../approval-unset.ts";
import { claimStdout } from "../claim-stdout.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { AgentModels } from "./agent-models.ts";
import type { FrontRequest } from "./command.ts";
import { isOwner, openConfig, openEditorBoard } from "./editor-board.ts";
import { findLoginPath } from "../login-path.ts";

const FOR_EDITORS =
  "This command is for editors that speak the Agent Client Protocol: they start it and talk to the agent through it. " +
  "Press Ctrl-C to stop.";

/** The settings that sampling is started with. */
const MODEL_SETTINGS = [
  "model",
  "models",
  "modelTimeout",
  "modelProviders",
] as const satisfies readonly (keyof AgentConfig)[];

export async function runAcpFront(command: FrontRequest, context: CliContext): Promise<number> {
  const { io, logger, clock, signal, screen } = context;
  const write = claimStdout(io.stdout, io.stderr);
  const stdin = io.stdin as Readable;
  if (io.stdin.isTTY) screen.note(FOR_EDITORS);
  const refuse = (error: unknown): Promise<void> =>
    refuseAcp(error, { input: stdin, output: outputStream(write), clock, signal });
  const ending = new AbortController();
  const programPath = findLoginPath({ env: io.env, clock, logger, signal: ending.signal });
  try {
    await using config = await openConfig(context, refuse);
    const format = formatOf(command);
    if (format !== undefined) await checkCommand(format, command, context, refuse);
    const openclaw = await openOpenclaw(command, context, refuse);
    const agent = await config.readAgent();
    const unset = approvalUnset(agent, plugboardHome(io.env, io.homedir));
    if (unset !== undefined) logger.warn(`${unset.message}; ${unset.remedy}`);
    await using models = new SamplingModels(agent, command.model, context, programPath);
    await using board = await openEditorBoard(agent, config, context, {
      programPath,
      startsAgain: MODEL_SETTINGS,
      isForClients: true,
    });
    // A board here has done so already, but one in a gateway has not.
    void reapOrphansOnce(clock, logger);
    const { sampling } = models;
    const owner = isOwner(agent, context.options);
    const endpoints = new SessionEndpoints({
      clock,
      logger,
      newId: randomUUID,
      random: randomBytes,
      program: { command: process.execPath, args: [ownBin()], env: {} },
      directory: join(plugboardHome(io.env, io.homedir), "front"),
    });
    await runFront({
      input: stdin,
      write,
      signal,
      onRefusal: io.stdin.isTTY ? async () => {} : refuse,
      start: agentStarter(command, { format, openclaw, board }, context, programPath),
      isPerSession: format !== undefined,
      handOver: ({ takesHttp }) => {
        if (openclaw !== undefined) return openclaw.handOver(endpoints);
        return format === undefined
          ? mcpServersHandOver(endpoints, takesHttp)
          : noServersHandOver(endpoints);
      },
      openSession: (setup, given) =>
        FrontSession.open(setup, {
          ...given,
          ...(sampling && { sampling }),
          ...(format && { whyMissing: FILE_IGNORED }),
          openSession: (request) => board.openSession({ ...request, owner }),
          clock,
          logger,
        }),
      takesAcpServers: command.mcpOverAcp === true,
      command: basename(command.agent[0] ?? ""),
      clock,
      logger,
    });
    return EXIT.ok;
  } finally {
    ending.abort();
    // An editor that keeps the pipe open would otherwise keep the process alive.
    stdin.destroy();
  }
}

function formatOf({ agentConfig }: FrontRequest): AgentConfigFormat | undefined {
  if (agentConfig === undefined) return undefined;
  return agentConfig === "tsagent" ? { kind: "tsagent" } : { kind: "template", file: agentConfig };
}

async function checkCommand(
  format: AgentConfigFormat,
  { agent }: FrontRequest,
  { io }: CliContext,
  refuse: (error: unknown) => Promise<void>,
): Promise<void> {
  try {
    await checkAgentConfig(format, agent, { cwd: io.cwd });
  } catch (error) {
    if (!io.stdin.isTTY) await refuse(error);
    throw error;
  }
  await removeLeftAgentConfigs();
}

interface Openclaw {
  /** Rejects with the reason why there is no gateway for us. */
  check(): Promise<unknown>;
  env: Readonly<Record<string, string>>;
  handOver(endpoints: SessionEndpoints): HandOver;
}

async function openOpenclaw(
  { openclaw, agent }: FrontRequest,
  { io, clock, logger }: CliContext,
  refuse: (error: unknown) => Promise<void>,
): Promise<Openclaw | undefined> {
  if (openclaw === undefined) return undefined;
  const { env: given, homedir, cwd } = io;
  const url = openclaw === true ? undefined : openclaw;
  const where = { platform: process.platform, env: given, homedir, cwd };
  const { address, env } = await findOpenclaw({ url, ...where }).catch(async (error: unknown) => {
    if (!io.stdin.isTTY) await refuse(error);
    throw error;
  });
  const gateway = new GatewayClient(address, { clock, version: packageVersion() });
  const home = plugboardHome(given, homedir);
  return {
    check: () => gateway.hello(),
    env,
    handOver: (endpoints) =>
      slotHandOver({
        endpoints,
        gateway,
        home,
        args: agent.slice(1),
        newId: randomUUID,
        clock,
        logger,
      }),
  };
}

interface AgentSurroundings {
  format: AgentConfigFormat | undefined;
  openclaw: Openclaw | undefined;
  board: Pick<Board, "redactor">;
}

/** With a format, each process gets files of its own, which go with it. */
function agentStarter(
  { agent }: FrontRequest,
  { format, openclaw, board }: AgentSurroundings,
  { io, clock, logger }: CliContext,
  programPath: Promise<string | undefined>,
): RelayOptions["start"] {
  const { cwd } = io;
  const env = { ...io.env, ...openclaw?.env };
  const start = (command: readonly string[]): Promise<AgentProcess> =>
    startAgentProcess(
      { command, cwd, env },
      {
        clock,
        logger,
        programPath,
        onStderr: (line) => void io.stderr.write(`${line}\n`),
        redact: (text) => board.redactor.text(text),
      },
    );
  return async (endpoint) => {
    // OpenClaw's own program ends without its gateway, after some seconds, and says less.
    await openclaw?.check();
    if (format === undefined) return start(agent);
    const written = await writeAgentConfig(format, endpoint, agent, { cwd });
    try {
      const process = await start(written.command);
      void process.ended.then(() => written.remove());
      const stop = async (): Promise<void> => {
        await process.stop();
        await written.remove();
      };
      return { ...process, stop };
    } catch (error) {
      await written.remove();
      throw error;
    }
  };
}

/** The operator's model, for servers that ask for one. The agent has its own. */
class SamplingModels implements AsyncDisposable {
  readonly sampling: SamplingOptions | undefined;
  readonly #models: AgentModels | undefined;

  constructor(
    agent: AgentConfig,
    asked: string | undefined,
    context: CliContext,
    programPath: Promise<string | undefined>,
  ) {
    // Without a configured model, servers get no model: one that a key in the environment stands for is not the
    // operator's choice.
    if (asked === undefined && agent.model === undefined) return;
    const models = new AgentModels(agent, asked, context, programPath);
    this.#models = models;
    this.sampling = {
      tools: true,
      async handler(request) {
        const { models: found } = (await models.current()) ?? {};
        if (found === undefined) return "declined";
        const model = await found.open(found.ids[0]);
        return sampleModel(request, { model, clock: context.clock });
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#models?.[Symbol.asyncDispose]();
  }
}
