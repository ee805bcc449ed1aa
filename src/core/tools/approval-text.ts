// What a person reads before a call is made: the tool, what it says it does, and the arguments in full. Characters that
// a screen would obey or hide are written out, and whatever is left out is counted.

import type { ApprovalRequest, ToolHints } from "../types/approval.ts";
import { isJsonObject } from "../types/json.ts";
import { asText, plural, truncate } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";

export interface ApprovalText {
  /** `files/write_file ("Write a file") needs your approval: every call of this tool needs approval` */
  question: string;
  /** What the server says about the tool, a line each. Mark them as the server's: they may imitate ours. */
  described: string[];
  /** What the tool claims to do. */
  about: string[];
  /** A line each, indented where they are nested. Empty without arguments. */
  args: string[];
  /** What `described` and `args` do not show; undefined where they show everything. */
  leftOut?: string;
}

/** A text that is longer shows its beginning and its end, so that the arguments beside it stay in view. */
const LONGEST_TEXT = 2000;
const SHOWN_START = 1500;
const SHOWN_END = 400;
const MOST_LINES = 200;
const LONGEST_DESCRIPTION = 600;
const LONGEST_TITLE = 200;
/** Arguments below this depth are shown on one line. */
const DEEPEST = 20;

/** With `full`, nothing is left out, however long it is. */
export function approvalText(
  { tool, title, description, args, reason, hints, trusted, content }: ApprovalRequest,
  full = false,
): ApprovalText {
  const writer = new ArgumentWriter(full);
  for (const [name, value] of Object.entries(args)) writer.write(label(name), value, 0);
  const described = description?.trim() ?? "";
  const isCut = !full && described.length > LONGEST_DESCRIPTION;
  const shown = isCut ? truncate(described, LONGEST_DESCRIPTION) : described;
  const leftOut = [...(isCut ? ["the rest of the description"] : []), ...writer.leftOut()];
  return {
    question: `${visible(tool)}${title === undefined ? "" : ` ("${visible(truncate(title, LONGEST_TITLE)).replaceAll('"', '\\"')}")`} needs your approval: ${visible(reason)}`,
    described: shown === "" ? [] : shown.split("\n").map((line) => visible(line.trimEnd())),
    // A resource or prompt claims nothing: that reads only read is what MCP says of all of them.
    about: content === undefined ? [claim({ hints, trusted })] : [],
    args: writer.lines,
    ...(leftOut.length > 0 && { leftOut: leftOut.join(" and ") }),
  };
}

/**
 * What a tool says that it does, as sentences. Whatever makes it look harmless is a claim, unless its labels are trusted.
 * Undefined where the tool says nothing.
 */
export function whatItDoes(
  { readOnly, destructive, idempotent, openWorld }: ToolHints,
  trusted = false,
): string | undefined {
  const warnings = [
    destructive === true && !readOnly ? "may delete or overwrite something" : undefined,
    destructive === undefined && readOnly === false ? "may change or delete something" : undefined,
    openWorld === true ? "reaches other systems" : undefined,
  ].filter((each) => each !== undefined);
  const harmless = [
    readOnly ? ["only reads", "only read"] : undefined,
    destructive === false && !readOnly
      ? ["adds only, and never deletes", "add only, never delete"]
      : undefined,
    idempotent === true && !readOnly
      ? ["changes nothing more when it is called again", "change nothing more when called again"]
      : undefined,
    openWorld === false ? ["reaches no other system", "reach no other system"] : undefined,
  ].filter((each) => each !== undefined);
  if (warnings.length + harmless.length === 0) return undefined;
  if (trusted) return `It ${[...warnings, ...harmless.map(([does]) => does)].join("; ")}.`;
  const claims = harmless.map(([, claimed]) => claimed).join("; ");
  return [
    ...(warnings.length === 0 ? [] : [`It says that it ${warnings.join(" and ")}.`]),
    ...(claims === "" ? [] : [`Claims to ${claims} (unverified).`]),
  ].join(" ");
}

/** The same for a question, which says so too where the tool says nothing. */
export function claim({ hints, trusted }: Pick<ApprovalRequest, "hints" | "trusted">): string {
  return whatItDoes(hints, trusted) ?? "It does not say whether it changes anything.";
}

class ArgumentWriter {
  readonly lines: string[] = [];
  readonly #isFull: boolean;
  #charactersLeft = 0;
  #linesLeft = 0;

  constructor(isFull: boolean) {
    this.#isFull = isFull;
  }

  leftOut(): string[] {
    return [
      ...(this.#charactersLeft > 0
        ? [`${plural(this.#charactersLeft, "character")} of the arguments`]
        : []),
      ...(this.#linesLeft > 0 ? [`${plural(this.#linesLeft, "line")} of the arguments`] : []),
    ];
  }

  write(name: string, value: unknown, depth: number, end = ""): void {
    const isList = Array.isArray(value);
    if ((!isList && !isJsonObject(value)) || depth >= DEEPEST) {
      return this.#text(name, value, depth, end);
    }
    const entries: [string, unknown][] = isList
      ? value.map((each) => ["", each])
      : Object.entries(value).map(([key, each]) => [label(key), each]);
    const [open, close] = isList ? ["[", "]"] : ["{", "}"];
    if (entries.length === 0) return this.#line(depth, `${name}${open}${close}${end}`);
    this.#line(depth, `${name}${open}`);
    entries.forEach(([key, each], at) =>
      this.write(key, each, depth + 1, at < entries.length - 1 ? "," : ""),
    );
    this.#line(depth, `${close}${end}`);
  }

  /** A text of several lines is shown on several lines, each with the `\n` at its end. */
  #text(name: string, value: unknown, depth: number, end: string): void {
    if (typeof value !== "string") {
      const [start, ...rest] = this.#cut(asText(value));
      return this.#line(depth, `${name}${visible([start, ...rest].join(" … "))}${end}`);
    }
    const pieces = this.#cut(value);
    pieces.forEach((piece, at) => {
      const rows = rowsOf(piece);
      rows.forEach((row, index) => {
        const isFirst = at === 0 && index === 0;
        const isLast = at === pieces.length - 1 && index === rows.length - 1;
        this.#line(isFirst ? depth : depth + 1, `${isFirst ? name : ""}${row}${isLast ? end : ""}`);
      });
      if (at < pieces.length - 1) {
        const count = value.length - SHOWN_START - SHOWN_END;
        this.#line(depth + 1, `… ${plural(count, "character")} left out …`);
      }
    });
  }

  /** The beginning and the end of a text that is too long, else all of it. */
  #cut(text: string): string[] {
    if (this.#isFull || text.length <= LONGEST_TEXT) return [text];
    this.#charactersLeft += text.length - SHOWN_START - SHOWN_END;
    return [text.slice(0, SHOWN_START), text.slice(-SHOWN_END)];
  }

  #line(depth: number, text: string): void {
    if (!this.#isFull && this.lines.length >= MOST_LINES) this.#linesLeft += 1;
    else this.lines.push("  ".repeat(depth) + text);
  }
}

/** A text in quotes, broken after each `\n` in it. */
function rowsOf(text: string): string[] {
  const rows = text.split("\n").map((row) => visible(JSON.stringify(row).slice(1, -1)));
  const last = rows.pop() ?? "";
  const broken = rows.map((row) => `${row}\\n`);
  if (last !== "" || broken.length === 0) broken.push(last);
  return broken.map(
    (row, at) => `${at === 0 ? '"' : ""}${row}${at === broken.length - 1 ? '"' : ""}`,
  );
}

/** Quoted where it could be taken for something else. */
function label(name: string): string {
  return `${/^[\w.-]+$/.test(name) ? name : visible(JSON.stringify(name))}: `;
}
