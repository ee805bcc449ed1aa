// `write_file`: writes a text file through the editor, and shows it as a diff to the text it replaces.

import { existsSync } from "node:fs";
import { methods, RequestError, type ToolCallContent } from "@agentclientprotocol/sdk";
import { z } from "zod";
import { cancelled } from "../../../core/types/errors.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import { byteSize, plural } from "../../../util/text.ts";
import { textContent } from "../wire/content.ts";
import {
  answerOfEditor,
  type EditorContext,
  type EditorTool,
  parametersOf,
  readArguments,
} from "./editor-tool.ts";
import { firstLines } from "./read-file.ts";

/** Limits for either side of a diff. Nobody reads a longer one, and the history would keep it. */
const MAX_CHARACTERS = 256 * 1024;
const MAX_LINES = 20_000;
const NOT_FOUND = -32002;

const schema = z.object({
  path: z.string().min(1).describe("Absolute, or relative to the session's directory."),
  content: z.string().describe("The complete new text of the file."),
});

export function writeFileTool(context: EditorContext): EditorTool {
  const { sessionId, workspace, client, display } = context;
  const change = async (args: JsonObject, signal: AbortSignal | undefined) => {
    const { path, content } = readArguments(schema, args);
    const file = await workspace.inside(path);
    const before = await currentText(file, context, signal);
    return { path, file, content, shown: changeContent(file, before, content) };
  };
  return {
    tool: {
      name: "write_file",
      description:
        "Writes a text file in the session's directories through the editor: creates it, or replaces its whole text.",
      parameters: parametersOf(schema),
      annotations: {
        title: "write",
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: true,
        openWorldHint: false,
      },
      async execute(callId, args, signal) {
        const { path, file, content, shown } = await change(args, signal);
        if (signal?.aborted) throw cancelled();
        display.attach(callId, { content: shown, locations: [{ path: file }] });
        const params = { sessionId, path: file, content };
        const request = client.request(methods.client.fs.writeTextFile, params, signal);
        await answerOfEditor(`write ${path}`, request, signal);
        const lines = content.split("\n").length - (content.endsWith("\n") ? 1 : 0);
        const text = `Wrote ${path}: ${plural(content === "" ? 0 : lines, "line")}.`;
        return { content: [{ type: "text", text }] };
      },
    },
    async preview(args, signal) {
      const { file, shown } = await change(args, signal);
      const locations = [{ path: file }];
      return { kind: "edit", title: `write ${file}`, locations, content: shown };
    },
  };
}

type CurrentText =
  | { kind: "text"; text: string }
  | { kind: "none" }
  | { kind: "long" }
  /** The editor cannot read files, or failed to read this one. */
  | { kind: "unknown" };

/** Reads the file for the user to compare, not for the model. Rejects only with CANCELLED. */
async function currentText(
  path: string,
  { sessionId, client }: EditorContext,
  signal: AbortSignal | undefined,
): Promise<CurrentText> {
  if (client.capabilities().fs?.readTextFile !== true) return { kind: "unknown" };
  try {
    const params = { sessionId, path, limit: MAX_LINES + 1 };
    const { content } = await client.request(methods.client.fs.readTextFile, params, signal);
    const isLong = content.length > MAX_CHARACTERS || firstLines(content, MAX_LINES).isCut;
    return isLong ? { kind: "long" } : { kind: "text", text: content };
  } catch (error) {
    if (signal?.aborted) throw cancelled();
    // Few editors have an error code for a file that does not exist, so we look ourselves.
    const isNone = (error instanceof RequestError && error.code === NOT_FOUND) || !existsSync(path);
    return { kind: isNone ? "none" : "unknown" };
  }
}

/** A diff, or a sentence if there is none to show. */
function changeContent(path: string, before: CurrentText, newText: string): ToolCallContent[] {
  if (before.kind === "long" || newText.length > MAX_CHARACTERS) {
    const size = byteSize(Buffer.byteLength(newText));
    return [textContent(`${path} is too long to show as a diff; its new text has ${size}.`)];
  }
  const oldText = before.kind === "text" ? before.text : null;
  const diff: ToolCallContent = { type: "diff", path, oldText, newText };
  if (before.kind !== "unknown") return [diff];
  return [diff, textContent(`If ${path} exists, its current text could not be read.`)];
}
