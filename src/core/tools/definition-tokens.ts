// How many tokens of a prompt the definitions of tools take. An estimate: every model counts in its own way, and a
// tokenizer would be larger than the rest of the package.

import { isForModels } from "../types/include.ts";
import type { JsonObject } from "../types/json.ts";
import type { Tool } from "../types/tool.ts";
import { estimateTokens } from "../../util/tokens.ts";

/** The share of the model's window that a single definition may take. */
export const LARGEST_DEFINITION = 0.25;

type Definition = Pick<Tool, "name" | "description" | "parameters">;

/** Counts the tools whatever their `include` is. The sum is rounded, not its parts. */
export function definitionTokens(tools: readonly Definition[]): number {
  return Math.round(tools.reduce((sum, tool) => sum + tokensOf(tool), 0));
}

/** `definitionTokens` of the tools that models may get, also of those that they search for: board/prompt-plan.ts says what that saves. */
export function promptTokens(tools: readonly Tool[]): number {
  return definitionTokens(tools.filter(isForModels));
}

/** What stands around the name, the description and the schema. */
const AROUND = estimateTokens(JSON.stringify({ name: "", description: "", parameters: "" }));

interface Counted extends Pick<Definition, "name" | "description"> {
  tokens: number;
  ofSchema: number;
}

/**
 * By the schema, which stays the same when a tool is wrapped and is the same for all sessions: every step of a
 * conversation counts all tools, and to write the schema as JSON is most of the work.
 */
const counted = new WeakMap<JsonObject, Counted>();

function tokensOf({ name, description, parameters }: Definition): number {
  const known = counted.get(parameters);
  if (known?.name === name && known.description === description) return known.tokens;
  const ofSchema = known?.ofSchema ?? estimateTokens(JSON.stringify(parameters));
  const tokens = AROUND + estimateTokens(name) + estimateTokens(description) + ofSchema;
  counted.set(parameters, { name, description, tokens, ofSchema });
  return tokens;
}
