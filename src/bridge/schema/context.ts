// What one conversion carries along: the rules, the place it is at, what it may still spend, what it noted.

import type { JsonObject } from "../../model/json.ts";
import { oneLine } from "../../util/text.ts";
import type { Piece } from "./piece.ts";
import type { Rules } from "./rules.ts";

/** `$ref`s that were followed to get here. */
export interface Trail {
  refs: Set<string>;
  parent: Trail | undefined;
}

export interface Place {
  /** JSON pointer into the server's schema; through a `$ref`, as if it stood there in full. */
  path: string;
  /** Objects and arrays around it in the result. */
  level: number;
  /** Conversions around it. */
  depth: number;
  trail: Trail | undefined;
}

export interface Context {
  rules: Rules;
  root: JsonObject;
  budget: Budget;
  notes: Notes;
  totals: { properties: number; enumValues: number; characters: number };
  /** Here and not imported, since what converts the parts of a schema must convert schemas. */
  convert(schema: unknown, place: Place): Piece;
}

/** References multiply: ten that lead to ten others each are a thousand after three steps. */
const MAX_STEPS = 50_000;
/** Text costs too, each time that a reference leads to it. */
export const CHARACTERS_A_STEP = 32;
export const MAX_DEPTH = 40;
const MAX_NOTES = 100;

export class Budget {
  #left = MAX_STEPS;

  /** Says whether there was enough left. */
  spend(steps = 1): boolean {
    this.#left -= steps;
    return this.#left >= 0;
  }

  get exceeded(): boolean {
    return this.#left < 0;
  }
}

export class Notes {
  readonly list: string[] = [];
  #unsaid = 0;

  add(place: Place, words: string): void {
    if (this.list.length < MAX_NOTES) {
      this.list.push(`${oneLine(place.path, 300) || "/"}: ${oneLine(words, 300)}`);
    } else this.#unsaid += 1;
  }

  finish(): string[] {
    return this.#unsaid === 0 ? this.list : [...this.list, `and ${this.#unsaid} more like these`];
  }
}

export function below(place: Place, ...keys: (string | number)[]): Place {
  let { path } = place;
  for (const key of keys) {
    path += `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  }
  return { ...place, path, depth: place.depth + 1 };
}

/** `below`, inside another object or array of the result. */
export function inside(place: Place, ...keys: (string | number)[]): Place {
  return { ...below(place, ...keys), level: place.level + 1 };
}
