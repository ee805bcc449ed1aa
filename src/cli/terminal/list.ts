// A list of what servers have, a line each: under headings for a person, one table for a pipe.

import { oneLine, plural } from "../../util/text.ts";
import { type Column, renderTable, type Row } from "./table.ts";
import type { OutputView } from "./terminal.ts";
import { cut, displayWidth } from "./width.ts";

const COLUMNS: readonly Column[] = [{ min: 16 }, { min: 12 }];
/** With less room beside the names, what each is about stands below its name: a name that is cut is of no use. */
const LEAST_ABOUT = 16;

export interface ListLine {
  server: string;
  /** What a command takes to name it. */
  name: string;
  about: string;
}

export function listByServer(lines: readonly ListLine[], noun: string, view: OutputView): string[] {
  const { isTerminal, paint, width } = view;
  // Other programs read lines, not headings.
  if (!isTerminal) return plainList(distinct(lines), view);
  const groups = new Map<string, ListLine[]>();
  for (const line of lines) {
    const group = groups.get(line.server);
    if (group) group.push(line);
    else groups.set(line.server, [line]);
  }
  return [...groups].flatMap(([server, own], at) => [
    ...(at === 0 ? [] : [""]),
    `${paint("bold", oneLine(server))} ${paint("dim", plural(own.length, noun))}`,
    ...renderTable(COLUMNS, rows(own, (width ?? Infinity) - 2), { width, paint, indent: 2 }),
  ]);
}

/** Two servers can have one URI: then each line says whose it is. */
function distinct(lines: readonly ListLine[]): ListLine[] {
  const count = new Map<string, number>();
  for (const { name } of lines) count.set(name, (count.get(name) ?? 0) + 1);
  return lines.map((line) =>
    count.get(line.name) === 1
      ? line
      : { ...line, about: `${line.about} (server ${line.server})`.trim() },
  );
}

/** Without headings, in the given order. */
export function plainList(
  lines: readonly ListLine[],
  { isTerminal, paint, width }: OutputView,
): string[] {
  const room = (isTerminal ? width : undefined) ?? Infinity;
  return renderTable(COLUMNS, rows(lines, room), { paint, width: room });
}

function rows(lines: readonly ListLine[], room: number): Row[] {
  const longest = Math.max(0, ...lines.map(({ name }) => displayWidth(name)));
  if (longest + LEAST_ABOUT <= room)
    return lines.map(({ name, about }) => ({ cells: [name, about] }));
  return lines.map(({ name, about }) => ({
    cells: [name],
    ...(about !== "" && { notes: [cut(oneLine(about), Math.max(20, room - 4))] }),
  }));
}

/** Whether every word occurs somewhere in the texts, in upper or lower case. */
export function hasWords(
  texts: readonly (string | undefined)[],
  words: readonly string[],
): boolean {
  const text = texts.join("\n").toLowerCase();
  return words.every((word) => text.includes(word.toLowerCase()));
}
