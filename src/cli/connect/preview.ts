// Shows a change to an application's file: the lines that come and go, without tokens, and one line around them. What else is
// in the file may be secret, so the values in those lines are left out.

import { replaceCredentials } from "../../core/board/without-credentials.ts";
import { isJsonObject } from "../../core/types/json.ts";
import type { ServerConfig } from "../../core/types/server-config.ts";
import { truncate } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import { applied, type Splice } from "../../install/applications/entry-text.ts";

const LONGEST_LINE = 400;
const LONGEST_CONTEXT = 60;

/** `text` is the file before the splices. Splices at one place are shown as one change. `secrets` are left out. */
export function changeLines(
  text: string,
  splices: readonly Splice[],
  secrets: readonly string[],
): string[] {
  const shown = (line: string): string => shownLine(line, secrets);
  let now = text;
  return wholeLines(text, splices)
    .reduce(joined, [])
    .flatMap(({ start, removed, added }) => {
      now = now.slice(0, start) + added + now.slice(start + removed.length);
      const from = now.lastIndexOf("\n", start - 1) + 1;
      const lineEnd = now.indexOf("\n", start + added.length);
      const to = lineEnd === -1 ? now.length : lineEnd;
      const head = now.slice(from, start);
      const tail = now.slice(start + added.length, to);
      return [
        ...(head.trim() === "" ? [] : [contextLine(head)]),
        ...linesOf(removed).map((line) => `- ${shown(line)}`),
        ...linesOf(head.trim() === "" ? head + added : added).map((line) => `+ ${shown(line)}`),
        ...(tail.trim() === "" ? [] : [contextLine(tail)]),
      ];
    });
}

/**
 * A splice is what differs between two texts, character by character: `x": 1,\n  "` where the line `  "x": 1,` comes or goes.
 * The same change, from the beginning of the line on, is one that a person can read.
 */
function wholeLines(text: string, splices: readonly Splice[]): Splice[] {
  let now = text;
  return splices.map((splice) => {
    const whole = fromLineStart(now, splice);
    now = applied(now, [splice]);
    return whole;
  });
}

function fromLineStart(text: string, splice: Splice): Splice {
  const { start, removed, added } = splice;
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const head = text.slice(from, start);
  const isOneSided = removed === "" || added === "";
  // What ends the entry before, such as `  }`, belongs to that entry.
  const isBeginning = /^\s*["']?[\w.@/-]*$/.test(head);
  if (!isOneSided || !isBeginning || !(removed + added).endsWith(head)) return splice;
  const shifted = (part: string): string =>
    part === "" ? "" : head + part.slice(0, part.length - head.length);
  return { start: from, removed: shifted(removed), added: shifted(added) };
}

/** Entries come and go one by one, mostly inside or next to each other: one by one, their brackets would not fit. */
function joined(before: readonly Splice[], next: Splice): readonly Splice[] {
  const last = before.at(-1);
  const one = last && (insideOf(last, next) ?? aroundOf(last, next));
  return one === undefined ? [...before, next] : [...before.slice(0, -1), one];
}

/** What `next` changes, `last` has put there. */
function insideOf(last: Splice, next: Splice): Splice | undefined {
  const at = next.start - last.start;
  if (at < 0 || at + next.removed.length > last.added.length) return undefined;
  const added = last.added.slice(0, at) + next.added + last.added.slice(at + next.removed.length);
  return { ...last, added };
}

/** What `last` has left is among what `next` removes. */
function aroundOf(last: Splice, next: Splice): Splice | undefined {
  const at = last.start - next.start;
  if (at < 0 || at + last.added.length > next.removed.length) return undefined;
  const removed =
    next.removed.slice(0, at) + last.removed + next.removed.slice(at + last.added.length);
  return { ...next, removed };
}

/** A comma that now follows the line before is no line of its own. */
function linesOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => !/^[\s,]*$/.test(line));
}

function shownLine(line: string, secrets: readonly string[]): string {
  const written = secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
  const hidden = written.reduce((rest, secret) => rest.replaceAll(secret, "…"), line);
  // A reference to a variable is no secret.
  const plain = hidden.replace(/\b(Bearer )[\w.~+/=-]+/g, "$1…");
  return visible(truncate(indented(plain), LONGEST_LINE));
}

/** What is secret in the application's own entries for servers, whatever the application calls its keys. */
export function secretsIn(value: unknown): string[] {
  if (Array.isArray(value)) {
    const args = value.filter((each) => typeof each === "string");
    return [...secretsOf({ args }), ...value.filter(isJsonObject).flatMap(secretsIn)];
  }
  if (!isJsonObject(value)) return [];
  const texts = Object.entries(value).filter(isText);
  const named = Object.fromEntries(texts);
  return [
    ...secretsOf({ env: named }),
    ...secretsOf({ headers: named }),
    ...texts.flatMap(([, text]) => (URL.canParse(text) ? secretsOf({ url: text }) : [])),
    ...Object.values(value).flatMap(secretsIn),
  ];
}

function isText(entry: [string, unknown]): entry is [string, string] {
  return typeof entry[1] === "string";
}

function secretsOf(server: ServerConfig): string[] {
  const secrets: string[] = [];
  replaceCredentials(server, (secret) => {
    secrets.push(secret);
    return secret;
  });
  return secrets.filter((secret) => secret !== "");
}

/** Texts that are no keys are left out. */
function contextLine(line: string): string {
  const plain = line.replace(
    /(["'])(?:(?!\1)[^\\]|\\.)*(?:\1|$)(\s*:)?/g,
    (text, quote: string, colon?: string) => (colon === undefined ? `${quote}…${quote}` : text),
  );
  const isLong = plain.length > LONGEST_CONTEXT;
  return `  ${visible(indented(isLong ? `…${plain.slice(-LONGEST_CONTEXT)}` : plain))}`;
}

/** Many applications indent with tabs. */
function indented(line: string): string {
  return line.replace(/^\t+/, (tabs) => "  ".repeat(tabs.length));
}
