// `write_file`: writes a text file through the editor, shown as a diff to what it held before.

import { methods } from "@agentclientprotocol/sdk";
import { z } from "zod";
import { cancelled } from "../../../model/errors.ts";
import type { JsonObject } from "../../../model/json.ts";
import { plural } from "../../../util/text.ts";
import { parametersOf, readArguments } from "./arguments.ts";
import { changeContent, presentText } from "./change.ts";
import { type EditorContext, type EditorTool, ofEditor } from "./editor-tool.ts";

const schema = z.object({
  path: z.string().min(1).describe("Absolute, or from the session's directory."),
  content: z.string().describe("The whole new text of the file."),
});

export function writeFileTool(context: EditorContext): EditorTool {
  const { sessionId, workspace, peer, display } = context;
  const change = async (args: JsonObject, signal: AbortSignal | undefined) => {
    const { path, content } = readArguments(schema, args);
    const file = await workspace.inside(path);
    const before = await presentText(file, context, signal);
    return { path, file, content, shown: changeContent(file, before, content) };
  };
  return {
    tool: {
      name: "write_file",
      description:
        "Writes a text file of the session's directories through the editor: makes it, or replaces all that it holds.",
      parameters: parametersOf(schema),
      annotations: {
        title: "write",
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: true,
        openWorldHint: false,
      },
      async execute(_id, args, signal) {
        const { path, file, content, shown } = await change(args, signal);
        if (signal?.aborted) throw cancelled();
        display.show({ content: shown, locations: [{ path: file }] });
        const params = { sessionId, path: file, content };
        const request = peer.request(methods.client.fs.writeTextFile, params, signal);
        await ofEditor(`write ${path}`, request, signal);
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
