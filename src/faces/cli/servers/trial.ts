// Connects to a server once before it is written, and tells what it has or why it cannot be used.

import { dirname } from "node:path";
import { openBoard } from "../../../board.ts";
import { plugboardHome } from "../../../config/home.ts";
import { loadConfig } from "../../../config/load.ts";
import { parseAgentConfig } from "../../../config/parse.ts";
import type { AgentConfig } from "../../../model/agent-config.ts";
import type { ServerConfig } from "../../../model/server-config.ts";
import { type ServerState, stateToJson } from "../../../model/server-state.ts";
import { oneLine, plural } from "../../../util/text.ts";
import type { CliContext } from "../context.ts";
import { stateNotes, wantsSignIn } from "../status/server-state.ts";
import { untilStarted } from "../status/starting.ts";
import type { ServerFile } from "./server-file.ts";

export interface Trial {
  /** Whether the server answered. One that wants you to sign in did. */
  hasAnswered: boolean;
  state: ServerState;
  /** Their own names. */
  tools: string[];
}

/** So many names are shown. */
const MOST_NAMES = 20;

export async function tryServer(
  name: string,
  server: ServerConfig,
  file: ServerFile,
  context: CliContext,
): Promise<Trial> {
  const { io, clock, logger } = context;
  const { env, cwd, homedir } = io;
  const agent = await agentFor(name, server, file, context);
  const board = await openBoard(
    { ...agent, startupWait: 0 },
    {
      start: "eager",
      skipFailed: false,
      env,
      clock,
      logger,
      stateDir: plugboardHome(env, homedir),
      workspaceDir: agent.workspace ?? cwd,
    },
  );
  try {
    await untilStarted(board, context);
    const [status] = board.status();
    const state: ServerState = status?.state ?? { kind: "stopped" };
    const tools = board.tools().flatMap(({ source }) => (source.kind === "mcp" ? source.tool : []));
    return { hasAnswered: state.kind === "ready" || wantsSignIn(state), state, tools };
  } finally {
    await board.close();
  }
}

/**
 * With the settings of the file that it is for, such as which networks are allowed; but not with those of a file that
 * nobody has trusted.
 */
async function agentFor(
  name: string,
  server: ServerConfig,
  { original, path, trust }: ServerFile,
  { io, options }: CliContext,
): Promise<AgentConfig> {
  const tried: ServerConfig = { ...server, enabled: true, lazy: false, restartOnCrash: false };
  const alone = parseAgentConfig({ servers: { [name]: tried } }, dirname(path));
  if (original.text === undefined || trust.kind === "untrusted") return alone;
  const { cwd, homedir } = io;
  const agent = await loadConfig(path, options.agent, { cwd, homedir });
  const { workspace, networkAllow, networkProxy, roots, secrets } = agent;
  return { ...alone, workspace, networkAllow, networkProxy, roots, secrets };
}

export function trialLines(name: string, { state, tools }: Trial, context: CliContext): string[] {
  if (state.kind !== "ready") return stateNotes(state, context.options);
  const names = tools.slice(0, MOST_NAMES).map((tool) => oneLine(tool, 64));
  const more = tools.length > names.length ? `, and ${tools.length - names.length} more` : "";
  const list = names.length === 0 ? "" : `: ${names.join(", ")}${more}`;
  return [`${oneLine(name)} answers, and has ${plural(tools.length, "tool")}${list}`];
}

export function trialJson({ state, tools }: Trial): object {
  return { state: stateToJson(state), tools };
}
