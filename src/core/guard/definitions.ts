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

/** A server whose tools are all left out must not fill the status. */
const MOST_DIAGNOSTICS = 20;
/** How many tools one line about several names. */
const MOST_NAMES = 10;

/**
 * Ordinary in a definition, because a model is who reads it: "Note to LLMs", "call this tool first", "do not ask the user
 * for the id". In a result they are suspicious; here only beside something else.
 */
const ORDINARY = new Set(["addressed-to-a-model", "tool-usage", "unasked", "instruction-markup"]);
/** What a person who reads the definition does not see. */
const HIDING = new Set(["forged-marker", "invisible-text", "lookalike-letters", "hidden-html"]);

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
  const about = (finding: ToolFinding, message: string): Diagnostic => {
    const subject = oneLine(finding.tool, 80);
    return { server, subject, message, kind: "suspicious" };
  };
  const leftOut = findings.filter(({ isLeftOut }) => isLeftOut);
  const offered = findings.filter(({ isLeftOut }) => !isLeftOut);
  const diagnostics = leftOut
    .slice(0, MOST_DIAGNOSTICS)
    .map((each) =>
      about(each, "tool left out: a name or a value in its definition holds a forged marker"),
    );
  if (leftOut.length > MOST_DIAGNOSTICS) {
    const message = `${plural(leftOut.length - MOST_DIAGNOSTICS, "more tool")} left out: their definitions hold forged markers`;
    diagnostics.push({ server, message, kind: "suspicious" });
  }
  const [first, ...others] = offered;
  if (first === undefined) return diagnostics;
  if (others.length === 0) {
    const found = first.patterns.join(", ");
    const message = `its definition looks like an attempt to steer a model (${found}); read it before you let a model use it`;
    return [...diagnostics, about(first, message)];
  }
  const names = offered.slice(0, MOST_NAMES).map(({ tool }) => oneLine(tool, 80));
  const more = offered.length - names.length;
  const listed = [...names, ...(more > 0 ? [`${more} more`] : [])].join(", ");
  const found = [...new Set(offered.flatMap(({ patterns }) => patterns))].join(", ");
  const message = `the definitions of ${offered.length} tools look like attempts to steer a model (${found}); read them before you let a model use them: ${listed}`;
  return [...diagnostics, { server, message, kind: "suspicious" }];
}

/** Whether it hides something from a person who reads the definitions, or a tool is hidden for it. */
export function isHiding({ patterns, isLeftOut }: ToolFinding): boolean {
  return isLeftOut || patterns.some((each) => HIDING.has(each));
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
  const isTelling = removed > 0 || [...patterns].some((each) => !ORDINARY.has(each));
  if (removed === 0) return { clean: tool, patterns: isTelling ? [...patterns] : [] };
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
