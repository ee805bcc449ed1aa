// A tool's titles and descriptions as they may be shown and put into a prompt: without characters that
// nobody sees, and at bounded length. Its name and what its schemas mean stay as they are.

import { isJsonObject, type JsonObject } from "../model/json.ts";
import type { ToolDefinition } from "../model/tool.ts";
import { oneLine, plainText, truncate } from "../util/text.ts";

const MAX_TITLE = 200;
const MAX_DESCRIPTION = 16 * 1024;
const MAX_SCHEMA_DESCRIPTION = 4 * 1024;

/** What stands under these is data, even where it looks like a schema. */
const DATA = new Set(["enum", "const", "default", "examples"]);
/** Under these stand schemas by names of the server's own, which may be any of the above. */
const NAMED = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
]);

/** Most texts are, and need no further look. */
const PLAIN = /^[\t\n\x20-\x7e]*$/;

export interface CleanOptions {
  /** Takes secrets out of a text. */
  redact?: (text: string) => string;
  /** Hears what was changed, as a sentence about the tool. */
  report: (message: string) => void;
}

export function cleanTool(tool: ToolDefinition, options: CleanOptions): ToolDefinition {
  const cleaner = new Cleaner(options.redact ?? ((text) => text));
  const { title, description, annotations, inputSchema, outputSchema } = tool;
  cleaner.look(tool.name, "name");
  const clean: ToolDefinition = { ...tool };
  if (title !== undefined) clean.title = cleaner.title(title, "title");
  if (description !== undefined) {
    clean.description = cleaner.description(description, "description", MAX_DESCRIPTION);
  }
  if (typeof annotations?.title === "string") {
    clean.annotations = { ...annotations, title: cleaner.title(annotations.title, "title") };
  }
  clean.inputSchema = cleaner.schema(inputSchema, "inputSchema");
  if (outputSchema !== undefined) clean.outputSchema = cleaner.schema(outputSchema, "outputSchema");
  cleaner.tell(options.report);
  return clean;
}

export class Cleaner {
  readonly #redact: (text: string) => string;
  readonly #cleaned = new Set<string>();
  readonly #left = new Set<string>();
  readonly #cut = new Set<string>();

  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  title(text: string, place: string): string {
    return oneLine(this.description(text, place, MAX_TITLE), MAX_TITLE);
  }

  description(text: string, place: string, max: number): string {
    // Cutting first bounds the work on a hostile text; the slack is for what is removed.
    const seen = readable(text.slice(0, max * 4));
    const plain = plainText(seen);
    if (plain !== seen) this.#cleaned.add(place);
    if (plain.length > max || text.length > max * 4) this.#cut.add(place);
    return truncate(this.#redact(plain), max);
  }

  /** What cannot be changed without changing what it means is only looked at. */
  look(text: string, place: string): void {
    if (hidesSomething(text)) this.#left.add(place);
  }

  /** Recursive: how deep a schema goes has been bounded before. */
  schema(schema: JsonObject, place: string): JsonObject {
    return this.#node(schema, place) as JsonObject;
  }

  tell(report: (message: string) => void): void {
    if (this.#cleaned.size > 0) {
      report(`invisible characters were removed from its ${list(this.#cleaned)}`);
    }
    if (this.#left.size > 0) {
      report(`invisible characters are in its ${list(this.#left)}, where they had to be left`);
    }
    if (this.#cut.size > 0) report(`text was cut in its ${list(this.#cut)}`);
  }

  /** The same node where nothing in it had to change. */
  #node(node: unknown, place: string, isByName = false): unknown {
    if (typeof node === "string") this.look(node, place);
    if (Array.isArray(node)) {
      const items = node.map((each) => this.#node(each, place));
      return items.some((each, index) => each !== node[index]) ? items : node;
    }
    if (!isJsonObject(node)) return node;
    let isChanged = false;
    const entries = Object.entries(node).map(([key, value]): [string, unknown] => {
      this.look(key, place);
      const clean = isByName ? this.#node(value, place) : this.#entry(key, value, place);
      isChanged ||= clean !== value;
      return [key, clean];
    });
    // Object.fromEntries defines what it is given: `__proto__` stays a key.
    return isChanged ? Object.fromEntries(entries) : node;
  }

  #entry(key: string, value: unknown, place: string): unknown {
    if (DATA.has(key)) {
      this.#lookInto(value, place);
      return value;
    }
    if (typeof value !== "string") return this.#node(value, place, NAMED.has(key));
    if (key === "description") return this.description(value, place, MAX_SCHEMA_DESCRIPTION);
    if (key === "title") return this.title(value, place);
    this.look(value, place);
    return value;
  }

  #lookInto(data: unknown, place: string): void {
    if (typeof data === "string") return this.look(data, place);
    if (typeof data !== "object" || data === null) return;
    for (const [key, value] of Object.entries(data)) {
      this.look(key, place);
      this.#lookInto(value, place);
    }
  }
}

/** Whether a text has characters that nobody sees, and not by way of a system or an emoji. */
export function hidesSomething(text: string): boolean {
  if (PLAIN.test(text)) return false;
  const seen = readable(text);
  return plainText(seen) !== seen;
}

/** Line ends of another system and what joins an emoji are no attempt to hide anything. */
function readable(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/\u200d|\ufe0e|\ufe0f/g, "");
}

function list(places: ReadonlySet<string>): string {
  const names = [...places];
  const last = names.pop() ?? "";
  return names.length === 0 ? last : `${names.join(", ")} and ${last}`;
}
