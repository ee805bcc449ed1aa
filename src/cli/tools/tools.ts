// `plugboard tools`: lists the tools of all servers.

import { definitionTokens } from "../../core/tools/definition-tokens.ts";
import type { Board } from "../../core/types/board.ts";
import type { ToolHit } from "../../core/types/search.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";
import { canonicalName, type Tool } from "../../core/types/tool.ts";
import { closest } from "../../util/closest.ts";
import { isSuspicious } from "../../core/types/diagnostic.ts";
import { stateToJson } from "../../core/types/server-state.ts";
import { duration, oneLine, plainText, plural, shellWord } from "../../util/text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { findMeant, findTool } from "../find-tool.ts";
import { commandsApart } from "../offered-command.ts";
import { serverIn, withBoard } from "../open.ts";
import { unavailableNotes } from "../status/server-state.ts";
import { untilStarted, whileStarting } from "../status/starting.ts";
import { hasWords } from "../terminal/list.ts";
import { hintAtServer } from "../typed/mistyped.ts";
import { requireReady } from "../typed/require-ready.ts";
import type { ToolsRequest } from "./command.ts";
import { rankedTools, toolList } from "./tool-list.ts";

/** How many tools a search lists, unless --limit says otherwise. */
const DEFAULT_LIMIT = 20;
/** A tool whose score is below this share of the best one is left out: nobody looks for it. */
const LEAST_SHARE = 0.15;

/** A list does not pay for what explains a schema. */
const loadPages = () => import("./tool-page.ts");

export async function runTools(command: ToolsRequest, context: CliContext): Promise<number> {
  const { screen, options } = context;
  const { refresh, long, query } = command;
  const start = refresh ? "none" : "unknown";
  // A typed server is the only one.
  const word = query.length === 1 && options.typed === undefined ? query[0] : undefined;
  const server = command.server ?? serverIn(word);
  return withBoard(context, { start, server, word, keepAlive: true }, async ({ board, agent }) => {
    const { out } = screen.terminal;
    const show = async ({ scores }: Found, tools: readonly Tool[]): Promise<void> => {
      const list = scores === undefined ? toolList : rankedTools;
      screen.lines(long ? (await loadPages()).toolPages(tools, out) : list(tools, out));
    };

    let early: readonly Tool[] = [];
    if (refresh) await whileStarting(board, context, board.refresh());
    else {
      // Tools from the cache must not wait for a server that may never answer.
      const known = await findTools(board, command);
      const { named, tools } = known;
      if (!options.json && named === undefined && isAnyStarting(board)) early = tools;
      if (early.length > 0) await show(known, early);
      if (options.json || named === undefined) {
        await untilStarted(board, context, { limit: agent.startupWait });
      }
    }
    requireReady(board, options);
    const found = await findTools(board, command);
    const { named, tools, hidden, more, scores } = found;
    const hasServer = word !== undefined && serverIn(word) !== undefined;
    // A name, and no words to look for: rejects with UNKNOWN_TOOL, and what is near, unless there is one that rules hide.
    const isHidden = hasServer && tools.length === 0 && hidden === 0;
    if (isHidden) await findTool(board, word, context.signal);
    const servers = board.status();
    if (options.json) {
      screen.json({
        tools: tools.map((tool) => ({
          ...toolJson(tool),
          ...(scores && { score: Math.round((scores.get(tool)?.score ?? 0) * 1000) / 1000 }),
          doubleOf: scores?.get(tool)?.doubleOf,
        })),
        servers: servers.map(serverJson),
        ...(hidden > 0 && { hidden }),
        ...(more > 0 && { more }),
      });
      return EXIT.ok;
    }
    if (named !== undefined) screen.lines(await (await loadPages()).toolHelp(named, out, options));
    else {
      const shown = new Set(early.map(({ name }) => name));
      const rest = tools.filter(({ name }) => !shown.has(name));
      if (early.length > 0 && rest.length > 0 && (long || out.isTerminal)) screen.lines([""]);
      await show(found, rest);
    }
    const notes = isHidden ? hiddenTool(word, options) : notesOn(found, servers, query, context);
    for (const note of notes) screen.note(note);
    return EXIT.ok;
  });
}

/** What a person should know about the list, below it. */
function notesOn(
  { all, named, tools, hidden, more }: Found,
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
    ...(more > 0 ? [moreNote(more, tools.length)] : []),
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
  /** The tools to show. */
  tools: readonly Tool[];
  /** How well they fit the words of a query. Absent if nothing was searched for. */
  scores?: ReadonlyMap<Tool, ToolHit>;
  /** How many more there are, but are only for apps. */
  hidden: number;
  /** How many more there are than the limit allows. */
  more: number;
}

type Findable = Pick<Board, "tools" | "status" | "search">;

async function findTools(board: Findable, command: ToolsRequest): Promise<Found> {
  const { query, all: showAll } = command;
  const all = board.tools({ all: true });
  const named = all.find((tool) => isNamed(tool, query));
  if (named !== undefined) return { all, named, tools: [named], hidden: 0, more: 0 };
  const { found, scores } = await matching(board, all, query);
  const { limit = scores === undefined ? Infinity : DEFAULT_LIMIT } = command;
  const listed = showAll ? found : found.filter(({ include }) => include !== "app");
  const tools = listed.slice(0, limit);
  return {
    all,
    tools,
    ...(scores && { scores }),
    hidden: found.length - listed.length,
    more: listed.length - tools.length,
  };
}

async function matching(
  board: Findable,
  all: readonly Tool[],
  query: readonly string[],
): Promise<{ found: readonly Tool[]; scores?: ReadonlyMap<Tool, ToolHit> }> {
  const [word = "", ...others] = query;
  if (query.length === 0) return { found: all };
  const isServer = others.length === 0 && board.status().some(({ name }) => name === word);
  if (isServer) {
    return {
      found: all.filter(({ source }) => source.kind === "mcp" && source.server === word),
    };
  }
  const hasAll = (tool: Tool): boolean =>
    hasWords([tool.name, tool.label, tool.description], query);
  // Whoever writes `server/tool` names a tool. Others that are like it are suggested, not listed.
  if (others.length === 0 && word.includes("/")) return { found: all.filter(hasAll) };
  const limit = Math.max(1, all.length);
  const hits = await board.search(query.join(" "), { limit, all: true });
  const least = (hits[0]?.score ?? 0) * LEAST_SHARE;
  const scores = new Map(hits.filter(({ score }) => score >= least).map((hit) => [hit.tool, hit]));
  // The search knows whole words. People also type the beginning of one.
  const parts = all.filter((tool) => !scores.has(tool) && hasAll(tool));
  return { found: [...scores.keys(), ...parts], scores };
}

function isAnyStarting(board: Pick<Board, "status">): boolean {
  return board.status().some(({ state }) => state.kind === "starting");
}

function hiddenNote(hidden: number, isAll: boolean): string {
  const what = plural(hidden, isAll ? "tool" : "more tool");
  const are = hidden === 1 ? "is" : "are";
  return `${what} ${are} for the apps of the servers, not for models; --all lists ${hidden === 1 ? "it" : "them"}`;
}

function hiddenTool(name: string, options: CliContext["options"]): string[] {
  const hint = `hint: to see what it takes: plugboard call ${shellWord(name)} --help`;
  return [`the rules hide '${plainText(name)}'`, ...commandsApart(hint, options)];
}

function moreNote(more: number, shown: number): string {
  const which = more === 1 ? "1 more tool fits less well" : `${more} more tools fit less well`;
  return `${which}; --limit ${shown + more} lists ${more === 1 ? "it" : "them"}`;
}

/** `plugboard call <tool> --help`: what one tool takes, even if a rule hides it. */
export async function runToolHelp(
  [name = "", word]: readonly string[],
  context: CliContext,
): Promise<number> {
  const { screen, options, signal } = context;
  return withBoard(
    context,
    {
      start: "none",
      keepAlive: true,
      about: options.typed === undefined ? serverIn(name) : undefined,
    },
    async ({ board }) => {
      if (options.typed !== undefined) await whileStarting(board, context, board.refresh());
      requireReady(board, options);
      const tool = await whileStarting(board, context, findMeant(board, name, word, signal));
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
  { options }: CliContext,
): string[] {
  const mistyped = options.typed === undefined ? hintAtServer("tools", query) : undefined;
  if (mistyped !== undefined) {
    return [`no tool matches '${query.join(" ")}'`, ...commandsApart(`hint: ${mistyped}`, options)];
  }
  if (all.length === 0) {
    const disabled = servers.filter(({ state }) => state.kind === "disabled");
    const hidden = servers.flatMap(({ name, hiddenByRules = 0 }) =>
      hiddenByRules === 0 ? [] : `the rules hide all ${plural(hiddenByRules, "tool")} of '${name}'`,
    );
    return [
      ...disabled.map(({ name }) => `server '${name}' is disabled`),
      ...hidden,
      "no tools",
      ...(hidden.length > 0
        ? commandsApart("hint: to see what to do: plugboard doctor", options)
        : []),
    ];
  }
  const wanted = query.join(" ");
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
      : ["hint: try other words for what the tool should do; without words, all tools are listed"];
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
    promptTokens: definitionTokens([tool]),
  };
}

function serverJson({ name, state, tools, promptTokens, cached }: ServerStatus): object {
  return { name, state: stateToJson(state), tools, promptTokens, cached };
}
