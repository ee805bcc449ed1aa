// One call that a model asked for: the tool found, the arguments read, the tool run. Whatever is wrong with
// it is a result that the model can act on.

import { failedResult, unknownTool } from "../bridge/model-call.ts";
import { cancelled, PlugboardError } from "../model/errors.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import type { ToolResult, UpdateListener } from "../model/tool.ts";
import { untilAborted } from "../util/abort.ts";
import { oneLine } from "../util/text.ts";
import type { OfferedTool } from "./offer.ts";

export interface ModelCall {
  id: string;
  name: string;
  /** As the model gave it: text where it cannot be parsed. */
  input: unknown;
}

export interface CallContext {
  offered: ReadonlyMap<string, OfferedTool>;
  signal: AbortSignal;
  onUpdate: UpdateListener;
}

/** Does not reject, and ends with the signal even where the tool does not. */
export async function runCall(
  { id, name, input }: ModelCall,
  { offered, signal, onUpdate }: CallContext,
): Promise<ToolResult> {
  let isOver = false;
  const onLiveUpdate: UpdateListener = (update) => {
    if (!isOver) onUpdate(update);
  };
  try {
    const found = offered.get(name);
    if (found === undefined) throw unknownTool(name, offered.keys());
    const { tool, toOriginal } = found;
    const args = toOriginal(readArguments(name, input));
    if (signal.aborted) throw cancelled();
    return await untilAborted(tool.execute(id, args, signal, onLiveUpdate), signal, cancelled);
  } catch (error) {
    return failedResult(error);
  } finally {
    isOver = true;
  }
}

function readArguments(name: string, input: unknown): JsonObject {
  // What some models send to a tool without parameters.
  if (input === undefined || input === null || input === "") return {};
  if (isJsonObject(input)) return input;
  const problem = typeof input === "string" ? "are not JSON" : "must be one JSON object";
  throw new PlugboardError(
    "INVALID_ARGUMENTS",
    `the arguments for '${oneLine(name, 200)}' ${problem}; the tool was not called`,
  );
}
