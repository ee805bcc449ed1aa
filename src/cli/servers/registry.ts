// `plugboard registry`: the servers of the MCP registry that match some words.

import type { RegistryEntry } from "../../install/registry/server-json.ts";
import { plural } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { offeredCommand } from "../offered-command.ts";
import { type Column, renderTable, type Row } from "../terminal/table.ts";
import type { RegistryRequest } from "./command.ts";
import { withRegistry } from "./open-registry.ts";
import { openServerFile } from "./server-file.ts";

const COLUMNS: readonly Column[] = [
  { title: "NAME" },
  { title: "VERSION", min: 8 },
  { title: "RUNS AS", min: 8 },
  { title: "DESCRIPTION", min: 20, overflow: "wrap" },
];

export async function runRegistry(
  { words, limit, registry: flag }: RegistryRequest,
  context: CliContext,
): Promise<number> {
  const { screen, options } = context;
  const file = await openServerFile(undefined, context);
  const [url, { entries, hasMore, broken }] = await withRegistry(
    flag,
    file,
    context,
    async (registry) => [registry.url, await registry.search(searched(words), limit)],
  );
  if (options.json) {
    screen.json({ registry: url, servers: entries.map(toJson), more: hasMore });
    return EXIT.ok;
  }
  const { width, paint } = screen.terminal.out;
  screen.lines(renderTable(COLUMNS, entries.map(toRow), { width, paint }));
  if (broken > 0) {
    screen.note(`left out ${plural(broken, "server")} whose server.json is not valid`);
  }
  const [first] = entries;
  if (first === undefined) {
    screen.note(`nothing was found for '${visible(words.join(" "))}' in ${url}`);
    return EXIT.ok;
  }
  if (hasMore) screen.note("there are more; add words, or use --limit");
  screen.note(`to add one:\n  ${offeredCommand(`add ${first.server.name}`, options)}`);
  return EXIT.ok;
}

/** Words in quotes are words too. */
export function searched(words: readonly string[]): string[] {
  return words.flatMap((word) => word.split(/\s+/)).filter((word) => word !== "");
}

function toRow({ server, status }: RegistryEntry): Row {
  const { name, version, description } = server;
  return {
    cells: [
      { text: name, ...(status === "deprecated" && { tone: "dim" as const }) },
      visible(version),
      runsAs({ server }).join(", "),
      status === "deprecated"
        ? { text: `deprecated: ${visible(description)}`, tone: "yellow" }
        : visible(description),
    ],
  };
}

export function runsAs({ server }: Pick<RegistryEntry, "server">): string[] {
  const { packages, remotes } = server;
  const types = packages.map(({ registryType }) => visible(registryType));
  return [...new Set([...(remotes.length > 0 ? ["remote"] : []), ...types])];
}

function toJson(entry: RegistryEntry): object {
  const { server, status, statusMessage } = entry;
  const { name, title, version, description, repository } = server;
  return {
    name,
    ...(title !== undefined && { title }),
    version,
    description,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    runsAs: runsAs(entry),
    ...(repository?.url !== undefined && { repository: repository.url }),
  };
}
