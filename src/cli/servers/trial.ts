// Connects to a server once before it is written, and tells what it has or why it cannot be used.

import { dirname } from "node:path";
import { describePlan, type PromptPlan } from "../../core/board/prompt-plan.ts";
import { openBoard } from "../../core/board/board.ts";
import { plugboardHome } from "../../core/config/home.ts";
import { parseAgentConfig } from "../../core/config/parse.ts";
import type { AgentConfig } from "../../core/types/agent-config.ts";
import type { BoardOptions } from "../../core/types/board-options.ts";
import { type Diagnostic, diagnosticText, isSuspicious } from "../../core/types/diagnostic.ts";
import { PlugboardError } from "../../core/types/errors.ts";
import type { PinnedTool } from "../../core/types/pin.ts";
import type { ServerConfig } from "../../core/types/server-config.ts";
import { type ServerState, stateToJson } from "../../core/types/server-state.ts";
import type { Tool } from "../../core/types/tool.ts";
import { oneLine, plural } from "../../util/text.ts";
import type { CliContext } from "../context.ts";
import { elicitationPrompt } from "../questions/elicit.ts";
import { stateNotes, wantsSignIn } from "../status/server-state.ts";
import { untilStarted } from "../status/starting.ts";
import { planFor } from "../status/tool-search.ts";
import { type ServerFile, trustedSettings } from "./server-file.ts";

export interface Trial {
  /** Whether the server answered. One that wants you to sign in did. */
  hasAnswered: boolean;
  state: ServerState;
  /** As the server describes them. */
  tools: PinnedTool[];
  /** As a model would get them. */
  offered: readonly Tool[];
  /** What a person should look at before a model uses them. */
  suspicious: Diagnostic[];
  /** Its tools are known, from it or from an earlier run. */
  isListed: boolean;
}

/** At most this many names are shown. */
const MOST_NAMES = 20;

/** `start`: with `unknown`, a server whose tools are known from an earlier run is not started again. */
export async function tryServer(
  name: string,
  server: ServerConfig,
  file: ServerFile,
  context: CliContext,
  start: "eager" | "unknown" = "eager",
): Promise<Trial> {
  const agent = await agentFor(name, server, file, context);
  const board = await openBoard(
    { ...agent, startupWait: 0 },
    { start, skipFailed: false, ...boardOptions(agent, context) },
  );
  try {
    await untilStarted(board, context);
    const [status] = board.status();
    const unlisted = status?.diagnostics.find(({ kind }) => kind === "unlisted");
    // It runs, but nothing can be said about what it offers.
    const state: ServerState = unlisted
      ? { kind: "failed", error: new PlugboardError("SERVER_ERROR", unlisted.message) }
      : (status?.state ?? { kind: "stopped" });
    const tools = board.tools({ all: true }).flatMap(triedTool);
    const offered = board.tools();
    const isListed = state.kind === "ready" || status?.cached === true;
    const hasAnswered = state.kind === "ready" || wantsSignIn(state);
    const suspicious = status?.diagnostics.filter(isSuspicious) ?? [];
    return { hasAnswered, state, tools, offered, suspicious, isListed };
  } finally {
    await board.close();
  }
}

function boardOptions({ workspace }: AgentConfig, context: CliContext): BoardOptions {
  const { io, clock, logger } = context;
  const { env, cwd, homedir } = io;
  return {
    env,
    clock,
    logger,
    // As every command does: a server may list other tools to those who cannot be asked.
    onElicitation: elicitationPrompt(context),
    stateDir: plugboardHome(env, homedir),
    workspaceDir: workspace ?? cwd,
  };
}

/** With the settings of the file that it is for; but not with those of a file that nobody has trusted. */
async function agentFor(
  name: string,
  server: ServerConfig,
  file: ServerFile,
  context: CliContext,
): Promise<AgentConfig> {
  const tried: ServerConfig = { ...server, enabled: true, lazy: false, restartOnCrash: false };
  const alone = parseAgentConfig({ servers: { [name]: tried } }, dirname(file.path));
  const settings = await trustedSettings(file, context);
  if (settings === undefined) return alone;
  const { workspace, networkAllow, networkProxy, networkInherit, roots, secrets } = settings;
  return { ...alone, workspace, networkAllow, networkProxy, networkInherit, roots, secrets };
}

/** What changes for models with one more server: past a number of tools, they search. Undefined if nothing does. */
export async function promptChange(
  name: string,
  { offered }: Trial,
  file: ServerFile,
  context: CliContext,
): Promise<string | undefined> {
  const settings = await trustedSettings(file, context);
  if (settings === undefined) return undefined;
  const servers = settings.servers.filter((each) => each.name !== name);
  const board = await openBoard(
    { ...settings, servers },
    { start: "none", ...boardOptions(settings, context) },
  );
  try {
    const { toolSearch } = board;
    const planOf = (tools: Tool[]): PromptPlan =>
      planFor(settings, { tools: () => tools, toolSearch });
    const known = board.tools();
    const after = planOf([...known, ...offered]);
    if (planOf(known).mode !== "all" || after.reason === undefined) return undefined;
    return `from then on, ${describePlan(after)}`;
  } finally {
    await board.close();
  }
}

function triedTool({ source, ...tool }: Tool): PinnedTool[] {
  if (source.kind !== "mcp") return [];
  const { title, ownDescription, parameters, outputSchema, annotations } = tool;
  return [
    {
      name: source.tool,
      ...(title !== undefined && { title }),
      ...(ownDescription !== undefined && { description: ownDescription }),
      inputSchema: parameters,
      ...(outputSchema !== undefined && { outputSchema }),
      ...(annotations !== undefined && { annotations }),
    },
  ];
}

export function trialLines(
  name: string,
  { state, tools, suspicious }: Trial,
  context: CliContext,
): string[] {
  if (state.kind !== "ready") return stateNotes(state, context.options);
  const names = tools.slice(0, MOST_NAMES).map((tool) => oneLine(tool.name, 64));
  const more = tools.length > names.length ? `, and ${tools.length - names.length} more` : "";
  const list = names.length === 0 ? "" : `: ${names.join(", ")}${more}`;
  return [
    `${oneLine(name)} answers, and has ${plural(tools.length, "tool")}${list}`,
    ...suspicious.map((each) => oneLine(`warning: ${diagnosticText(each)}`, 400)),
  ];
}

/** With the code of what went wrong, as far as that is known. */
export function doesNotAnswer(
  server: string,
  { state }: Trial,
  message: string,
  hint: string,
): PlugboardError {
  const code = "error" in state ? state.error.code : "SERVER_UNAVAILABLE";
  return new PlugboardError(code, message, { server, hint });
}

export function trialJson({ state, tools, suspicious }: Trial): object {
  return {
    state: stateToJson(state),
    tools: tools.map((tool) => tool.name),
    ...(suspicious.length > 0 && { suspicious }),
  };
}
