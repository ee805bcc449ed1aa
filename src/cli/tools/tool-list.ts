// Tools as a list: a line each, with the name that a shell takes and the first sentence of the description.

import { canonicalName, needsTask, type Tool } from "../../core/types/tool.ts";
import { firstSentence, plainText, shellWord } from "../../util/text.ts";
import { listByServer, type ListLine, plainList } from "../terminal/list.ts";
import type { OutputView } from "../terminal/terminal.ts";

export function toolList(tools: readonly Tool[], view: OutputView): string[] {
  return listByServer(tools.map(toolLine), "tool", view);
}

/** In their order, whatever their servers are: the best comes first. */
export function rankedTools(tools: readonly Tool[], view: OutputView): string[] {
  return plainList(tools.map(toolLine), view);
}

function toolLine(tool: Tool): ListLine {
  return {
    server: tool.source.kind === "mcp" ? tool.source.server : "native",
    name: shellWord(canonicalName(tool)),
    about: [...marks(tool).map((mark) => `(${mark})`), firstSentence(ownDescription(tool))].join(
      " ",
    ),
  };
}

/** The description as its server wrote it, without the `[server]` that models see in front of it. */
export function ownDescription({ description, source }: Tool): string {
  const mark = source.kind === "mcp" ? `[${source.server}] ` : "";
  return plainText(description.startsWith(mark) ? description.slice(mark.length) : description);
}

/** Why a tool is not one like the others. */
export function marks(tool: Tool): string[] {
  return [
    ...(tool.include === "app" ? ["for the server's app, not for models"] : []),
    ...(needsTask(tool) ? ["needs a task, not supported"] : []),
  ];
}
