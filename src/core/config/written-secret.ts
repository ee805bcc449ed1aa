// Finds a secret that is written out anywhere in the text of a configuration: in a value under any key, in a key, in a
// comment, also percent-encoded or in base64. Whoever reads the files of a deployment reads all of that.

import { formatPath, type KeyPath } from "./issue.ts";
import { parseTemplate, writtenOut } from "./schema/references.ts";
import { parseText } from "./text/document.ts";
import {
  credentialLikeness,
  hasCredentialIn,
  isCredential,
  isKeyInPath,
} from "../redaction/credential-name.ts";
import { hideInJsonText, hideInMessage } from "../redaction/hide-in-message.ts";
import { plaintextCredentials } from "../redaction/with-references.ts";

/** Strings, so that what looks like a comment in one is none; then comments. */
const STRING_OR_COMMENT =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\//g;

/** A name and its value, as in an entry or an option that somebody has commented out. */
const PAIR = /([\w-]{2,60})(?:["']?\s*[:=]\s*|(?<=--[\w-]{2,60})\s+)["']?([^\s"',}\]]{8,})/g;

/** Base64 of either alphabet, without the padding. */
const PACKED = /[\w+/-]{16,}/g;

/** The place of the first one, as the path of its key or as a line. */
export function writtenSecret(text: string): string | undefined {
  const parsed = parseText(text);
  const value = parsed.kind === "document" ? parsed.value : undefined;
  return secretInValue(value, []) ?? secretInText(text);
}

function secretInValue(value: unknown, path: KeyPath): string | undefined {
  if (typeof value === "string") {
    const isIn = isDefault(value, path) || readings(value).some((text) => isSecret(text, path));
    return isIn ? formatPath(path) : undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (path.at(-1) === "args" && Array.isArray(value)) {
    const args = value.filter((each) => typeof each === "string");
    const [first] = args.length === value.length ? plaintextCredentials({ args }) : [];
    if (first !== undefined) return formatPath([...path.slice(0, -1), ...first.path]);
  }
  for (const [key, each] of Object.entries(value)) {
    // A key that is one is not repeated.
    if (readings(key).some(hasCredentialIn)) return `a key of ${formatPath(path) || "the file"}`;
    const found = secretInValue(each, [...path, Array.isArray(value) ? Number(key) : key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The text as it is shown, without its percent-encoding, and what is packed in it. */
function readings(text: string): string[] {
  const shown = text.replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  const decoded = shown.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll("%", ""), "hex").toString("utf8"),
  );
  const packed = Array.from(decoded.matchAll(PACKED), ([part]) =>
    Buffer.from(part, "base64").toString("utf8"),
  );
  // Most words and keys are base64 too, of what is no text.
  const texts = packed.filter((each) => !/[^\P{C}\s]|\uFFFD/u.test(each));
  return [...new Set([text, shown, decoded, ...texts])];
}

/** Whether a variable has a secret as its default. */
function isDefault(value: string, path: KeyPath): boolean {
  const template = parseTemplate(value);
  if (template.kind === "malformed") return false;
  const own = path.findLast((key) => typeof key === "string") ?? "";
  const ofKey = own === "keys" ? "password" : credentialLikeness(own);
  return template.parts.some((part) => {
    if (part.kind !== "variable" || !part.fallback) return false;
    return isCredential(part.fallback, credentialLikeness(part.name) ?? ofKey);
  });
}

function isSecret(value: string, path: KeyPath): boolean {
  if (hasCredentialIn(value)) return true;
  // The path of an issuer often names a tenant by an id that is no secret.
  const mayHaveKey = path.at(-1) === "url" || path.at(-2) === "args";
  if (mayHaveKey && /^https?:/i.test(value) && value.split(/[/?#&=]/).some(isKeyInPath))
    return true;
  const plain = writtenOut(value);
  return plain !== undefined && (hideInMessage(plain) !== plain || hideInJsonText(plain) !== plain);
}

/** Whether a line or a comment has a secret written out in it. */
export function hasSecretIn(text: string): boolean {
  return readings(text).some(isSecretText);
}

function secretInText(text: string): string | undefined {
  for (const { 0: part, index } of text.matchAll(STRING_OR_COMMENT)) {
    if (!part.startsWith("/") || !hasSecretIn(part)) continue;
    return `the comment in line ${text.slice(0, index).split("\n").length}`;
  }
  return undefined;
}

function isSecretText(text: string): boolean {
  return (
    hasCredentialIn(text) ||
    hideInMessage(text) !== text ||
    Array.from(text.matchAll(PAIR)).some(([, name = "", value = ""]) => {
      const isNamed = credentialLikeness(name) !== undefined && /\d/.test(value);
      return writtenOut(value) !== undefined && isNamed;
    })
  );
}
