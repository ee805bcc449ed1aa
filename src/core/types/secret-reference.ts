// How a reference to a secret looks in a text: `secret://…` as the whole value, `${secret://…}` inside another one.

/** `op://vault/item/field` is how 1Password itself writes a reference. */
const REFERENCE = /^(?:secret|op):\/\//i;

/** Whether a value as a whole is meant as a reference. It may be malformed. */
export function isReference(value: string): boolean {
  return REFERENCE.test(value);
}

/** A value as it is written inside another text: a reference to a secret stands in braces there. */
export function inText(value: string): string {
  return isReference(value) ? `\${${value}}` : value;
}

/** True for anything that was meant as a secret reference, malformed ones included. */
export function mentionsSecret(value: string): boolean {
  return /secret:\/\/|^op:\/\/|\$\{op:\/\//i.test(value);
}
