// Which resources of a server the configuration shows: the entries of its `resourceFilter`.

import { decoded } from "../../types/content-pattern.ts";
import type { ResourceList } from "../../types/server-content.ts";
import { compileGlob, type Matcher } from "../../../util/glob.ts";

interface Entry {
  text: string;
  matches: Matcher;
}

export class ResourceFilter {
  readonly #entries: readonly Entry[];

  /** An entry with a `*` matches whole URIs; one without matches every URI that it is a part of. */
  constructor(entries: readonly string[]) {
    this.#entries = entries.map((text) => ({
      text,
      matches: text.includes("*") ? compileGlob(text) : (uri) => uri.includes(text),
    }));
  }

  allows(uri: string): boolean {
    if (this.#entries.length === 0) return true;
    return !hasDotSegments(uri) && this.#entries.some(({ matches }) => matches(uri));
  }

  /** Entries that match no resource, neither one of the list nor one that a template could give. */
  unmatched({ resources, templates }: Pick<ResourceList, "resources" | "templates">): string[] {
    return this.#entries
      .filter(({ matches }) => !resources.some(({ uri }) => matches(uri)))
      .filter(({ text }) => !templates.some(({ uriTemplate }) => couldGive(uriTemplate, text)))
      .map(({ text }) => text);
  }
}

/** `..` in a path, also encoded, names another place than the one that the URI begins with. */
export function hasDotSegments(uri: string): boolean {
  return /(?:^|[/\\])\.{1,2}(?:$|[/\\?#])/.test(decoded(uri));
}

function couldGive(uriTemplate: string, entry: string): boolean {
  const [beginning = ""] = uriTemplate.split("{");
  const [wanted = ""] = entry.split("*");
  if (beginning.startsWith(wanted) || wanted.startsWith(beginning)) return true;
  // A part of a URI can be in what the template leaves open.
  return !entry.includes("*");
}
