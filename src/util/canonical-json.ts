// One text for one JSON value, independent of the order of its keys. Hashes are computed from it.

/** Text to write, or a value that still has to be written. */
type JsonPart = { text: string } | { value: unknown };

/** Does not recurse, so that a deep value does not overflow the stack. The value must not contain itself. */
export function canonicalJson(value: unknown): string {
  let json = "";
  const steps: JsonPart[] = [{ value }];
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    if ("text" in step) json += step.text;
    else if (Array.isArray(step.value)) pushList(steps, step.value);
    else if (typeof step.value === "object" && step.value !== null) pushObject(steps, step.value);
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
function pushObject(steps: JsonPart[], object: object): void {
  const members = Object.entries(object).filter(([, value]) => value !== undefined);
  members.sort(([a], [b]) => (a < b ? 1 : -1));
  steps.push({ text: "}" });
  members.forEach(([key, value], at) => {
    const comma = at === members.length - 1 ? "" : ",";
    steps.push({ value }, { text: `${comma}${JSON.stringify(key)}:` });
  });
  steps.push({ text: "{" });
}
