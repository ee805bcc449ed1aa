// Which resources go into a prompt: so many in all, and the same share of each server's where there are more.

import type { ResourceDefinition } from "../model/resource.ts";
import type { ContentCache } from "./content-cache.ts";
import type { ContentCaches } from "./content-caches.ts";

const MAX_RESOURCES = 20;

export interface Chosen {
  from: ContentCache;
  resource: ResourceDefinition;
}

/** By server, in the order of the configuration. What is for people alone is not for a prompt. */
export async function offeredToModels(contents: ContentCaches): Promise<Chosen[][]> {
  const heard = await contents.every((content) => content.resources, { wakes: false });
  return heard
    .map(({ from, list }) =>
      list.resources
        .filter((resource) => from.allows(resource.uri) && isForModels(resource))
        .map((resource) => ({ from, resource })),
    )
    .filter((list) => list.length > 0);
}

export function choose(lists: readonly Chosen[][]): Chosen[] {
  const shares = lists.map(() => 0);
  let left = MAX_RESOURCES;
  for (let taken = 0; left > 0 && lists.some((list) => list.length > taken); taken += 1) {
    for (const [at, list] of lists.entries()) {
      if (left === 0 || list.length <= taken) continue;
      shares[at] = taken + 1;
      left -= 1;
    }
  }
  return lists.flatMap((list, at) => list.slice(0, shares[at]));
}

function isForModels({ annotations }: ResourceDefinition): boolean {
  const audience = annotations?.["audience"];
  return !Array.isArray(audience) || audience.length === 0 || audience.includes("assistant");
}
