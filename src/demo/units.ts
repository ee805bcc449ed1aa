// Finds units by any spelling and converts between them.

import { closest } from "../util/closest.ts";
import type { Attempt } from "./attempt.ts";
import { problem, success } from "./attempt.ts";
import type { Ratio } from "./ratio.ts";
import { add, divide, multiply, ratio, subtract, toNumber } from "./ratio.ts";
import type { Category } from "./unit-table.ts";
import { ABSOLUTE_ZERO, UNIT_TABLE } from "./unit-table.ts";

export interface Unit {
  symbol: string;
  name: string;
  category: Category;
  /** To the category's base unit. */
  factor: string;
  aliases: readonly string[];
}

export interface Conversion {
  value: number;
  from: string;
  to: string;
  result: number;
  category: Category;
}

export const CATEGORIES = Object.keys(UNIT_TABLE) as Category[];

export const UNITS: readonly Unit[] = CATEGORIES.flatMap((category) =>
  UNIT_TABLE[category].map(([symbol, name, factor, ...aliases]) => ({
    symbol,
    name,
    category,
    factor,
    aliases,
  })),
);

/** A symbol counts in its own letter case first: Mb is not MB. Then anything goes that is unambiguous. */
export function findUnit(text: string): Attempt<Unit> {
  const wanted = text.trim().replace(/\s+/gu, " ");
  const exact = UNITS.find((unit) => unit.symbol === wanted || unit.aliases.includes(wanted));
  if (exact) return success(exact);

  const folded = wanted.toLowerCase();
  const matches = UNITS.filter((unit) => spellings(unit).includes(folded));
  const [match] = matches;
  if (match && matches.length === 1) return success(match);
  if (match) {
    const choices = matches.map((unit) => `${unit.symbol} (${unit.name})`).join(" or ");
    return problem(`The unit "${wanted}" can be read in more than one way: ${choices}?`);
  }
  const near = closest(wanted, UNITS.flatMap(spellings));
  const hint =
    near === undefined ? `Categories: ${CATEGORIES.join(", ")}.` : `Did you mean "${near}"?`;
  return problem(`Unknown unit "${wanted}". ${hint}`);
}

function spellings({ symbol, name, aliases }: Unit): string[] {
  const words = [symbol, name, ...aliases].map((word) => word.toLowerCase());
  return [...words, ...words.filter((word) => word.length > 2).map((word) => `${word}s`)];
}

export function convertUnits(value: number, from: string, to: string): Attempt<Conversion> {
  const source = findUnit(from);
  if (!source.ok) return source;
  const target = findUnit(to);
  if (!target.ok) return target;
  const { symbol, name, category } = source.value;
  if (category !== target.value.category) {
    return problem(
      `Cannot convert ${name} (${category}) to ${target.value.name} (${target.value.category}). ` +
        `Units of ${category}: ${symbolsOf(category).join(", ")}.`,
    );
  }
  const base = multiply(
    subtract(ratio(String(value)), zeroOf(source.value)),
    factorOf(source.value),
  );
  const result = add(divide(base, factorOf(target.value)), zeroOf(target.value));
  return success({
    value,
    from: symbol,
    to: target.value.symbol,
    result: toNumber(result),
    category,
  });
}

export function symbolsOf(category: Category): string[] {
  return UNIT_TABLE[category].map(([symbol]) => symbol);
}

function factorOf(unit: Unit): Ratio {
  return ratio(unit.factor);
}

function zeroOf(unit: Unit): Ratio {
  return ratio(ABSOLUTE_ZERO[unit.symbol] ?? "0");
}
