// `plugboard tools`: lists the tools of all servers.

import type { Board } from "../../../model/board.ts";
import type { ServerStatus } from "../../../model/server-status.ts";
import { canonicalName, type Tool } from "../../../model/tool.ts";
import { closest } from "../../../util/closest.ts";
import { isSuspicious } from "../../../model/diagnostic.ts";
import { stateToJson } from "../../../model/server-state.ts";
import { duration, oneLine, plainText, plural, shellWord } from "../../../util/text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import type { ToolHelpCommand } from "../call/command.ts";
import { findTool } from "../find-tool.ts";
import { commandsApart, offeredCommand } from "../offered-command.ts";
import { serverIn, withBoard } from "../open.ts";
import { unavailableNotes } from "../status/server-state.ts";
import { untilStarted, whileStarting } from "../status/starting.ts";
import { hasWords } from "../terminal/list.ts";
import { hintAtServer } from "../typed/mistyped.ts";
import { requireReady } from "../typed/require-ready.ts";
import type { ToolsCommand } from "./command.ts";
import { toolList } from "./tool-list.ts";

/** A list does not pay for what explains a schema. */
const loadPages = () => import("./tool-page.ts");

export async function runTools(command: ToolsCommand, context: CliContext): Promise<number> {
  const { screen, options } = context;
  const { refresh, long, query } = command;
  const start = refresh ? "none" : "unknown";
  // A typed server is the only one.
  const isTool = query.length === 1 && options.typed === undefined;
  const server = command.server ?? (isTool ? serverIn(query[0]) : undefined);
  return withBoard(context, { start, server, keepAlive: true }, async ({ board, agent }) => {
    const { out } = screen.terminal;
    const find = (): Found => findTools(board, command);
    const show = async (tools: readonly Tool[]): Promise<void> =>
      screen.lines(long ? (await loadPages()).toolPages(tools, out) : toolList(tools, out));

    let early: readonly Tool[] = [];
    if (refresh) await whileStarting(board, context, board.refresh());
    else {
      // What is known must not wait for a server that may never answer.
      const { named, tools } = find();
      if (!options.json && named === undefined && isAnyStarting(board)) early = tools;
      if (early.length > 0) await show(early);
      if (options.json || named === undefined) {
        await untilStarted(board, context, agent.startupWait);
      }
    }
    requireReady(board, options);
    const found = find();
    const { named, tools, hidden } = found;
    const servers = board.status();
    if (options.json) {
      screen.json({
        tools: tools.map(toolJson),
        servers: servers.map(serverJson),
        ...(hidden > 0 && { hidden }),
      });
      return EXIT.ok;
    }
    if (named !== undefined) screen.lines(await (await loadPages()).toolHelp(named, out, options));
    else {
      const shown = new Set(early.map(({ name }) => name));
      const rest = tools.filter(({ name }) => !shown.has(name));
      if (early.length > 0 && rest.length > 0 && (long || out.isTerminal)) screen.lines([""]);
      await show(rest);
    }
    for (const note of notesOn(found, servers, query, context)) screen.note(note);
    return EXIT.ok;
  });
}

/** What a person should know about the list, below it. */
function notesOn(
  { all, named, tools, hidden }: Found,
  servers: readonly ServerStatus[],
  query: readonly string[],
  context: CliContext,
): string[] {
  const { screen, options, clock } = context;
  const { isTerminal, paint } = screen.terminal.err;
  const isEmpty = tools.length === 0;
  return [
    // Whoever names a tool does not ask about the other servers.
    ...(named === undefined ? unavailableNotes(servers, options) : []),
    ...suspiciousNotes(servers, tools),
    ...(hidden > 0 ? [hiddenNote(hidden, isEmpty)] : []),
    ...(hidden === 0 && isEmpty ? emptyNotes(query, all, servers, context) : []),
    ...(isTerminal ? cacheNotes(tools, servers, clock.now()) : []).map((note) =>
      paint("dim", note),
    ),
  ];
}

/** What was found in the definitions of these tools, and of tools that were left out for it. */
function suspiciousNotes(servers: readonly ServerStatus[], tools: readonly Tool[]): string[] {
  const shown = new Set(
    tools.flatMap(({ source }) => (source.kind === "mcp" ? [source.server] : [])),
  );
  const found = servers.flatMap(({ diagnostics }) => diagnostics).filter(isSuspicious);
  return found
    .filter(({ server }) => shown.size === 0 || shown.has(server))
    .map(({ server, subject, message }) =>
      oneLine(`${subject === undefined ? server : `${server}/${subject}`}: ${message}`, 400),
    );
}

interface Found {
  all: readonly Tool[];
  /** The tool whose full name the query is. */
  named?: Tool;
  /** Those to show. */
  tools: readonly Tool[];
  /** How many more have the words of the query, but are only for apps. */
  hidden: number;
}

function findTools(board: Pick<Board, "tools">, { query, all: showAll }: ToolsCommand): Found {
  const all = board.tools({ all: true });
  const found = all.filter(({ name, label, description }) =>
    hasWords([name, label, description], query),
  );
  const named = all.filter((tool) => isNamed(tool, query));
  if (named[0] !== undefined) return { all, named: named[0], tools: named, hidden: 0 };
  const tools = showAll ? found : found.filter(({ include }) => include !== "app");
  return { all, tools, hidden: found.length - tools.length };
}

function isAnyStarting(board: Pick<Board, "status">): boolean {
  return board.status().some(({ state }) => state.kind === "starting");
}

function hiddenNote(hidden: number, isAll: boolean): string {
  const what = plural(hidden, isAll ? "tool" : "more tool");
  const are = hidden === 1 ? "is" : "are";
  return `${what} ${are} for the apps of the servers, not for models; --all lists ${hidden === 1 ? "it" : "them"}`;
}

/** `plugboard call <tool> --help`: what one tool takes, even if a rule hides it. */
export async function runToolHelp(
  { tool: name }: ToolHelpCommand,
  context: CliContext,
): Promise<number> {
  const { screen, options, signal } = context;
  return withBoard(
    context,
    {
      start: "none",
      lists: false,
      keepAlive: true,
      about: options.typed === undefined ? serverIn(name) : undefined,
    },
    async ({ board }) => {
      if (options.typed !== undefined) await whileStarting(board, context, board.refresh());
      requireReady(board, options);
      const tool = await whileStarting(board, context, findTool(board, name, signal));
      const { toolHelp } = await loadPages();
      if (options.json) screen.json(toolJson(tool));
      else screen.lines(await toolHelp(tool, screen.terminal.out, options));
      return EXIT.ok;
    },
  );
}

/** Whether the query is one tool's full name, rather than words to look for. */
function isNamed(tool: Tool, [word, ...others]: readonly string[]): boolean {
  return others.length === 0 && (word === canonicalName(tool) || word === tool.name);
}

function emptyNotes(
  query: readonly string[],
  all: readonly Tool[],
  servers: readonly ServerStatus[],
  { argv, options }: CliContext,
): string[] {
  const mistyped = options.typed === undefined ? hintAtServer(argv) : undefined;
  if (mistyped !== undefined) {
    return [`no tool matches '${query.join(" ")}'`, ...commandsApart(`hint: ${mistyped}`, options)];
  }
  if (all.length === 0) {
    const disabled = servers.filter(({ state }) => state.kind === "disabled");
    return [...disabled.map(({ name }) => `server '${name}' is disabled`), "no tools"];
  }
  const wanted = query.join(" ");
  const only = servers.length === 1 ? servers[0] : undefined;
  const byName = new Map(
    all.flatMap((tool) => {
      const name = canonicalName(tool);
      const own = [name.slice(name.indexOf("/") + 1), tool.name];
      // A full name only resembles full names.
      return [name, ...(wanted.includes("/") ? [] : own)].map((each) => [each, name]);
    }),
  );
  const meant = byName.get(closest(wanted, byName.keys()) ?? "");
  const hint =
    meant !== undefined
      ? [`hint: did you mean ${plainText(meant)}?`]
      : wanted.includes("/") && only !== undefined
        ? [
            "hint: to list its tools:",
            `  ${offeredCommand(`tools --server ${shellWord(only.name)}`, options)}`,
          ]
        : [];
  return [`no tool matches '${wanted}'`, ...hint];
}

function cacheNotes(
  tools: readonly Tool[],
  servers: readonly ServerStatus[],
  now: number,
): string[] {
  const ofServer = ({ name }: ServerStatus): Tool[] =>
    tools.filter(({ source }) => source.kind === "mcp" && source.server === name);
  const listed = servers.filter((server) => ofServer(server).length > 0);
  const cached = listed.filter((server) => server.cached);
  if (cached.length === 0) return [];
  const names = cached.map(({ name }) => name).join(", ");
  const which = cached.length === listed.length ? "" : ` (${names})`;
  const oldest = Math.min(...cached.map(({ cachedAt = now }) => cachedAt));
  const age = duration(Math.max(0, now - oldest));
  const count = plural(cached.flatMap(ofServer).length, "tool");
  return [`${count} from the cache${which}, ${age} old; --refresh asks the servers`];
}

function toolJson(tool: Tool): object {
  const { name, label, description, parameters, annotations, outputSchema, include, source } = tool;
  const { execution, _meta } = tool;
  return {
    name,
    label,
    description,
    parameters,
    annotations,
    outputSchema,
    execution,
    _meta,
    include,
    source,
  };
}

function serverJson({ name, state, tools, cached }: ServerStatus): object {
  return { name, state: stateToJson(state), tools, cached };
}
