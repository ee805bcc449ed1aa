// A server's answer to `completion/complete`, within the bounds that the protocol has for it.

import { PlugboardError } from "../model/errors.ts";
import { isJsonObject } from "../model/json.ts";
import type { Completion } from "../model/resource.ts";

const MAX_VALUES = 100;
const MAX_VALUE = 4096;

/** Throws where the answer is no result at all. What is no text, or too long for a value, is left out. */
export function toCompletion(result: unknown): Completion {
  const completion = isJsonObject(result) ? result.completion : undefined;
  if (!isJsonObject(completion) || !Array.isArray(completion.values)) {
    throw new PlugboardError(
      "PROTOCOL",
      "the server's answer to completion/complete has no values",
    );
  }
  const values = completion.values.filter(
    (value): value is string => typeof value === "string" && value.length <= MAX_VALUE,
  );
  const { total, hasMore } = completion;
  const isCut = values.length > MAX_VALUES;
  return {
    values: values.slice(0, MAX_VALUES),
    ...(typeof total === "number" && { total }),
    ...((isCut || typeof hasMore === "boolean") && { hasMore: isCut || hasMore === true }),
  };
}
