// A board as a command sees it that is about one server: the other servers of a gateway are there, but not shown.

import type { Board } from "../../core/types/board.ts";
import type { BoardPrompts } from "../../core/types/prompt.ts";
import type { BoardResources } from "../../core/types/resource.ts";
import type { ServerStatus } from "../../core/types/server-status.ts";

/** Native tools stay: they belong to no server. */
export function onlyServerOf(board: Board, server: string): Board {
  const resources: BoardResources = inheriting(board.resources, {
    // Without a name nothing rejects, so it must not here: the state of the server says why it has none.
    list: () => board.resources.list(server).catch(() => []),
    templates: () => board.resources.templates(server).catch(() => []),
    read: (uri, options) => board.resources.read(uri, { server, ...options }),
  });
  const prompts: BoardPrompts = inheriting(board.prompts, {
    list: () => board.prompts.list(server).catch(() => []),
  });
  const status = (): ServerStatus[] => board.status().filter(({ name }) => name === server);
  return inheriting(board, {
    resources,
    prompts,
    tools: (options) =>
      board
        .tools(options)
        .filter(({ source }) => source.kind !== "mcp" || source.server === server),
    search: (query, options) => board.search(query, { ...options, servers: [server, "native"] }),
    status,
    instructions: () => board.instructions().filter((each) => each.server === server),
    async refresh() {
      await board.refresh();
      return status();
    },
  });
}

/** The target with some methods replaced. Its other methods still run on the target itself. */
function inheriting<Target extends object>(target: Target, replaced: Partial<Target>): Target {
  return new Proxy(target, {
    get(_, key) {
      if (Object.hasOwn(replaced, key)) return Reflect.get(replaced, key) as unknown;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
