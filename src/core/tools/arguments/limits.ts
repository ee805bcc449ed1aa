// The limits in a schema: how they read, and whether a value keeps them.

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import { oneLine } from "../../../util/text.ts";
import { choicesOf } from "./schema-view.ts";

export interface Limit {
  /** `1 to 100`, `at most 50 characters`, `matches ^a` */
  text: string;
  /** True for a value of a type that the limit is not about. */
  allows(value: unknown): boolean;
}

const LONGEST_VALUE = 200;

export function schemaLimits(schema: JsonObject): Limit[] {
  const { multipleOf, pattern, format, uniqueItems } = schema;
  // A list of choices says it all.
  if (choicesOf(schema) !== undefined) return [];
  return [
    ...numberLimits(schema),
    ...(typeof multipleOf === "number"
      ? [{ text: `a multiple of ${multipleOf}`, allows: isMultipleOf(multipleOf) }]
      : []),
    ...range(schema["minLength"], schema["maxLength"], lengthOf, "character"),
    // The server's to check: a pattern of a stranger's can take for ever.
    ...(typeof format === "string" ? [forServer(`format ${oneLine(format, LONGEST_VALUE)}`)] : []),
    ...(typeof pattern === "string"
      ? [forServer(`matches ${oneLine(pattern, LONGEST_VALUE)}`)]
      : []),
    ...range(schema["minItems"], schema["maxItems"], itemsOf, "item"),
    ...(uniqueItems === true ? [{ text: "no item twice", allows: hasNoItemTwice }] : []),
    ...range(schema["minProperties"], schema["maxProperties"], fieldsOf, "field"),
  ];
}

function forServer(text: string): Limit {
  return { text, allows: () => true };
}

function numberLimits(schema: JsonObject): Limit[] {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  // In older drafts these are flags of the limits.
  const least = above === true ? undefined : bound(minimum);
  const most = below === true ? undefined : bound(maximum);
  const over = above === true ? bound(minimum) : bound(above);
  const under = below === true ? bound(maximum) : bound(below);
  const when = (holds: (value: number) => boolean) => (value: unknown) =>
    typeof value !== "number" || holds(value);
  return [
    ...range(least, most, numberOf),
    ...(over === undefined
      ? []
      : [{ text: `more than ${over}`, allows: when((value) => value > over) }]),
    ...(under === undefined
      ? []
      : [{ text: `less than ${under}`, allows: when((value) => value < under) }]),
  ];
}

/** zod writes these limits for every integer; they say nothing. */
function bound(value: unknown): number | undefined {
  if (typeof value !== "number" || Math.abs(value) === Number.MAX_SAFE_INTEGER) return undefined;
  return value;
}

/** What is counted or compared; undefined for a value of another type. */
type Measure = (value: unknown) => number | undefined;

const numberOf: Measure = (value) => (typeof value === "number" ? value : undefined);
/** In characters as JSON Schema counts them. */
const lengthOf: Measure = (value) =>
  typeof value === "string" ? Array.from(value).length : undefined;
const itemsOf: Measure = (value) => (Array.isArray(value) ? value.length : undefined);
const fieldsOf: Measure = (value) => (isJsonObject(value) ? Object.keys(value).length : undefined);

function range(least: unknown, most: unknown, measure: Measure, noun?: string): Limit[] {
  const [from, to] = [least, most].map((each) => (typeof each === "number" ? each : undefined));
  const text = rangeText(from, to, noun);
  if (text === undefined) return [];
  return [
    {
      text,
      allows(value) {
        const size = measure(value);
        // What no value can keep is a mistake in the schema, and for the server to judge.
        if (size === undefined || (from ?? -Infinity) > (to ?? Infinity)) return true;
        return size >= (from ?? -Infinity) && size <= (to ?? Infinity);
      },
    },
  ];
}

function rangeText(
  from: number | undefined,
  to: number | undefined,
  noun: string | undefined,
): string | undefined {
  const of = (count: number | undefined): string =>
    noun === undefined ? "" : ` ${noun}${count === 1 ? "" : "s"}`;
  if (from === undefined) return to === undefined ? undefined : `at most ${to}${of(to)}`;
  if (to === undefined) return `at least ${from}${of(from)}`;
  return from === to
    ? `${noun === undefined ? "" : "exactly "}${from}${of(from)}`
    : `${from} to ${to}${of(to)}`;
}

/** Decimal fractions have no exact value: 0.3 is a multiple of 0.1. */
function isMultipleOf(step: number): Limit["allows"] {
  return (value) => {
    if (typeof value !== "number" || step <= 0) return true;
    const times = value / step;
    return Math.abs(times - Math.round(times)) < 1e-6;
  };
}

function hasNoItemTwice(value: unknown): boolean {
  return !Array.isArray(value) || new Set(value.map(canonicalJson)).size === value.length;
}
