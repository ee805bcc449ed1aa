// The `${VAR}` language of configured values: `${NAME}`, `${NAME:-default}`, and `$${` for a literal `${`.

type TemplatePart =
  | { kind: "text"; text: string }
  | { kind: "variable"; name: string; fallback?: string };

export type Template =
  | { kind: "parts"; parts: TemplatePart[] }
  /** `offset` is where the reference starts in the value. */
  | { kind: "malformed"; offset: number; reason: string };

const REFERENCE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([^]*))?$/;

export function parseTemplate(value: string): Template {
  const parts: TemplatePart[] = [];
  let text = "";
  let position = 0;
  while (position < value.length) {
    if (value.startsWith("$${", position)) {
      text += "${";
      position += 3;
      continue;
    }
    if (!value.startsWith("${", position)) {
      const next = value.indexOf("$", position + 1);
      const end = next === -1 ? value.length : next;
      text += value.slice(position, end);
      position = end;
      continue;
    }
    const reference = readReference(value, position);
    if (reference.kind === "malformed") return reference;
    if (text !== "") parts.push({ kind: "text", text });
    text = "";
    parts.push(reference.part);
    position = reference.end;
  }
  if (text !== "") parts.push({ kind: "text", text });
  return { kind: "parts", parts };
}

function readReference(value: string, offset: number) {
  const close = value.indexOf("}", offset);
  if (close === -1) {
    return malformed(offset, 'has "${" without a closing "}"');
  }
  const inside = value.slice(offset + 2, close);
  if (inside.includes("${")) return malformed(offset, 'has "${" inside another "${"');
  const match = REFERENCE.exec(inside);
  const name = match?.[1];
  if (name === undefined) return malformed(offset, "has a malformed ${…}");
  const fallback = match?.[2];
  const part: TemplatePart =
    fallback === undefined ? { kind: "variable", name } : { kind: "variable", name, fallback };
  return { kind: "reference" as const, part, end: close + 1 };
}

function malformed(offset: number, reason: string) {
  return { kind: "malformed" as const, offset, reason };
}
