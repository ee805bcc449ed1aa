// `plugboard acp`: this agent's board behind an ACP agent on stdio, until the editor is gone.

import { join } from "node:path";
import { Readable } from "node:stream";
import { openBoard } from "../../board.ts";
import { findConfig } from "../../config/find.ts";
import { plugboardHome } from "../../config/home.ts";
import { loadConfig } from "../../config/load.ts";
import { parseAgentConfig } from "../../config/parse.ts";
import type { AgentConfig } from "../../model/agent-config.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { NewResponder } from "../acp/ports.ts";
import { serveAcp } from "../acp/serve.ts";
import { claimStdout } from "../acp/stdout.ts";
import type { CliContext } from "./context.ts";
import { EXIT } from "./exit-code.ts";
import { requireTrust } from "./require-trust.ts";

export async function runAcp(context: CliContext): Promise<number> {
  const { io, logger, clock, signal, options } = context;
  const output = claimStdout(io.stdout, io.stderr);
  const stdin = io.stdin as Readable;
  try {
    const agent = await readAgent(context);
    const stateDir = plugboardHome(io.env, io.homedir);
    await using board = await openBoard(
      // A session never waits for the agent's own servers: its first prompt does.
      { ...agent, startupWait: 0 },
      {
        start: "eager",
        env: io.env,
        clock,
        logger,
        stateDir,
        workspaceDir: agent.workspace ?? io.cwd,
        ...(options.logLevel !== "silent" && { serverLogLevel: options.logLevel }),
      },
    );
    const newResponder = await openResponder(agent, context);
    await serveAcp({
      input: Readable.toWeb(stdin) as ReadableStream<Uint8Array>,
      output: output.stream,
      // The person at the editor is the owner, and is asked before a tool is called.
      openSession: (request) => board.openSession({ ...request, owner: true, approval: "ask" }),
      ...(newResponder !== undefined && { newResponder }),
      historyDir: join(stateDir, "sessions"),
      signal,
      clock,
      logger,
    });
    return EXIT.ok;
  } finally {
    // Otherwise an editor that keeps the pipe open would keep the process.
    stdin.destroy();
    output.release();
  }
}

/** Undefined without a model. One that cannot be used is told of where somebody asks it: commands work on. */
async function openResponder(
  agent: AgentConfig,
  { io, clock }: CliContext,
): Promise<NewResponder | undefined> {
  const { model: id, modelProviders: providers, maxSteps, systemPrompt } = agent;
  if (id === undefined) return undefined;
  try {
    const { openModel } = await import("../../agent/model.ts");
    const model = await openModel(id, { env: io.env, ...(providers && { providers }) });
    // Not before the packages they need are known to be there.
    const { runTurn } = await import("../../agent/loop.ts");
    const { modelResponder } = await import("../acp/model-responder.ts");
    const options = { model, runTurn, systemPrompt, clock };
    return (past) =>
      modelResponder(past, { ...options, ...(maxSteps !== undefined && { maxSteps }) });
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    const { message, hint } = error;
    return () => ({
      async answer(turn) {
        turn.say(hint === undefined ? message : `${message}: ${hint}`);
        return "end_turn";
      },
    });
  }
}

/** Without a configuration the agent has no servers of its own: the demo is for people at a terminal. */
async function readAgent({ io, options }: CliContext): Promise<AgentConfig> {
  const { env, cwd, homedir } = io;
  const { config, agent: agentId } = options;
  const source = findConfig({ env, cwd, homedir, ...(config !== undefined && { flag: config }) });
  if (source.kind === "demo") {
    if (agentId === undefined) return parseAgentConfig({ servers: {} });
    throw new PlugboardError(
      "CONFIG_INVALID",
      `there is no agent '${agentId}', since there is no configuration`,
      { hint: "name a configuration with --config <file>" },
    );
  }
  const agent = await loadConfig(source.path, agentId, { cwd, homedir });
  if (source.from !== "directory") return agent;
  try {
    await requireTrust(source.path, agent, io);
    return agent;
  } catch (error) {
    if (!(error instanceof PlugboardError) || error.code !== "UNTRUSTED") throw error;
    const remedy = `${source.path} is not trusted; if you trust it, run plugboard trust in its directory`;
    return { ...agent, untrusted: { remedy } };
  }
}
