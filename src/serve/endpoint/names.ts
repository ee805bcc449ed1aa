// The names under which a board's resources and prompts are served, and whose they are. Where only one server has a
// name, it stays as it is; where two have the same, each gets a name that says whose it is. That longer name always
// works, and a name that was served once goes on working: a client that has not listed since still uses it.

import type { Prompt } from "../../core/types/prompt.ts";
import type { Resource, ResourceTemplate } from "../../core/types/resource.ts";

/** A server and its own name for something. */
export interface Original {
  server: string;
  name: string;
}

const APP_SCHEME = "ui://";
const OWN_SCHEME = "plugboard://";
/** How many names that are no longer served are remembered. */
const MOST_EARLIER = 10_000;

/** `ui://view.html` of the server `maps` is served as `ui://maps/view.html`: two servers may have the same one. */
export function servedAppUri(server: string, uri: string): string {
  return uri.startsWith(APP_SCHEME)
    ? `${APP_SCHEME}${encodeURIComponent(server)}/${uri.slice(APP_SCHEME.length)}`
    : uri;
}

/** The URI as it is, so that a template in it can still be filled in. */
function prefixedUri(server: string, uri: string): string {
  return uri.startsWith(APP_SCHEME)
    ? servedAppUri(server, uri)
    : `${OWN_SCHEME}${encodeURIComponent(server)}/${uri}`;
}

/** Undefined for a URI that does not say whose it is. Whether there is such a server is not known here. */
export function readPrefix(served: string): Original | undefined {
  const scheme = [APP_SCHEME, OWN_SCHEME].find((each) => served.startsWith(each));
  if (scheme === undefined) return undefined;
  const end = served.indexOf("/", scheme.length);
  if (end === -1) return undefined;
  const own = served.slice(end + 1);
  try {
    const server = decodeURIComponent(served.slice(scheme.length, end));
    return { server, name: scheme === APP_SCHEME ? `${APP_SCHEME}${own}` : own };
  } catch {
    return undefined;
  }
}

interface Naming<Item> {
  own: (item: Item) => string;
  /** The name if no other server has the same. */
  alone: (item: Item) => string;
  prefixed: (item: Item) => string;
}

/** Items of several servers under the names they are served by. */
export class ServedNames<Item extends { server: string }> {
  readonly items: readonly { served: string; item: Item }[];
  readonly #current = new Map<string, Original>();
  readonly #prefixed = new Map<string, Original>();
  readonly #earlier: Map<string, Original>;
  readonly #served = new Map<string, string>();

  /** `before` are the names until now. */
  constructor(items: readonly Item[], naming: Naming<Item>, before?: ServedNames<Item>) {
    // Prefixed names count too: otherwise a server could take a name that means something of another server.
    const owners = new Map<string, Set<string>>();
    for (const item of items) {
      for (const name of [naming.alone(item), naming.prefixed(item)]) {
        const servers = owners.get(name) ?? new Set();
        owners.set(name, servers.add(item.server));
      }
    }
    this.items = items.map((item) => {
      const alone = naming.alone(item);
      const prefixed = naming.prefixed(item);
      const isShared = (owners.get(alone)?.size ?? 0) > 1;
      const served = this.#untaken(isShared ? prefixed : alone);
      const original = { server: item.server, name: naming.own(item) };
      this.#current.set(served, original);
      if (!this.#prefixed.has(prefixed)) this.#prefixed.set(prefixed, original);
      this.#served.set(keyOf(original), served);
      return { served, item };
    });
    this.#earlier = new Map(before === undefined ? [] : [...before.#earlier, ...before.#current]);
    for (const name of this.#earlier.keys()) {
      if (this.#earlier.size <= MOST_EARLIER) break;
      this.#earlier.delete(name);
    }
  }

  /** The same name comes out for two items if the name of one server begins with that of another. */
  #untaken(name: string): string {
    let untaken = name;
    for (let count = 2; this.#current.has(untaken); count += 1) untaken = `${name}_${count}`;
    return untaken;
  }

  find(served: string): Original | undefined {
    return this.#current.get(served) ?? this.#prefixed.get(served) ?? this.#earlier.get(served);
  }

  /** Undefined if the server has listed nothing of that name. */
  servedAs(original: Original): string | undefined {
    return this.#served.get(keyOf(original));
  }
}

export function keyOf({ server, name }: { server: string | undefined; name: string }): string {
  return `${server ?? ""}\n${name}`;
}

export function namePrompts(
  prompts: readonly Prompt[],
  before?: ServedNames<Prompt>,
): ServedNames<Prompt> {
  const naming: Naming<Prompt> = {
    own: ({ name }) => name,
    alone: ({ name }) => name,
    prefixed: ({ server, name }) => `${server}__${name}`,
  };
  return new ServedNames(prompts, naming, before);
}

/** `keepsApps` leaves the URIs of apps as they are. */
export function nameResources(
  resources: readonly Resource[],
  keepsApps: boolean,
  before?: ServedNames<Resource>,
): ServedNames<Resource> {
  return new ServedNames(
    resources,
    uriNaming(({ uri }) => uri, keepsApps),
    before,
  );
}

export function nameTemplates(
  templates: readonly ResourceTemplate[],
  keepsApps: boolean,
  before?: ServedNames<ResourceTemplate>,
): ServedNames<ResourceTemplate> {
  return new ServedNames(
    templates,
    uriNaming(({ uriTemplate }) => uriTemplate, keepsApps),
    before,
  );
}

function uriNaming<Item extends { server: string }>(
  own: (item: Item) => string,
  keepsApps: boolean,
): Naming<Item> {
  return {
    own,
    alone: (item) => {
      const uri = own(item);
      if (keepsApps) return uri;
      // A server that uses our scheme itself would seem to speak for another one.
      return uri.startsWith(OWN_SCHEME)
        ? prefixedUri(item.server, uri)
        : servedAppUri(item.server, uri);
    },
    prefixed: (item) => prefixedUri(item.server, own(item)),
  };
}
