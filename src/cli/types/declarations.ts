// The declarations of tools: a TypeScript module that tells the library's `ToolTypes` what each takes and returns.

import {
  docComment,
  freeName,
  pascalCase,
  toTypeScript,
} from "../../core/tools/schema/typescript.ts";
import { canonicalName, type Tool } from "../../core/types/tool.ts";
import { escapedJson } from "../../util/visible.ts";
import { ownDescription } from "../tools/tool-list.ts";

/** In the order of their names, so that a change of a server is a small difference in the file. */
export function toolDeclarations(tools: readonly Tool[]): string {
  const named = tools.map((tool) => ({ tool, name: canonicalName(tool) }));
  const sorted = named.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const taken = new Map([["ToolTypes", 1]]);
  const entries = sorted.map(({ tool, name }) => declare(tool, name, taken));
  return [
    "// Written by `plugboard types`. Run it again after a server has changed; your edits would be lost.",
    "",
    'import type {} from "plugboard";',
    "",
    'declare module "plugboard" {',
    "  interface ToolTypes {",
    ...entries.flatMap(({ lines }) => lines),
    "  }",
    "}",
    ...entries.flatMap(({ types }) => types.flatMap((type) => ["", type])),
    "",
  ].join("\n");
}

interface Declared {
  lines: string[];
  /** The types that they refer to. */
  types: string[];
}

function declare(tool: Tool, name: string, taken: Map<string, number>): Declared {
  const start = pascalCase(name);
  const take = (part: string): string => freeName(`${start}${part}`, taken);
  const indent = 3;
  const input = toTypeScript(tool.parameters, {
    name: take("Arguments"),
    taken,
    isInput: true,
    indent,
  });
  const output =
    tool.outputSchema === undefined
      ? undefined
      : toTypeScript(tool.outputSchema, { name: take("Result"), taken, isInput: false, indent });
  const key = escapedJson(name);
  const alias = escapedJson(tool.name);
  return {
    lines: [
      ...docComment(ownDescription(tool), [], 2),
      `    ${key}: {`,
      `      arguments: ${input.text};`,
      ...(output === undefined ? [] : [`      result: ${output.text};`]),
      "    };",
      ...(alias === key ? [] : [`    ${alias}: ToolTypes[${key}];`]),
    ],
    types: [...input.declarations, ...(output?.declarations ?? [])],
  };
}
