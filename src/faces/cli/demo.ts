// `plugboard demo`: a short tour on the server that comes with the package, whatever is configured.

import type { Board } from "../../model/board.ts";
import { assembleArguments } from "./args/assemble.ts";
import { readTokens } from "./args/tokens.ts";
import { printOutcome } from "./call.ts";
import { CallView } from "./call-view.ts";
import type { CliContext } from "./context.ts";
import { EXIT, exitCodeOf } from "./exit-code.ts";
import { canonicalName } from "./find-tool.ts";
import { locateTool } from "./locate-tool.ts";
import { withBoard } from "./open.ts";
import { EXAMPLE_CONFIG, overviewTable } from "./overview.ts";
import { untilStarted } from "./starting.ts";
import { toolList } from "./tool-list.ts";

const CALLS: readonly (readonly [tool: string, ...args: string[]])[] = [
  ["demo/convert_units", "value=98.6", "from=°F", "to=°C"],
  ["demo/convert_time", "time=14:30", "from=Berlin", "to=Tokyo,New York"],
  ["demo/countdown", "from=5"],
];

/** For eyes alone: there is no JSON of it. */
export async function runDemo(given: CliContext): Promise<number> {
  const context: CliContext = { ...given, options: { ...given.options, json: false } };
  const { screen, clock } = context;
  const { out } = screen.terminal;
  const began = clock.monotonic();
  return withBoard(context, { start: "eager", demo: true }, async ({ board }) => {
    await untilStarted(board, context);
    const readyMs = clock.monotonic() - began;
    const title = (text: string): string => out.paint("bold", text);
    screen.lines([
      title("Plugboard: plug any MCP server into any agent"),
      "",
      "This board has one server: the demo that comes with Plugboard.",
      "",
      ...overviewTable(board, context, readyMs),
      "",
      title("Its tools") + out.paint("dim", "   plugboard tools"),
      "",
      ...toolList(board.tools(), out),
      "",
      title("Some calls"),
    ]);
    let worst: number = EXIT.ok;
    for (const call of CALLS) worst = Math.max(worst, await makeCall(board, call, context));
    screen.lines(["", ...nextSteps(context)]);
    return worst;
  });
}

async function makeCall(
  board: Board,
  [name, ...words]: (typeof CALLS)[number],
  context: CliContext,
): Promise<number> {
  const { screen, signal, io } = context;
  const { paint } = screen.terminal.out;
  screen.lines(["", paint("cyan", `$ plugboard call ${[name, ...words].map(quoted).join(" ")}`)]);
  const view = new CallView(board, context);
  try {
    const tool = await locateTool(board, name, signal);
    const given = await readTokens(words, { io, signal, onPrompt: () => {} });
    const args = assembleArguments(given, tool.parameters, canonicalName(tool));
    view.calling(canonicalName(tool));
    const outcome = await board.call(tool.name, args, {
      signal,
      onUpdate: ({ progress }) => progress !== undefined && view.progress(progress),
    });
    view.stop();
    await printOutcome(outcome, tool, {}, context);
    return exitCodeOf(outcome);
  } finally {
    view.stop();
  }
}

/** As a shell would need it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./°-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function nextSteps({ screen, io }: CliContext): string[] {
  const { paint } = screen.terminal.out;
  const isCheckout = io.env["npm_lifecycle_event"] === "start";
  return [
    paint("bold", "Your own servers"),
    "",
    "Write a plugboard.json",
    "",
    ...EXAMPLE_CONFIG.map((line) => `  ${line}`),
    "",
    "and name it:",
    "",
    "  plugboard --config plugboard.json",
    "  plugboard --config plugboard.json tools",
    ...(isCheckout ? ["", "`npm link` puts the plugboard command on your PATH."] : []),
    "",
    paint("bold", "From TypeScript"),
    "",
    `  import { loadConfig, openBoard } from "plugboard";`,
    `  await using board = await openBoard(await loadConfig("plugboard.json"));`,
    `  const tools = board.tools(); // for your agent loop`,
    "",
    "More: docs/cli.md, docs/configuration.md",
  ];
}
