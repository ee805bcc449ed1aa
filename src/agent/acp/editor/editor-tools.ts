// The tools that a session gets from its editor: those that the editor's capabilities allow.

import type { ApprovalRequest } from "../../../core/types/approval.ts";
import type { NativeToolFactory } from "../../../core/types/tool.ts";
import type { CallPreview } from "../calls/tool-view.ts";
import type { EditorContext, EditorTool } from "./editor-tool.ts";
import { readFileTool } from "./read-file.ts";
import { runCommandTool } from "./run-command.ts";
import { writeFileTool } from "./write-file.ts";

export interface EditorTools {
  /** For the session's board. If the agent has a tool of the same name, the editor's is left out. */
  native: NativeToolFactory[];
  /** Undefined for all other tools. */
  preview(
    request: ApprovalRequest,
    signal: AbortSignal | undefined,
  ): Promise<CallPreview | undefined>;
}

export function editorTools(context: EditorContext): EditorTools {
  const { fs, terminal } = context.client.capabilities();
  const supported = [
    ...(fs?.readTextFile === true ? [readFileTool(context)] : []),
    ...(fs?.writeTextFile === true ? [writeFileTool(context)] : []),
    ...(terminal === true ? [runCommandTool(context)] : []),
  ];
  const added = new Map<string, EditorTool>();
  return {
    native: supported.map((each) => ({ has }) => {
      const { name } = each.tool;
      if (has(name)) return undefined;
      added.set(`native/${name}`, each);
      // They end with the prompt, and a command has a time of its own: an editor may ask its user.
      return { ...each.tool, toolTimeout: false };
    }),
    async preview({ tool, args }, signal) {
      return added.get(tool)?.preview(args, signal);
    },
  };
}
