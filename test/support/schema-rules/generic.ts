// No vendor in particular: targets that speak OpenAI's API in front of other models. There is no document
// to cite, so this is what OpenAI and Anthropic both take, with one type per schema.

import type { JsonObject } from "../../../src/core/types/json.ts";
import { check as anthropic } from "./anthropic.ts";
import { check as openai } from "./openai.ts";
import { visits } from "./walk.ts";

export function check(root: JsonObject): string[] {
  const faults = [...openai(root), ...anthropic(root)];
  for (const { schema, path } of visits(root)) {
    if (Array.isArray(schema.type)) faults.push(`${path}: several types`);
  }
  return faults;
}
