// One error for everything that is wrong with a call's arguments.

import { PlugboardError } from "../../types/errors.ts";

export function invalidArguments(problems: readonly string[], hint?: string): PlugboardError {
  const [first = "the arguments do not fit", ...others] = problems;
  const message =
    others.length === 0
      ? first
      : ["the arguments do not fit:", ...problems.map((problem) => `  ${problem}`)].join("\n");
  return new PlugboardError("INVALID_ARGUMENTS", message, { hint });
}
