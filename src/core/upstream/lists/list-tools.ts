// How a server's tools are listed: what makes one valid, and what is cleaned.

import { contentPattern } from "../../types/content-pattern.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { ToolDefinition } from "../../types/tool.ts";
import { toolWithoutSecrets } from "../../types/without-secrets.ts";
import { dropSecretIcons, readIcons } from "./icons.ts";
import { copyMembers, type ListKind } from "./list-pages.ts";
import { schemaFault } from "./schema-bounds.ts";
import type { TextCleaner } from "./text-cleaner.ts";

export const MAX_TOOLS = 2000;
/** Bounds a whole definition and none of its parts: a long description is for the model to read. */
const MAX_DEFINITION_BYTES = 1024 * 1024;

const TEXTS = ["title", "description"] as const;
const OBJECTS = ["annotations", "execution", "_meta"] as const;

export const TOOL_LIST: ListKind<ToolDefinition> = {
  method: "tools/list",
  key: "tools",
  noun: "tool",
  maxItems: MAX_TOOLS,
  maxItemBytes: MAX_DEFINITION_BYTES,
  id: "name",
  read: readTool,
  clean: cleanTool,
  withoutSecrets: toolWithoutSecrets,
};

function readTool(item: JsonObject): ToolDefinition | string {
  const { name, inputSchema, outputSchema } = item;
  if (typeof name !== "string" || name === "") return "it has no name";
  // Rules, pins and approvals go by this name. A server could pass a tool off as a resource that is permitted.
  const content = contentPattern(name);
  if (content !== undefined)
    return `its name begins with "${content.kind}:" and would name a ${content.kind}`;
  if (!isJsonObject(inputSchema)) return "its inputSchema is not an object";
  const fault = schemaFault(inputSchema);
  if (fault !== undefined) return `its inputSchema ${fault}`;
  const tool: ToolDefinition = { name, inputSchema, ...readIcons(item) };
  const problem = copyMembers(item, tool, TEXTS, OBJECTS);
  if (problem !== undefined || outputSchema === undefined || outputSchema === null) {
    return problem ?? tool;
  }
  if (!isJsonObject(outputSchema)) return "its outputSchema is not an object";
  const outputFault = schemaFault(outputSchema);
  return outputFault === undefined ? { ...tool, outputSchema } : `its outputSchema ${outputFault}`;
}

function cleanTool(tool: ToolDefinition, cleaner: TextCleaner): ToolDefinition {
  const { annotations, inputSchema, outputSchema } = tool;
  cleaner.check(tool.name, "name");
  const clean: ToolDefinition = { ...tool, ...cleaner.texts(tool) };
  dropSecretIcons(clean, cleaner.redact);
  if (typeof annotations?.title === "string") {
    clean.annotations = { ...annotations, title: cleaner.title(annotations.title, "title") };
  }
  clean.inputSchema = cleaner.schema(inputSchema, "inputSchema");
  if (outputSchema !== undefined) clean.outputSchema = cleaner.schema(outputSchema, "outputSchema");
  return clean;
}
