// The help of a generated command line: its commands, and what one of them takes.

import { listFields } from "../../core/tools/arguments/fields.ts";
import { choicesOf, listChoices } from "../../core/tools/arguments/schema-view.ts";
import { firstSentence, oneLine, plainText, shellWord } from "../../util/text.ts";
import type { OutputView } from "../terminal/terminal.ts";
import { displayWidth, wrap } from "../terminal/width.ts";
import { type EmbeddedServer, type EmbeddedTool, wordsFor } from "./embedded.ts";
import { type ToolOption, ToolOptions } from "./read-words.ts";

const WIDTH = 80;
const WIDEST_NAME = 28;

/** What all commands take. */
const COMMON: readonly [option: string, about: string][] = [
  ["--raw <json>", "the arguments as one JSON object; @file reads one, - reads stdin"],
  ["--json", "print the whole result as JSON"],
  ["--output <directory>", "save images, audio and other binary content there"],
  ["--timeout <ms>", "milliseconds the call may take without progress"],
  ["--yes", "make the call without asking, if it needs approval"],
  ["--verbose", "log more on stderr"],
  ["--no-color", "print without colours"],
  ["-h, --help", "show help, or after a command, what it takes"],
];

export function commandsHelp(
  { name, tools }: EmbeddedServer,
  program: string,
  view: OutputView,
): string[] {
  const [first] = tools;
  return [
    `Usage: ${program} <command> [options]`,
    "",
    `The tools of the MCP server '${oneLine(name, 100)}', as commands.`,
    "",
    "Commands:",
    ...toolRows(tools, view, "  "),
    "",
    "Options:",
    ...table([["--list", "list the commands; with --json, what they take too"], ...COMMON], view),
    ...(first === undefined
      ? []
      : ["", "To see what a command takes:", `  ${program} ${wordOf(first, tools)} --help`]),
  ];
}

export function toolRows(tools: readonly EmbeddedTool[], view: OutputView, margin = ""): string[] {
  const words = wordsFor(tools.map(({ name }) => name));
  return table(
    tools.map(({ name, description }) => [
      shellWord(words.get(name) ?? name),
      firstSentence(plainText(description ?? "")),
    ]),
    view,
    margin,
  );
}

export function toolHelp(
  tool: EmbeddedTool,
  tools: readonly EmbeddedTool[],
  program: string,
  view: OutputView,
): string[] {
  const options = new ToolOptions(tool);
  const facts = factsOf(tool);
  const needed = options.all.filter(({ required }) => required);
  const usage = needed.map((each) =>
    ` ${shellWord(each.option)} ${valueOf(each, options)}`.trimEnd(),
  );
  const description = plainText(tool.description ?? "").trim();
  const taken = new Set(options.all.map(({ option }) => option));
  const common = COMMON.filter(([option]) => !taken.has(option.split(" ")[0] ?? ""));
  return [
    `Usage: ${program} ${wordOf(tool, tools)}${usage.join("")} [options]`,
    ...(description === ""
      ? []
      : ["", ...description.split("\n").flatMap((line) => wrap(line.trimEnd(), widthOf(view)))]),
    ...(options.all.length === 0
      ? ["", "It takes no arguments."]
      : [
          "",
          "Arguments:",
          ...table(
            options.all.map((each) => optionRow(each, options, facts)),
            view,
          ),
        ]),
    "",
    "Options:",
    ...table(common, view),
    "",
    "Arguments can also be given as key=value, key:=json and key=@file.",
  ];
}

function wordOf({ name }: EmbeddedTool, tools: readonly EmbeddedTool[]): string {
  return shellWord(wordsFor(tools.map((each) => each.name)).get(name) ?? name);
}

/** `required`, `1 to 9`, `default 3`, by the name of the parameter. */
function factsOf({ parameters }: EmbeddedTool): Facts {
  const lines = listFields(parameters);
  return new Map(
    lines.flatMap((line) =>
      line.kind === "field" && line.depth === 0 ? [[line.path, line.facts]] : [],
    ),
  );
}

type Facts = ReadonlyMap<string, readonly string[]>;

function optionRow(option: ToolOption, options: ToolOptions, facts: Facts): [string, string] {
  const { view } = options;
  const description = view.note(option.schema, "description");
  const notes = [
    ...(facts.get(option.name) ?? []),
    // A switch that is false by default needs no option for false.
    ...(option.isSwitch && view.note(option.schema, "default") !== false
      ? [`${shellWord(option.option.replace("--", "--no-"))} for false`]
      : []),
    ...(option.isList ? ["can be repeated"] : []),
  ];
  const about = typeof description === "string" ? oneLine(description, 400) : "";
  const more = notes.length === 0 ? "" : `(${notes.join("; ")})`;
  const value = option.isSwitch ? "" : ` ${valueOf(option, options)}`;
  return [`${shellWord(option.option)}${value}`, [about, more].filter(Boolean).join(" ")];
}

/** `<name|size>`, `<number>`, `<json>`, and nothing for a switch. */
function valueOf({ schema, isSwitch }: ToolOption, { view }: ToolOptions): string {
  if (isSwitch) return "";
  const alternatives = view.alternatives(schema);
  const [only, other] = alternatives;
  const choices = only !== undefined && other === undefined ? choicesOf(only) : undefined;
  if (choices?.every((each) => typeof each === "string" && /^[\w.-]+$/.test(each))) {
    return `<${choices.length <= 8 ? choices.join("|") : listChoices(choices)}>`;
  }
  const type = view.typeName(schema).replace(/ \| null$/, "");
  if (/^(?:string|any)$/.test(type)) return "<text>";
  if (/^(?:integer|number)$/.test(type)) return "<number>";
  if (type === "string[]") return "<text>";
  if (/^(?:integer|number)\[\]$/.test(type)) return "<number>";
  return /object|array/.test(type) ? "<json>" : `<${type}>`;
}

function widthOf({ width }: OutputView): number {
  return width ?? WIDTH;
}

/** Names on the left, what they are on the right; below a name that is too long. */
function table(
  rows: readonly (readonly [name: string, about: string])[],
  view: OutputView,
  margin = "  ",
): string[] {
  const widest = Math.max(0, ...rows.map(([name]) => displayWidth(name)));
  const width = widthOf(view);
  const column = Math.min(widest, WIDEST_NAME, Math.floor(width / 3)) + 2;
  const room = Math.max(10, width - margin.length - column);
  const indent = " ".repeat(column);
  return rows.flatMap(([name, about]) => {
    const lines = about === "" ? [] : wrap(oneLine(about), room);
    const isLong = displayWidth(name) > column - 2;
    const [first = "", ...others] = isLong ? ["", ...lines] : lines;
    const padding = " ".repeat(Math.max(0, column - displayWidth(name)));
    return [
      `${margin}${name}${padding}${first}`.trimEnd(),
      ...others.map((line) => `${margin}${indent}${line}`),
    ];
  });
}
