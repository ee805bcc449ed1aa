// Says why a line on a server's stdout is not a message, for the failure of the call or the start that waited for it.

import { byteSize } from "../../../util/text.ts";

export interface DroppedLine {
  /** What spoils a line that would be a message; follows "a line that". Without it, the line is most likely a log. */
  fault: string | undefined;
  /** The beginning of the line, safe to show. */
  shown: string;
}

/** How many characters are looked at. */
const READ = 2000;
const NUL = "\0";
const NOT_JSON = "is not valid JSON, because";

/** What spoils a message that is not valid JSON; undefined for a line that does not look like a message at all. */
export function faultOfText(line: string): string | undefined {
  const text = line.slice(0, READ);
  if (/^\0+[^\0]*$/.test(text)) return `${NOT_JSON} it begins with NUL characters`;
  if (text.includes(NUL)) return "is UTF-16, but messages are UTF-8";
  if (text.startsWith("\uFEFF")) return `${NOT_JSON} it begins with a byte order mark`;
  if (!/^\s*[{[]/.test(text)) return undefined;
  if (/\r\s*\S/.test(text)) return `${NOT_JSON} it has CR between messages, which end with LF`;
  const number = /[:[,]\s*(-?(?:NaN|Infinity))\b/.exec(text)?.[1];
  return number === undefined ? undefined : `${NOT_JSON} it has ${number}`;
}

/** What is wrong with a message that the server did not finish before it closed its output. */
export const BREAKS_OFF = "breaks off";

/** What spoils the last text of all, which has no end; undefined if it is no message at all. */
export function faultOfRest(text: string): string | undefined {
  const isMessage = /^\s*(?:\{\s*"|\[\s*\{)/.test(text.slice(0, READ));
  return faultOfText(text) ?? (isMessage ? BREAKS_OFF : undefined);
}

/** What is wrong with an answer whose id belongs to no request. */
export function faultOfId(id: unknown): string {
  if (id === undefined || id === null) return "answers no request, because it has no id";
  return `answers no request, because its id is ${whatIsId(id)}`;
}

function whatIsId(id: unknown): string {
  if (typeof id === "string") return "another text";
  return typeof id === "number" ? "no number that a request has" : "not a number";
}

/** Whether a request of ours or of the SDK may have this id: both count up from 0. */
export function mayBeId(id: unknown): boolean {
  return typeof id === "number" && Number.isSafeInteger(id) && id >= 0;
}

/** What is wrong with a line that has not ended. */
export function faultOfUnfinished(bytes: number, text: string): string {
  const isCr = /^\s*[{[]/.test(text) && text.includes("\r");
  return isCr
    ? "ends with CR, but messages end with LF"
    : `has no end yet, after ${byteSize(bytes)}`;
}

/** As the end of a sentence. */
export function describeDropped({ fault, shown }: DroppedLine): string {
  const what = fault === undefined ? "text that is not MCP" : `a line that ${fault}`;
  return `on stdout it wrote ${what}: ${shown}`;
}
