// An outputSchema as a check. A schema is as hostile as any answer: it is compiled within bounds, by an
// instance of its own, so that its `$id`s meet nobody else's, and nothing it refers to is ever fetched.

import type { Ajv2020, Options } from "ajv/dist/2020.js";
import type { JsonObject } from "../../model/json.ts";
import { oneLine } from "../../util/text.ts";
import { excess } from "./bounds.ts";
import { createBudget } from "./budget.ts";
import { faultLine } from "./fault.ts";
import { FORMATS } from "./formats.ts";
import { meter } from "./meter.ts";
import { uniqueItems } from "./unique.ts";

/** ajv's compile time grows with the square of a schema: half a second at this size, 10 s at ten times it. */
const SCHEMA_BOUNDS = { depth: 64, values: 2000 };
const LONGEST_SCHEMA = 256 * 1024;

/** A page's tree of elements goes beyond 64; the stack would carry ten times as much. */
const ANSWER_BOUNDS = { depth: 200, values: 200_000 };

/** A few for each value of the largest answer; in the worst case half a second. */
const MOST_STEPS = 2_000_000;

export type Verdict = { kind: "valid" } | { kind: "broken" | "unchecked"; reason: string };

export type CompiledSchema =
  | {
      kind: "enforced";
      check: (answer: unknown) => Verdict;
      /** Patterns that are not enforced. */
      ignored: string[];
    }
  | { kind: "unusable"; reason: string };

const VALID: Verdict = { kind: "valid" };

/** Never rejects. */
export async function compileSchema(schema: JsonObject): Promise<CompiledSchema> {
  const tooLarge = excess(schema, SCHEMA_BOUNDS);
  if (tooLarge !== undefined) return { kind: "unusable", reason: `it ${tooLarge}` };
  const text = JSON.stringify(schema);
  if (text.length > LONGEST_SCHEMA) return { kind: "unusable", reason: "it is too long" };
  try {
    return await compile(schema, text);
  } catch (error) {
    // The stack: references that lead to themselves alone, or far too many of them in a chain.
    if (error instanceof RangeError) return { kind: "unusable", reason: "it is too intricate" };
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: "unusable", reason: oneLine(reason, 200) };
  }
}

async function compile(schema: JsonObject, text: string): Promise<CompiledSchema> {
  const budget = createBudget(MOST_STEPS);
  const ignored: string[] = [];
  const patterns = text.includes('"pattern')
    ? (await import("./pattern.ts")).createPatterns(budget, (pattern) => ignored.push(pattern))
    : undefined;
  const Ajv = await draftOf(schema);
  const ajv = new Ajv({
    strict: false,
    meta: false,
    validateSchema: false,
    logger: false,
    // `toString` is no property of an answer.
    ownProperties: true,
    // A large definition that is referred to often would be compiled as often.
    inlineRefs: false,
    formats: { ...FORMATS },
    code: { optimize: false, ...(patterns !== undefined && { regExp: patterns.regExp }) },
  });
  // Of a draft that is not spoken here; a schema that has one is right in all else.
  ajv.removeKeyword("id");
  meter(ajv, budget);
  ajv.removeKeyword("uniqueItems").addKeyword(uniqueItems(budget));
  if (patterns !== undefined) ajv.removeKeyword("pattern").addKeyword(patterns.keyword);
  // A server's `$async` would turn the verdict into a promise, which is always true.
  const { $async: _, ...plain } = schema;
  const validate = ajv.compile(plain);
  const check = (answer: unknown): Verdict => {
    const tooLarge = excess(answer, ANSWER_BOUNDS);
    if (tooLarge !== undefined) return { kind: "unchecked", reason: `it ${tooLarge}` };
    budget.refill();
    try {
      if (validate(answer)) return VALID;
      return { kind: "broken", reason: faultLine(validate.errors ?? []) };
    } catch {
      // The budget or, with references that lead to themselves, the stack.
      return { kind: "unchecked", reason: "that takes too many steps" };
    } finally {
      validate.errors = null;
    }
  };
  return { kind: "enforced", check, ignored };
}

type AjvClass = new (options: Options) => Ajv2020;

/** 2020-12 is MCP's default. */
async function draftOf({ $schema }: JsonObject): Promise<AjvClass> {
  const draft = typeof $schema === "string" ? $schema : "";
  if (draft.includes("/draft-07/") || draft.includes("/draft-06/")) {
    return (await import("ajv/dist/ajv.js")).Ajv;
  }
  if (draft.includes("/2019-09/")) return (await import("ajv/dist/2019.js")).Ajv2019;
  return (await import("ajv/dist/2020.js")).Ajv2020;
}
