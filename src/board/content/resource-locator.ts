// Finds whose a URI is: what a server lists, what its templates can make, or what its only server may have;
// and keeps to what the configuration lets be read.

import { compileGlob } from "../../guard/glob.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { ResourceList } from "../../model/server-content.ts";
import type { ResourceOptions } from "../../model/resource.ts";
import { closest } from "../../util/closest.ts";
import { oneLine } from "../../util/text.ts";
import type { ContentCache } from "./content-cache.ts";
import type { Heard, ContentCaches } from "./content-caches.ts";

export interface Located {
  from: ContentCache;
  /** As its server knows it. */
  uri: string;
}

/** Whether the board lists its resources at all. */
function isOn({ entry }: ContentCache): boolean {
  return entry.definition.resources?.enabled !== false;
}

export class ResourceLocator {
  readonly #contents: ContentCaches;
  readonly #redact: (text: string) => string;

  constructor(contents: ContentCaches, redact: (text: string) => string) {
    this.#contents = contents;
    this.#redact = redact;
  }

  async heard(server: string | undefined, signal?: AbortSignal): Promise<Heard<ResourceList>[]> {
    const choose = (content: ContentCache) => content.resources;
    const heard =
      server === undefined
        ? await this.#contents.every(choose, { signal })
        : await this.#contents.one(server, choose, signal);
    return heard.filter(({ from }) => isOn(from));
  }

  async locate(uri: string, { server, signal }: ResourceOptions): Promise<Located> {
    if (server !== undefined) return this.#allowed(this.#contents.of(server), uri);
    const known = this.#exactly(uri);
    if (known !== undefined) return known;
    const heard = await this.heard(undefined, signal);
    const exact = this.#exactly(uri);
    if (exact !== undefined) return exact;
    const readable = heard.filter(({ from }) => from.allows(uri));
    const [best] = readable
      .flatMap(({ from, list }) => list.templates.map((each) => ({ from, fit: fit(each, uri) })))
      .filter((each) => each.fit >= 0)
      .sort((a, b) => b.fit - a.fit);
    if (best !== undefined) return { from: best.from, uri };
    // Not everything that can be read is listed.
    const [only, ...others] = readable.filter(
      ({ from }) => from.entry.supervisor.live?.content.has.resources,
    );
    if (only !== undefined && others.length === 0) return { from: only.from, uri };
    throw unknownResource(uri, heard);
  }

  async locateTemplate(
    uriTemplate: string,
    { server, signal }: ResourceOptions,
  ): Promise<ContentCache> {
    if (server !== undefined) {
      const from = this.#contents.of(server);
      return isOn(from) ? from : this.#allowed(from, uriTemplate).from;
    }
    const heard = await this.heard(undefined, signal);
    const found = heard.find(({ list }) =>
      list.templates.some((each) => each.uriTemplate === uriTemplate),
    );
    if (found !== undefined) return found.from;
    const message = `no server lists the template '${oneLine(uriTemplate, 500)}'`;
    throw new PlugboardError("UNKNOWN_RESOURCE", message);
  }

  /** A URI with a secret in it is told without, and still means the same. */
  inFull(uri: string, { resources }: ContentCache): string {
    const listed = resources.known?.resources ?? [];
    if (listed.some((each) => each.uri === uri)) return uri;
    return listed.find((each) => this.#redact(each.uri) === uri)?.uri ?? uri;
  }

  /** Whoever lists it, the first one where there are several. */
  #exactly(uri: string): Located | undefined {
    const [first, ...others] = this.#contents.all().flatMap((from) => {
      const inFull = this.inFull(uri, from);
      const isListed = from.resources.known?.resources.some((each) => each.uri === inFull) ?? false;
      return isListed && from.allows(inFull) ? [{ from, uri: inFull }] : [];
    });
    if (first !== undefined && others.length > 0) {
      const names = others.map(({ from }) => `'${from.entry.name}'`).join(", ");
      first.from.note(uri, `the resource is also on ${names}; without a server this one is used`);
    }
    return first;
  }

  #allowed(from: ContentCache, uri: string): Located {
    const { name: server } = from.entry.definition;
    if (!isOn(from)) {
      const message = `the resources of server '${server}' are switched off`;
      throw new PlugboardError("UNSUPPORTED", message, { server, hint: '"resources" is false' });
    }
    const inFull = this.inFull(uri, from);
    if (from.allows(inFull)) return { from, uri: inFull };
    const message = `'${oneLine(uri, 500)}' is not among the resources of server '${server}' that may be read`;
    const hint = 'its "resourceFilter" says which may';
    throw new PlugboardError("REFUSED_BY_POLICY", message, { server, hint });
  }
}

/** How much of a URI a template spells out, or -1 where it cannot have come from it. */
function fit({ uriTemplate }: { uriTemplate: string }, uri: string): number {
  const pattern = uriTemplate.replace(/\{[^{}]*\}/g, "*");
  return compileGlob(pattern)(uri) ? pattern.replaceAll("*", "").length : -1;
}

function unknownResource(uri: string, heard: readonly Heard<ResourceList>[]): PlugboardError {
  const meant = closest(
    uri,
    heard.flatMap(({ list }) => list.resources.map((each) => each.uri)),
  );
  return new PlugboardError("UNKNOWN_RESOURCE", `no server lists '${oneLine(uri, 500)}'`, {
    hint: meant === undefined ? "say which server has it" : `did you mean '${meant}'?`,
  });
}
