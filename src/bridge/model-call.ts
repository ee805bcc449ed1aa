// What a model is told of a call that could not be made or did not work out, whoever runs its calls.

import { PlugboardError } from "../model/errors.ts";
import type { ToolResult } from "../model/tool.ts";
import { closest } from "../util/closest.ts";
import { oneLine } from "../util/text.ts";
import { toFailure } from "./failure.ts";

export function failedResult(error: unknown): ToolResult {
  const outcome = toFailure(error);
  return { content: outcome.content, isError: true, details: outcome };
}

/** With the nearest of the names that it could have meant. */
export function unknownTool(name: string, names: Iterable<string>): PlugboardError {
  const meant = closest(name, names);
  return new PlugboardError("UNKNOWN_TOOL", `there is no tool named '${oneLine(name, 200)}'`, {
    ...(meant !== undefined && { hint: `did you mean '${meant}'?` }),
  });
}
