// The single values that the schemas are made of. Every zod message here completes the sentence
// "expected …", except those of `verified`, which are whole; check.ts builds the sentences.

import { z } from "zod";
import { sentence } from "./compound.ts";
import { mentionsSecret, secretProblem } from "./secret-reference.ts";
import { parseTemplate } from "./template.ts";
import { urlProblem } from "./url.ts";

const DAY = 24 * 60 * 60 * 1000;

export function flag() {
  return z.boolean({ error: "true or false" });
}

export function text() {
  return z.string({ error: "a string" }).min(1, { error: "a string that is not empty" });
}

export function integer(min: number, max: number, of = "", orElse = "") {
  const error = `a whole number${of} from ${min} to ${max}${orElse}`;
  return z.number({ error }).int({ error }).min(min, { error }).max(max, { error });
}

export function milliseconds(min: 0 | 1 = 1) {
  return integer(min, DAY, " of milliseconds");
}

export function bytes(max: number) {
  return integer(1024, max, " of bytes");
}

export function oneOf<const Values extends readonly string[]>(values: Values) {
  return z.enum(values, { error: `one of ${values.join(", ")}` });
}

export function listOf<Item extends z.ZodType>(item: Item) {
  return z.array(item, { error: "a list" });
}

/** A string that also passes a check of our own. */
export function verified(problem: (value: string) => string | undefined, schema = text()) {
  return schema.check(({ value, issues }) => {
    if (issues.length > 0) return;
    const message = problem(value);
    if (message !== undefined) issues.push(sentence(message, "value"));
  });
}

/** A value that may hold `${VAR}` or be a `secret://` reference. */
export function resolvable() {
  return verified(resolvableProblem);
}

/** `alsoWrong` is a further check for values of one kind. */
export function resolvableOrEmpty(
  alsoWrong: (value: string) => string | undefined = () => undefined,
) {
  return verified(
    (value) => resolvableProblem(value) ?? alsoWrong(value),
    z.string({ error: "a string" }),
  );
}

export function resolvableUrl() {
  return verified((url) => {
    const isLiteral = !url.includes("${") && !mentionsSecret(url);
    return resolvableProblem(url) ?? (isLiteral ? urlProblem(url) : undefined);
  });
}

function resolvableProblem(value: string): string | undefined {
  if (value.includes("\0")) return "has a NUL character in it";
  const template = parseTemplate(value);
  if (template.kind === "malformed") {
    return `${template.reason} at character ${template.offset + 1}; expected \${NAME} or \${NAME:-default}, or $\${ for a literal \${`;
  }
  return secretProblem(value);
}
