// Makes a tool call that a model asked for: finds the tool, reads the arguments, runs it. Anything wrong with
// the call becomes a result that the model can act on.

import { PlugboardError } from "../types/errors.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";
import { FUNCTION, requireKind, requireOptions, SIGNAL, TEXT } from "../types/kinds.ts";
import type { ToolResult, ToolUpdate } from "../types/tool.ts";
import { closest } from "../../util/closest.ts";
import { isDeeperThan, REFUSED_DEPTH } from "../../util/json-depth.ts";
import { oneLine } from "../../util/text.ts";
import { toFailure } from "./failure.ts";
import type { ModelTool } from "./model-tools.ts";

export interface ModelCall {
  id: string;
  name: string;
  /** The arguments as the model gave them: JSON text, or parsed. */
  input: unknown;
  /** What is wrong with the arguments, if that is known already. The tool is not called. */
  problem?: string;
}

export const NESTED_TOO_DEEPLY = "are nested too deeply";

export interface ModelCallOptions {
  /** Cancels the calls at their servers. */
  signal?: AbortSignal;
  /** Receives progress of running calls. */
  onUpdate?: (update: ToolUpdate, toolCallId: string) => void;
}

/** `ModelTools`, or the map that one of its lists returned. */
export interface ModelToolLookup {
  get(name: string): ModelTool | undefined;
  keys(): Iterable<string>;
}

/** Does not reject. */
export async function runModelCall(
  tools: ModelToolLookup,
  { id, name, input, problem }: ModelCall,
  options: ModelCallOptions = {},
): Promise<ToolResult> {
  try {
    requireOptions(options, { signal: SIGNAL, onUpdate: FUNCTION });
    requireKind("the name of the tool", name, TEXT);
    const { signal, onUpdate } = options;
    const found = tools.get(name);
    if (found === undefined) throw unknownTool(name, tools.keys());
    const args = problem ?? readArguments(input);
    if (typeof args === "string") throw invalidArguments(name, args);
    const listener = onUpdate && ((update: ToolUpdate) => onUpdate(update, id));
    return await found.tool.execute(id, found.toOriginal(args), signal, listener);
  } catch (error) {
    return failedResult(error);
  }
}

export function failedResult(error: unknown): ToolResult {
  const outcome = toFailure(error);
  return { content: outcome.content, isError: true, details: outcome };
}

/** The arguments, or what is wrong with them. */
export function readArguments(input: unknown): JsonObject | string {
  // Some models send nothing, or a blank text, for a tool without parameters.
  let value = input ?? {};
  if (typeof value === "string") {
    try {
      value = value.trim() === "" ? {} : JSON.parse(value);
    } catch (error) {
      return `are not JSON (${(error as Error).message})`;
    }
  }
  if (!isJsonObject(value)) return "must be one JSON object";
  return isDeeperThan(REFUSED_DEPTH, value) ? NESTED_TOO_DEEPLY : value;
}

function invalidArguments(name: string, problem: string): PlugboardError {
  const message = `the arguments for '${oneLine(name, 200)}' ${problem}; the tool was not called`;
  return new PlugboardError("INVALID_ARGUMENTS", message);
}

function unknownTool(name: string, names: Iterable<string>): PlugboardError {
  const meant = closest(name, names);
  return new PlugboardError("UNKNOWN_TOOL", `there is no tool named '${oneLine(name, 200)}'`, {
    hint: meant && `did you mean '${meant}'?`,
  });
}
