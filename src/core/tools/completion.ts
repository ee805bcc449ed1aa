// Reads a server's answer to `completion/complete` and keeps it within the protocol's limits.

import { PlugboardError } from "../types/errors.ts";
import { isJsonObject } from "../types/json.ts";
import type { Completion } from "../types/resource.ts";

const MAX_VALUES = 100;
const MAX_VALUE_LENGTH = 4096;

/** Throws if the answer is not a result. Drops values that are not texts or are too long. */
export function toCompletion(result: unknown): Completion {
  const completion = isJsonObject(result) ? result.completion : undefined;
  if (!isJsonObject(completion) || !Array.isArray(completion.values)) {
    throw new PlugboardError(
      "PROTOCOL",
      "the server's answer to completion/complete has no values",
    );
  }
  const values = completion.values.filter(
    (value): value is string => typeof value === "string" && value.length <= MAX_VALUE_LENGTH,
  );
  const { total, hasMore } = completion;
  const isCut = values.length > MAX_VALUES;
  return {
    values: values.slice(0, MAX_VALUES),
    ...(typeof total === "number" && { total }),
    ...((isCut || typeof hasMore === "boolean") && { hasMore: isCut || hasMore === true }),
  };
}
