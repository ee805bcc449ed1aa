// Reads the words that a person gives as the arguments of a call: `key=value`, `key:=json`, a JSON object, `@file`,
// `-`, `--key value`, or a value alone. The types come later, from the tool's schema, and so does what is meant by a
// word that could be several of these.

import type { JsonObject } from "../../types/json.ts";
import { invalidArguments } from "./invalid.ts";
import { parseJson, parseJsonObject } from "./json-text.ts";

export type GivenValue =
  /** Converted to the type in the schema. */
  | { kind: "text"; text: string }
  /** From a file: a text where the schema allows one, even if it looks like a number. */
  | { kind: "content"; text: string }
  /** Passed on unchanged. */
  | { kind: "json"; value: unknown };

export interface GivenPair {
  key: string;
  value: GivenValue;
}

/** A word without a key, or with one only if the tool has such a parameter, as in `title:x`. */
export interface LooseWord {
  kind: "word";
  text: string;
  /** What it is if it is a value. */
  value: GivenValue;
  pair?: GivenPair;
}

/** `--key`, `--key=value` or `--key value`: if the parameter needs no value, `next` is a word by itself. */
export interface LooseOption {
  kind: "option";
  key: string;
  value?: GivenValue;
  next?: LooseWord;
}

/** `key:` before its value, as in YAML. A value by itself, if the tool has no such parameter. */
export interface LooseKey {
  kind: "key";
  text: string;
  key: string;
  next?: LooseWord;
}

export interface GivenArguments {
  /** The whole object, where one was given. */
  whole: JsonObject;
  pairs: GivenPair[];
  /** What only the schema can tell the meaning of, in the order in which it was typed. */
  loose?: (LooseWord | LooseOption | LooseKey)[];
}

/** What a word can point to. Both reject with INVALID_ARGUMENTS. */
export interface ArgumentSources {
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

/** What `key=value` may begin with, and an address with a query does not. */
const KEY = /^[^\s/?&"']+$/u;
/** As in YAML, and on the command lines of other programs. The value may be the next word. */
const COLON = /^([\p{L}\p{N}_.-]+):(?!\/\/)\s*(.*)$/su;

class Reader {
  readonly given: GivenArguments = { whole: {}, pairs: [] };
  readonly #sources: ArgumentSources;
  #wholeFrom: string | undefined;
  /** What the next word may belong to. */
  #open: LooseOption | LooseKey | undefined;

  constructor(sources: ArgumentSources) {
    this.#sources = sources;
  }

  async read(word: string): Promise<void> {
    const before = this.#open;
    this.#open = undefined;
    if (word === "-") return this.#take("stdin", await this.#sources.stdin());
    if (/^--[^=]/.test(word)) return this.#keep(await this.#option(word));
    if (before !== undefined) {
      before.next = await this.#word(word, before.key);
      return;
    }
    if (word.trimStart().startsWith("{")) return this.#take("the argument", word);
    if (word.startsWith("@")) {
      const path = word.slice(1);
      return this.#take(path, await this.#sources.file(path));
    }
    const [, key, after] = COLON.exec(word) ?? [];
    if (key !== undefined && after === "") {
      this.#open = { kind: "key", text: word, key };
      return this.#keep(this.#open);
    }
    const read = await this.#word(word);
    if (read.pair !== undefined && /^[^=]*=/.test(word) && KEY.test(read.pair.key)) {
      this.given.pairs.push(read.pair);
    } else this.#keep(read);
  }

  #keep(loose: LooseWord | LooseOption | LooseKey): void {
    (this.given.loose ??= []).push(loose);
  }

  async #option(word: string): Promise<LooseOption> {
    const [, key = "", text] = /^--([^=]+)(?:=(.*))?$/su.exec(word) ?? [];
    const option: LooseOption = {
      kind: "option",
      key,
      ...(text !== undefined && { value: await this.#value(key, text, false) }),
    };
    if (text === undefined) this.#open = option;
    return option;
  }

  /** `option` is the one before it, whose value it may be. */
  async #word(text: string, option?: string): Promise<LooseWord> {
    const [, key, raw, value] = /^([^=]*?)(:?)=(.*)$/su.exec(text) ?? [];
    const [, name, after] = COLON.exec(text) ?? [];
    const pair =
      key && value !== undefined
        ? { key, value: await this.#value(key, value, raw === ":") }
        : name && after
          ? { key: name, value: { kind: "text" as const, text: after } }
          : undefined;
    return {
      kind: "word",
      text,
      value: option === undefined ? { kind: "text", text } : await this.#value(option, text, false),
      ...(pair && { pair }),
    };
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
