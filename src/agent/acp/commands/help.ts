// `/help`: the commands, how to write the arguments of a call, or what one tool takes.

import type { AvailableCommand } from "@agentclientprotocol/sdk";
import { exampleCall } from "../../../core/board/example-call.ts";
import { whatItDoes } from "../../../core/tools/approval-text.ts";
import { type FieldLine, listFields } from "../../../core/tools/arguments/fields.ts";
import { hintsIn } from "../../../core/types/approval.ts";
import { canonicalName, type Tool } from "../../../core/types/tool.ts";
import { oneLine, plainText, shellQuoted, shellWord } from "../../../util/text.ts";

const LONGEST_DESCRIPTION = 2000;
const LONGEST_FIELD = 500;

const CALL_HELP = `\`/call <tool> key=value …\` calls a tool. The arguments are written as in a shell:

- \`text=hi top=3\`: converted to the types in the tool's schema
- \`text="two words"\`: a value with spaces in quotes
- \`tag=a tag=b\`: repeat a key to make a list
- \`place.city=Oslo\`: set one field of an object
- \`filter:={"a": [1, 2]}\`: JSON, passed on unchanged
- \`{"text": "hi"}\`: all arguments as one JSON object

\`/help <tool>\` shows what one tool takes, with an example.`;

export function commandHelp(commands: readonly AvailableCommand[]): string {
  const lines = commands.map(({ name, description, input }) => {
    const hint = input ? ` ${oneLine(input.hint)}` : "";
    return `- \`/${name}${hint}\`: ${description}`;
  });
  return ["Commands, which are answered without a model:", "", ...lines].join("\n");
}

export function callHelp(): string {
  return CALL_HELP;
}

export async function toolHelp(tool: Tool): Promise<string> {
  const { source, description, annotations, parameters } = tool;
  const mark = source.kind === "mcp" ? `[${source.server}] ` : "";
  const own = description.startsWith(mark) ? description.slice(mark.length) : description;
  const does = whatItDoes(hintsIn(annotations));
  const fields = listFields(parameters).map(fieldText);
  const name = shellWord(canonicalName(tool));
  const example = await exampleCall(parameters);
  const words = example?.words.map(shellQuoted) ?? [];
  return [
    `**${name}**: ${oneLine(own, LONGEST_DESCRIPTION)}`,
    ...(does === undefined ? [] : ["", does]),
    "",
    ...(fields.length === 0 ? ["It takes no arguments."] : fields),
    ...(example === undefined
      ? []
      : ["", example.fits ? "Example:" : "Example, which may not satisfy all of the schema:", ""]),
    ...(example === undefined ? [] : [`    /call ${[name, ...words].join(" ")}`]),
  ].join("\n");
}

function fieldText(line: FieldLine): string {
  const margin = "  ".repeat(line.depth);
  if (line.kind === "note") return `${margin}- ${line.text}`;
  const { path, type, facts, description } = line;
  const about = description === undefined ? "" : `: ${oneLine(description, LONGEST_FIELD)}`;
  return `${margin}- \`${oneLine(path)}\` ${plainText([type, ...facts].join(", "))}${about}`;
}
