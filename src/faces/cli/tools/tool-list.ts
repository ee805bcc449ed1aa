// Tools as a list: a line each, with the name that a shell takes and the first sentence of the description.

import { canonicalName, needsTask, type Tool } from "../../../model/tool.ts";
import { plainText, shellWord } from "../../../util/text.ts";
import { listByServer } from "../terminal/list.ts";
import type { OutputView } from "../terminal/terminal.ts";

export function toolList(tools: readonly Tool[], view: OutputView): string[] {
  const lines = tools.map((tool) => ({
    server: tool.source.kind === "mcp" ? tool.source.server : "native",
    name: shellWord(canonicalName(tool)),
    about: [...marks(tool).map((mark) => `(${mark})`), firstSentence(tool)].join(" "),
  }));
  return listByServer(lines, "tool", view);
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

function firstSentence(tool: Tool): string {
  const [line = ""] = ownDescription(tool).trim().split("\n");
  return /^.*?[.!?](?=\s+\p{Lu})/u.exec(line)?.[0] ?? line;
}
