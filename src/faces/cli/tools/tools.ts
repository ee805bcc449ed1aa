// `plugboard tools`: lists the tools of all servers.

import type { ServerStatus } from "../../../model/server-status.ts";
import { canonicalName, type Tool } from "../../../model/tool.ts";
import { closest } from "../../../util/closest.ts";
import { duration, plainText, plural, shellWord } from "../../../util/text.ts";
import type { CliContext, GlobalOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import type { ToolHelpCommand } from "../call/command.ts";
import { findTool } from "../find-tool.ts";
import { offeredCommand } from "../offered-command.ts";
import { withBoard } from "../open.ts";
import { stateToJson, unavailableNotes } from "../status/server-state.ts";
import { untilStarted, whileStarting } from "../status/starting.ts";
import { hasWords } from "../terminal/list.ts";
import type { ToolsCommand } from "./command.ts";
import { toolList } from "./tool-list.ts";

/** A list does not pay for what explains a schema. */
const loadPages = () => import("./tool-page.ts");

export async function runTools(command: ToolsCommand, context: CliContext): Promise<number> {
  const { screen, options } = context;
  const { server, refresh, long, query } = command;
  const start = refresh ? "none" : "unknown";
  const serverIn = query.length === 1 ? query[0] : undefined;
  return withBoard(context, { start, server, serverIn }, async ({ board, agent }) => {
    if (refresh) await whileStarting(board, context, board.refresh());
    else await untilStarted(board, context, agent.startupWait);
    const all = board.tools({ all: true });
    const named = all.filter((tool) => isNamed(tool, query));
    const found = all.filter(({ name, label, description }) =>
      hasWords([name, label, description], query),
    );
    const shown = command.all ? found : found.filter(({ include }) => include !== "app");
    const tools = named.length > 0 ? named : shown;
    const hidden = named.length > 0 ? 0 : found.length - tools.length;
    const servers = board.status();
    if (options.json) {
      screen.json({
        tools: tools.map(toolJson),
        servers: servers.map(serverJson),
        ...(hidden > 0 && { hidden }),
      });
      return EXIT.ok;
    }
    const { out } = screen.terminal;
    const [only] = named;
    if (only !== undefined) screen.lines(await (await loadPages()).toolHelp(only, out, options));
    else if (long) screen.lines((await loadPages()).toolPages(tools, out));
    else screen.lines(toolList(tools, out));
    const { isTerminal, paint } = screen.terminal.err;
    for (const note of unavailableNotes(servers, options)) screen.note(note);
    if (hidden > 0) screen.note(hiddenNote(hidden, found.length));
    else if (tools.length === 0)
      emptyNotes(query, all, servers, options).forEach((note) => screen.note(note));
    if (tools.length > 0 && isTerminal) {
      const now = context.clock.now();
      for (const note of cacheNotes(tools, servers, now)) screen.note(paint("dim", note));
    }
    return EXIT.ok;
  });
}

function hiddenNote(hidden: number, found: number): string {
  const what = plural(hidden, hidden === found ? "tool" : "more tool");
  const are = hidden === 1 ? "is" : "are";
  return `${what} ${are} for the apps of the servers, not for models; --all lists ${hidden === 1 ? "it" : "them"}`;
}

/** `plugboard call <tool> --help`: what one tool takes, even if a rule hides it. */
export async function runToolHelp(
  { tool: name }: ToolHelpCommand,
  context: CliContext,
): Promise<number> {
  const { screen, options, signal } = context;
  return withBoard(context, { start: "none" }, async ({ board }) => {
    const tool = await whileStarting(board, context, findTool(board, name, signal));
    const { toolHelp } = await loadPages();
    if (options.json) screen.json(toolJson(tool));
    else screen.lines(await toolHelp(tool, screen.terminal.out, options));
    return EXIT.ok;
  });
}

/** Whether the query is one tool's full name, rather than words to look for. */
function isNamed(tool: Tool, [word, ...others]: readonly string[]): boolean {
  return others.length === 0 && (word === canonicalName(tool) || word === tool.name);
}

function emptyNotes(
  query: readonly string[],
  all: readonly Tool[],
  servers: readonly ServerStatus[],
  options: GlobalOptions,
): string[] {
  if (all.length === 0) {
    const disabled = servers.filter(({ state }) => state.kind === "disabled");
    return [...disabled.map(({ name }) => `server '${name}' is disabled`), "no tools"];
  }
  const wanted = query.join(" ");
  const [only] = servers;
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
