// Tools in full: the description and every parameter.

import { isShownToModels } from "../../../model/include.ts";
import { canonicalName, type Tool } from "../../../model/tool.ts";
import { oneLine } from "../../../util/text.ts";
import { type Parameter, SchemaView } from "../../../bridge/arguments/schema-view.ts";
import { type Column, renderTable, type Row } from "../terminal/table.ts";
import type { OutputView } from "../terminal/terminal.ts";
import { ownDescription } from "./tool-list.ts";
import { wrap } from "../terminal/width.ts";

const COLUMNS: readonly Column[] = [
  { min: 8 },
  { min: 8, overflow: "wrap" },
  { min: 8, overflow: "wrap" },
  { min: 20, overflow: "wrap" },
];

export function toolPages(tools: readonly Tool[], view: OutputView): string[] {
  return tools.flatMap((tool, at) => [...(at === 0 ? [] : [""]), ...toolPage(tool, view)]);
}

function toolPage(tool: Tool, view: OutputView): string[] {
  const { paint, width = Infinity } = view;
  const description = ownDescription(tool)
    .trim()
    .split("\n")
    .flatMap((line) => wrap(line.trimEnd(), width - 2))
    .map((line) => (line === "" ? "" : `  ${line}`));
  return [
    `${paint("bold", tool.name)}  ${paint("dim", about(tool))}`,
    ...description,
    ...parameterTable(tool, view),
  ];
}

function about(tool: Tool): string {
  const name = oneLine(canonicalName(tool));
  return isShownToModels(tool) ? name : `${name}, manual: not shown to models`;
}

function parameterTable(tool: Tool, { paint, width }: OutputView): string[] {
  const view = new SchemaView(tool.parameters);
  const rows = view.parameters.map((each) => parameterRow(each, view));
  if (rows.length === 0) return ["  no parameters"];
  return renderTable(COLUMNS, rows, { width, paint, indent: 4 });
}

function parameterRow({ name, schema, required }: Parameter, view: SchemaView): Row {
  const resolved = view.resolve(schema);
  const description = schema["description"] ?? resolved["description"];
  return {
    cells: [
      { text: name, tone: "cyan" },
      view.typeName(schema),
      required ? "required" : defaultOf(resolved["default"]),
      typeof description === "string" ? description : "",
    ],
  };
}

function defaultOf(value: unknown): string {
  return value === undefined ? "" : `default ${oneLine(JSON.stringify(value), 40)}`;
}
