// The names under which a board's resources and prompts are served, and whose they are. Nothing parses a name: what was
// listed is looked up. Two servers with the same prompt or resource get names that say which is which.

import type { Prompt } from "../model/prompt.ts";
import type { Resource, ResourceTemplate } from "../model/resource.ts";

/** A server and its own name for something. */
export interface Original {
  server: string;
  name: string;
}

const APP_SCHEME = "ui://";

/** `ui://view.html` of the server `maps` is served as `ui://maps/view.html`: two servers may have the same one. */
export function servedAppUri(server: string, uri: string): string {
  return uri.startsWith(APP_SCHEME)
    ? `${APP_SCHEME}${encodeURIComponent(server)}/${uri.slice(APP_SCHEME.length)}`
    : uri;
}

/** Undefined for any other URI. */
export function originalAppUri(served: string): Original | undefined {
  if (!served.startsWith(APP_SCHEME)) return undefined;
  const rest = served.slice(APP_SCHEME.length);
  const end = rest.indexOf("/");
  if (end === -1) return undefined;
  try {
    const server = decodeURIComponent(rest.slice(0, end));
    return { server, name: `${APP_SCHEME}${rest.slice(end + 1)}` };
  } catch {
    return undefined;
  }
}

/** Items of several servers under the names they are served by. */
export class ServedNames<Item extends { server: string }> {
  readonly items: readonly { served: string; item: Item }[];
  readonly #originals = new Map<string, Original>();
  readonly #served = new Map<string, string>();

  constructor(
    items: readonly Item[],
    naming: {
      own: (item: Item) => string;
      /** The name if no other server has the same. */
      served: (item: Item) => string;
      prefixed: (item: Item) => string;
    },
  ) {
    const count = new Map<string, number>();
    for (const item of items) {
      const name = naming.served(item);
      count.set(name, (count.get(name) ?? 0) + 1);
    }
    this.items = items.map((item) => {
      const alone = naming.served(item);
      const served = (count.get(alone) ?? 0) > 1 ? naming.prefixed(item) : alone;
      const original = { server: item.server, name: naming.own(item) };
      this.#originals.set(served, original);
      this.#served.set(key(original), served);
      return { served, item };
    });
  }

  find(served: string): Original | undefined {
    return this.#originals.get(served);
  }

  /** Undefined if the server has listed nothing of that name. */
  servedAs(original: Original): string | undefined {
    return this.#served.get(key(original));
  }
}

function key({ server, name }: Original): string {
  return `${server}\n${name}`;
}

export function namePrompts(prompts: readonly Prompt[]): ServedNames<Prompt> {
  return new ServedNames(prompts, {
    own: ({ name }) => name,
    served: ({ name }) => name,
    prefixed: ({ server, name }) => `${server}__${name}`,
  });
}

export function nameResources(resources: readonly Resource[]): ServedNames<Resource> {
  return new ServedNames(resources, {
    own: ({ uri }) => uri,
    served: ({ server, uri }) => servedAppUri(server, uri),
    prefixed: ({ server, uri }) =>
      `plugboard://${encodeURIComponent(server)}/${encodeURIComponent(uri)}`,
  });
}

export function nameTemplates(
  templates: readonly ResourceTemplate[],
): ServedNames<ResourceTemplate> {
  const served = ({ server, uriTemplate }: ResourceTemplate): string =>
    servedAppUri(server, uriTemplate);
  return new ServedNames(templates, {
    own: ({ uriTemplate }) => uriTemplate,
    served,
    // A template that two servers have stays as it is: no prefix survives the filling in of its variables.
    prefixed: served,
  });
}
