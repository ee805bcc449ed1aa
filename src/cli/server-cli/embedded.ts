// What a generated command line has in its file: one server, and its tools as they were when it was generated.

import { isJsonObject, type JsonObject } from "../../core/types/json.ts";
import type { ServerConfig } from "../../core/types/server-config.ts";

export interface EmbeddedTool {
  /** The server's own name of it. */
  name: string;
  description?: string;
  parameters: JsonObject;
}

export interface EmbeddedServer {
  name: string;
  /** With references such as `${API_KEY}` in place of secrets. */
  server: ServerConfig;
  tools: EmbeddedTool[];
}

/** `read_text_file` and `readTextFile` are `read-text-file`, as people write commands and options. */
function kebabCase(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, "$1-$2")
    .replace(/[_\s]+/g, "-")
    .toLowerCase();
}

/** What each is called on the command line: in the usual form, unless two would be called the same. */
export function wordsFor(names: readonly string[]): Map<string, string> {
  const counts = new Map<string, number>();
  for (const name of names) {
    const word = kebabCase(name);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const isPlain = (word: string): boolean => /^[\p{L}\p{N}][\p{L}\p{N}.-]*$/u.test(word);
  return new Map(
    names.map((name) => {
      const word = kebabCase(name);
      return [name, isPlain(word) && counts.get(word) === 1 ? word : name];
    }),
  );
}

/** The server in a generated file, which somebody may have edited. */
export function isEmbeddedServer(value: unknown): value is EmbeddedServer {
  if (!isJsonObject(value)) return false;
  const { name, server, tools } = value;
  return (
    typeof name === "string" &&
    isJsonObject(server) &&
    Array.isArray(tools) &&
    tools.every(
      (tool) =>
        isJsonObject(tool) && typeof tool["name"] === "string" && isJsonObject(tool["parameters"]),
    )
  );
}
