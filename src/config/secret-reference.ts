// What a well-formed `secret://` reference looks like, and how to see one that must not pass as a value.

import { closest } from "../util/closest.ts";
import { alternatives, quote } from "./issue.ts";

export const SECRET_PROVIDERS = [
  "env",
  "file",
  "exec",
  "gcp",
  "aws",
  "vault",
  "azure",
  "keyring",
] as const;

const SHAPE = "secret://<provider>/<path>";

/** True for anything that was meant as a reference, malformed ones included. */
export function mentionsSecret(value: string): boolean {
  return /secret:\/\//i.test(value);
}

/** What is wrong with a value as a reference; undefined where nothing is, or where it is none. */
export function secretProblem(value: string): string | undefined {
  if (!/^secret:\//i.test(value)) {
    return mentionsSecret(value)
      ? `has a secret:// reference inside other text; expected the reference to be the whole value`
      : undefined;
  }
  const match = /^secret:\/\/([^/]*)(?:\/([^]*))?$/.exec(value);
  const provider = match?.[1];
  const path = match?.[2];
  if (!provider || !path || /[\s\p{Cc}]/u.test(path)) {
    return `is a malformed secret reference; expected ${SHAPE}`;
  }
  if (SECRET_PROVIDERS.some((known) => known === provider)) return undefined;
  const meant = closest(provider, SECRET_PROVIDERS);
  const suggestion = meant === undefined ? "" : `; did you mean "${meant}"?`;
  return `names the unknown secret provider ${quote(provider)}; expected ${alternatives(SECRET_PROVIDERS)}${suggestion}`;
}
