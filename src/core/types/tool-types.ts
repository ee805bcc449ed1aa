// What a compiler knows about the tools of your servers. `plugboard types` writes a file that adds them.

import type { BoardCallOptions } from "./board.ts";
import type { JsonObject } from "./json.ts";
import type { CallOutcome } from "./tool.ts";

/**
 * The arguments and the structured result of tools, by their public name and by `server/tool`. It is empty until you
 * include a file that `plugboard types` has written. Tools that are not in it can be called all the same.
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- your declarations are merged into it
export interface ToolTypes {}

/** The outcome of a tool that has described its result. */
export interface TypedOutcome<Result> extends CallOutcome {
  /** Absent if the call has failed. */
  structuredContent?: Result;
}

/** The arguments of a tool. May be left out if none of them is required. */
export type CallArguments<Name extends keyof ToolTypes> = ToolTypes[Name] extends {
  arguments: infer Arguments extends JsonObject;
}
  ? Partial<Arguments> extends Arguments
    ? [args?: Arguments, options?: BoardCallOptions]
    : [args: Arguments, options?: BoardCallOptions]
  : [args?: JsonObject, options?: BoardCallOptions];

export type OutcomeOf<Name extends keyof ToolTypes> = ToolTypes[Name] extends {
  result: infer Result;
}
  ? TypedOutcome<Result>
  : CallOutcome;

/** Calls a tool by its name. */
export interface CallTool {
  <Name extends keyof ToolTypes>(
    name: Name,
    ...rest: CallArguments<Name>
  ): Promise<OutcomeOf<Name>>;
  <Name extends string>(
    name: Name extends keyof ToolTypes ? never : Name,
    args?: JsonObject,
    options?: BoardCallOptions,
  ): Promise<CallOutcome>;
}
