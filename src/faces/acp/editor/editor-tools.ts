// The tools that a session has of its editor: those that the editor says it can do.

import type { ApprovalRequest } from "../../../model/approval.ts";
import type { NativeToolFactory } from "../../../model/tool.ts";
import type { Preview } from "../questions/permission.ts";
import type { EditorContext, EditorTool } from "./editor-tool.ts";
import { readFileTool } from "./read-file.ts";
import { runCommandTool } from "./run-command.ts";
import { writeFileTool } from "./write-file.ts";

export interface EditorTools {
  /** For the session's board. A tool of the agent's own that has the same name stays. */
  native: NativeToolFactory[];
  /** Undefined for all other tools. */
  preview(request: ApprovalRequest, signal: AbortSignal | undefined): Promise<Preview | undefined>;
}

export function editorTools(context: EditorContext): EditorTools {
  const { fs, terminal } = context.peer.capabilities();
  const offered = [
    ...(fs?.readTextFile === true ? [readFileTool(context)] : []),
    ...(fs?.writeTextFile === true ? [writeFileTool(context)] : []),
    ...(terminal === true ? [runCommandTool(context)] : []),
  ];
  const plugged = new Map<string, EditorTool>();
  return {
    native: offered.map((each) => ({ has }) => {
      const { name } = each.tool;
      if (has(name)) return undefined;
      plugged.set(`native/${name}`, each);
      return each.tool;
    }),
    async preview({ tool, args }, signal) {
      return plugged.get(tool)?.preview(args, signal);
    },
  };
}
