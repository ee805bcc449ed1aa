// `read_file`: a text file as the editor has it, unsaved changes included.

import { methods } from "@agentclientprotocol/sdk";
import { z } from "zod";
import type { ContentBlock } from "../../../model/content.ts";
import { cancelled } from "../../../model/errors.ts";
import type { JsonObject } from "../../../model/json.ts";
import { textContent } from "../wire/content.ts";
import { parametersOf, readArguments } from "./arguments.ts";
import { type EditorContext, type EditorTool, ofEditor, textIn } from "./editor-tool.ts";
import { firstLines } from "./first-lines.ts";

const DEFAULT_LINES = 2000;
const MOST_LINES = 20_000;
const LAST_LINE = 1_000_000_000;

const schema = z.object({
  path: z.string().min(1).describe("Absolute, or from the session's directory."),
  line: z.int().min(1).max(LAST_LINE).optional().describe("The first line to read, from 1 on."),
  limit: z
    .int()
    .min(1)
    .max(MOST_LINES)
    .optional()
    .describe(`How many lines. Default ${DEFAULT_LINES}.`),
});

export function readFileTool({ sessionId, workspace, peer, display }: EditorContext): EditorTool {
  const place = async (args: JsonObject) => {
    const { path, line, limit = DEFAULT_LINES } = readArguments(schema, args);
    const file = await workspace.inside(path);
    return { path, limit, line, location: { path: file, ...(line !== undefined && { line }) } };
  };
  return {
    tool: {
      name: "read_file",
      description:
        "Reads a text file of the session's directories, with changes in the editor that are not saved yet.",
      parameters: parametersOf(schema),
      annotations: { title: "read", readOnlyHint: true, openWorldHint: false },
      async execute(_id, args, signal) {
        const { path, limit, line, location } = await place(args);
        if (signal?.aborted) throw cancelled();
        display.show({ locations: [location] });
        // One more than wanted tells whether there is more.
        const params = { sessionId, ...location, limit: limit + 1 };
        const request = peer.request(methods.client.fs.readTextFile, params, signal);
        const what = `read ${path}`;
        const content = textIn(await ofEditor(what, request, signal), "content", what);
        const { text, isCut } = firstLines(content, limit);
        const blocks: ContentBlock[] = [{ type: "text", text }];
        if (isCut) {
          const next = (line ?? 1) + limit;
          blocks.push({ type: "text", text: `There is more: go on with line ${next}.` });
        }
        return { content: blocks };
      },
    },
    async preview(args) {
      const { location, limit } = await place(args);
      const { path, line = 1 } = location;
      const lines = `lines ${line} to ${line + limit - 1} at most`;
      return {
        kind: "read",
        title: `read ${path}`,
        locations: [location],
        content: [textContent(`${path}, ${lines}`)],
      };
    },
  };
}
