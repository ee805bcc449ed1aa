// `plugboard demo`: a short tour of the demo server that comes with the package, whatever is configured.

import { fileURLToPath } from "node:url";
import type { Board } from "../../core/types/board.ts";
import { shellQuoted } from "../../util/text.ts";
import { readArguments } from "../read-arguments.ts";
import { callTool } from "../call/call.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { withBoard } from "../open.ts";
import { overviewTable } from "../status/overview.ts";
import { untilStarted } from "../status/starting.ts";
import { toolList } from "../tools/tool-list.ts";

const CALLS: readonly (readonly [tool: string, ...args: string[]])[] = [
  ["demo/current_time", "zone=Tokyo"],
  ["demo/convert_time", "time=14:30", "from=Berlin", "to=Tokyo,New York"],
  ["demo/countdown", "from=5"],
];

/** For people only: it prints no JSON. */
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
      "This tour uses one server: the demo that comes with Plugboard.",
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
  [tool, ...words]: (typeof CALLS)[number],
  context: CliContext,
): Promise<number> {
  const { screen } = context;
  const { paint } = screen.terminal.out;
  screen.lines([
    "",
    paint("cyan", `$ plugboard call ${[tool, ...words].map(shellQuoted).join(" ")}`),
  ]);
  return callTool(board, { tool }, await readArguments(words, context), context);
}

/** Where a page of the package is, wherever that is installed: the same path leads there from source and compiled file. */
function pathOf(page: string): string {
  return fileURLToPath(new URL(`../../../${page}`, import.meta.url));
}

function nextSteps({ screen, io }: CliContext): string[] {
  const { paint } = screen.terminal.out;
  const isCheckout = io.env["npm_lifecycle_event"] === "start";
  return [
    paint("bold", "Your own servers"),
    "",
    "Add one, and use it:",
    "",
    "  plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .",
    "  plugboard",
    "  plugboard tools",
    "",
    "Or use the file of another application as it is:",
    "",
    "  plugboard --config .mcp.json",
    ...(isCheckout ? ["", "`npm link` puts the plugboard command on your PATH."] : []),
    "",
    paint("bold", "From TypeScript"),
    "",
    `  import { loadConfig, openBoard } from "plugboard";`,
    `  const board = await openBoard(await loadConfig("plugboard.json"));`,
    `  try {`,
    `    const tools = board.tools(); // for your agent loop`,
    `  } finally {`,
    `    await board.close();`,
    `  }`,
    "",
    paint("bold", "More"),
    "",
    "  plugboard --help",
    ...["README.md", "docs/cli.md", "docs/configuration.md"].map((page) => `  ${pathOf(page)}`),
  ];
}
