// A person's answer to a form, made fit for the wire: the fields that were asked for and no others, with
// the defaults of those left out.

import { fieldProblem, type FormField } from "../../model/form.ts";
import { isJsonObject, type JsonObject } from "../../model/json.ts";

/** The content to send, or what is wrong with which field. */
export function formAnswer(
  fields: readonly FormField[],
  given: unknown,
): { content: JsonObject } | { field: string; problem: string } {
  const answer = isJsonObject(given) ? given : {};
  const content: JsonObject = {};
  for (const field of fields) {
    const { name } = field;
    const value = (Object.hasOwn(answer, name) ? answer[name] : undefined) ?? field.default;
    if (value === undefined) {
      if (field.required) return { field: name, problem: "is missing" };
      continue;
    }
    const problem = fieldProblem(field, value);
    if (problem !== undefined) return { field: name, problem };
    // A name may be `__proto__`, which an assignment would not set.
    Object.defineProperty(content, name, { value, enumerable: true });
  }
  return { content };
}
