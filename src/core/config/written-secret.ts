// Finds a secret that is written out anywhere in the text of a configuration: in a value under any key, in a key, in a
// comment. Whoever reads the files of a deployment reads all of that.

import { formatPath, type KeyPath } from "./issue.ts";
import { writtenOut } from "./schema/references.ts";
import { parseText } from "./text/document.ts";
import { credentialLikeness, hasCredentialIn, isKeyInPath } from "../redaction/credential-name.ts";
import { hideInMessage } from "../redaction/hide-in-message.ts";

/** Strings, so that what looks like a comment in one is none; then comments. */
const STRING_OR_COMMENT =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\//g;

/** A name and its value, as in an entry that somebody has commented out. */
const PAIR = /([\w-]{2,60})["']?\s*[:=]\s*["']?([^\s"',}\]]{8,})/g;

/** The place of the first one, as the path of its key or as a line. */
export function writtenSecret(text: string): string | undefined {
  const parsed = parseText(text);
  const value = parsed.kind === "document" ? parsed.value : undefined;
  return secretInValue(value, []) ?? secretInText(text);
}

function secretInValue(value: unknown, path: KeyPath): string | undefined {
  if (typeof value === "string") return isSecret(value, path) ? formatPath(path) : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, each] of Object.entries(value)) {
    // A key that is one is not repeated.
    if (hasCredentialIn(key)) return `a key of ${formatPath(path) || "the file"}`;
    const found = secretInValue(each, [...path, Array.isArray(value) ? Number(key) : key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isSecret(value: string, path: KeyPath): boolean {
  if (hasCredentialIn(value)) return true;
  // The path of an issuer often names a tenant by an id that is no secret.
  const mayHaveKey = path.at(-1) === "url" || path.at(-2) === "args";
  if (mayHaveKey && /^https?:/i.test(value) && value.split(/[/?#&=]/).some(isKeyInPath))
    return true;
  const plain = writtenOut(value);
  return plain !== undefined && hideInMessage(plain) !== plain;
}

function secretInText(text: string): string | undefined {
  for (const { 0: part, index } of text.matchAll(STRING_OR_COMMENT)) {
    if (!part.startsWith("/") || !isSecretComment(part)) continue;
    return `the comment in line ${text.slice(0, index).split("\n").length}`;
  }
  return undefined;
}

function isSecretComment(comment: string): boolean {
  return (
    hasCredentialIn(comment) ||
    hideInMessage(comment) !== comment ||
    Array.from(comment.matchAll(PAIR)).some(([, name = "", value = ""]) => {
      const isNamed = credentialLikeness(name) !== undefined && /\d/.test(value);
      return writtenOut(value) !== undefined && isNamed;
    })
  );
}
