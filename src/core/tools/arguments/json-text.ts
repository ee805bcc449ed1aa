// Parses JSON that a person typed; the error points at the place.

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { oneLine } from "../../../util/text.ts";
import { invalidArguments } from "./invalid.ts";

/** Characters of the line that are shown on either side of the mistake. */
const AROUND = 30;

const QUOTING = `put JSON in single quotes, with keys and texts in double quotes: '{"key": "value"}'`;

/** `from` says where the text comes from, as in `file.json`. */
export async function parseJson(text: string, from: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch {
    throw await malformed(text, from);
  }
}

export async function parseJsonObject(text: string, from: string): Promise<JsonObject> {
  const value = await parseJson(text, from);
  if (isJsonObject(value)) return value;
  const kind = value === null ? "null" : Array.isArray(value) ? "an array" : `a ${typeof value}`;
  throw invalidArguments([`${from}: expected a JSON object, got ${kind}`], QUOTING);
}

async function malformed(text: string, from: string): Promise<Error> {
  if (text.trim() === "") return invalidArguments([`${from}: expected JSON, got nothing`]);
  const offset = await faultOffset(text);
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  const lineStart = before.lastIndexOf("\n") + 1;
  const column = offset - lineStart + 1;
  const what =
    offset >= text.length ? "the text ends too early" : `unexpected '${text[offset] ?? ""}'`;
  const left = oneSpaced(text.slice(Math.max(lineStart, offset - AROUND), offset));
  const right = oneSpaced(text.slice(offset, offset + AROUND).split("\n")[0] ?? "");
  return invalidArguments(
    [
      `${from} is not valid JSON: ${oneLine(what)} at line ${line}, column ${column}\n` +
        `  ${left}${right}\n  ${" ".repeat(left.length)}^`,
    ],
    QUOTING,
  );
}

/** JSON.parse does not always say where the mistake is; this parser does. */
async function faultOffset(text: string): Promise<number> {
  // Most people make no mistake, and do not wait for it to load.
  const { parse } = await import("@humanwhocodes/momoa");
  try {
    parse(text, { mode: "json" });
    return text.length;
  } catch (error) {
    const offset = error instanceof Error && "offset" in error ? Number(error.offset) : 0;
    // For a text that ends too early it reports where the open part begins.
    const opensThere = offset === text.search(/\S/) && /[{["]/.test(text[offset] ?? "");
    return opensThere ? text.trimEnd().length : offset;
  }
}

/** Keeps one column per character, so that the mark below points at the right one. */
function oneSpaced(text: string): string {
  return text.replace(/[\s\p{C}]/gu, " ");
}
