// Finds unified diffs in a tool's text, so that the editor can show each file as it was and as it is now.

import { parsePatch } from "diff/lib/patch/parse.js";

/** Longer texts, and texts with more files, are shown as they are. */
const MAX_CHARACTERS = 1024 * 1024;
const MAX_FILES = 100;

export type DiffPart =
  | { kind: "text"; text: string }
  /** The hunks' lines only. `oldText` is null for a new file. `path` is as the diff has it. */
  | { kind: "diff"; path: string; oldText: string | null; newText: string };

type FileDiff = Extract<DiffPart, { kind: "diff" }>;

/** A quoted name is not decoded: such a diff stays text. */
const OLD_NAME = /^--- [^"\s]/;
const NEW_NAME = /^\+\+\+ [^"\s]/;
const HUNK = /^@@ -\d{1,9}(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@/;
/** Empty lines too: some tools cut off the space of an empty context line. */
const IN_HUNKS = /^(?:[ +\-\\@]|$)/;
const FENCE = /^(`{3,})(?:diff|patch)[ \t]*$/;
/** Lines before a file's diff that repeat its names. */
const HEADER = /^(?:diff --git |index [0-9a-f]|Index: |={20,}$|(?:new|deleted) file mode )/;
const NO_FILE = "/dev/null";

/**
 * The diffs and the text between them, in order. Undefined for a text without a diff of a file. Hostile texts are
 * bounded: every line is parsed at most once, and parsing ends with the hundredth file, well-formed or not.
 */
export function splitDiffs(text: string): DiffPart[] | undefined {
  if (text.length > MAX_CHARACTERS || !text.includes("@@ -")) return undefined;
  const lines = text.split("\n");
  const parts = new Parts();
  let files = 0;
  let at = 0;
  while (at < lines.length) {
    const isStart = isFileStart(lines, at);
    if (isStart && (files += 1) > MAX_FILES) return undefined;
    const found = isStart ? readFile(lines, at) : undefined;
    if (found === undefined) parts.addLine(lines[at] ?? "");
    else parts.addDiff(found.file);
    at = found?.end ?? at + 1;
  }
  return parts.end();
}

function isFileStart(lines: readonly string[], at: number): boolean {
  return (
    OLD_NAME.test(lines[at] ?? "") &&
    NEW_NAME.test(lines[at + 1] ?? "") &&
    HUNK.test(lines[at + 2] ?? "")
  );
}

/** Undefined for a diff that is malformed or compares two files. */
function readFile(
  lines: readonly string[],
  start: number,
): { file: FileDiff; end: number } | undefined {
  let last = start + 3;
  while (last < lines.length && IN_HUNKS.test(lines[last] ?? "") && !isFileStart(lines, last)) {
    last += 1;
  }
  // Only at the end of the text an empty line is not a line of the hunk.
  const patch = lines.slice(start, last).join("\n") + (last < lines.length ? "\n" : "");
  const parsed = tryParse(patch);
  const path = parsed && pathOf(parsed.oldFileName ?? "", parsed.newFileName ?? "");
  if (parsed === undefined || path === undefined) return undefined;
  const before: string[] = [];
  const after: string[] = [];
  let end = start + 2;
  for (const hunk of parsed.hunks) {
    // The parser skips empty lines between hunks; what follows them is text to us.
    if (!HUNK.test(lines[end] ?? "")) break;
    readHunk(hunk.lines, before, after);
    end += 1 + hunk.lines.length;
  }
  const oldText = parsed.oldFileName === NO_FILE ? null : before.join("");
  return { file: { kind: "diff", path, oldText, newText: after.join("") }, end };
}

function tryParse(patch: string): ReturnType<typeof parsePatch>[number] | undefined {
  try {
    return parsePatch(patch)[0];
  } catch {
    return undefined;
  }
}

function readHunk(lines: readonly string[], before: string[], after: string[]): void {
  lines.forEach((line, index) => {
    const sign = line[0] ?? " ";
    if (sign === "\\") {
      // "No newline at end of file" is about the line before it.
      const previous = lines[index - 1]?.[0];
      if (previous !== "+") dropLineBreak(before);
      if (previous !== "-") dropLineBreak(after);
      return;
    }
    if (sign !== "+") before.push(`${line.slice(1)}\n`);
    if (sign !== "-") after.push(`${line.slice(1)}\n`);
  });
}

function dropLineBreak(texts: string[]): void {
  const last = texts.pop();
  if (last !== undefined) texts.push(last.replace(/\n$/, ""));
}

/** Undefined if the names are those of two files. */
function pathOf(from: string, to: string): string | undefined {
  const [before, after] = [from.replace(/^a\//, ""), to.replace(/^b\//, "")];
  if (from === NO_FILE) return to === NO_FILE ? undefined : after;
  if (to === NO_FILE) return before;
  if (from === to) return from;
  return from !== before && to !== after && before === after ? after : undefined;
}

/** Collects diffs and text. Headers before a diff, and the code fence around it, are left out of the text. */
class Parts {
  readonly #parts: DiffPart[] = [];
  #lines: string[] = [];
  /** The fence that is open; `at` is its index in `#lines`, undefined once it was left out. */
  #fence: { ticks: string; at: number | undefined } | undefined;

  addLine(line: string): void {
    if (this.#fence === undefined) {
      const ticks = FENCE.exec(line)?.[1];
      if (ticks !== undefined) this.#fence = { ticks, at: this.#lines.length };
    } else if (line.startsWith(this.#fence.ticks) && /^`+[ \t]*$/.test(line)) {
      const isLeftOut = this.#fence.at === undefined;
      this.#fence = undefined;
      if (isLeftOut) return this.#endText();
    }
    this.#lines.push(line);
  }

  addDiff(file: FileDiff): void {
    while (HEADER.test(this.#lines.at(-1) ?? "")) this.#lines.pop();
    const { at } = this.#fence ?? {};
    if (this.#fence !== undefined && at !== undefined) {
      const inside = this.#lines.splice(at).slice(1);
      this.#endText();
      this.#lines = inside;
      this.#fence.at = undefined;
    }
    this.#endText();
    this.#parts.push(file);
  }

  /** Undefined if there is no diff among them. */
  end(): DiffPart[] | undefined {
    this.#endText();
    return this.#parts.some(({ kind }) => kind === "diff") ? this.#parts : undefined;
  }

  #endText(): void {
    const text = this.#lines.join("\n").trimEnd().replace(/^\n+/, "");
    this.#lines = [];
    if (text !== "") this.#parts.push({ kind: "text", text });
  }
}
