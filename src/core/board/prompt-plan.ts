// Decides which of a board's tools are in a model's prompt and which it finds by search, and counts what that saves.

import { definitionTokens, LARGEST_DEFINITION } from "../tools/definition-tokens.ts";
import { isForModels, type ToolSearchSetting } from "../types/include.ts";
import type { Tool } from "../types/tool.ts";
import { oneLine, plural } from "../../util/text.ts";
import { estimateTokens, roughly, tokenCount } from "../../util/tokens.ts";

/** With more definitions, a model chooses worse than it searches. */
const MOST_DEFINITIONS = 50;
/** The share of the model's context that definitions may take. */
const LARGEST_SHARE = 0.1;
/** What the definition of the search takes itself. */
const SEARCH_TOKENS = 160;
/** How many characters a tool has in the index, description included. */
const INDEX_LINE = 72;
/** How much of a description is searched for the end of its first sentence. */
const LONGEST_SENTENCE = 1000;

export interface PlanOptions {
  toolSearch: ToolSearchSetting;
  /** How many tokens fit into a request to the model. Default: it is not known. */
  contextWindow?: number;
  /** `auto` has decided for search before. It stays with that, since every change costs the model's prompt cache. */
  wasSearching?: boolean;
}

export interface PromptPlan {
  /** `all`: every tool is in the prompt. `index`: as `search`, with the names of all tools in the prompt. */
  mode: "all" | "search" | "index";
  /** Why `auto` has decided for search. Absent where it has not. */
  reason?: string;
  /** The tools in the prompt, and those that the model finds, in the order of the board. */
  shown: readonly Tool[];
  searchable: readonly Tool[];
  /** What would be in the prompt without search, and what is. */
  before: { tools: number; tokens: number };
  after: { tools: number; tokens: number };
}

export function planPrompt(all: readonly Tool[], options: PlanOptions): PromptPlan {
  const { toolSearch } = options;
  const tools = all.filter(isForModels);
  const before = { tools: tools.length, tokens: definitionTokens(tools) };
  if (toolSearch === "off") {
    return { mode: "all", shown: tools, searchable: [], before, after: before };
  }
  const inPrompt = tools.filter(({ include }) => include !== "agent");
  const reason = toolSearch === "auto" ? tooMany(inPrompt, options) : undefined;
  const isSearched = (tool: Tool): boolean =>
    tool.include === "agent" ||
    ((toolSearch !== "auto" || reason !== undefined) && mayLeavePrompt(tool));
  const searchable = tools.filter(isSearched);
  if (searchable.length === 0) {
    return { mode: "all", shown: tools, searchable, before, after: before };
  }
  const mode = toolSearch === "index" ? "index" : "search";
  const shown = tools.filter((tool) => !isSearched(tool));
  const index = mode === "index" ? Math.round(estimateTokens(toolIndex(searchable))) : 0;
  const tokens = definitionTokens(shown) + SEARCH_TOKENS + index;
  const after = { tools: shown.length, tokens };
  return { mode, ...(reason && { reason }), shown, searchable, before, after };
}

/** Whether the tool may be searched for instead: a tool of a server that no setting and no user says anything about. */
function mayLeavePrompt({ include, source }: Tool): boolean {
  return include === undefined && source.kind === "mcp";
}

function tooMany(
  inPrompt: readonly Tool[],
  { contextWindow = Infinity, wasSearching = false }: PlanOptions,
): string | undefined {
  if (inPrompt.length > MOST_DEFINITIONS) return `there are more than ${MOST_DEFINITIONS} tools`;
  // A larger one is left out of the prompt anyway.
  const fitting = inPrompt.filter(
    (tool) => definitionTokens([tool]) <= contextWindow * LARGEST_DEFINITION,
  );
  if (definitionTokens(fitting) > contextWindow * LARGEST_SHARE) {
    return `their definitions take more than a tenth of the model's ${tokenCount(contextWindow)} tokens`;
  }
  return wasSearching ? "there were too many for its prompt" : undefined;
}

/** One sentence on what a model gets. Undefined if it gets all tools. */
export function describePlan({ mode, reason, before, after }: PromptPlan): string | undefined {
  if (mode === "all") return undefined;
  const why = reason === undefined ? "" : `, since ${reason}`;
  const names = mode === "index" ? " and the names of the others" : "";
  const advice =
    reason === undefined ? "" : '; mcp.toolSearch: "off" puts all of them into the prompt';
  return (
    `tool search is on${why}: a model gets ${after.tools} of ${plural(before.tools, "tool")}${names} ` +
    `(${roughly(after.tokens)} instead of ${roughly(before.tokens)} tokens) and searches for the rest${advice}`
  );
}

/** A plan for those who show it, without the tools. */
export interface PlanSummary extends Pick<PromptPlan, "mode" | "reason" | "before" | "after"> {
  /** What `describePlan` says. */
  text?: string;
}

export function summarisePlan(plan: PromptPlan): PlanSummary {
  const { mode, reason, before, after } = plan;
  const text = describePlan(plan);
  return { mode, before, after, ...(reason && { reason }), ...(text && { text }) };
}

/** The names of tools, with one line each. */
export function toolIndex(tools: readonly Tool[]): string {
  return tools.map(indexLine).join("\n");
}

function indexLine(tool: Tool): string {
  const [sentence = ""] = summary(tool)
    .slice(0, LONGEST_SENTENCE)
    .split(/[.!?]\s/, 1);
  return oneLine(`${tool.name}: ${sentence}`, INDEX_LINE);
}

/** What the tool does, without the server's name, which its own name has. */
export function summary({ description, source }: Tool): string {
  const mark = source.kind === "mcp" ? `[${source.server}] ` : "";
  return description.startsWith(mark) ? description.slice(mark.length) : description;
}
