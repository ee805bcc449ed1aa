// `plugboard call`: calls one tool; the result goes to stdout, and the exit code says whether it succeeded.

import type { Board } from "../../core/types/board.ts";
import { type CallOutcome, canonicalName, type Tool } from "../../core/types/tool.ts";
import { oneLine, plainText, shellWord } from "../../util/text.ts";
import { withoutHint } from "../../core/tools/failure.ts";
import { assembleArguments } from "../../core/tools/arguments/assemble.ts";
import type { GivenArguments } from "../../core/tools/arguments/parse.ts";
import { readArguments } from "../read-arguments.ts";
import { CallView } from "./call-view.ts";
import type { CliContext, GlobalOptions } from "../context.ts";
import { hintLines, moreLine } from "../error-lines.ts";
import { EXIT, exitCodeOf } from "../exit-code.ts";
import { enableHint, findMeant } from "../find-tool.ts";
import type { CallRequest } from "./command.ts";
import { untilInterrupted } from "../lifetime.ts";
import { keepAliveHint } from "../background/kept-alive.ts";
import { commandsApart } from "../offered-command.ts";
import { requireReady } from "../typed/require-ready.ts";
import { resultText } from "./result.ts";
import { ensureDirectory, saveBinary } from "./save.ts";
import { withRunningBoard } from "./running-board.ts";

/** `otherwise` makes a call that cannot be made on a running gateway. */
export async function runCall(
  given: CallRequest,
  context: CliContext,
  otherwise: typeof callOnBoard = callOnBoard,
): Promise<number> {
  const isExpression = /^[^(]+\(.*\)$/s.test(given.tool);
  const command = isExpression
    ? (await import("./call-expression.ts")).readExpression(given)
    : given;
  // Before the board opens: arguments that cannot be read must not start a server.
  return runGivenCall(command, await readArguments(command.args, context), context, otherwise);
}

export async function runGivenCall(
  command: CallRequest,
  given: GivenArguments,
  context: CliContext,
  otherwise: typeof callOnBoard = callOnBoard,
): Promise<number> {
  await ensureDirectory(command.output, context.io.cwd);
  const call = (board: CallBoard): Promise<number> => callTool(board, command, given, context);
  const word = bareWord(given);
  return withRunningBoard({ ...command, word }, context, call, () =>
    otherwise(command, context, call),
  );
}

/** Loads what it takes to open a board: a call to a running gateway does not need it. */
async function callOnBoard(
  command: CallRequest,
  context: CliContext,
  call: (board: CallBoard) => Promise<number>,
): Promise<number> {
  const { serverIn, withBoard } = await import("../open.ts");
  const open = {
    start: "none",
    about: context.options.typed === undefined ? serverIn(command.tool) : undefined,
    toolTimeout: command.timeout,
    keepAlive: true,
    onApproval: command.yes ? () => "once" as const : undefined,
  } as const;
  const isTyped = context.options.typed !== undefined;
  return withBoard(context, open, async ({ board, agent, attachment }) => {
    const exitCode = await call(isTyped ? askedFirst(board, context) : board);
    if (exitCode === EXIT.ok && attachment === undefined && !isTyped) {
      const used = board.status().filter(({ state }) => state.kind === "ready");
      const hint = keepAliveHint(
        agent,
        used.map(({ name }) => name),
      );
      if (hint !== undefined) context.screen.note(hint);
    }
    return exitCode;
  });
}

/** What a call needs of a board. */
export type CallBoard = Pick<Board, "find" | "tools" | "call" | "status">;

/** Finds a tool as its server has it now: a server that is typed may have been edited since it was last used. */
function askedFirst(board: Board, { signal, options }: CliContext): CallBoard {
  return {
    async find(...which) {
      await untilInterrupted(board.refresh(), signal);
      requireReady(board, options);
      return board.find(...which);
    },
    tools: (...which) => board.tools(...which),
    call: board.call.bind(board),
    status: () => board.status(),
  };
}

/** Calls the tool, shows progress, prints the outcome, and gives the exit code. */
export async function callTool(
  board: CallBoard,
  { tool: name, output }: Pick<CallRequest, "tool" | "output">,
  given: GivenArguments,
  context: CliContext,
): Promise<number> {
  const view = new CallView(board, context);
  try {
    const { outcome, tool } = await makeCall(board, name, given, context, view);
    view.stop();
    const { source } = tool;
    // Its tools may be known from the cache, and are found then.
    const hint = enableHint(board, source.kind === "mcp" ? source.server : undefined);
    await printOutcome(outcome, tool, { output, hint }, context);
    return exitCodeOf(outcome);
  } finally {
    view.stop();
  }
}

/** Finds the tool, fits the arguments to its schema, and calls it. */
export async function makeCall(
  board: CallBoard,
  name: string,
  named: GivenArguments,
  { signal, logger }: Pick<CliContext, "signal" | "logger">,
  view?: Pick<CallView, "calling" | "progress">,
): Promise<{ tool: Tool; outcome: CallOutcome }> {
  const tool = await findMeant(board, name, bareWord(named), signal);
  // `server tool`: the first word was the tool's name.
  const given = isNamedBy(tool, name, bareWord(named)) ? withoutFirst(named) : named;
  const hint = `to see its parameters: plugboard tools ${shellWord(canonicalName(tool))}`;
  const { args, problem, warnings } = assembleArguments(given, tool.parameters, hint);
  // A tool that a rule hides is refused and audited whatever its arguments are.
  const isListed = board.tools({ all: true }).some((each) => each.name === tool.name);
  const { source } = tool;
  const about = source.kind === "mcp" ? { server: source.server, tool: source.tool } : {};
  // Also where the call is refused: a name that the schema does not have may be why another one is missing.
  for (const warning of warnings) logger.warn(warning, about);
  if (problem !== undefined && isListed) throw problem;
  view?.calling(canonicalName(tool));
  const outcome = await board.call(tool.name, args, {
    signal,
    onUpdate: (update) => view?.progress(update),
  });
  return { tool, outcome };
}

/** The first word after `tool`. If `tool` names a server, the word may name the tool. */
function bareWord({ loose = [] }: GivenArguments): string | undefined {
  const [first] = loose;
  return first?.kind === "word" && first.pair === undefined ? first.text : undefined;
}

function isNamedBy({ source }: Tool, server: string, word: string | undefined): boolean {
  return source.kind === "mcp" && source.server === server && source.tool === word;
}

function withoutFirst({ loose = [], ...given }: GivenArguments): GivenArguments {
  return { ...given, loose: loose.slice(1) };
}

const WAIT_LONGER = "if it needs more time, give --timeout <ms>";
/** Only a server in the configuration has it. */
const OR_SET = ', or raise "toolTimeout" for its server';

function waitLonger({ source }: Tool, { typed }: GlobalOptions): string {
  return source.kind === "mcp" && typed === undefined ? WAIT_LONGER + OR_SET : WAIT_LONGER;
}

/** Errors go to stderr: what a script reads from stdout is always a result. */
async function printOutcome(
  outcome: CallOutcome,
  tool: Tool,
  { output, hint: known }: { output: string | undefined; hint: string | undefined },
  { screen, options, io }: CliContext,
): Promise<void> {
  const name = canonicalName(tool);
  const saved = await saveBinary(outcome, { directory: output, cwd: io.cwd, name });
  if (options.json) return screen.json(outcome);
  if (exitCodeOf(outcome) === EXIT.interrupted) return;
  const text = resultText(outcome, saved);
  if (!outcome.isError) return screen.text(text);
  const { err } = screen.terminal;
  const { failure } = outcome;
  const shown = (err.isTerminal ? plainText(text) : text).trimEnd();
  const start = err.paint("red", "plugboard:");
  if (failure === undefined) {
    screen.note(`${start} ${oneLine(name)} reported an error:\n${shown}`);
    const { serviceRemedy } = await import("../../core/board/service-remedy.ts");
    const remedy = serviceRemedy(text);
    if (remedy !== undefined) screen.note(hintLines(remedy, options).join("\n"));
    return;
  }
  const { code } = failure;
  const hint = failure.hint ?? (code === "TIMEOUT" ? waitLonger(tool, options) : known);
  screen.note(`${start} ${commandsApart(withoutHint(shown, failure), options).join("\n")}`);
  const lines = hint === undefined ? [] : hintLines(hint, options);
  for (const line of [...lines, moreLine(code)]) screen.note(line);
}
