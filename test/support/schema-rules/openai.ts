// OpenAI, function calling without `strict`.
// https://developers.openai.com/api/docs/guides/function-calling: parameters are a JSON Schema object.
// What the API answers with 400 beyond that: "schema must have type 'object' and not have
// 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level" and "object schema missing properties"
// (https://github.com/langchain-ai/langchainjs/issues/9804, https://github.com/spring-projects/spring-ai/issues/4776),
// "array schema missing items" (https://github.com/PrefectHQ/fastmcp/issues/2464), "regex lookaround is not
// supported" and Unicode classes (https://github.com/vercel/ai/pull/21037).

import { isJsonObject, type JsonObject } from "../../../src/core/types/json.ts";
import { schemaFaults } from "./json-schema.ts";
import { commonFaults, visits } from "./walk.ts";

export function check(root: JsonObject): string[] {
  const faults = [...schemaFaults(root)];
  if (root.type !== "object") faults.push("#: must have type 'object'");
  if (!isJsonObject(root.properties)) faults.push("#: object schema missing properties");
  for (const key of ["oneOf", "anyOf", "allOf", "enum", "not"]) {
    if (key in root) faults.push(`#: has ${key} at the top level`);
  }
  for (const visit of visits(root)) {
    faults.push(...commonFaults(visit));
    const { pattern } = visit.schema;
    if (typeof pattern === "string" && /\(\?[=!<]|\\p/.test(pattern)) {
      faults.push(`${visit.path}: the pattern looks around`);
    }
  }
  return faults;
}
