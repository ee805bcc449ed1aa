// What a configured value may refer to: variables as `${NAME}` and `${NAME:-default}`, with `$${` for a
// literal `${`, and secrets as `secret://<provider>/<path>`. This file reads such references; resolve.ts
// replaces them.

import { SECRET_PROVIDERS } from "../../model/secret-provider.ts";
import { closest } from "../../util/closest.ts";
import { alternatives, quote } from "../issue.ts";

type TemplatePart =
  | { kind: "text"; text: string }
  | { kind: "variable"; name: string; fallback?: string };

export type Template =
  | { kind: "parts"; parts: TemplatePart[] }
  /** `offset` is where the reference starts in the value. */
  | { kind: "malformed"; offset: number; reason: string };

const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([^]*))?$/;

/** An escaped `${`, a reference that may lack its `}`, or text. */
const TOKENS = /(\$\$\{)|\$\{([^}]*)(\})?|\$|[^$]+/g;

export function parseTemplate(value: string): Template {
  const parts: TemplatePart[] = [];
  let text = "";
  const endText = (): void => {
    if (text !== "") parts.push({ kind: "text", text });
    text = "";
  };
  for (const { 0: token, 1: escaped, 2: inside, 3: close, index: offset } of value.matchAll(
    TOKENS,
  )) {
    if (inside === undefined) {
      text += escaped === undefined ? token : "${";
      continue;
    }
    const malformed = (reason: string): Template => ({ kind: "malformed", offset, reason });
    if (close === undefined) return malformed('has "${" without a closing "}"');
    if (inside.includes("${")) return malformed('has "${" inside another "${"');
    const [, name, fallback] = VARIABLE.exec(inside) ?? [];
    if (name === undefined) return malformed("has a malformed ${…}");
    endText();
    parts.push({ kind: "variable", name, fallback });
  }
  endText();
  return { kind: "parts", parts };
}

/** What is wrong with the references in a value, or undefined. */
export function referenceProblem(value: string): string | undefined {
  const template = parseTemplate(value);
  return template.kind === "malformed"
    ? `${template.reason} at character ${template.offset + 1}; expected \${NAME} or \${NAME:-default}, or $\${ for a literal \${`
    : secretProblem(value);
}

/** True for anything that was meant as a secret reference, malformed ones included. */
export function mentionsSecret(value: string): boolean {
  return /secret:\/\//i.test(value);
}

function secretProblem(value: string): string | undefined {
  if (!/^secret:\//i.test(value)) {
    return mentionsSecret(value)
      ? `has a secret:// reference inside other text; expected the reference to be the whole value`
      : undefined;
  }
  const [, provider, path] = /^secret:\/\/([^/]*)(?:\/([^]*))?$/.exec(value) ?? [];
  if (!provider || !path || /[\s\p{Cc}]/u.test(path)) {
    return "is a malformed secret reference; expected secret://<provider>/<path>";
  }
  if (SECRET_PROVIDERS.some((known) => known === provider)) return undefined;
  const meant = closest(provider, SECRET_PROVIDERS);
  const suggestion = meant === undefined ? "" : `; did you mean "${meant}"?`;
  return `names the unknown secret provider ${quote(provider)}; expected ${alternatives(SECRET_PROVIDERS)}${suggestion}`;
}
