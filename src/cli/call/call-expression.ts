// A call as programs write it: `files.read_file(path: "a.txt", head: 3)`.

import { invalidArguments } from "../../core/tools/arguments/invalid.ts";
import { parseText } from "../../core/config/text/document.ts";
import { isJsonObject } from "../../core/types/json.ts";
import type { CallRequest } from "./command.ts";

/** The same call, with its arguments as one JSON object. Rejects with INVALID_ARGUMENTS what cannot be read. */
export function readExpression(command: CallRequest): CallRequest {
  const { tool: text, args } = command;
  const open = text.indexOf("(");
  const inside = text.slice(open + 1, text.lastIndexOf(")")).trim();
  const tool = text.slice(0, open).trim();
  if (inside === "") return { ...command, tool };
  const read = parseText(inside.startsWith("{") ? inside : `{${inside}}`);
  if (read.kind === "malformed" || read.issues.length > 0 || !isJsonObject(read.value)) {
    throw invalidArguments(
      [`'${inside}' cannot be read as arguments`],
      `write them as in ${tool}(text: "hi", top: 3), or as text=hi top=3`,
    );
  }
  return { ...command, tool, args: [JSON.stringify(read.value), ...args] };
}
