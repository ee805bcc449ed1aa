// The state of one conversion: the rules, the current place, the remaining budget and the notes.

import type { JsonObject } from "../../types/json.ts";
import { oneLine } from "../../../util/text.ts";
import type { Rules } from "./provider-rules.ts";

/** The `$ref`s that were followed to get here. */
interface Trail {
  refs: Set<string>;
  parent?: Trail;
}

export interface SchemaPlace {
  /** JSON pointer into the server's schema, as if references were replaced by their targets. */
  path: string;
  /** The number of objects and arrays around it in the result. */
  level: number;
  /** The number of conversions around it. */
  depth: number;
  trail: Trail;
}

/** The state of reading a schema, whatever the schema is converted into. */
export interface SchemaReading {
  root: JsonObject;
  budget: ConversionBudget;
  notes: ConversionNotes;
}

export interface SchemaConversion extends SchemaReading {
  rules: Rules;
  totals: { properties: number; enumValues: number; characters: number };
}

/** References multiply: ten that each lead to ten others are a thousand after three steps. */
const MAX_STEPS = 50_000;
/** Text costs by its length, each time that a reference leads to it. */
export const CHARACTERS_PER_STEP = 32;
export const DEEPEST_SCHEMA = 40;
const MAX_NOTES = 100;

export class ConversionBudget {
  #left = MAX_STEPS;

  /** Returns whether enough was left. */
  spend(steps = 1): boolean {
    this.#left -= steps;
    return this.#left >= 0;
  }

  get exceeded(): boolean {
    return this.#left < 0;
  }
}

export class ConversionNotes {
  readonly list: string[] = [];
  #omitted = 0;

  add(place: SchemaPlace, note: string): void {
    if (this.list.length < MAX_NOTES) {
      this.list.push(`${oneLine(place.path, 300) || "/"}: ${oneLine(note, 300)}`);
    } else this.#omitted += 1;
  }

  finish(): string[] {
    return this.#omitted === 0 ? this.list : [...this.list, `and ${this.#omitted} more like these`];
  }
}

export function below(place: SchemaPlace, ...keys: (string | number)[]): SchemaPlace {
  let { path } = place;
  for (const key of keys) {
    path += `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  }
  return { ...place, path, depth: place.depth + 1 };
}

/** Like `below`, but one object or array deeper in the result. */
export function inside(place: SchemaPlace, ...keys: (string | number)[]): SchemaPlace {
  return { ...below(place, ...keys), level: place.level + 1 };
}
