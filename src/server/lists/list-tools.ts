// Lists a server's tools, and checks and cleans each.

import type { ToolList } from "../../model/connection.ts";
import { isJsonObject, type JsonObject } from "../../model/json.ts";
import type { ToolDefinition } from "../../model/tool.ts";
import { isTooDeep } from "../../util/json-depth.ts";
import { type ItemFault, listPages, type PageRequest } from "./list-pages.ts";
import { schemaFault } from "./schema-bounds.ts";
import { TextCleaner } from "./text-cleaner.ts";

export const MAX_TOOLS = 2000;
const MAX_TOOL_BYTES = 512 * 1024;
const MAX_DESCRIPTION = 16 * 1024;

/** `redact` removes secrets from what the server says about its tools. */
export async function listTools(
  server: string,
  requestPage: PageRequest,
  redact: (text: string) => string = (text) => text,
): Promise<ToolList> {
  const { items, diagnostics } = await listPages<ToolDefinition>(
    {
      method: "tools/list",
      key: "tools",
      noun: "tool",
      maxItems: MAX_TOOLS,
      maxItemBytes: MAX_TOOL_BYTES,
      id: "name",
      read: readTool,
      clean: (tool, report) => cleanTool(tool, redact, report),
    },
    server,
    requestPage,
  );
  return { tools: items, diagnostics };
}

function readTool(item: unknown): ToolDefinition | ItemFault {
  if (!isJsonObject(item)) return { fault: "it is not an object" };
  const { name, inputSchema } = item;
  if (typeof name !== "string" || name === "") return { fault: "it has no name" };
  if (!isJsonObject(inputSchema)) return { fault: "its inputSchema is not an object" };
  const fault = schemaFault(inputSchema);
  if (fault !== undefined) return { fault: `its inputSchema ${fault}` };
  const tool: ToolDefinition = { name, inputSchema };
  if (typeof item.title === "string") tool.title = item.title;
  if (typeof item.description === "string") tool.description = item.description;
  for (const key of ["annotations", "_meta"] as const) {
    const extra = item[key];
    if (!isJsonObject(extra)) continue;
    if (isTooDeep(extra)) return { fault: `"${key}" has too many levels` };
    tool[key] = extra;
  }
  if (item.outputSchema !== undefined && item.outputSchema !== null) {
    const outputFault = isJsonObject(item.outputSchema)
      ? schemaFault(item.outputSchema)
      : "is not an object";
    if (outputFault !== undefined) return { fault: `its outputSchema ${outputFault}` };
    tool.outputSchema = item.outputSchema as JsonObject;
  }
  return tool;
}

/** `report` gets what was changed, as a sentence about the tool. */
export function cleanTool(
  tool: ToolDefinition,
  redact: (text: string) => string,
  report: (message: string) => void,
): ToolDefinition {
  const cleaner = new TextCleaner(redact);
  const { title, description, annotations, inputSchema, outputSchema } = tool;
  cleaner.check(tool.name, "name");
  const clean: ToolDefinition = { ...tool };
  if (title !== undefined) clean.title = cleaner.title(title, "title");
  if (description !== undefined) {
    clean.description = cleaner.description(description, "description", MAX_DESCRIPTION);
  }
  if (typeof annotations?.title === "string") {
    clean.annotations = { ...annotations, title: cleaner.title(annotations.title, "title") };
  }
  clean.inputSchema = cleaner.schema(inputSchema, "inputSchema");
  if (outputSchema !== undefined) clean.outputSchema = cleaner.schema(outputSchema, "outputSchema");
  cleaner.reportTo(report);
  return clean;
}
