// Hides what looks like a credential in a message between a board and a server: by the name of the field that it is in,
// by its form, and by its place in an address. For people who look at messages, and for files with them. Secrets of the
// configuration are the redactor's business.

import { isJsonObject, type JsonObject } from "../types/json.ts";
import { credentialLikeness, isCredential, type Likeness } from "./credential-name.ts";
import { hideInValue, MARK } from "./hide.ts";

/** Tokens that say where to go on, not who you are. */
const NO_CREDENTIAL = /progress|page|next|continuation|cursor|sync|cancel/i;
/** No scheme is longer. A bound keeps the search linear. */
const ADDRESS = /\b[a-z][a-z0-9+.-]{0,15}:\/\/[^\s"'<>\\]+/gi;

/** A member of an object whose value is a text, in JSON that may have been cut off. */
const MEMBER = /"((?:[^"\\]|\\.){1,100})"(\s*:\s*)"((?:[^"\\]|\\.)*)("?)/g;

/** A copy where something is hidden. Recursive, so the depth must have been bounded. */
export function hideInMessage<Value>(value: Value): Value {
  return hideIn(value, undefined) as Value;
}

/** For JSON text whose end may be missing. */
export function hideInJsonText(text: string): string {
  const told = text.replace(MEMBER, (whole, name: string, colon: string, value: string, end) =>
    isCredential(value, likenessOf(name)) ? `"${name}"${colon}"${MARK}${String(end)}` : whole,
  );
  return hideInAddresses(told);
}

function hideIn(value: unknown, likeness: Likeness): unknown {
  if (typeof value === "string") return hideInText(value, likeness);
  // A list of tokens is a list of credentials.
  if (Array.isArray(value)) return value.map((each) => hideIn(each, likeness));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([key, each]): [string, unknown] => {
    return [key, hideIn(each, isJsonObject(each) ? undefined : likenessOf(key))];
  });
  // Object.fromEntries defines keys, so `__proto__` stays a key.
  return Object.fromEntries(members) satisfies JsonObject;
}

function hideInText(text: string, likeness: Likeness): string {
  if (text === "" || text === MARK) return text;
  return isCredential(text, likeness) ? MARK : hideInAddresses(text);
}

function hideInAddresses(text: string): string {
  return text.includes("://") ? text.replace(ADDRESS, (each) => hideInValue(each)) : text;
}

/** Names that only may hold a credential hold many other things in the results of tools. */
function likenessOf(name: string): Likeness {
  const likeness = credentialLikeness(name);
  return likeness === "maybe" || NO_CREDENTIAL.test(name) ? undefined : likeness;
}
