// A model's tool call, made: the name found, the arguments read, the tool run. Whatever is wrong with the
// call is a result that the model can act on.

import { failedResult, unknownTool } from "../../bridge/model-call.ts";
import { PlugboardError } from "../../model/errors.ts";
import { isJsonObject, type JsonObject } from "../../model/json.ts";
import type { ToolResult, ToolUpdate } from "../../model/tool.ts";
import { oneLine } from "../../util/text.ts";
import type { Offer } from "./shared-offer.ts";

export interface RunOptions {
  /** Cancels the calls at their servers. */
  signal?: AbortSignal;
  /** Signs of life from running calls. */
  onUpdate?: (update: ToolUpdate, toolCallId: string) => void;
}

export interface ModelCall {
  id: string;
  name: string;
  /** JSON as text, or parsed already. */
  args: unknown;
}

/** Does not reject. */
export async function runCall(
  offer: Pick<Offer, "find" | "list">,
  { id, name, args }: ModelCall,
  { signal, onUpdate }: RunOptions = {},
): Promise<ToolResult> {
  try {
    const found = offer.find(name);
    if (found === undefined) throw unknownTool(name, namesOf(offer));
    const { tool, toOriginal } = found;
    const listener = onUpdate && ((update: ToolUpdate) => onUpdate(update, id));
    return await tool.execute(id, toOriginal(readArguments(name, args)), signal, listener);
  } catch (error) {
    return failedResult(error);
  }
}

function namesOf(offer: Pick<Offer, "list">): string[] {
  return offer.list().map((each) => each.name);
}

function readArguments(name: string, args: unknown): JsonObject {
  const value = typeof args === "string" ? parse(name, args) : (args ?? {});
  if (isJsonObject(value)) return value;
  throw invalid(name, "they must be one JSON object");
}

function parse(name: string, text: string): unknown {
  // What some models send to a tool without parameters.
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(name, `they are not JSON (${(error as Error).message})`);
  }
}

function invalid(name: string, problem: string): PlugboardError {
  const message = `the arguments for '${oneLine(name, 200)}' cannot be read: ${problem}; the tool was not called`;
  return new PlugboardError("INVALID_ARGUMENTS", message);
}
