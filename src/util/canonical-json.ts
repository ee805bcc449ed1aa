// JSON text of values of any depth: one text for one value, independent of the order of its keys, from which hashes
// are computed; and the text that JSON.stringify would write if its stack had no end.

import { isTooDeep } from "./json-depth.ts";

/** Text to write, or a value that still has to be written. */
type JsonPart = { text: string } | { value: unknown };

/** Does not recurse, so that a deep value does not overflow the stack. The value must not contain itself. */
export function canonicalJson(value: unknown): string {
  return writeJson(value, true);
}

/** Like `JSON.stringify`, but a value that is too deep to be indented is written on one line. */
export function jsonOfAnyDepth(value: unknown, indent?: number): string {
  const isIndented = indent !== undefined && !isTooDeep(value);
  try {
    return JSON.stringify(value, undefined, isIndented ? indent : undefined);
  } catch (error) {
    // Indented, a large value may be longer than a string can be.
    if (error instanceof RangeError) return writeJson(value, false);
    throw error;
  }
}

function writeJson(value: unknown, isSorted: boolean): string {
  let json = "";
  const steps: JsonPart[] = [{ value }];
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    if ("text" in step) json += step.text;
    else if (Array.isArray(step.value)) pushList(steps, step.value);
    else if (typeof step.value === "object" && step.value !== null)
      pushObject(steps, step.value, isSorted);
    else json += JSON.stringify(step.value) ?? "null";
  }
  return json;
}

function pushList(steps: JsonPart[], list: readonly unknown[]): void {
  steps.push({ text: "]" });
  for (let at = list.length - 1; at >= 0; at -= 1) {
    steps.push({ value: list[at] }, { text: at === 0 ? "[" : "," });
  }
  if (list.length === 0) steps.push({ text: "[" });
}

/** A key named `__proto__` is written like any other. */
function pushObject(steps: JsonPart[], object: object, isSorted: boolean): void {
  const members = Object.entries(object).filter(([, value]) => value !== undefined);
  if (isSorted) members.sort(([a], [b]) => (a < b ? 1 : -1));
  else members.reverse();
  steps.push({ text: "}" });
  members.forEach(([key, value], at) => {
    const comma = at === members.length - 1 ? "" : ",";
    steps.push({ value }, { text: `${comma}${JSON.stringify(key)}:` });
  });
  steps.push({ text: "{" });
}
