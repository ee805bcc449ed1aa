// What is wrong with an answer, in one line: the place as a JSON pointer, and the reason.

import type { ErrorObject } from "ajv/dist/core.js";
import { oneLine } from "../../util/text.ts";

const LONGEST_PATH = 200;
const LONGEST_REASON = 200;

/** The outermost error comes last; those before it are of branches that were tried. */
export function faultLine(errors: readonly ErrorObject[]): string {
  const last = errors.at(-1);
  // "must match then" says nothing, where what failed in there does.
  const error = last?.keyword === "if" ? (errors.at(-2) ?? last) : last;
  if (error === undefined) return "is not valid";
  const reason = oneLine(`${error.message ?? "is not valid"}${propertyOf(error)}`, LONGEST_REASON);
  const path = oneLine(error.instancePath, LONGEST_PATH);
  return path === "" ? reason : `${path} ${reason}`;
}

/** The properties of these are named by their parameters alone. */
function propertyOf({ params }: ErrorObject): string {
  const { additionalProperty, unevaluatedProperty, propertyName } = params;
  const name: unknown = additionalProperty ?? unevaluatedProperty ?? propertyName;
  return typeof name === "string" ? ` ('${name}')` : "";
}
