// `plugboard tools`: lists the tools of all servers.

import type { ServerStatus } from "../../../model/server-status.ts";
import { canonicalName, type Tool } from "../../../model/tool.ts";
import { closest } from "../../../util/closest.ts";
import { duration, plainText, plural } from "../../../util/text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { withBoard } from "../open.ts";
import { stateToJson, unavailableNotes } from "../status/server-state.ts";
import { untilStarted, whileStarting } from "../status/starting.ts";
import { hasWords } from "../terminal/list.ts";
import type { ToolsCommand } from "./command.ts";
import { toolList } from "./tool-list.ts";
import { toolPages } from "./tool-page.ts";

export async function runTools(command: ToolsCommand, context: CliContext): Promise<number> {
  const { screen, options } = context;
  const { server, refresh, long, query } = command;
  const start = refresh ? "none" : "unknown";
  const serverIn = query.length === 1 ? query[0] : undefined;
  return withBoard(context, { start, server, serverIn }, async ({ board, agent }) => {
    if (refresh) await whileStarting(board, context, board.refresh());
    else await untilStarted(board, context, agent.startupWait);
    const all = board.tools();
    const tools = all.filter(({ name, label, description }) =>
      hasWords([name, label, description], query),
    );
    const servers = board.status();
    if (options.json) {
      screen.json({ tools: tools.map(toolJson), servers: servers.map(serverJson) });
      return EXIT.ok;
    }
    const { out } = screen.terminal;
    screen.lines(long ? toolPages(tools, out) : toolList(tools, out));
    const { isTerminal, paint } = screen.terminal.err;
    for (const note of unavailableNotes(servers, options)) screen.note(note);
    if (tools.length === 0) emptyNotes(query, all, servers).forEach((note) => screen.note(note));
    else if (isTerminal) {
      const now = context.clock.now();
      for (const note of cacheNotes(tools, servers, now)) screen.note(paint("dim", note));
    }
    return EXIT.ok;
  });
}

function emptyNotes(
  query: readonly string[],
  all: readonly Tool[],
  servers: readonly ServerStatus[],
): string[] {
  if (all.length === 0) {
    const disabled = servers.filter(({ state }) => state.kind === "disabled");
    return [...disabled.map(({ name }) => `server '${name}' is disabled`), "no tools"];
  }
  const wanted = query.join(" ");
  const byName = new Map(
    all.flatMap((tool) => {
      const name = canonicalName(tool);
      return [name, name.slice(name.indexOf("/") + 1), tool.name].map((each) => [each, name]);
    }),
  );
  const meant = byName.get(closest(wanted, byName.keys()) ?? "");
  const hint = meant === undefined ? [] : [`hint: did you mean ${plainText(meant)}?`];
  return [`no tool matches '${wanted}'`, ...hint];
}

function cacheNotes(
  tools: readonly Tool[],
  servers: readonly ServerStatus[],
  now: number,
): string[] {
  const listed = servers.filter((server) => server.tools > 0);
  const cached = listed.filter((server) => server.cached);
  if (cached.length === 0) return [];
  const names = cached.map(({ name }) => name).join(", ");
  const which = cached.length === listed.length ? "" : ` (${names})`;
  const oldest = Math.min(...cached.map(({ cachedAt = now }) => cachedAt));
  const age = duration(Math.max(0, now - oldest));
  const count = plural(tools.length, "tool");
  return [`${count} from the cache${which}, ${age} old; --refresh asks the servers`];
}

function toolJson(tool: Tool): object {
  const { name, label, description, parameters, annotations, outputSchema, include, source } = tool;
  return { name, label, description, parameters, annotations, outputSchema, include, source };
}

function serverJson({ name, state, tools, cached }: ServerStatus): object {
  return { name, state: stateToJson(state), tools, cached };
}
