// `plugboard resources`: lists the resources and resource templates of all servers.

import type { Resource, ResourceTemplate } from "../../../model/resource.ts";
import { byteSize } from "../../../util/text.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { withBoard } from "../open.ts";
import { stateToJson, unavailableNotes } from "../status/server-state.ts";
import { whileStarting } from "../status/starting.ts";
import { hasWords, listByServer, type ListLine } from "../terminal/list.ts";
import type { ResourcesCommand } from "./command.ts";

export async function runResources(
  { server, query }: ResourcesCommand,
  context: CliContext,
): Promise<number> {
  const { screen, options } = context;
  return withBoard(context, { start: "none", server }, async ({ board }) => {
    const listed = await whileStarting(board, context, board.resources.list());
    const resources = listed.filter((each) => matches(each, each.uri, query));
    const templates = (await board.resources.templates()).filter((each) =>
      matches(each, each.uriTemplate, query),
    );
    const servers = board.status();
    if (options.json) {
      const states = servers.map(({ name, state }) => ({ name, state: stateToJson(state) }));
      screen.json({ resources, templates, servers: states });
      return EXIT.ok;
    }
    const lines = servers.flatMap(({ name }) => [
      ...resources.filter((each) => each.server === name).map((each) => line(each, each.uri)),
      ...templates
        .filter((each) => each.server === name)
        .map((each) => line(each, each.uriTemplate)),
    ]);
    screen.lines(listByServer(lines, "resource", screen.terminal.out));
    for (const note of unavailableNotes(servers)) screen.note(note);
    if (lines.length === 0) {
      screen.note(query.length === 0 ? "no resources" : `no resource matches '${query.join(" ")}'`);
    }
    return EXIT.ok;
  });
}

type Listed = Resource | ResourceTemplate;

function matches(each: Listed, uri: string, query: readonly string[]): boolean {
  return hasWords([uri, each.server, each.name, each.title, each.description], query);
}

function line(each: Listed, uri: string): ListLine {
  const { server, name, title, description, mimeType } = each;
  const size = "size" in each && each.size !== undefined ? byteSize(each.size) : undefined;
  const kind = [mimeType, size].filter((part) => part !== undefined).join(", ");
  const about = [title ?? name, ...(kind === "" ? [] : [`(${kind})`]), description ?? ""].join(" ");
  return { server, name: uri, about: about.trim() };
}
