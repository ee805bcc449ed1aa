// Finds the server of a URI: one that lists it, one whose templates match it, or the only server with resources.
// Refuses resources that the configuration of their server does not allow. What the rules do not allow is found, so
// that the guard refuses it and the audit has it; a server from which they do allow it comes first.

import { compileGlob } from "../../../util/glob.ts";
import { ofSession, PlugboardError } from "../../types/errors.ts";
import type { ContentName } from "../../types/content-pattern.ts";
import type { ResourceList } from "../../types/server-content.ts";
import type { ResourceOptions } from "../../types/resource.ts";
import { closest } from "../../../util/closest.ts";
import { oneLine } from "../../../util/text.ts";
import type { ContentCache } from "./content-cache.ts";
import type { ContentCaches, ListFrom, ListingOptions } from "./content-caches.ts";
import type { ContentOptions } from "./content-requests.ts";
import { contentSubject } from "./content-subject.ts";
import { hasDotSegments } from "./resource-filter.ts";

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
  readonly #guard: ContentOptions["guard"];

  constructor({ caches, redact, guard }: Pick<ContentOptions, "caches" | "redact" | "guard">) {
    this.#caches = caches;
    this.#redact = redact;
    this.#guard = guard;
  }

  /** Whether the resource may be listed and read: both its server's configuration and the rules allow it. */
  permits(from: ContentCache, uri: string): boolean {
    return from.allows(uri) && this.#isOffered(from, { kind: "resource", name: uri });
  }

  permitsTemplate(from: ContentCache, uriTemplate: string): boolean {
    return this.#isOffered(from, templateName(uriTemplate));
  }

  /** Within the rules, and not changed under `pins: block`. */
  #isOffered({ entry }: ContentCache, content: ContentName): boolean {
    const subject = contentSubject(entry, content);
    return this.#guard.allows(subject) && this.#guard.offers(subject);
  }

  async lists(
    server: string | undefined,
    options?: ListingOptions,
  ): Promise<ListFrom<ResourceList>[]> {
    const lists = await this.#caches.list("resources", server, options);
    return lists.filter(({ from }) => isEnabled(from));
  }

  async locate(uri: string, { server, signal }: ResourceOptions): Promise<LocatedResource> {
    if (server !== undefined) return this.#allowed(this.#caches.told(server), uri);
    const known = this.#findListed(uri);
    if (known !== undefined) return known;
    const lists = await this.lists(undefined, { signal });
    const offered = this.#findListed(uri) ?? this.#bestTemplate(uri, lists);
    if (offered !== undefined) return offered;
    // Servers need not list everything that can be read.
    const [only, ...others] = lists.filter(
      ({ from }) => from.allows(uri) && from.entry.supervisor.live?.content.has.resources,
    );
    if (only !== undefined && others.length === 0) return { from: only.from, uri };
    throw this.#unlisted(uri, lists);
  }

  /** What `locate` says of a URI that no server has. */
  async unknown(uri: string, { signal }: ResourceOptions): Promise<PlugboardError> {
    return this.#unlisted(uri, await this.lists(undefined, { signal }));
  }

  #unlisted(uri: string, lists: readonly ListFrom<ResourceList>[]): PlugboardError {
    const advice = "if a server has it without listing it, name the server";
    return this.#unknown(uri, lists, this.#unasked() ?? advice);
  }

  /** Like `locate`, but only what a server lists or what matches one of its templates. */
  async locateOffered(uri: string, { server, signal }: ResourceOptions): Promise<LocatedResource> {
    if (server === undefined) {
      const known = this.#findListed(uri);
      if (known !== undefined) return known;
    } else this.#allowed(this.#caches.told(server), uri);
    const lists = await this.lists(server, { signal });
    const offered = this.#findListed(uri, server) ?? this.#bestTemplate(uri, lists);
    if (offered !== undefined) return offered;
    throw this.#notOffered(uri, lists);
  }

  /** What `locateOffered` says of a URI that no server offers. */
  async notOffered(uri: string, { server, signal }: ResourceOptions): Promise<PlugboardError> {
    return this.#notOffered(uri, await this.lists(server, { signal }));
  }

  #notOffered(uri: string, lists: readonly ListFrom<ResourceList>[]): PlugboardError {
    return this.#unknown(uri, lists, "list_resources finds what can be read");
  }

  async locateTemplate(
    uriTemplate: string,
    { server, signal }: ResourceOptions,
  ): Promise<ContentCache> {
    if (server !== undefined) {
      const from = this.#caches.told(server);
      return isEnabled(from) ? from : this.#allowed(from, uriTemplate).from;
    }
    const lists = await this.lists(undefined, { signal });
    const found = lists.find(({ list }) =>
      list.templates.some((each) => each.uriTemplate === uriTemplate),
    );
    if (found !== undefined) return found.from;
    throw this.#unlistedTemplate(uriTemplate, lists);
  }

  /** What `locateTemplate` says of a template that no server has. */
  async unknownTemplate(uriTemplate: string, { signal }: ResourceOptions): Promise<PlugboardError> {
    return this.#unlistedTemplate(uriTemplate, await this.lists(undefined, { signal }));
  }

  #unlistedTemplate(uriTemplate: string, lists: readonly ListFrom<ResourceList>[]): PlugboardError {
    const message = `no server lists the template '${oneLine(uriTemplate, 500)}'`;
    const listed = lists.flatMap(({ from, list }) =>
      list.templates
        .map((each) => each.uriTemplate)
        .filter((each) => this.permitsTemplate(from, each)),
    );
    const meant = closest(uriTemplate, listed);
    return new PlugboardError("UNKNOWN_RESOURCE", message, {
      hint: meant && `did you mean '${oneLine(meant, 500)}'?`,
    });
  }

  /** Callers see URIs without their secrets; this finds the listed URI with the secrets in it. */
  withSecrets(uri: string, { resources }: ContentCache): string {
    const listed = resources.known?.resources ?? [];
    if (listed.some((each) => each.uri === uri)) return uri;
    return listed.find((each) => this.#redact(each.uri) === uri)?.uri ?? uri;
  }

  /** Finds the first server that lists the URI, or asks only the one. */
  #findListed(uri: string, server?: string): LocatedResource | undefined {
    const among = server === undefined ? this.#caches.reached() : [this.#caches.told(server)];
    const listing = among.flatMap((from) => {
      const full = this.withSecrets(uri, from);
      const isListed = from.resources.known?.resources.some((each) => each.uri === full) ?? false;
      return isListed && from.allows(full) ? [{ from, uri: full }] : [];
    });
    const permitted = listing.filter((each) => this.permits(each.from, each.uri));
    const [first, ...others] = permitted.length > 0 ? permitted : listing;
    first?.from.warnIfElsewhere("resource", uri, others);
    return first;
  }

  /** The server whose template spells out the most of the URI. */
  #bestTemplate(
    uri: string,
    lists: readonly ListFrom<ResourceList>[],
  ): LocatedResource | undefined {
    // A template's variable may take anything, and `..` would lead out of what the template names.
    if (hasDotSegments(uri)) return undefined;
    const fitting = lists
      .filter(({ from }) => from.allows(uri))
      .flatMap(({ from, list }) =>
        list.templates.map((each) => ({ from, fit: fit(each, uri), template: each.uriTemplate })),
      )
      .filter((each) => each.fit >= 0)
      .filter(({ from, template }) => {
        const subject = contentSubject(from.entry, templateName(template));
        return this.#guard.offers(subject);
      })
      .sort((a, b) => b.fit - a.fit);
    const best = fitting.find(({ from }) => this.permits(from, uri)) ?? fitting[0];
    return best && { from: best.from, uri };
  }

  #unknown(uri: string, lists: readonly ListFrom<ResourceList>[], advice: string): PlugboardError {
    const listed = lists.flatMap(({ from, list }) =>
      list.resources.flatMap((each) =>
        this.permits(from, each.uri) ? [this.#redact(each.uri)] : [],
      ),
    );
    const meant = closest(uri, listed);
    return new PlugboardError("UNKNOWN_RESOURCE", `no server lists '${oneLine(uri, 500)}'`, {
      hint: meant === undefined ? advice : `did you mean '${meant}'?`,
    });
  }

  /** Names the servers whose resources are not known, since one of them may have it. */
  #unasked(): string | undefined {
    const names = this.#caches
      .reached("resource")
      .filter((from) => isEnabled(from) && from.resources.known === undefined)
      .filter(({ entry: { definition } }) => this.#guard.leaves(definition, "resource"))
      .filter(({ entry: { definition, supervisor } }) => definition.enabled && !supervisor.live)
      .map(({ entry }) => entry.name);
    return names.length === 0
      ? undefined
      : `these servers did not list their resources: ${names.join(", ")}`;
  }

  #allowed(from: ContentCache, uri: string): LocatedResource {
    const { name: server } = from.entry.definition;
    if (!isEnabled(from)) {
      const message = `the resources of server '${server}' are disabled`;
      const hint = 'set "resources": true for this server to use them';
      const error = new PlugboardError("UNSUPPORTED", message, { server, hint });
      throw from.entry.definition.origin === "session" ? ofSession(error) : error;
    }
    const full = this.withSecrets(uri, from);
    if (from.allows(full)) return { from, uri: full };
    const message = `'${oneLine(uri, 500)}' may not be read from server '${server}'`;
    const hint = 'its "resourceFilter" does not allow it: add the URI there to allow it';
    throw new PlugboardError("REFUSED_BY_POLICY", message, { server, hint });
  }
}

function templateName(uriTemplate: string): ContentName {
  return { kind: "resource", name: uriTemplate, isTemplate: true };
}

/** Returns how many characters of the URI the template spells out, or -1 if it does not match. */
function fit({ uriTemplate }: { uriTemplate: string }, uri: string): number {
  const pattern = uriTemplate.replace(/\{[^{}]*\}/g, "*");
  return compileGlob(pattern)(uri) ? pattern.replaceAll("*", "").length : -1;
}
