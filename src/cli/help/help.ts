// `plugboard help <CODE>`: prints an entry of docs/troubleshooting.md, which is part of the package.

import { readFile } from "node:fs/promises";
import type { ErrorCode } from "../../core/types/errors.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import type { Paint } from "../terminal/terminal.ts";
import { wrapLine } from "../terminal/width.ts";
import type { HelpRequest } from "./command.ts";

/** The same path leads to the page from the source and from the compiled file. */
const PAGE = new URL("../../../docs/troubleshooting.md", import.meta.url);
const CODE_HEADING = /^## ([A-Z_]+)$/;

/** What is written about one code. */
export interface ErrorEntry {
  code: ErrorCode;
  /** Markdown, without the heading. The first line is a sentence on what the code means. */
  lines: readonly string[];
}

export async function runHelp(
  { code }: HelpRequest,
  { screen, options }: CliContext,
): Promise<number> {
  const entries = readEntries(await readFile(PAGE, "utf8"));
  const wanted = entries.filter((entry) => code === undefined || entry.code === code);
  if (options.json) {
    const told = wanted.map((entry) => ({ code: entry.code, text: entry.lines.join("\n") }));
    screen.json(code === undefined ? told : told[0]);
    return EXIT.ok;
  }
  const { paint, width } = screen.terminal.out;
  const lines =
    code === undefined
      ? [
          ...listed(wanted, paint, width),
          "",
          "To read about one of them:",
          "  plugboard help <code>",
        ]
      : wanted.flatMap((entry) => [paint("bold", entry.code), ...body(entry.lines, paint, width)]);
  screen.lines(lines);
  return EXIT.ok;
}

/** The entries of the page, in its order. */
export function readEntries(page: string): ErrorEntry[] {
  return page.split(/^(?=## )/m).flatMap((section) => {
    const [heading = "", ...lines] = section.trim().split("\n");
    const [, code] = CODE_HEADING.exec(heading) ?? [];
    return code === undefined ? [] : [{ code: code as ErrorCode, lines: joined(lines) }];
  });
}

/** A paragraph or a point of a list becomes one line, which is broken where the terminal ends. */
function joined(lines: readonly string[]): string[] {
  const text = lines.join("\n").trim();
  return text.replace(/(?<!\n)\n(?!\n|- )/g, " ").split("\n");
}

/** On a narrow terminal, what a code means is below it. */
const NARROW = 60;

function listed(entries: readonly ErrorEntry[], paint: Paint, width = Infinity): string[] {
  const longest = Math.max(...entries.map(({ code }) => code.length));
  const column = width < NARROW ? 2 : longest + 2;
  const margin = " ".repeat(column);
  return entries.flatMap(({ code, lines: [first = ""] }) => {
    const rows = wrapLine(plain(first, paint), width - column).map((row) => margin + row);
    if (width < NARROW) return [paint("bold", code), ...rows];
    const [start = "", ...rest] = rows;
    return [`${paint("bold", code)}${start.slice(code.length)}`, ...rest];
  });
}

/** What a point of a list goes on with is indented. */
function body(lines: readonly string[], paint: Paint, width = Infinity): string[] {
  return lines.flatMap((line) => {
    const [start = "", ...rest] = wrapLine(plain(line, paint), width - 2);
    return [start, ...rest.map((row) => (line.startsWith("- ") ? `  ${row}` : row))];
  });
}

/** Without the marks of Markdown. A link to another page of the docs keeps the name of the page. */
function plain(line: string, paint: Paint): string {
  const hasColor = paint("cyan", "x") !== "x";
  return line
    .replace(/\[([^\]]+)\]\((?:([\w-]+\.md)[^)]*|#[^)]*)\)/g, (_, text: string, page?: string) =>
      page === undefined ? text : `${text} (docs/${page})`,
    )
    .replace(/`([^`]+)`/g, (whole, text: string) => (hasColor ? paint("cyan", text) : whole));
}
