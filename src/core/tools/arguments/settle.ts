// Finds out by a tool's schema what is meant by words that could be several things: an option with a value or a flag, a
// value without its key, `title:x` or a text with a colon in it.

import { isJsonObject, type JsonObject, tryParseJson } from "../../types/json.ts";
import { closest } from "../../../util/closest.ts";
import type {
  GivenArguments,
  GivenPair,
  GivenValue,
  LooseKey,
  LooseOption,
  LooseWord,
} from "./parse.ts";
import { listed, shortName } from "./check.ts";
import { type SchemaView, typesOf } from "./schema-view.ts";

export interface Settled {
  pairs: GivenPair[];
  problems: string[];
  /** Parameters that were named without a value. */
  refused: string[];
}

/** Values without a key go to the parameters that are left, in the order of the schema. */
export function settleWords(
  { whole, pairs, loose = [] }: GivenArguments,
  view: SchemaView,
): Settled {
  const settler = new Settler(view, pairs);
  for (const each of loose) {
    if (each.kind === "option") settler.option(each);
    else if (each.kind === "key") settler.key(each);
    else settler.word(each);
  }
  return settler.settled(Object.keys(whole));
}

class Settler {
  readonly #view: SchemaView;
  readonly #pairs: GivenPair[];
  readonly #values: LooseWord[] = [];
  readonly #problems: string[] = [];
  readonly #refused: string[] = [];

  constructor(view: SchemaView, pairs: readonly GivenPair[]) {
    this.#view = view;
    this.#pairs = [...pairs];
  }

  option({ key, value, next }: LooseOption): void {
    const name = this.#named(key);
    const all = name === undefined && key === ALL ? asObject(value ?? next?.value) : undefined;
    if (all !== undefined) {
      for (const [each, given] of Object.entries(all))
        this.#pairs.push({ key: each, value: { kind: "json", value: given } });
      return;
    }
    const denied = /^no-(.+)$/.exec(key)?.[1];
    const flag = denied === undefined ? undefined : this.#named(denied);
    if (name === undefined && value === undefined && flag !== undefined && this.#isFlag(flag)) {
      this.#pairs.push({ key: flag, value: { kind: "text", text: "false" } });
    } else if (value !== undefined || (next !== undefined && this.#takes(name, next))) {
      this.#pairs.push({ key: name ?? key, value: value ?? next?.value ?? TRUE });
      return;
    } else if (name === undefined || this.#isFlag(name)) {
      this.#pairs.push({ key: name ?? key, value: TRUE });
    } else {
      this.#problems.push(`--${shortName(key)} needs a value`);
      this.#refused.push(name);
    }
    if (next !== undefined) this.word(next);
  }

  key({ text, key, next }: LooseKey): void {
    const pair = next && { key, value: next.value };
    const isPair = this.word({
      kind: "word",
      text,
      value: { kind: "text", text },
      ...(pair && { pair }),
    });
    if (next !== undefined && !isPair) this.word(next);
  }

  /** Whether it is one with its key. */
  word(word: LooseWord): boolean {
    const { pair } = word;
    const name = pair && this.#named(pair.key);
    if (pair !== undefined && (name !== undefined || this.#isMistyped(pair.key))) {
      this.#pairs.push({ ...pair, key: name ?? pair.key });
      return true;
    }
    this.#values.push(word);
    return false;
  }

  settled(given: readonly string[]): Settled {
    const keys = this.#pairs.flatMap(({ key }) => [key, key.split(".")[0] ?? key]);
    const taken = new Set([...given, ...keys]);
    const names = this.#view.parameters.map(({ name }) => name);
    const left = names.filter((name) => !taken.has(name));
    for (const { text, value } of this.#values) {
      const key = left.shift();
      if (key !== undefined) this.#pairs.push({ key, value });
      else this.#problems.push(unexpected(text, names));
    }
    return { pairs: this.#pairs, problems: this.#problems, refused: this.#refused };
  }

  /** The parameter that is meant, also if it is written `max-results`; with the rest of a path into it. */
  #named(key: string): string | undefined {
    const names = this.#view.parameters.map(({ name }) => name);
    if (names.includes(key)) return key;
    const [first = key, ...rest] = key.split(".");
    if (names.includes(first)) return key;
    const alike = names.filter((name) => plain(name) === plain(first));
    return alike.length === 1 ? [alike[0], ...rest].join(".") : undefined;
  }

  #isMistyped(key: string): boolean {
    const names = this.#view.parameters.map(({ name }) => name);
    return closest(key.split(".")[0] ?? key, names) !== undefined;
  }

  #isFlag(name: string): boolean {
    return this.#typesOf(name).includes("boolean");
  }

  /** Whether the word after an option is its value. */
  #takes(name: string | undefined, { text, pair }: LooseWord): boolean {
    if (name === undefined) return pair === undefined || this.#named(pair.key) === undefined;
    return !this.#isFlag(name) || text === "true" || text === "false";
  }

  #typesOf(name: string): string[] {
    const parameter = this.#view.parameters.find((each) => each.name === name);
    return parameter === undefined
      ? []
      : this.#view.alternatives(parameter.schema).flatMap(typesOf);
  }
}

/** As other programs have it: `--args '{"title": "x"}'`. */
const ALL = "args";

function asObject(value: GivenValue | undefined): JsonObject | undefined {
  const parsed =
    value === undefined || value.kind === "json" ? value?.value : tryParseJson(value.text);
  return isJsonObject(parsed) ? parsed : undefined;
}

const TRUE = { kind: "text", text: "true" } as const;

function plain(name: string): string {
  return name.replace(/[-_]/g, "").toLowerCase();
}

function unexpected(text: string, names: readonly string[]): string {
  const takes =
    names.length === 0 ? "the tool takes no arguments" : `the tool takes ${listed(names)}`;
  return `unexpected argument '${shortName(text)}'; ${takes}`;
}
