// A resource or prompt as the guard sees it.

import { textHash } from "../../guard/pins/hash.ts";
import { type ContentName, contentText } from "../../types/content-pattern.ts";
import type { Subject } from "../../types/guard.ts";
import type { PromptDefinition } from "../../types/prompt.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import type { ServerEntry } from "../server-entry.ts";

/** What the server says about it in a list, as far as an approval depends on it. */
export type Listed = Pick<PromptDefinition, "title" | "description" | "arguments">;

export interface ContentSubjectOptions {
  /** What is asked for, for the audit: `resource:file:///notes.txt`, as in rules and pins, or `subscribe:…`. */
  what: string;
  /** Its name without secrets. */
  shown: string;
  /** Absent if it is not in a list that is known. */
  listed?: Listed | undefined;
}

export function contentSubject(
  { definition, keys, inGateway }: Pick<ServerEntry, "definition" | "keys" | "inGateway">,
  content: ContentName,
  given?: ContentSubjectOptions,
): Subject {
  const { name: server, origin, toolPrefix } = definition;
  const { what = contentText(content), shown = content.name, listed = {} } = given ?? {};
  const { title, description, arguments: args } = listed;
  return {
    canonical: `${server}/${contentText({ ...content, name: shown })}`,
    publicName: what,
    toolPrefix,
    source: { kind: "mcp", server, tool: what },
    content,
    origin,
    inGateway: inGateway || undefined,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    // That is what MCP says of resources and prompts. Only a trusted server is believed.
    annotations: { readOnlyHint: true },
    ownerOnly: false,
    // Includes the server's definition, so that an approval does not carry over to another server of its name.
    get hash() {
      return `${textHash(canonicalJson({ title, description, arguments: args }))}-${keys.pin}`;
    },
  };
}
