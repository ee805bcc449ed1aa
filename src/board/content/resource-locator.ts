// Finds the server of a URI: one that lists it, one whose templates match it, or the only server with resources.
// Refuses resources that the configuration does not allow.

import { compileGlob } from "../../util/glob.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { ResourceList } from "../../model/server-content.ts";
import type { ResourceOptions } from "../../model/resource.ts";
import { closest } from "../../util/closest.ts";
import { oneLine } from "../../util/text.ts";
import type { ContentCache } from "./content-cache.ts";
import type { ContentCaches, ListFrom } from "./content-caches.ts";

export interface LocatedResource {
  from: ContentCache;
  /** The URI with its secrets, as the server knows it. */
  uri: string;
}

/** Whether the configuration enables the server's resources. */
export function isEnabled({ entry }: ContentCache): boolean {
  return entry.definition.resources?.enabled !== false;
}

export class ResourceLocator {
  readonly #caches: ContentCaches;
  readonly #redact: (text: string) => string;

  constructor(caches: ContentCaches, redact: (text: string) => string) {
    this.#caches = caches;
    this.#redact = redact;
  }

  async lists(server: string | undefined, signal?: AbortSignal): Promise<ListFrom<ResourceList>[]> {
    const lists = await this.#caches.list((content) => content.resources, server, signal);
    return lists.filter(({ from }) => isEnabled(from));
  }

  async locate(uri: string, { server, signal }: ResourceOptions): Promise<LocatedResource> {
    if (server !== undefined) return this.#allowed(this.#caches.of(server), uri);
    const known = this.#findListed(uri);
    if (known !== undefined) return known;
    const lists = await this.lists(undefined, signal);
    const offered = this.#findListed(uri) ?? bestTemplate(uri, lists);
    if (offered !== undefined) return offered;
    // Servers need not list everything that can be read.
    const [only, ...others] = lists.filter(
      ({ from }) => from.allows(uri) && from.entry.supervisor.live?.content.has.resources,
    );
    if (only !== undefined && others.length === 0) return { from: only.from, uri };
    const advice = "if a server has it without listing it, name the server";
    throw unknownResource(uri, lists, this.#unasked() ?? advice);
  }

  /** Like `locate`, but only what a server lists or what matches one of its templates. */
  async locateOffered(uri: string, { server, signal }: ResourceOptions): Promise<LocatedResource> {
    if (server === undefined) {
      const known = this.#findListed(uri);
      if (known !== undefined) return known;
    } else this.#allowed(this.#caches.of(server), uri);
    const lists = await this.lists(server, signal);
    const offered = this.#findListed(uri, server) ?? bestTemplate(uri, lists);
    if (offered !== undefined) return offered;
    throw unknownResource(uri, lists, "list_resources finds what can be read");
  }

  async locateTemplate(
    uriTemplate: string,
    { server, signal }: ResourceOptions,
  ): Promise<ContentCache> {
    if (server !== undefined) {
      const from = this.#caches.of(server);
      return isEnabled(from) ? from : this.#allowed(from, uriTemplate).from;
    }
    const lists = await this.lists(undefined, signal);
    const found = lists.find(({ list }) =>
      list.templates.some((each) => each.uriTemplate === uriTemplate),
    );
    if (found !== undefined) return found.from;
    const message = `no server lists the template '${oneLine(uriTemplate, 500)}'`;
    throw new PlugboardError("UNKNOWN_RESOURCE", message);
  }

  /** Callers see URIs without their secrets; this finds the listed URI with the secrets in it. */
  withSecrets(uri: string, { resources }: ContentCache): string {
    const listed = resources.known?.resources ?? [];
    if (listed.some((each) => each.uri === uri)) return uri;
    return listed.find((each) => this.#redact(each.uri) === uri)?.uri ?? uri;
  }

  /** Finds the first server that lists the URI, or asks only the one. */
  #findListed(uri: string, server?: string): LocatedResource | undefined {
    const among = server === undefined ? this.#caches.all() : [this.#caches.of(server)];
    const [first, ...others] = among.flatMap((from) => {
      const full = this.withSecrets(uri, from);
      const isListed = from.resources.known?.resources.some((each) => each.uri === full) ?? false;
      return isListed && from.allows(full) ? [{ from, uri: full }] : [];
    });
    first?.from.warnIfElsewhere("resource", uri, others);
    return first;
  }

  /** Names the servers whose resources are not known, since one of them may have it. */
  #unasked(): string | undefined {
    const names = this.#caches
      .all()
      .filter((from) => isEnabled(from) && from.resources.known === undefined)
      .filter(({ entry: { definition, supervisor } }) => definition.enabled && !supervisor.live)
      .map(({ entry }) => entry.name);
    return names.length === 0
      ? undefined
      : `these servers could not be asked for their resources: ${names.join(", ")}`;
  }

  #allowed(from: ContentCache, uri: string): LocatedResource {
    const { name: server } = from.entry.definition;
    if (!isEnabled(from)) {
      const message = `the resources of server '${server}' are disabled`;
      throw new PlugboardError("UNSUPPORTED", message, { server, hint: '"resources" is false' });
    }
    const full = this.withSecrets(uri, from);
    if (from.allows(full)) return { from, uri: full };
    const message = `'${oneLine(uri, 500)}' may not be read from server '${server}'`;
    const hint = 'its "resourceFilter" does not allow it';
    throw new PlugboardError("REFUSED_BY_POLICY", message, { server, hint });
  }
}

/** The server whose template spells out the most of the URI. */
function bestTemplate(
  uri: string,
  lists: readonly ListFrom<ResourceList>[],
): LocatedResource | undefined {
  const [best] = lists
    .filter(({ from }) => from.allows(uri))
    .flatMap(({ from, list }) => list.templates.map((each) => ({ from, fit: fit(each, uri) })))
    .filter((each) => each.fit >= 0)
    .sort((a, b) => b.fit - a.fit);
  return best && { from: best.from, uri };
}

/** Returns how many characters of the URI the template spells out, or -1 if it does not match. */
function fit({ uriTemplate }: { uriTemplate: string }, uri: string): number {
  const pattern = uriTemplate.replace(/\{[^{}]*\}/g, "*");
  return compileGlob(pattern)(uri) ? pattern.replaceAll("*", "").length : -1;
}

function unknownResource(
  uri: string,
  lists: readonly ListFrom<ResourceList>[],
  advice: string,
): PlugboardError {
  const meant = closest(
    uri,
    lists.flatMap(({ list }) => list.resources.map((each) => each.uri)),
  );
  return new PlugboardError("UNKNOWN_RESOURCE", `no server lists '${oneLine(uri, 500)}'`, {
    hint: meant === undefined ? advice : `did you mean '${meant}'?`,
  });
}
