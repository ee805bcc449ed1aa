// Converts quantities between everyday units.

import * as z from "zod";
import { closest } from "../util/closest.ts";

/** The factor leads to the first unit of the kind. Plurals in -s are understood. */
type UnitRow = [symbol: string, kind: string, factor: number, ...names: string[]];

const UNITS: readonly UnitRow[] = [
  ["m", "length", 1, "metre", "meter"],
  ["km", "length", 1000, "kilometre", "kilometer"],
  ["cm", "length", 0.01, "centimetre", "centimeter"],
  ["mm", "length", 0.001, "millimetre", "millimeter"],
  ["in", "length", 0.0254, "inch", "inches"],
  ["ft", "length", 0.3048, "foot", "feet"],
  ["mi", "length", 1609.344, "mile"],
  ["kg", "mass", 1, "kilogram"],
  ["g", "mass", 0.001, "gram"],
  ["oz", "mass", 0.028349523125, "ounce"],
  ["lb", "mass", 0.45359237, "pound"],
  ["l", "volume", 1, "litre", "liter"],
  ["ml", "volume", 0.001, "millilitre", "milliliter"],
  ["fl oz", "volume", 0.0295735295625, "fluid ounce"],
  ["gal", "volume", 3.785411784, "gallon"],
  ["K", "temperature", 1, "kelvin"],
  ["°C", "temperature", 1, "celsius", "C"],
  ["°F", "temperature", 5 / 9, "fahrenheit", "F"],
];

const ABSOLUTE_ZERO: Record<string, number> = { "°C": -273.15, "°F": -459.67 };

/** Fewer digits than a double has, so that 98.6 °F is 37 °C and not 36.99999999999999. */
const DIGITS = 12;

export const Conversion = z.object({ from: z.string(), to: z.string(), result: z.number() });
export type Conversion = z.infer<typeof Conversion>;

/** Throws for an unknown unit, and for two units of different kinds. */
export function convertUnits(value: number, from: string, to: string): Conversion {
  const [source, sourceKind, sourceFactor] = findUnit(from);
  const [target, targetKind, targetFactor] = findUnit(to);
  if (sourceKind !== targetKind) {
    const choices = UNITS.filter(([, kind]) => kind === sourceKind).map(([symbol]) => symbol);
    throw new Error(
      `Cannot convert ${source} (${sourceKind}) to ${target} (${targetKind}). ` +
        `Units of ${sourceKind}: ${choices.join(", ")}.`,
    );
  }
  const base = (value - (ABSOLUTE_ZERO[source] ?? 0)) * sourceFactor;
  const result = base / targetFactor + (ABSOLUTE_ZERO[target] ?? 0);
  return { from: source, to: target, result: Number(result.toPrecision(DIGITS)) };
}

function findUnit(text: string): UnitRow {
  const wanted = text.trim().replace(/\s+/g, " ");
  const unit = UNITS.find((each) => spellings(each).includes(wanted.toLowerCase()));
  if (unit !== undefined) return unit;
  const near = closest(wanted, UNITS.flatMap(spellings));
  const known = UNITS.map(([symbol]) => symbol).join(", ");
  const hint = near === undefined ? `Known units: ${known}.` : `Did you mean "${near}"?`;
  throw new Error(`Unknown unit "${wanted}". ${hint}`);
}

function spellings([symbol, , , ...names]: UnitRow): string[] {
  const folded = [symbol, ...names].map((name) => name.toLowerCase());
  return [...folded, ...folded.map((name) => `${name}s`)];
}
