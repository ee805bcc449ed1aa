// Reads a server's whole tool list, page by page, within bounds, and item by item: what is malformed or
// hostile is left out with a diagnostic, the rest stays.

import type { Diagnostic } from "../model/diagnostic.ts";
import { PlugboardError } from "../model/errors.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import type { ToolList } from "../model/connection.ts";
import type { ToolDefinition } from "../model/tool.ts";
import { byteSize, oneLine, plural } from "../util/text.ts";
import { cleanTool } from "./clean-tool.ts";
import { isTooDeep, measure, schemaFault } from "./schema-bounds.ts";

export const MAX_PAGES = 64;
export const MAX_TOOLS = 2000;
const MAX_LIST_BYTES = 16 * 1024 * 1024;
const MAX_TOOL_BYTES = 512 * 1024;
/** A list of nothing but faults must not become a list of as many diagnostics. */
const MAX_DIAGNOSTICS = 50;

/** Asks for one page; rejects with a PlugboardError. */
export type PageRequest = (cursor: string | undefined) => Promise<unknown>;

/** `redact` takes secrets out of what a server says about its tools. */
export async function listTools(
  server: string,
  requestPage: PageRequest,
  redact?: (text: string) => string,
): Promise<ToolList> {
  const diagnostics: Diagnostic[] = [];
  let unsaid = 0;
  const report = (message: string, subject?: string): void => {
    if (diagnostics.length >= MAX_DIAGNOSTICS) {
      unsaid += 1;
      return;
    }
    diagnostics.push(
      subject === undefined
        ? { server, message }
        : { server, message, subject: oneLine(subject, 80) },
    );
  };
  // Last wins on a repeated name, at the place of the first.
  const tools = new Map<string, ToolDefinition>();
  const finish = (cut?: string): ToolList => {
    if (unsaid > 0) {
      diagnostics.push({ server, message: `${plural(unsaid, "more fault")} like these` });
    }
    if (cut !== undefined) diagnostics.push({ server, message: cut });
    return { tools: [...tools.values()], diagnostics };
  };
  const seenCursors = new Set<string>();
  let cursor: string | undefined;
  let bytes = 0;
  for (let page = 1; ; page += 1) {
    const result = await requestPage(cursor);
    if (!isJsonObject(result) || !Array.isArray(result.tools)) {
      throw new PlugboardError(
        "PROTOCOL",
        "the server's answer to tools/list holds no list of tools",
      );
    }
    for (const item of result.tools) {
      const size = measure(item, MAX_TOOL_BYTES);
      bytes += size;
      if (tools.size >= MAX_TOOLS || bytes > MAX_LIST_BYTES) {
        const cap = bytes > MAX_LIST_BYTES ? byteSize(MAX_LIST_BYTES) : `${MAX_TOOLS} tools`;
        return finish(`the tool list is cut at ${cap}`);
      }
      const tool = size > MAX_TOOL_BYTES ? tooBig() : readTool(item);
      if ("fault" in tool) {
        report(`tool left out: ${tool.fault}`, nameOf(item));
        continue;
      }
      if (tools.has(tool.name)) report("the name is listed twice; the last one counts", tool.name);
      const clean = cleanTool(tool, {
        ...(redact !== undefined && { redact }),
        report: (message) => report(message, tool.name),
      });
      tools.set(tool.name, clean);
    }
    cursor = typeof result.nextCursor === "string" ? result.nextCursor : undefined;
    if (cursor === undefined || cursor === "") return finish();
    if (seenCursors.has(cursor)) return finish("the tool list repeats a page; it is cut there");
    if (page === MAX_PAGES) return finish(`the tool list is cut at ${MAX_PAGES} pages`);
    seenCursors.add(cursor);
  }
}

function readTool(item: unknown): ToolDefinition | { fault: string } {
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

function tooBig(): { fault: string } {
  return { fault: `it is described in more than ${byteSize(MAX_TOOL_BYTES)}` };
}

function nameOf(item: unknown): string | undefined {
  return isJsonObject(item) && typeof item.name === "string" ? item.name : undefined;
}
