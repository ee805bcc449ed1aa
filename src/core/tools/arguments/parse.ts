// Reads the words that a person gives as the arguments of a call: `key=value`, `key:=json`, a JSON object, `@file`,
// or `-`. The types come later, from the tool's schema.

import type { JsonObject } from "../../types/json.ts";
import { shellQuoted } from "../../../util/text.ts";
import { invalidArguments } from "./invalid.ts";
import { parseJson, parseJsonObject } from "./json-text.ts";

export type GivenValue =
  /** Converted to the type in the schema. */
  | { kind: "text"; text: string }
  /** From a file: a text where the schema allows one, even if it looks like a number. */
  | { kind: "content"; text: string }
  /** Passed on unchanged. */
  | { kind: "json"; value: unknown };

export interface GivenArguments {
  /** The whole object, where one was given. */
  whole: JsonObject;
  pairs: { key: string; value: GivenValue }[];
}

/** What a word can point to. Both reject with INVALID_ARGUMENTS. */
export interface ArgumentSources {
  /** The ways to give arguments, shown for a word that is not one of them. */
  forms: string;
  /** `key` is the argument that gets the content; without it, the file has the whole object. */
  file(path: string, key?: string): Promise<string>;
  stdin(): Promise<string>;
}

export async function parseArguments(
  words: readonly string[],
  sources: ArgumentSources,
): Promise<GivenArguments> {
  const reader = new Reader(sources);
  for (const word of words) await reader.read(word);
  return reader.given;
}

class Reader {
  readonly given: GivenArguments = { whole: {}, pairs: [] };
  readonly #sources: ArgumentSources;
  #wholeFrom: string | undefined;

  constructor(sources: ArgumentSources) {
    this.#sources = sources;
  }

  async read(word: string): Promise<void> {
    if (word === "-") return this.#take("stdin", await this.#sources.stdin());
    if (word.trimStart().startsWith("{")) return this.#take("the argument", word);
    if (word.startsWith("@")) {
      const path = word.slice(1);
      return this.#take(path, await this.#sources.file(path));
    }
    const [, key, raw, text] = /^([^=]*?)(:?)=(.*)$/su.exec(word) ?? [];
    if (!key || text === undefined) {
      // As in YAML, and on the command lines of other programs.
      const [, name, value] = /^([\p{L}\p{N}_.-]+):(?!\/\/)(.+)$/su.exec(word) ?? [];
      const meant = name && value ? `; did you mean ${shellQuoted(`${name}=${value}`)}?` : "";
      throw invalidArguments([`unexpected argument '${word}'${meant}`], this.#sources.forms);
    }
    this.given.pairs.push({ key, value: await this.#value(key, text, raw === ":") });
  }

  async #value(key: string, text: string, raw: boolean): Promise<GivenValue> {
    if (raw) return { kind: "json", value: await parseJson(text, `the value of '${key}'`) };
    if (text === "@-") return { kind: "content", text: await this.#sources.stdin() };
    if (text.startsWith("@") && text.length > 1) {
      return { kind: "content", text: await this.#sources.file(text.slice(1), key) };
    }
    return { kind: "text", text };
  }

  async #take(from: string, text: string): Promise<void> {
    if (this.#wholeFrom !== undefined) {
      throw invalidArguments([
        `only one JSON object can be given; there are two, from ${this.#wholeFrom} and ${from}`,
      ]);
    }
    this.#wholeFrom = from;
    this.given.whole = await parseJsonObject(text, from);
  }
}

/** How to give a text that would otherwise name a file. */
export function literalAt(key: string): string {
  return `to pass a text that begins with @: ${key}:='"@…"'`;
}
