// `plugboard`: what is on the board, how it fares, and what it costs a model.

import type { ConfigSource } from "../../../config/find.ts";
import type { Board } from "../../../model/board.ts";
import type { ServerStatus } from "../../../model/server-status.ts";
import type { Tool } from "../../../model/tool.ts";
import { duration, plural } from "../../../util/text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { type OpenedBoard, withBoard } from "../open.ts";
import { stateCell, stateNotes } from "./server-state.ts";
import { untilStarted } from "./starting.ts";
import { stateToJson } from "./state-json.ts";
import { type Column, renderTable, type Row } from "../terminal/table.ts";
import { formatTokens, promptTokens } from "./tokens.ts";

/** Servers that failed are part of the report, so it succeeds whatever it has to say. */
export async function runOverview(context: CliContext): Promise<number> {
  const { screen, clock, options } = context;
  const began = clock.monotonic();
  return withBoard(context, { start: "eager" }, async (opened) => {
    await untilStarted(opened.board, context, opened.agent.startupWait);
    const readyMs = clock.monotonic() - began;
    if (options.json) {
      screen.json(overviewJson(opened, readyMs));
      return EXIT.ok;
    }
    const lines = [heading(opened, context), "", ...overviewTable(opened.board, context, readyMs)];
    if (opened.source.kind === "demo") lines.push("", ...demoHints());
    screen.lines(lines);
    return EXIT.ok;
  });
}

/** A row per server and a line of totals. */
export function overviewTable(
  board: Pick<Board, "status" | "tools">,
  { screen }: CliContext,
  readyMs: number,
): string[] {
  const servers = board.status();
  if (servers.length === 0) return ["no servers are configured"];
  const { out } = screen.terminal;
  const tools = board.tools();
  const rows = servers.map((server): Row => {
    const { state } = server;
    const own = toolsOf(server, tools);
    return {
      cells: [
        { text: server.name, tone: "bold" },
        stateCell(state, screen.terminal),
        own.length === 0 && state.kind !== "ready" ? "" : String(own.length),
        state.kind === "ready" ? duration(state.startMs) : "",
        own.length === 0 ? "" : formatTokens(promptTokens(own)),
        { text: server.cached ? "from cache" : "", tone: "dim" },
      ],
      notes: stateNotes(state),
    };
  });
  const table = renderTable(COLUMNS, rows, { width: out.width, paint: out.paint });
  return [...table, "", totalsLine(servers, tools, readyMs)];
}

const COLUMNS: readonly Column[] = [
  { title: "server", min: 8 },
  { title: "state" },
  { title: "tools", align: "right" },
  { title: "start", align: "right" },
  { title: "prompt tokens", align: "right" },
  {},
];

function totalsLine(
  servers: readonly ServerStatus[],
  tools: readonly Tool[],
  readyMs: number,
): string {
  const counts = [plural(servers.length, "server"), plural(tools.length, "tool")];
  const tokens = `${formatTokens(promptTokens(tools))} tokens in a prompt`;
  const down = servers.filter(
    ({ state }) => state.kind !== "ready" && state.kind !== "disabled" && state.kind !== "idle",
  );
  const end = down.length === 0 ? `ready in ${duration(readyMs)}` : `${down.length} not ready`;
  return [...counts, tokens, end].join(", ");
}

function heading({ agent, source }: OpenedBoard, { screen }: CliContext): string {
  const { paint } = screen.terminal.out;
  const from = source.kind === "demo" ? "the built-in demo" : source.path;
  const name = agent.agentId === "default" ? "" : `, agent ${agent.agentId}`;
  return paint("dim", `${from}${name}`);
}

function demoHints(): string[] {
  return [
    "There is no configuration yet, so this is the demo that comes with Plugboard.",
    "  plugboard demo             a short tour",
    "  plugboard tools            its tools",
    "  plugboard --config <file>  your own servers; a file to start from:",
    "",
    ...EXAMPLE_CONFIG.map((line) => `    ${line}`),
  ];
}

/** The smallest configuration that does something. */
export const EXAMPLE_CONFIG: readonly string[] = [
  `{ "agents": { "defaults": { "mcp": { "servers": {`,
  `  "files": {`,
  `    "command": "npx",`,
  `    "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]`,
  `  }`,
  `} } } } }`,
];

function overviewJson({ board, agent, source }: OpenedBoard, readyMs: number): object {
  const tools = board.tools();
  const servers = board.status().map((server) => {
    const own = toolsOf(server, tools);
    const { name, state, cached } = server;
    return {
      name,
      state: stateToJson(state),
      tools: own.length,
      cached,
      promptTokens: promptTokens(own),
    };
  });
  return {
    config: configJson(source),
    agent: agent.agentId,
    servers,
    totals: {
      servers: servers.length,
      ready: servers.filter(({ state }) => state.kind === "ready").length,
      tools: tools.length,
      promptTokens: promptTokens(tools),
      readyMs: Math.round(readyMs),
    },
  };
}

function configJson(source: ConfigSource): { source: string; file?: string } {
  return source.kind === "demo" ? { source: "demo" } : { source: source.from, file: source.path };
}

function toolsOf(server: ServerStatus, tools: readonly Tool[]): Tool[] {
  return tools.filter(({ source }) => source.kind === "mcp" && source.server === server.name);
}
