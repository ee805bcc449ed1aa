// `read_file`: reads a text file through the editor, including unsaved changes.

import { methods } from "@agentclientprotocol/sdk";
import { z } from "zod";
import type { ContentBlock } from "../../../core/types/content.ts";
import { cancelled } from "../../../core/types/errors.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import { textContent } from "../wire/content.ts";
import {
  answerOfEditor,
  type EditorContext,
  type EditorTool,
  parametersOf,
  readArguments,
  stringIn,
} from "./editor-tool.ts";

const DEFAULT_LINES = 2000;
const MOST_LINES = 20_000;
const LAST_LINE = 1_000_000_000;

const schema = z.object({
  path: z.string().min(1).describe("Absolute, or relative to the session's directory."),
  line: z
    .int()
    .min(1)
    .max(LAST_LINE)
    .optional()
    .describe("The first line to read; the first line of a file is 1."),
  limit: z
    .int()
    .min(1)
    .max(MOST_LINES)
    .optional()
    .describe(`How many lines to read. Default ${DEFAULT_LINES}.`),
});

export function readFileTool({ sessionId, workspace, client, display }: EditorContext): EditorTool {
  const locate = async (args: JsonObject) => {
    const { path, line, limit = DEFAULT_LINES } = readArguments(schema, args);
    const file = await workspace.inside(path);
    return { path, limit, line, location: { path: file, line } };
  };
  return {
    tool: {
      name: "read_file",
      description:
        "Reads a text file in the session's directories, including changes that are not saved in the editor yet.",
      parameters: parametersOf(schema),
      annotations: { title: "read", readOnlyHint: true, openWorldHint: false },
      async execute(callId, args, signal) {
        const { path, limit, line, location } = await locate(args);
        if (signal?.aborted) throw cancelled();
        display.attach(callId, { locations: [location] });
        // One line more than wanted tells whether there are more.
        const params = { sessionId, ...location, limit: limit + 1 };
        const request = client.request(methods.client.fs.readTextFile, params, signal);
        const what = `read ${path}`;
        const content = stringIn(await answerOfEditor(what, request, signal), "content", what);
        const { text, isCut } = firstLines(content, limit);
        const blocks: ContentBlock[] = [{ type: "text", text }];
        if (isCut) {
          const next = (line ?? 1) + limit;
          blocks.push({
            type: "text",
            text: `The file has more lines: continue with line ${next}.`,
          });
        }
        return { content: blocks };
      },
    },
    async preview(args) {
      const { location, limit } = await locate(args);
      const { path, line = 1 } = location;
      const lines = `lines ${line} to ${line + limit - 1}`;
      return {
        kind: "read",
        title: `read ${path}`,
        locations: [location],
        content: [textContent(`${path}, ${lines}`)],
      };
    },
  };
}

export function firstLines(text: string, count: number): { text: string; isCut: boolean } {
  let end = 0;
  for (let line = 0; line < count; line += 1) {
    const at = text.indexOf("\n", end);
    if (at === -1) return { text, isCut: false };
    end = at + 1;
  }
  return { text: text.slice(0, end), isCut: end < text.length };
}
