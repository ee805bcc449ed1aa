// Compiles an outputSchema into a check. A schema may be as hostile as an answer: its size is bounded, it has
// an ajv instance of its own so that its `$id`s cannot clash with others, and nothing it refers to is fetched.

import { isIPv4, isIPv6 } from "node:net";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Ajv } from "ajv/dist/ajv.js";
import type { ErrorObject } from "ajv/dist/core.js";
import { isDate } from "../../types/form.ts";
import type { JsonObject } from "../../types/json.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { oneLine } from "../../../util/text.ts";
import { createBudget, meter, uniqueItems } from "./meter.ts";

/** The time to compile grows with the square of a schema: half a second at this size, 10 s at ten times the size. */
const SCHEMA_BOUNDS = { depth: 64, values: 2000 };
const LONGEST_SCHEMA = 256 * 1024;

/** The elements of a web page nest deeper than 64. The stack would allow ten times 200. */
const ANSWER_BOUNDS = { depth: 200, values: 200_000 };

/** A few for each value of the largest answer. They take half a second at worst. */
const MOST_STEPS = 2_000_000;

/** `unchecked` means that the check itself had to be given up. */
export type OutputCheck = { kind: "valid" } | { kind: "broken" | "unchecked"; reason: string };

export type CompiledSchema =
  | {
      kind: "enforced";
      check: (answer: unknown) => OutputCheck;
      /** Patterns that are not enforced. */
      ignored: string[];
    }
  | { kind: "unusable"; reason: string };

const VALID: OutputCheck = { kind: "valid" };

/** Never rejects. */
export async function compileSchema(schema: JsonObject): Promise<CompiledSchema> {
  const tooLarge = excess(schema, SCHEMA_BOUNDS);
  if (tooLarge !== undefined) return { kind: "unusable", reason: `it ${tooLarge}` };
  const text = JSON.stringify(schema);
  if (text.length > LONGEST_SCHEMA) return { kind: "unusable", reason: "it is too long" };
  try {
    return await compile(schema, text);
  } catch (error) {
    // The stack overflowed: references form a loop, or a very long chain.
    if (error instanceof RangeError) return { kind: "unusable", reason: "it is too intricate" };
    const reason = errorMessage(error);
    return { kind: "unusable", reason: oneLine(reason, 200) };
  }
}

async function compile(schema: JsonObject, text: string): Promise<CompiledSchema> {
  const budget = createBudget(MOST_STEPS);
  const ignored: string[] = [];
  const patterns = text.includes('"pattern')
    ? (await import("./pattern.ts")).createPatterns(budget, (pattern) => ignored.push(pattern))
    : undefined;
  const ajv = new (draftOf(schema))({
    strict: false,
    meta: false,
    validateSchema: false,
    logger: false,
    // Without this, `toString` would count as a property of every answer.
    ownProperties: true,
    // Otherwise a large definition is compiled again for each reference to it.
    inlineRefs: false,
    formats: { ...FORMATS },
    code: { optimize: false, regExp: patterns?.regExp },
  });
  // A keyword of an older draft. ajv would reject a schema that has it.
  ajv.removeKeyword("id");
  meter(ajv, budget);
  ajv.removeKeyword("uniqueItems").addKeyword(uniqueItems(budget));
  if (patterns !== undefined) ajv.removeKeyword("pattern").addKeyword(patterns.keyword);
  // With `$async`, validate would return a promise, which is always truthy.
  const { $async: _, ...plain } = schema;
  const validate = ajv.compile(plain);
  const check = (answer: unknown): OutputCheck => {
    const tooLarge = excess(answer, ANSWER_BOUNDS);
    if (tooLarge !== undefined) return { kind: "unchecked", reason: `it ${tooLarge}` };
    budget.refill();
    try {
      if (validate(answer)) return VALID;
      return { kind: "broken", reason: faultLine(validate.errors ?? []) };
    } catch {
      // The budget is spent or, with references in a loop, the stack overflowed.
      return { kind: "unchecked", reason: "that takes too many steps" };
    } finally {
      validate.errors = null;
    }
  };
  return { kind: "enforced", check, ignored };
}

/** MCP's default is 2020-12. */
function draftOf({ $schema }: JsonObject): typeof Ajv2020 | typeof Ajv2019 | typeof Ajv {
  const draft = typeof $schema === "string" ? $schema : "";
  if (draft.includes("/draft-07/") || draft.includes("/draft-06/")) return Ajv;
  return draft.includes("/2019-09/") ? Ajv2019 : Ajv2020;
}

interface Bounds {
  depth: number;
  /** Objects, lists, and everything in them. */
  values: number;
}

const TOO_MANY = -1;
const TOO_DEEP = -2;

/** Which bound a value exceeds, as the end of a sentence about it. Looks at no more of the value than the bounds allow. */
function excess(value: unknown, bounds: Bounds): string | undefined {
  const left = count(value, bounds.depth, bounds.values);
  if (left === TOO_DEEP) return `is nested more than ${bounds.depth} deep`;
  return left === TOO_MANY ? `has more than ${bounds.values} values` : undefined;
}

/** How many more values are allowed, or which bound was exceeded. The recursion ends with the depth. */
function count(value: unknown, depth: number, left: number): number {
  let rest = left - 1;
  if (typeof value !== "object" || value === null) return Math.max(rest, TOO_MANY);
  if (depth === 0) return TOO_DEEP;
  const members = Array.isArray(value) ? value : Object.values(value);
  if (members.length > rest) return TOO_MANY;
  for (const member of members) {
    rest = count(member, depth - 1, rest);
    if (rest < 0) return rest;
  }
  return rest;
}

const LONGEST_PATH = 200;
const LONGEST_REASON = 200;
/** This many characters of a text are read, so that reading stays cheap. */
const MOST_READ = 2000;

/** The reason why an answer is refused, in one line. ajv lists the outermost error last, after those of the branches it tried. */
function faultLine(errors: readonly ErrorObject[]): string {
  const last = errors.at(-1);
  // ajv says only "must match then" about a failed `if`; the error before it names what failed.
  const error = last?.keyword === "if" ? (errors.at(-2) ?? last) : last;
  if (error === undefined) return "is not valid";
  const reason = oneLine(`${error.message ?? "is not valid"}${propertyOf(error)}`, LONGEST_REASON);
  const path = oneLine(withoutEnds(error.instancePath), LONGEST_PATH);
  return path === "" ? reason : `${path} ${reason}`;
}

/** For some keywords, only the parameters name the property. */
function propertyOf({ params }: ErrorObject): string {
  const { additionalProperty, unevaluatedProperty, propertyName } = params;
  const name: unknown = additionalProperty ?? unevaluatedProperty ?? propertyName;
  return typeof name === "string" ? ` ('${withoutEnds(name)}')` : "";
}

/**
 * Without the ends of lines: a space for one would hide a secret from whoever redacts the message. Cut first, because a server
 * has written it, and blanks without an end take the pattern the square of their number.
 */
function withoutEnds(text: string): string {
  return text.slice(0, MOST_READ).replace(/\s*[\r\n]\s*/g, "");
}

type FormatCheck = (text: string) => boolean;

const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d{1,18})?(?:z|[+-]\d\d:?\d\d)$/i;
const EMAIL = /^[^\s@]{1,64}@[^\s@]{1,255}$/;
const UUID = /^(?:urn:uuid:)?[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
/** A scheme, then nothing that has to be encoded. Letters beyond ASCII pass. */
const URI = /^[a-z][a-z\d+.-]{0,63}:[^\s<>"{}|\\^`]*$/i;

/**
 * The formats that are checked, each in linear time. They are lenient where a stricter check would refuse
 * what honest servers send. Other formats are not checked.
 */
export const FORMATS: Readonly<Record<string, FormatCheck>> = {
  "date-time": (text) =>
    /[t ]/i.test(text[10] ?? "") && isDate(text.slice(0, 10)) && isTime(text.slice(11)),
  date: isDate,
  time: isTime,
  email: (text) => EMAIL.test(text),
  uri: (text) => URI.test(text),
  uuid: (text) => UUID.test(text),
  ipv4: (text) => isIPv4(text),
  // Node accepts a zone (`fe80::1%eth0`), which does not belong to an address.
  ipv6: (text) => isIPv6(text) && !text.includes("%"),
};

function isTime(text: string): boolean {
  const [, hour, minute, second] = TIME.exec(text) ?? [];
  // A leap second has the number 60.
  return hour !== undefined && Number(hour) < 24 && Number(minute) < 60 && Number(second) <= 60;
}
