// What servers offer, as a list: a line each, under their server where a person reads it.

import { oneLine, plural } from "../../../util/text.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import type { OutputView } from "../terminal/terminal.ts";

const COLUMNS: readonly Column[] = [{ min: 24 }, { min: 12 }];

export interface OfferLine {
  server: string;
  /** What to ask for it by. */
  id: string;
  about: string;
}

export function offerList(lines: readonly OfferLine[], noun: string, view: OutputView): string[] {
  const { isTerminal, paint, width } = view;
  const rows = (own: readonly OfferLine[]) => own.map(({ id, about }) => ({ cells: [id, about] }));
  // One table for a pipe: other programs read lines, not headings.
  if (!isTerminal) return renderTable(COLUMNS, rows(lines), { paint });
  return [...byServer(lines)].flatMap(([server, own], at) => [
    ...(at === 0 ? [] : [""]),
    `${paint("bold", oneLine(server))} ${paint("dim", plural(own.length, noun))}`,
    ...renderTable(COLUMNS, rows(own), { width, paint, indent: 2 }),
  ]);
}

/** Every word is somewhere in it, in whatever case. */
export function hasWords(
  texts: readonly (string | undefined)[],
  words: readonly string[],
): boolean {
  const text = texts.join("\n").toLowerCase();
  return words.every((word) => text.includes(word.toLowerCase()));
}

function byServer(lines: readonly OfferLine[]): Map<string, OfferLine[]> {
  const groups = new Map<string, OfferLine[]>();
  for (const line of lines) {
    const group = groups.get(line.server) ?? [];
    group.push(line);
    groups.set(line.server, group);
  }
  return groups;
}
