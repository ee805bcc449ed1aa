// Searches what a server says about its tools, because all of it goes into the prompt without a frame. Takes out
// forged markers; where that would change what a tool takes, the tool is left out. What looks like an attempt to steer
// a model is only reported.

import type { Diagnostic } from "../types/diagnostic.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import type { ToolDefinition } from "../types/tool.ts";
import { oneLine, plural } from "../../util/text.ts";
import { neutralise } from "./present/neutralise.ts";
import { suspiciousPatterns } from "./present/suspicious.ts";

export interface ToolFinding {
  tool: string;
  /** The names of the suspicious patterns. */
  patterns: string[];
  /** The tool is left out, because a marker could not be taken out. */
  isLeftOut: boolean;
}

export interface InspectedTools {
  tools: ToolDefinition[];
  findings: ToolFinding[];
}

/** Gets each text of a definition, and returns what to put in its place if the text may be changed. */
type Visit = (text: string, isProse: boolean) => string;

/** The values of these keys are for a reader. All other strings are names and values that calls depend on. */
const PROSE = new Set(["title", "description", "$comment"]);

/** A server whose tools are all suspicious must not fill the status. */
const MOST_DIAGNOSTICS = 20;

export function inspectTools(tools: readonly ToolDefinition[]): InspectedTools {
  const inspected: InspectedTools = { tools: [], findings: [] };
  for (const tool of tools) {
    const { clean, patterns } = inspect(tool);
    if (clean !== undefined) inspected.tools.push(clean);
    if (patterns.length === 0) continue;
    inspected.findings.push({ tool: tool.name, patterns, isLeftOut: clean === undefined });
  }
  return inspected;
}

export function findingDiagnostics(server: string, findings: readonly ToolFinding[]): Diagnostic[] {
  const diagnostics = findings.slice(0, MOST_DIAGNOSTICS).map((finding): Diagnostic => {
    const { tool, patterns, isLeftOut } = finding;
    const message = isLeftOut
      ? "tool left out: a name or a value in its definition holds a forged marker"
      : `its definition looks like an attempt to steer a model (${patterns.join(", ")}); read it before you let a model use it`;
    return { server, subject: oneLine(tool, 80), message, kind: "suspicious" };
  });
  const rest = findings.length - diagnostics.length;
  if (rest > 0) {
    const message = `the definitions of ${plural(rest, "more tool")} look like attempts to steer a model`;
    diagnostics.push({ server, message, kind: "suspicious" });
  }
  return diagnostics;
}

function inspect(tool: ToolDefinition): {
  clean: ToolDefinition | undefined;
  patterns: string[];
} {
  const prose: string[] = [];
  const data: string[] = [];
  mapTexts(tool, (text, isProse) => {
    (isProse ? prose : data).push(text);
    return text;
  });
  const patterns = new Set([
    ...suspiciousPatterns(prose.join("\n")),
    // Names and values go on one line, so that `user:read` is not taken for a turn of a conversation.
    ...suspiciousPatterns(`- ${data.join(", ")}`),
  ]);
  const { pieces, removed } = neutralise([...prose, ...data]);
  if (removed === 0) return { clean: tool, patterns: [...patterns] };
  patterns.add("forged-marker");
  const isChanged = data.some((text, index) => pieces[prose.length + index] !== text);
  let next = 0;
  const clean = isChanged
    ? undefined
    : mapTexts(tool, (text, isProse) => (isProse ? (pieces[next++] ?? "") : text));
  return { clean, patterns: [...patterns] };
}

/** A copy of the definition with its texts changed, in a fixed order. Its hints, apart from the title, hold no text. */
function mapTexts(tool: ToolDefinition, visit: Visit): ToolDefinition {
  const { title, description, annotations, inputSchema, outputSchema } = tool;
  visit(tool.name, false);
  return {
    ...tool,
    ...(title !== undefined && { title: visit(title, true) }),
    ...(description !== undefined && { description: visit(description, true) }),
    ...(typeof annotations?.title === "string" && {
      annotations: { ...annotations, title: visit(annotations.title, true) },
    }),
    inputSchema: mapSchema(inputSchema, visit),
    ...(outputSchema !== undefined && { outputSchema: mapSchema(outputSchema, visit) }),
  };
}

/** Recursive, since the depth of a schema has been bounded before. */
function mapSchema(schema: JsonObject, visit: Visit): JsonObject {
  // Object.fromEntries defines keys, so `__proto__` stays a key.
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      visit(key, false);
      const isProse = typeof value === "string" && PROSE.has(key);
      return [key, isProse ? visit(value, true) : mapValue(value, visit)];
    }),
  );
}

function mapValue(value: unknown, visit: Visit): unknown {
  if (typeof value === "string") return visit(value, false);
  if (Array.isArray(value)) return value.map((each) => mapValue(each, visit));
  return isJsonObject(value) ? mapSchema(value, visit) : value;
}
