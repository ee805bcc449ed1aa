// `plugboard call`: calls one tool; the result goes to stdout, and the exit code says whether it succeeded.

import type { AgentConfig } from "../../../model/agent-config.ts";
import type { Board } from "../../../model/board.ts";
import { PlugboardError } from "../../../model/errors.ts";
import { type CallOutcome, canonicalName, type Tool } from "../../../model/tool.ts";
import { oneLine, plainText } from "../../../util/text.ts";
import { assembleArguments } from "../args/assemble.ts";
import { type GivenArguments, readTokens } from "../args/tokens.ts";
import { CallView } from "./call-view.ts";
import type { CliContext } from "../context.ts";
import { elicitationPrompt } from "../questions/elicit.ts";
import { EXIT, exitCodeOf } from "../exit-code.ts";
import type { CallCommand } from "./command.ts";
import { withBoard } from "../open.ts";
import { resultText } from "./result.ts";
import { ensureDirectory, saveBinary } from "./save.ts";

export async function runCall(command: CallCommand, context: CliContext): Promise<number> {
  // Before the board opens: arguments that cannot be read must not start a server.
  const given = await readTokens(command.args, context);
  await ensureDirectory(command.output, context.io.cwd);
  const open = {
    start: "none",
    adjust: withTimeout(command.timeout),
    onElicitation: elicitationPrompt(context),
  } as const;
  return withBoard(context, open, ({ board }) => callTool(board, command, given, context));
}

/** Calls the tool, shows progress, prints the outcome, and gives the exit code. */
export async function callTool(
  board: Board,
  { tool: name, output }: Pick<CallCommand, "tool" | "output">,
  given: GivenArguments,
  context: CliContext,
): Promise<number> {
  const { signal } = context;
  const view = new CallView(board, context);
  try {
    const tool = await board.find(name, { signal }).catch(hintAtList);
    const { args, problem } = assembleArguments(given, tool.parameters, canonicalName(tool));
    // A tool that a rule hides is refused and audited whatever its arguments are.
    const isListed = board.tools().some((each) => each.name === tool.name);
    if (problem !== undefined && isListed) throw problem;
    view.calling(canonicalName(tool));
    const outcome = await board.call(tool.name, args, {
      signal,
      onUpdate: ({ progress }) => progress !== undefined && view.progress(progress),
    });
    view.stop();
    await printOutcome(outcome, tool, output, context);
    return exitCodeOf(outcome);
  } finally {
    view.stop();
  }
}

function withTimeout(timeout: number | undefined): (agent: AgentConfig) => AgentConfig {
  if (timeout === undefined) return (agent) => agent;
  return (agent) => ({
    ...agent,
    servers: agent.servers.map((server) => ({ ...server, toolTimeout: timeout })),
  });
}

function hintAtList(error: unknown): never {
  if (!(error instanceof PlugboardError) || error.code !== "UNKNOWN_TOOL") throw error;
  const { code, message, hint } = error;
  throw new PlugboardError(code, message, { hint: hint ?? "to list all tools: plugboard tools" });
}

/** Errors go to stderr: what a script reads from stdout is always a result. */
async function printOutcome(
  outcome: CallOutcome,
  tool: Tool,
  output: string | undefined,
  { screen, options, io }: CliContext,
): Promise<void> {
  const name = canonicalName(tool);
  const saved = await saveBinary(outcome, { directory: output, cwd: io.cwd, name });
  if (options.json) return screen.json(outcome);
  if (exitCodeOf(outcome) === EXIT.interrupted) return;
  const text = resultText(outcome, saved);
  if (!outcome.isError) return screen.text(text);
  const { err } = screen.terminal;
  const what = outcome.failure === undefined ? `${oneLine(name)} reported an error:\n` : "";
  const shown = err.isTerminal ? plainText(text) : text;
  screen.note(`${err.paint("red", "plugboard:")} ${what}${shown.trimEnd()}`);
}
