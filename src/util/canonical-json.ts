// One text for one JSON value, whatever the order its keys came in: what hashes are taken of.

/** Written next, or to be taken apart. */
type Step = { text: string } | { value: unknown };

/** Walks without recursion: depth costs memory, not stack. The value must not contain itself. */
export function canonicalJson(value: unknown): string {
  let json = "";
  const steps: Step[] = [{ value }];
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    if ("text" in step) json += step.text;
    else if (Array.isArray(step.value)) pushList(steps, step.value);
    else if (typeof step.value === "object" && step.value !== null) pushObject(steps, step.value);
    else json += JSON.stringify(step.value) ?? "null";
  }
  return json;
}

function pushList(steps: Step[], list: readonly unknown[]): void {
  steps.push({ text: "]" });
  for (let at = list.length - 1; at >= 0; at -= 1) {
    steps.push({ value: list[at] }, { text: at === 0 ? "[" : "," });
  }
  if (list.length === 0) steps.push({ text: "[" });
}

/** Keys are written, never assigned: one named `__proto__` is a key like any other. */
function pushObject(steps: Step[], object: object): void {
  const members = Object.entries(object).filter(([, value]) => value !== undefined);
  members.sort(([a], [b]) => (a < b ? 1 : -1));
  steps.push({ text: "}" });
  members.forEach(([key, value], at) => {
    const comma = at === members.length - 1 ? "" : ",";
    steps.push({ value }, { text: `${comma}${JSON.stringify(key)}:` });
  });
  steps.push({ text: "{" });
}
