// Parses TOML text into a plain value and finds the position of every key. The parser tells no positions, so they are
// read off the text, which is known to be well-formed by then: keys begin a line, and a value is skipped as a whole.

import { parse, TomlError } from "smol-toml";
import { isTooDeep } from "../../../util/json-depth.ts";
import type { KeyPath, Position } from "../issue.ts";
import type { ConfigDocument } from "./document.ts";
import type { SyntaxProblem } from "./syntax.ts";

const START: Position = { line: 1, column: 1 };

export function parseToml(text: string): ConfigDocument | ({ kind: "malformed" } & SyntaxProblem) {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [, message = ""] = /^Invalid TOML document: (.*)/.exec(error.message) ?? [];
    const { line, column } = error;
    return { kind: "malformed", position: { line, column }, message: `is not TOML: ${message}` };
  }
  // A key can have as many dots as the file has room for, and each would have a position.
  if (isTooDeep(value)) {
    return { kind: "malformed", position: START, message: "is nested too deeply to be read" };
  }
  const positions = findPositions(text);
  return {
    kind: "document",
    value,
    issues: [],
    locate: ({ path, position }) => position ?? nearest(path, positions),
  };
}

/** The position of the value at `path` or, within a value, of the key that has the value. */
function nearest(path: KeyPath, positions: ReadonlyMap<string, Position>): Position {
  for (let length = path.length; length > 0; length--) {
    const found = positions.get(JSON.stringify(path.slice(0, length)));
    if (found !== undefined) return found;
  }
  return START;
}

export interface TomlTable {
  /** The keys of its header; empty for what comes before the first one. */
  path: string[];
  /** Where the line of the header begins. */
  start: number;
  /** Behind its last statement, with the end of that line. */
  end: number;
}

/** The tables of a well-formed text, in their order. */
export function tomlTables(text: string): TomlTable[] {
  const scanner = new Scanner(text);
  const tables: TomlTable[] = [{ path: [], start: 0, end: 0 }];
  while (scanner.skipToStatement()) {
    const start = text.lastIndexOf("\n", scanner.offset) + 1;
    if (scanner.peek() === "[") {
      scanner.offset += scanner.startsWith("[[") ? 2 : 1;
      tables.push({ path: scanner.key(), start, end: start });
    } else {
      scanner.key();
      scanner.skipValue();
    }
    scanner.skipLine();
    const table = tables.at(-1);
    if (table !== undefined) table.end = Math.min(text.length, scanner.offset + 1);
  }
  return tables;
}

/** By the path to the key, as JSON. */
function findPositions(text: string): Map<string, Position> {
  const positions = new Map<string, Position>();
  const scanner = new Scanner(text);
  /** How many tables of a list have been seen, by the path to the list. */
  const counts = new Map<string, number>();
  let table: KeyPath = [];
  const add = (path: KeyPath, position: Position): void => {
    for (let length = 1; length <= path.length; length++) {
      const key = JSON.stringify(path.slice(0, length));
      if (!positions.has(key)) positions.set(key, position);
    }
  };
  while (scanner.skipToStatement()) {
    const isHeader = scanner.peek() === "[";
    const isList = scanner.startsWith("[[");
    if (isHeader) scanner.offset += isList ? 2 : 1;
    scanner.skipSpace();
    const position = scanner.position();
    const key = scanner.key();
    if (isHeader) {
      table = withIndexes(key, counts, isList);
      add(table, position);
    } else {
      add([...table, ...key], position);
      scanner.skipValue();
    }
    scanner.skipLine();
  }
  return positions;
}

/** A header means the last table of each list that it names; `[[…]]` begins the next one. */
function withIndexes(key: readonly string[], counts: Map<string, number>, isNew: boolean): KeyPath {
  const path: (string | number)[] = [];
  for (const [index, step] of key.entries()) {
    path.push(step);
    const id = JSON.stringify(path);
    if (isNew && index === key.length - 1) counts.set(id, (counts.get(id) ?? 0) + 1);
    const count = counts.get(id);
    if (count !== undefined) path.push(count - 1);
  }
  return path;
}

class Scanner {
  offset = 0;
  #line = 1;
  #lineStart = 0;
  #counted = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  peek(): string {
    return this.#text.charAt(this.offset);
  }

  startsWith(part: string): boolean {
    return this.#text.startsWith(part, this.offset);
  }

  position(): Position {
    for (;;) {
      const end = this.#text.indexOf("\n", this.#counted);
      if (end === -1 || end >= this.offset) break;
      this.#line++;
      this.#counted = end + 1;
      this.#lineStart = end + 1;
    }
    return { line: this.#line, column: this.offset - this.#lineStart + 1 };
  }

  skipSpace(): void {
    this.#skip(/[ \t]*/y);
  }

  /** False at the end of the text. */
  skipToStatement(): boolean {
    for (;;) {
      this.#skip(/\s*/y);
      if (this.peek() !== "#") return this.offset < this.#text.length;
      this.skipLine();
    }
  }

  skipLine(): void {
    this.#skip(/[^\n]*/y);
  }

  /** `a."b c".d` */
  key(): string[] {
    const steps: string[] = [];
    for (;;) {
      this.skipSpace();
      const start = this.offset;
      const quoted = this.peek();
      if (quoted === '"' || quoted === "'") {
        this.#skipString();
        const word = this.#text.slice(start, this.offset);
        steps.push(quoted === "'" ? word.slice(1, -1) : unquote(word));
      } else {
        this.#skip(/[\w-]*/y);
        steps.push(this.#text.slice(start, this.offset));
      }
      this.skipSpace();
      if (this.peek() !== ".") return steps;
      this.offset++;
    }
  }

  /** From the `=` to the end of the value, over as many lines as it has. */
  skipValue(): void {
    let depth = 0;
    while (this.offset < this.#text.length) {
      const character = this.peek();
      if (character === '"' || character === "'") {
        this.#skipString();
        continue;
      }
      if (character === "#") {
        if (depth === 0) return;
        this.skipLine();
        continue;
      }
      if (character === "\n" && depth === 0) return;
      if (character === "[" || character === "{") depth++;
      if (character === "]" || character === "}") depth--;
      this.offset++;
    }
  }

  #skipString(): void {
    const quote = this.peek();
    const isLong = this.startsWith(quote.repeat(3));
    const end = isLong ? quote.repeat(3) : quote;
    this.offset += end.length;
    while (this.offset < this.#text.length && !this.startsWith(end)) {
      this.offset += quote === '"' && this.peek() === "\\" ? 2 : 1;
    }
    this.offset += end.length;
    // A long string may end in quotes of its own.
    if (isLong) this.#skip(quote === '"' ? /"*/y : /'*/y);
  }

  #skip(pattern: RegExp): void {
    pattern.lastIndex = this.offset;
    this.offset += pattern.exec(this.#text)?.[0].length ?? 0;
  }
}

/** Most escapes of TOML are those of JSON. */
function unquote(word: string): string {
  try {
    return String(JSON.parse(word));
  } catch {
    return word.slice(1, -1);
  }
}
