// The stored secrets that a change of a configuration leaves behind: it referred to them, and nothing in it does any more.

import { referencesIn } from "../../core/config/schema/references.ts";
import { parseText } from "../../core/config/text/document.ts";
import { SECRET_STORES, type SecretReference } from "../../core/types/secret-provider.ts";
import { someString } from "../../util/value-strings.ts";
import { visible } from "../../util/visible.ts";
import { WHERE } from "../store-secret.ts";

export interface LeftSecret {
  /** The reference, as it was written. */
  text: string;
  /** Where it is, in words. */
  where: string;
}

/** Only those of the stores that a value can be put into. */
export function leftSecrets(before: string, after: string): LeftSecret[] {
  const left = new Map<string, LeftSecret>();
  for (const reference of referencesOf(before)) {
    const { provider, text } = reference;
    const store = SECRET_STORES.find((each) => each === provider);
    if (store === undefined || after.includes(text)) continue;
    const where = store === "file" ? visible(reference.path) : WHERE[store];
    left.set(text, { text, where });
  }
  return [...left.values()];
}

function referencesOf(text: string): SecretReference[] {
  const document = parseText(text);
  const found: SecretReference[] = [];
  if (document.kind !== "document") return found;
  someString(document.value, (each) => {
    found.push(...referencesIn(each));
    return false;
  });
  return found;
}

export function leftLines(secrets: readonly LeftSecret[]): string[] {
  return secrets.map(
    ({ text, where }) => `a secret stays in ${where}, where you can delete it: ${visible(text)}`,
  );
}
