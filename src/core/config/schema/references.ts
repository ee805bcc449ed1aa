// What a configured value may refer to: variables as `${NAME}` and `${NAME:-default}`, with `$${` for a
// literal `${`, and secrets as `secret://<provider>/<path>[#key]`, which is the whole value, or stands inside a text as
// `${secret://…}`. This file reads such references; resolve.ts replaces them.

import { SECRET_PROVIDERS, type SecretReference } from "../../types/secret-provider.ts";
import { isReference, mentionsSecret } from "../../types/secret-reference.ts";
import { closest } from "../../../util/closest.ts";
import { inWords } from "../../../util/text.ts";
import { someString } from "../../../util/value-strings.ts";
import { quote } from "../issue.ts";

type TemplatePart =
  | { kind: "text"; text: string }
  | { kind: "variable"; name: string; fallback?: string }
  | { kind: "secret"; reference: SecretReference };

export type Template =
  /** `isReference`: with its variables filled in, the whole value is a reference to a secret. */
  | { kind: "parts"; parts: TemplatePart[]; isReference?: true }
  /** `offset` is where the reference starts in the value. */
  | { kind: "malformed"; offset: number; reason: string };

const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([^]*))?$/;

/** An escaped `${`, a reference that may lack its `}`, or text. */
const TOKENS = /(\$\$\{)|\$\{([^}]*)(\})?|\$|[^$]+/g;

const EXPECTED_REFERENCE = "expected secret://<provider>/<path>, perhaps with #<key>";

export function parseTemplate(value: string): Template {
  const parts: TemplatePart[] = [];
  // Most values are nothing but text.
  const isText = !value.includes("$");
  let text = isText ? value : "";
  const endText = (): void => {
    if (text !== "") parts.push({ kind: "text", text });
    text = "";
  };
  const isWhole = isReference(value);
  const tokens = isText ? [] : value.matchAll(TOKENS);
  for (const { 0: token, 1: escaped, 2: inside, 3: close, index: offset } of tokens) {
    if (inside === undefined) {
      text += escaped === undefined ? token : "${";
      continue;
    }
    const malformed = (reason: string): Template => ({ kind: "malformed", offset, reason });
    if (close === undefined) return malformed('has "${" without a closing "}"');
    if (inside.includes("${")) return malformed('has "${" inside another "${"');
    if (isReference(inside) && !isWhole) {
      const reference = parseReference(inside);
      if (reference === undefined) return malformed("has a malformed secret reference");
      endText();
      parts.push({ kind: "secret", reference });
      continue;
    }
    const [, name, fallback] = VARIABLE.exec(inside) ?? [];
    if (name === undefined) return malformed("has a malformed ${…}");
    endText();
    parts.push({ kind: "variable", name, fallback });
  }
  endText();
  return { kind: "parts", parts, ...(isWhole && { isReference: true as const }) };
}

/** The text that a value stands for, if it is written out and refers to nothing. `$${` stands for `${`. */
export function writtenOut(value: string): string | undefined {
  const template = parseTemplate(value);
  if (template.kind === "malformed" || template.isReference) return undefined;
  const texts = template.parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  return texts.length === template.parts.length ? texts.join("") : undefined;
}

/** Reads `secret://provider/path#key` and `op://…`. Undefined for anything else. */
export function parseReference(text: string): SecretReference | undefined {
  const [, scheme = "", rest = ""] = /^(secret|op):\/\/([^]*)$/.exec(text) ?? [];
  const [, provider = "", path = "", key] =
    /^([a-z][a-z0-9.+-]*)\/([^#]+)(?:#([^]*))?$/i.exec(scheme === "op" ? `op/${rest}` : rest) ?? [];
  if (path === "" || key === "" || path !== path.trim() || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(rest)) {
    return undefined;
  }
  return { provider: nameOf(provider), path, key, text };
}

/** `keychain` is what macOS calls its keyring. */
function nameOf(provider: string): string {
  return provider === "keychain" ? "keyring" : provider;
}

/** The references to secrets in a value, as far as they are known while variables are not filled in. */
export function referencesIn(value: string): SecretReference[] {
  const template = parseTemplate(value);
  if (template.kind === "malformed") return [];
  if (!template.isReference) {
    return template.parts.flatMap((part) => (part.kind === "secret" ? [part.reference] : []));
  }
  const reference = parseReference(value);
  return reference === undefined ? [] : [reference];
}

/** Whether any text in a value refers to a file, whose path may be relative to the configuration. */
export function hasFileReference(value: unknown): boolean {
  return someString(value, (text) =>
    referencesIn(text).some(({ provider }) => provider === "file"),
  );
}

/** What is wrong with the references in a value, or undefined. Which providers there are is not known here. */
export function referenceProblem(value: string): string | undefined {
  const template = parseTemplate(value);
  if (template.kind === "malformed") {
    return `${template.reason} at character ${template.offset + 1}; expected \${NAME}, \${NAME:-default} or \${secret://…}, or $\${ for a literal \${`;
  }
  if (template.isReference) {
    return parseReference(value) === undefined
      ? `is a malformed secret reference; ${EXPECTED_REFERENCE}`
      : undefined;
  }
  const isDefault = template.parts.some(
    (part) => part.kind === "variable" && mentionsSecret(part.fallback ?? ""),
  );
  if (isDefault) return "has a secret reference as the default of a variable; expected one of them";
  const isBare = template.parts.some(
    (part) => part.kind === "text" && /secret:\//i.test(part.text),
  );
  if (!isBare) return undefined;
  return /^secret:\//i.test(value)
    ? `is a malformed secret reference; ${EXPECTED_REFERENCE}`
    : "has a secret:// reference inside other text; expected it as ${secret://…}, or as the whole value";
}

/** Names the provider that there is not, and the one that was meant. `given` are providers of a program's own. */
export function providerProblem(
  { provider }: SecretReference,
  given: readonly string[],
): string | undefined {
  const known = [...new Set([...SECRET_PROVIDERS, ...given])];
  if (known.includes(provider)) return undefined;
  const meant = closest(provider, known);
  const suggestion = meant === undefined ? "" : `; did you mean "${meant}"?`;
  return `names the unknown secret provider ${quote(provider)}; expected ${inWords(known, "or")}${suggestion}`;
}
