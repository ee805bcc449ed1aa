// The single values that the schemas are made of.

import { atValue } from "./issue.ts";
import { type Schema, schema, wrong } from "./kit.ts";
import { mentionsSecret, secretProblem } from "./secret-reference.ts";
import { parseTemplate } from "./template.ts";
import { urlProblem } from "./url.ts";

const DAY = 24 * 60 * 60 * 1000;

export function flag(): Schema<boolean> {
  return schema((value, path) =>
    typeof value === "boolean" ? [] : [wrong(value, path, { expected: "true or false" })],
  );
}

export function textOrEmpty(): Schema<string> {
  return schema((value, path) =>
    typeof value === "string" ? [] : [wrong(value, path, { expected: "a string" })],
  );
}

export function text(): Schema<string> {
  return schema((value, path) => {
    if (typeof value === "string" && value !== "") return [];
    const expected = value === "" ? "a string that is not empty" : "a string";
    return [wrong(value, path, { expected })];
  });
}

export function integer(min: number, max: number, of = "", orElse = ""): Schema<number> {
  const expected = `a whole number${of} from ${min} to ${max}${orElse}`;
  return schema((value, path) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max
      ? []
      : [wrong(value, path, { expected, number: true })],
  );
}

export function milliseconds(min: 0 | 1 = 1): Schema<number> {
  return integer(min, DAY, " of milliseconds");
}

export function bytes(max: number): Schema<number> {
  return integer(1024, max, " of bytes");
}

export function oneOf<const Words extends readonly string[]>(words: Words): Schema<Words[number]> {
  return schema((value, path) =>
    typeof value === "string" && words.includes(value)
      ? []
      : [wrong(value, path, { expected: `one of ${words.join(", ")}`, words })],
  );
}

export function listOf<Item>(item: Schema<Item>): Schema<Item[]> {
  return schema((value, path) =>
    Array.isArray(value)
      ? value.flatMap((each, index) => item.issues(each, [...path, index]))
      : [wrong(value, path, { expected: "a list" })],
  );
}

/** A string that also passes a check of our own, whose answer is a whole sentence. */
export function verified(
  problem: (value: string) => string | undefined,
  of: Schema<string> = text(),
): Schema<string> {
  return schema((value, path) => {
    const issues = of.issues(value, path);
    if (issues.length > 0) return issues;
    const message = problem(String(value));
    return message === undefined ? [] : [atValue(path, message)];
  });
}

/** A value that may hold `${VAR}` or be a `secret://` reference. */
export function resolvable(): Schema<string> {
  return verified(resolvableProblem);
}

/** `alsoWrong` is a further check for values of one kind. */
export function resolvableOrEmpty(
  alsoWrong: (value: string) => string | undefined = () => undefined,
): Schema<string> {
  return verified((value) => resolvableProblem(value) ?? alsoWrong(value), textOrEmpty());
}

export function resolvableUrl(): Schema<string> {
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
