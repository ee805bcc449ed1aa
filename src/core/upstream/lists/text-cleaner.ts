// Cleans a server's titles and descriptions for people and prompts: removes invisible characters and secrets.
// Names, and what schemas mean, stay as they are, and no description is cut: a list bounds whole items.

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { NAMED_SCHEMAS } from "../../types/without-secrets.ts";
import { oneLine, plainText, plainWithEmoji } from "../../../util/text.ts";

/** The values of these keywords are data, even where they look like a schema. */
const DATA_KEYWORDS = new Set(["enum", "const", "default", "examples"]);
/** Most texts are plain, and need no further check. */
const PLAIN = /^[\t\n\x20-\x7e]*$/;

export class TextCleaner {
  readonly redact: (text: string) => string;
  readonly #cleaned = new Set<string>();
  readonly #left = new Set<string>();
  readonly #cut = new Set<string>();

  constructor(redact: (text: string) => string) {
    this.redact = redact;
  }

  /** On one line; a label of a list is cut to `max` characters. */
  title(text: string, place: string, max = Infinity): string {
    const line = oneLine(this.description(text, place));
    if (line.length > max) this.#cut.add(place);
    return oneLine(line, max);
  }

  /** The title and the description of an item, as far as it has them. `owner` begins their names in messages. */
  texts(
    { title, description }: { title?: string; description?: string },
    { owner = "", maxTitle = Infinity }: { owner?: string; maxTitle?: number } = {},
  ): { title?: string; description?: string } {
    return {
      ...(title !== undefined && { title: this.title(title, `${owner}title`, maxTitle) }),
      ...(description !== undefined && {
        description: this.description(description, `${owner}description`),
      }),
    };
  }

  description(text: string, place: string): string {
    if (PLAIN.test(text)) return this.redact(text);
    if (hasInvisible(text)) this.#cleaned.add(place);
    return this.redact(plainWithEmoji(text));
  }

  /** Only notes invisible characters: the text cannot be changed without changing its meaning. */
  check(text: string, place: string): void {
    if (hasInvisible(text)) this.#left.add(place);
  }

  /** Recursive, since the schema's depth has been bounded before. */
  schema(schema: JsonObject, place: string): JsonObject {
    return this.#node(schema, place) as JsonObject;
  }

  /** What was changed or found, each as a sentence about the item. */
  changes(): string[] {
    const changes: string[] = [];
    const [cleaned, left, cut] = [this.#cleaned, this.#left, this.#cut].map(list);
    if (cleaned) changes.push(`invisible characters were removed from its ${cleaned}`);
    if (left) changes.push(`invisible characters are in its ${left}, where they had to be left`);
    if (cut) changes.push(`text was cut in its ${cut}`);
    return changes;
  }

  /** Returns the same node if nothing in it had to change. */
  #node(node: unknown, place: string, isByName = false): unknown {
    if (typeof node === "string") this.check(node, place);
    if (Array.isArray(node)) {
      const items = node.map((each) => this.#node(each, place));
      return items.some((each, index) => each !== node[index]) ? items : node;
    }
    if (!isJsonObject(node)) return node;
    let isChanged = false;
    const entries = Object.entries(node).map(([key, value]): [string, unknown] => {
      this.check(key, place);
      const clean = isByName ? this.#node(value, place) : this.#entry(key, value, place);
      isChanged ||= clean !== value;
      return [key, clean];
    });
    // Object.fromEntries defines keys, so `__proto__` stays a key.
    return isChanged ? Object.fromEntries(entries) : node;
  }

  #entry(key: string, value: unknown, place: string): unknown {
    if (DATA_KEYWORDS.has(key)) {
      this.#checkData(value, place);
      return value;
    }
    if (typeof value !== "string") return this.#node(value, place, NAMED_SCHEMAS.has(key));
    if (key === "description" || key === "title") return this.description(value, place);
    this.check(value, place);
    return value;
  }

  #checkData(data: unknown, place: string): void {
    if (typeof data === "string") return this.check(data, place);
    if (typeof data !== "object" || data === null) return;
    for (const [key, value] of Object.entries(data)) {
      this.check(key, place);
      this.#checkData(value, place);
    }
  }
}

/** Whether a text has invisible characters, other than foreign line ends and what joins an emoji. */
export function hasInvisible(text: string): boolean {
  if (PLAIN.test(text)) return false;
  const seen = withoutHarmless(text);
  return plainText(seen) !== seen;
}

/** Line ends of another system and what joins an emoji do not hide anything. */
function withoutHarmless(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/\u200d|\ufe0e|\ufe0f/g, "");
}

function list(places: ReadonlySet<string>): string {
  const names = [...places];
  const last = names.pop() ?? "";
  return names.length === 0 ? last : `${names.join(", ")} and ${last}`;
}
