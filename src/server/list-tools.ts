// A server's tools: what makes one of them fit to be listed.

import type { ToolList } from "../model/connection.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import type { ToolDefinition } from "../model/tool.ts";
import { cleanTool } from "./clean-tool.ts";
import { type Fault, listPages, type PageRequest } from "./list-pages.ts";
import { isTooDeep, schemaFault } from "./schema-bounds.ts";

export const MAX_TOOLS = 2000;
const MAX_TOOL_BYTES = 512 * 1024;

/** `redact` takes secrets out of what a server says about its tools. */
export async function listTools(
  server: string,
  requestPage: PageRequest,
  redact?: (text: string) => string,
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
      clean: (tool, report) => cleanTool(tool, { ...(redact !== undefined && { redact }), report }),
    },
    server,
    requestPage,
  );
  return { tools: items, diagnostics };
}

function readTool(item: unknown): ToolDefinition | Fault {
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
    if (isTooDeep(extra)) return { fault: `its ${key} nests too deep` };
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
