// Tools as a list: a line each, under their server where a person reads it.

import type { Tool } from "../../../model/tool.ts";
import { oneLine, plainText, plural } from "../../../util/text.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import type { OutputView } from "../terminal/terminal.ts";

const COLUMNS: readonly Column[] = [{ min: 16 }, { min: 12 }];

export function toolList(tools: readonly Tool[], view: OutputView): string[] {
  const { isTerminal, paint, width } = view;
  const rows = (own: readonly Tool[]) =>
    own.map((tool) => ({ cells: [tool.name, firstSentence(tool)] }));
  // One table for a pipe: other programs read lines, not headings.
  if (!isTerminal) return renderTable(COLUMNS, rows(tools), { paint });
  return [...byServer(tools)].flatMap(([server, own], at) => [
    ...(at === 0 ? [] : [""]),
    `${paint("bold", server)} ${paint("dim", plural(own.length, "tool"))}`,
    ...renderTable(COLUMNS, rows(own), { width, paint, indent: 2 }),
  ]);
}

/** The description as its server wrote it: in a list under the server's name the mark of it says nothing. */
export function ownDescription({ description, source }: Tool): string {
  const mark = source.kind === "mcp" ? `[${source.server}] ` : "";
  return plainText(description.startsWith(mark) ? description.slice(mark.length) : description);
}

function byServer(tools: readonly Tool[]): Map<string, Tool[]> {
  const groups = new Map<string, Tool[]>();
  for (const tool of tools) {
    const server = tool.source.kind === "mcp" ? oneLine(tool.source.server) : "native";
    groups.set(server, [...(groups.get(server) ?? []), tool]);
  }
  return groups;
}

function firstSentence(tool: Tool): string {
  const [line = ""] = ownDescription(tool).trim().split("\n");
  return /^.*?[.!?](?=\s+\p{Lu})/u.exec(line)?.[0] ?? line;
}
