// `plugboard acp`: this agent's board behind an ACP agent on stdio, until the editor is gone.

import { join } from "node:path";
import { Readable } from "node:stream";
import { Models } from "../../agent/models.ts";
import { openBoard } from "../../board.ts";
import { findConfig } from "../../config/find.ts";
import { plugboardHome } from "../../config/home.ts";
import { loadConfig } from "../../config/load.ts";
import { parseAgentConfig } from "../../config/parse.ts";
import type { AgentConfig } from "../../model/agent-config.ts";
import { PlugboardError } from "../../model/errors.ts";
import { modelResponder } from "../acp/responder/model-responder.ts";
import { refuseAcp } from "../acp/refuse.ts";
import { declineUnattributed } from "../acp/questions/decline-unattributed.ts";
import { type AcpOptions, serveAcp } from "../acp/serve.ts";
import { claimStdout } from "../acp/wire/stdio.ts";
import type { CliContext } from "./context.ts";
import { EXIT } from "./exit-code.ts";
import { findLoginPath } from "./login-path.ts";
import { requireTrust } from "./require-trust.ts";

const FOR_EDITORS =
  "This is an agent for editors: one that speaks the Agent Client Protocol starts it and talks to it here. " +
  "plugboard ask puts a prompt to the same agent; Ctrl-C ends this.";

export async function runAcp(context: CliContext): Promise<number> {
  const { io, logger, clock, signal, options, screen } = context;
  const output = claimStdout(io.stdout, io.stderr);
  const stdin = io.stdin as Readable;
  if (io.stdin.isTTY) screen.note(FOR_EDITORS);
  const ending = new AbortController();
  // At once, and waited for by the servers that are programs alone.
  const programPath = findLoginPath({ env: io.env, clock, logger, signal: ending.signal });
  try {
    const agent = await readAgent(context).catch(async (error: unknown) => {
      if (!io.stdin.isTTY) await refuseAcp(error, { input: stdin, output, clock, signal });
      throw error;
    });
    const stateDir = plugboardHome(io.env, io.homedir);
    await using board = await openBoard(
      // A session never waits for the agent's own servers: its first prompt does.
      { ...agent, startupWait: 0 },
      {
        start: "eager",
        env: io.env,
        programPath,
        clock,
        logger,
        stateDir,
        workspaceDir: agent.workspace ?? io.cwd,
        // A session's own answer goes first, for what its calls cause.
        ...declineUnattributed(logger),
        ...(options.logLevel !== "silent" && { serverLogLevel: options.logLevel }),
      },
    );
    await using models = modelsOf(agent, context);
    await serveAcp({
      input: Readable.toWeb(stdin) as ReadableStream<Uint8Array>,
      output,
      // The person at the editor is the owner, and is asked before a tool is called.
      openSession: (request) => board.openSession({ ...request, owner: true, approval: "ask" }),
      ...(models !== undefined && answeredBy(models, agent, context)),
      modelAdvice: modelAdvice(agent, stateDir),
      historyDir: join(stateDir, "sessions"),
      signal,
      clock,
      logger,
    });
    return EXIT.ok;
  } finally {
    ending.abort();
    // Otherwise an editor that keeps the pipe open would keep the process.
    stdin.destroy();
  }
}

/** Undefined without a model. Nothing is loaded for it yet. */
function modelsOf(
  { models = [], modelProviders: providers, networkProxy: proxy }: AgentConfig,
  { io, clock }: CliContext,
): Models | undefined {
  const [first, ...others] = models;
  if (first === undefined) return undefined;
  return new Models([first, ...others], {
    env: io.env,
    clock,
    ...(providers && { providers }),
    ...(proxy && { proxy }),
  });
}

function answeredBy(
  models: Models,
  { maxSteps, systemPrompt }: AgentConfig,
  { clock }: CliContext,
): Pick<AcpOptions, "newResponder"> {
  const options = { models, systemPrompt, clock, ...(maxSteps !== undefined && { maxSteps }) };
  return { newResponder: (past, chosen) => modelResponder(past, options, chosen) };
}

/** What gives an agent without a model one. */
function modelAdvice({ file, untrusted }: AgentConfig, home: string): string {
  if (untrusted !== undefined) return `Nothing of the configuration is used: ${untrusted.remedy}.`;
  const example = '"model": "anthropic/claude-sonnet-4-5"';
  const where =
    file === undefined
      ? `put \`{ "agents": { "defaults": { ${example} } } }\` into ${join(home, "plugboard.json")}`
      : `set \`${example}\` in agents.defaults of ${file}`;
  return `For answers, ${where}, see to the provider's key, and start the agent again.`;
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
    // Its servers are shown. A model, a system prompt or a rule of its would be as much of a start as they.
    const { agentId: id, servers, toolNames, warnings, file } = agent;
    return {
      agentId: id,
      servers,
      toolNames,
      warnings,
      ...(file && { file }),
      untrusted: { remedy },
    };
  }
}
