// Unified diffs in a tool's text, as editors show them: per file what was there and what is there now.

/** Beyond this it is text. */
const MOST_CHARACTERS = 1024 * 1024;
const MOST_FILES = 100;

export type DiffPart =
  | { kind: "text"; text: string }
  /** Of the hunks alone; `oldText` is null for a new file. `path` is as the diff has it. */
  | { kind: "diff"; path: string; oldText: string | null; newText: string };

type FileDiff = Extract<DiffPart, { kind: "diff" }>;

const OLD = /^--- ([^\t]+)/;
const NEW = /^\+\+\+ ([^\t]+)/;
const HUNK = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/;
const FENCE = /^(`{3,})(?:diff|patch)[ \t]*$/;
/** Lines before a file's diff that say nothing its two names do not say. */
const HEADER = /^(?:diff --git |index [0-9a-f]|Index: |={20,}$|(?:new|deleted) file mode )/;
const NOWHERE = "/dev/null";

/** In their order, text between them included; undefined for a text without a diff of files. Linear. */
export function splitDiffs(text: string): DiffPart[] | undefined {
  if (text.length > MOST_CHARACTERS || !text.includes("@@ -")) return undefined;
  const parts = new Parts();
  readLines(text.split("\n"), parts, false);
  const files = parts.files();
  return files === 0 || files > MOST_FILES ? undefined : parts.all();
}

function readLines(lines: readonly string[], parts: Parts, isFenced: boolean): void {
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    const ticks = isFenced ? undefined : FENCE.exec(line)?.[1];
    if (ticks !== undefined) {
      at = readFence(lines, at, ticks, parts);
      continue;
    }
    const { file, end } = readFile(lines, at);
    if (file === undefined) parts.text(lines.slice(at, end));
    else parts.diff(file);
    at = end;
  }
}

/** The fence goes where there is a diff in it. A line of a hunk begins with a sign, so that none can end it. */
function readFence(lines: readonly string[], at: number, ticks: string, parts: Parts): number {
  let end = at + 1;
  while (end < lines.length && !isClosing(lines[end] ?? "", ticks)) end += 1;
  const inner = new Parts();
  readLines(lines.slice(at + 1, end), inner, true);
  if (inner.files() > 0) parts.add(inner);
  else parts.text(lines.slice(at, end + 1));
  return end + 1;
}

function isClosing(line: string, ticks: string): boolean {
  return line.startsWith(ticks) && /^`+[ \t]*$/.test(line);
}

/** What is no diff of a file is text up to `end`, which is never gone back to. */
function readFile(lines: readonly string[], at: number): { file?: FileDiff; end: number } {
  const from = OLD.exec(lines[at] ?? "")?.[1]?.trimEnd();
  const to = NEW.exec(lines[at + 1] ?? "")?.[1]?.trimEnd();
  if (from === undefined || to === undefined) return { end: at + 1 };
  const path = pathOf(from, to);
  const before: string[] = [];
  const after: string[] = [];
  let end = at + 2;
  let hunk = HUNK.exec(lines[end] ?? "");
  if (path === undefined || hunk === null) return { end };
  while (hunk !== null) {
    const read = readHunk(lines, end + 1, hunk, before, after);
    end = read.end;
    if (!read.isWhole) return { end };
    hunk = HUNK.exec(lines[end] ?? "");
  }
  const oldText = from === NOWHERE ? null : before.join("");
  return { file: { kind: "diff", path, oldText, newText: after.join("") }, end };
}

function readHunk(
  lines: readonly string[],
  at: number,
  [, olds = "1", news = "1"]: RegExpExecArray,
  before: string[],
  after: string[],
): { isWhole: boolean; end: number } {
  let [oldLeft, newLeft, end] = [Number(olds), Number(news), at];
  while (end < lines.length) {
    const line = lines[end] ?? "";
    const sign = line[0];
    if (sign === "\\") {
      // Of the line before, on whichever sides it stands.
      const last = lines[end - 1]?.[0];
      if (last !== "+") withoutBreak(before);
      if (last !== "-") withoutBreak(after);
      end += 1;
      continue;
    }
    if (oldLeft === 0 && newLeft === 0) break;
    // Some tools cut the space off an empty line; the last one is none, but the end of the text.
    const isContext = sign === " " || (sign === undefined && end < lines.length - 1);
    if (!isContext && sign !== "-" && sign !== "+") return { isWhole: false, end };
    if (sign !== "+") {
      before.push(`${line.slice(1)}\n`);
      oldLeft -= 1;
    }
    if (sign !== "-") {
      after.push(`${line.slice(1)}\n`);
      newLeft -= 1;
    }
    end += 1;
    if (oldLeft < 0 || newLeft < 0) return { isWhole: false, end };
  }
  return { isWhole: oldLeft === 0 && newLeft === 0, end };
}

function withoutBreak(texts: string[]): void {
  const last = texts.pop();
  if (last !== undefined) texts.push(last.replace(/\n$/, ""));
}

/** Undefined where two files are compared, or a name is quoted: what changed in one file is shown alone. */
function pathOf(from: string, to: string): string | undefined {
  const [before, after] = [from.replace(/^a\//, ""), to.replace(/^b\//, "")];
  if (from.startsWith('"') || to.startsWith('"')) return undefined;
  if (from === NOWHERE) return to === NOWHERE ? undefined : after;
  if (to === NOWHERE) return before;
  if (from === to) return from;
  return from !== before && to !== after && before === after ? after : undefined;
}

class Parts {
  readonly #parts: DiffPart[] = [];
  #lines: string[] = [];
  #files = 0;

  files(): number {
    return this.#files;
  }

  text(lines: readonly string[]): void {
    for (const line of lines) this.#lines.push(line);
  }

  diff(file: FileDiff): void {
    while (HEADER.test(this.#lines.at(-1) ?? "")) this.#lines.pop();
    this.#endText();
    this.#parts.push(file);
    this.#files += 1;
  }

  add(other: Parts): void {
    this.#endText();
    for (const part of other.all()) this.#parts.push(part);
    this.#files += other.#files;
  }

  all(): DiffPart[] {
    this.#endText();
    return this.#parts;
  }

  #endText(): void {
    const text = this.#lines.join("\n").trimEnd().replace(/^\n+/, "");
    this.#lines = [];
    if (text !== "") this.#parts.push({ kind: "text", text });
  }
}
