// Opens the board a command works with and closes it when the command is done.

import { openBoard } from "../../board.ts";
import { type ConfigSource, findConfig } from "../../config/find.ts";
import { plugboardHome } from "../../config/home.ts";
import { loadConfig } from "../../config/load.ts";
import type { AgentConfig } from "../../model/agent-config.ts";
import type { OnAuthorization } from "../../model/authorization.ts";
import type { Board } from "../../model/board.ts";
import type { BoardOptions } from "../../model/board-options.ts";
import type { OnElicitation } from "../../model/elicitation.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { OnSampling } from "../../model/sampling.ts";
import { closest } from "../../util/closest.ts";
import type { AskApproval } from "../../model/approval.ts";
import type { CliContext } from "./context.ts";
import { demoConfig } from "./demo-config.ts";

export interface OpenOptions {
  start: NonNullable<BoardOptions["start"]>;
  /** Whatever is configured: the demo. */
  demo?: boolean;
  onAuthorization?: OnAuthorization;
  onElicitation?: OnElicitation;
  onSampling?: OnSampling;
  /** Instead of asking the person at the terminal. */
  onApproval?: AskApproval;
  /** The last word on the configuration. */
  adjust?: (agent: AgentConfig) => AgentConfig;
}

export interface OpenedBoard {
  board: Board;
  agent: AgentConfig;
  source: ConfigSource;
}

export async function withBoard<Result>(
  context: CliContext,
  { start, demo = false, adjust = (agent) => agent, ...handlers }: OpenOptions,
  use: (opened: OpenedBoard) => Promise<Result>,
): Promise<Result> {
  const { io, options, logger, clock } = context;
  const { env, cwd, homedir } = io;
  const source: ConfigSource = demo
    ? { kind: "demo" }
    : findConfig({
        env,
        cwd,
        homedir,
        ...(options.config !== undefined && { flag: options.config }),
      });
  const loaded = await readConfig(source, context);
  if (source.kind === "file" && source.from === "directory") {
    await (await import("./trust/require-trust.ts")).requireTrust(source.path, loaded, io);
  }
  const agent = adjust(loaded);
  const { onAuthorization, onElicitation, onSampling } = handlers;
  const { onApproval = approvalPrompt(context) } = handlers;
  const board = await openBoard(
    // The command waits for the servers itself, so that it can show what it waits for.
    { ...agent, startupWait: 0 },
    {
      start,
      env,
      clock,
      logger,
      stateDir: plugboardHome(env, homedir),
      workspaceDir: agent.workspace ?? cwd,
      owner: options.owner,
      ...(onApproval !== undefined && { onApproval }),
      ...(onAuthorization !== undefined && { onAuthorization }),
      ...(onElicitation !== undefined && { onElicitation }),
      ...(onSampling !== undefined && { onSampling }),
      // What would not be shown need not be sent.
      ...(options.logLevel !== "silent" && { serverLogLevel: options.logLevel }),
    },
  );
  try {
    return await use({ board, agent, source });
  } finally {
    await board.close();
  }
}

async function readConfig(source: ConfigSource, { io, options }: CliContext): Promise<AgentConfig> {
  const { cwd, homedir } = io;
  if (source.kind === "file") return loadConfig(source.path, options.agent, { cwd, homedir });
  if (options.agent === undefined) return demoConfig();
  throw new PlugboardError(
    "CONFIG_INVALID",
    `there is no agent '${options.agent}', since there is no configuration`,
    { hint: "name a configuration with --config <file>" },
  );
}

/** The configuration with one server alone. */
export function onlyServer(name: string): (agent: AgentConfig) => AgentConfig {
  return (agent) => {
    const servers = agent.servers.filter((server) => server.name === name);
    if (servers.length > 0) return { ...agent, servers };
    const names = agent.servers.map((server) => server.name);
    const meant = closest(name, names);
    const known = names.length === 0 ? "there are none" : `there are: ${names.join(", ")}`;
    throw new PlugboardError("UNKNOWN_SERVER", `no server is named '${name}'`, {
      server: name,
      hint: meant === undefined ? known : `did you mean '${meant}'?`,
    });
  };
}

/** Undefined where nobody sits at a terminal: then calls that must be approved are refused. */
function approvalPrompt(context: CliContext): AskApproval | undefined {
  const { io, screen } = context;
  if (io.stdin.isTTY !== true || !screen.terminal.err.isTerminal) return undefined;
  return async (request, gone) =>
    (await import("./questions/approve.ts")).askApproval(request, gone, context);
}
