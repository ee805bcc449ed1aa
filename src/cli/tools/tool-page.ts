// Tools in full: the description, what the tool says it does, every argument, and for one tool an example.

import { exampleCall } from "../../core/board/example-call.ts";
import { whatItDoes } from "../../core/tools/approval-text.ts";
import { type FieldLine, listFields } from "../../core/tools/arguments/fields.ts";
import { SchemaView } from "../../core/tools/arguments/schema-view.ts";
import { hintsIn } from "../../core/types/approval.ts";
import { canonicalName, type Tool } from "../../core/types/tool.ts";
import { oneLine, plainText, shellQuoted, shellWord } from "../../util/text.ts";
import type { GlobalOptions } from "../context.ts";
import { offeredCommand } from "../offered-command.ts";
import type { OutputView } from "../terminal/terminal.ts";
import { wrap, wrapIndented } from "../terminal/width.ts";
import { marks, ownDescription } from "./tool-list.ts";

/** Deeper fields are not indented further: their paths say where they are. */
const DEEPEST_INDENT = 6;

export function toolPages(tools: readonly Tool[], view: OutputView): string[] {
  return tools.flatMap((tool, at) => [...(at === 0 ? [] : [""]), ...toolPage(tool, view)]);
}

/** With an example that can be pasted into a shell. */
export async function toolHelp(
  tool: Tool,
  view: OutputView,
  options: Pick<GlobalOptions, "config" | "agent" | "typed">,
): Promise<string[]> {
  const example = await exampleCall(tool.parameters);
  const name = shellWord(canonicalName(tool));
  const words = example?.words.map(shellQuoted) ?? requiredWords(tool);
  const title =
    example === undefined
      ? "Usage:"
      : example.fits
        ? "Example:"
        : "Example, which may not satisfy all of the schema:";
  const command = offeredCommand(["call", name, ...words].join(" "), options);
  return [...toolPage(tool, view), "", `  ${title}`, `    ${command}`];
}

function requiredWords({ parameters }: Tool): string[] {
  const required = new SchemaView(parameters).parameters.filter((each) => each.required);
  return required.map(({ name }) => `${shellWord(name)}=…`);
}

function toolPage(tool: Tool, view: OutputView): string[] {
  const { paint, width = Infinity } = view;
  const description = ownDescription(tool).trim();
  const paragraphs = description === "" ? [] : description.split("\n");
  const does = whatItDoes(hintsIn(tool.annotations));
  return [
    `${paint("bold", shellWord(canonicalName(tool)))}${about(tool, paint)}`,
    ...paragraphs
      .flatMap((line) => wrap(line.trimEnd(), width - 2))
      .map((line) => (line === "" ? "" : `  ${line}`)),
    ...(does === undefined ? [] : wrap(does, width - 2).map((line) => `  ${paint("dim", line)}`)),
    ...fieldLines(tool, view),
  ];
}

function about(tool: Tool, paint: OutputView["paint"]): string {
  const title = tool.annotations?.["title"];
  const notes = [
    ...(typeof title === "string" && title.trim() !== "" ? [oneLine(title, 100)] : []),
    ...(tool.include === "manual" ? ["manual: not shown to models"] : []),
    ...(tool.include === "agent" ? ["agent: models find it by search"] : []),
    ...marks(tool),
  ];
  return notes.length === 0 ? "" : `  ${paint("dim", notes.join(", "))}`;
}

function fieldLines({ parameters }: Tool, view: OutputView): string[] {
  const lines = listFields(parameters).flatMap((each) => fieldText(each, view));
  return lines.length === 0 ? ["", "  No arguments."] : ["", "  Arguments:", ...lines];
}

function fieldText(line: FieldLine, { paint, width = Infinity }: OutputView): string[] {
  const margin = " ".repeat(4 + 2 * Math.min(line.depth, DEEPEST_INDENT));
  if (line.kind === "note") return [`${margin}${paint("dim", line.text)}`];
  const { path, type, facts, description } = line;
  const name = oneLine(path);
  const [first = "", ...others] = wrapIndented(
    `${margin}${name}  ${[type, ...facts].join(", ")}`,
    width,
  );
  // The name is painted after wrapping, since colours have no width.
  const head = first.startsWith(`${margin}${name}`)
    ? `${margin}${paint("cyan", name)}${first.slice(margin.length + name.length)}`
    : first;
  const below = plainText(description ?? "").trim();
  const told = below === "" ? [] : below.split("\n");
  const room = Math.max(20, width - margin.length - 4);
  return [
    head,
    ...others,
    ...told
      .flatMap((each) => wrap(each.trim(), room))
      .map((each) => (each === "" ? "" : `${margin}    ${each}`)),
  ];
}
