// Which tools servers had in earlier runs, for faces that must not start anything: names for a shell to complete.

import { CatalogCache, definitionHash } from "../catalog/catalog-cache.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import type { ToolDefinition } from "../types/tool.ts";

/** By the name of the server. One that never ran, or whose definition has changed since, is not there. */
export async function knownTools(
  servers: readonly ServerDefinition[],
  stateDir: string,
): Promise<Map<string, readonly ToolDefinition[]>> {
  const origins = servers.map((each) => definitionHash(each, ""));
  const lists = await new CatalogCache(stateDir).newest(origins);
  return new Map(
    servers.flatMap(({ name }, index) => {
      const list = lists.get(origins[index] ?? "");
      return list === undefined ? [] : [[name, list.tools]];
    }),
  );
}
