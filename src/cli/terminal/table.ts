// Rows in columns that fit the width of the terminal; without a width, everything is shown in full.

import { oneLine } from "../../util/text.ts";
import type { Paint, Tone } from "./terminal.ts";
import { cut, displayWidth, wrap } from "./width.ts";

export interface Column {
  title?: string;
  align?: "right";
  /** A text that is too long for the column is cut, or continues on the next line. */
  overflow?: "wrap";
  /** Cells it may shrink to; without it the column stays as wide as its content. */
  min?: number;
  /** Where there is no room for all columns, others are left out before it. */
  stays?: boolean;
}

export interface Cell {
  text: string;
  tone?: Tone;
}

export interface Row {
  cells: readonly (string | Cell)[];
  /** Printed below the row, each on a line of its own. One that is indented is a command, which is never broken. */
  notes?: readonly string[];
}

export interface TableOptions {
  width?: number;
  paint: Paint;
  /** Spaces before every line. */
  indent?: number;
}

const GAP = 2;
const NOTE_INDENT = 4;
/** The first columns stay, however narrow the terminal. */
const LEAST_COLUMNS = 2;

/** Leaves out columns without any content. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly Row[],
  { width = Infinity, paint, indent = 0 }: TableOptions,
): string[] {
  const room = width - indent;
  const cells = rows.map((row) => row.cells.map(toCell));
  const shown = fitColumns(columns, cells, room);
  const margin = " ".repeat(indent);
  const body = rows.flatMap((row, at) => [
    ...renderRow(shown, cells[at] ?? [], paint),
    ...renderNotes(row.notes ?? [], room),
  ]);
  return [...renderTitles(shown, paint), ...body].map((line) => (line ? margin + line : line));
}

interface FittedColumn extends Column {
  index: number;
  width: number;
}

function fitColumns(
  columns: readonly Column[],
  cells: readonly Cell[][],
  room: number,
): FittedColumn[] {
  const fitted = columns.flatMap((column, index) => {
    const content = Math.max(0, ...cells.map((row) => displayWidth(row[index]?.text ?? "")));
    if (content === 0) return [];
    return [{ ...column, index, width: Math.max(content, displayWidth(column.title ?? "")) }];
  });
  while (fitted.length > LEAST_COLUMNS && total(fitted.map(leastWidth)) > room) {
    const least = fitted.findLastIndex(({ stays }, at) => at >= LEAST_COLUMNS && stays !== true);
    fitted.splice(least === -1 ? fitted.length - 1 : least, 1);
  }
  let excess = total(fitted.map(({ width }) => width)) - room;
  while (excess > 0) {
    const widest = fitted.reduce((a, b) => (slack(b) > slack(a) ? b : a));
    const taken = Math.min(excess, slack(widest));
    if (taken <= 0) break;
    widest.width -= taken;
    excess -= taken;
  }
  return fitted;
}

function leastWidth({ width, min = width }: FittedColumn): number {
  return Math.min(width, min);
}

function slack(column: FittedColumn): number {
  return column.width - leastWidth(column);
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP * Math.max(0, widths.length - 1);
}

function renderTitles(columns: readonly FittedColumn[], paint: Paint): string[] {
  if (columns.every(({ title }) => title === undefined)) return [];
  const line = columns.map((column) => pad(cut(column.title ?? "", column.width), column));
  return [paint("dim", join(line))];
}

function renderRow(
  columns: readonly FittedColumn[],
  cells: readonly Cell[],
  paint: Paint,
): string[] {
  const blocks = columns.map((column) => {
    const { text = "", tone } = cells[column.index] ?? {};
    const lines = column.overflow === "wrap" ? wrap(text, column.width) : [cut(text, column.width)];
    return { column, lines, tone };
  });
  const height = Math.max(0, ...blocks.map(({ lines }) => lines.length));
  return Array.from({ length: height }, (_, at) =>
    join(
      blocks.map(({ column, lines, tone }) => {
        const line = pad(lines[at] ?? "", column);
        return tone === undefined ? line : paintText(paint, tone, line);
      }),
    ),
  );
}

function renderNotes(notes: readonly string[], room: number): string[] {
  const width = Math.max(20, room - NOTE_INDENT);
  const lines = notes.flatMap((note) =>
    note.startsWith("  ") ? [`  ${oneLine(note)}`] : wrap(oneLine(note), width),
  );
  return lines.map((line) => " ".repeat(NOTE_INDENT) + line);
}

function toCell(cell: string | Cell): Cell {
  const { text, tone }: Cell = typeof cell === "string" ? { text: cell } : cell;
  return { text: oneLine(text), tone };
}

function pad(text: string, column: FittedColumn): string {
  const blank = " ".repeat(Math.max(0, column.width - displayWidth(text)));
  return column.align === "right" ? blank + text : text + blank;
}

/** Leaves the padding uncoloured, so that it can be trimmed. */
function paintText(paint: Paint, tone: Tone, padded: string): string {
  const text = padded.trim();
  const at = padded.indexOf(text);
  return padded.slice(0, at) + paint(tone, text) + padded.slice(at + text.length);
}

function join(cells: readonly string[]): string {
  return cells.join(" ".repeat(GAP)).trimEnd();
}
