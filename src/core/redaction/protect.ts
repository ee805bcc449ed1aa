// Has the credentials of a target redacted: by themselves, or, where that would hide ordinary words too, only
// together with what stands around them.

import type { ServerTarget } from "../types/server-definition.ts";
import type { Environment } from "../../util/environment.ts";
import { type Credential, collectSecrets, namesInTarget } from "./collect.ts";
import type { Redactor } from "./redactor.ts";

/**
 * Returns the credentials that would hide ordinary words if they were searched for by themselves, without those that are
 * doubtful. With `place`, the credentials replace those that were there before.
 */
export function protect(
  redactor: Redactor,
  unresolved: ServerTarget,
  resolved: ServerTarget,
  env: Environment,
  place?: string,
): Credential[] {
  // Only this server's names: they must not end the protection of another server's credentials.
  const names = new Set(namesInTarget(unresolved, resolved).map((name) => name.toLowerCase()));
  const found = collectSecrets(unresolved, resolved, env);
  // What a reference stands for is known already, and is a secret even if it is a name as well.
  const isName = (value: string): boolean =>
    names.has(value.toLowerCase()) && !redactor.isCertain(value);
  const secrets = found.flatMap(({ value }) => (isName(value) ? [] : [value]));
  if (place !== undefined) redactor.replace(place, secrets);
  else for (const value of secrets) redactor.add(value);
  const unprotected = found.filter(({ value }) => isName(value) || !redactor.canProtect(value));
  for (const { phrases } of unprotected) {
    for (const phrase of phrases) redactor.addPhrase(phrase);
  }
  return unprotected.filter(({ isDoubtful }) => !isDoubtful);
}
