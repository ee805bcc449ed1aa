// Has the credentials of an endpoint redacted: by themselves, or, where that would hide ordinary words too, only
// together with what stands around them.

import type { Endpoint } from "../model/server-definition.ts";
import { type Credential, collectSecrets, namesIn } from "./collect.ts";
import type { Redactor } from "./redactor.ts";

/** Returns the credentials that are not searched for by themselves. */
export function protect(
  redactor: Redactor,
  unresolved: Endpoint,
  resolved: Endpoint,
): Credential[] {
  redactor.addNames(namesIn(resolved));
  const found = collectSecrets(unresolved, resolved);
  for (const { value } of found) redactor.add(value);
  const unprotected = found.filter(({ value }) => !redactor.canProtect(value));
  for (const { phrases } of unprotected) {
    for (const phrase of phrases) redactor.addPhrase(phrase);
  }
  return unprotected;
}
