// The words for an outcome that says nothing.

import type { CallOutcome } from "../../model/tool.ts";
import { asText } from "../../util/text.ts";

export function isEmpty({ content }: CallOutcome): boolean {
  return content.every((block) => block.type === "text" && block.text === "");
}

export function emptyText({ structuredContent, isError }: CallOutcome): string {
  // Servers need not repeat structured content as text; a model reads nothing else.
  if (structuredContent !== undefined) return asText(structuredContent);
  return isError ? "(the tool reported an error without details)" : "(empty result)";
}
