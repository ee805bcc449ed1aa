// Anthropic, `input_schema` of a custom tool.
// https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use: "A JSON Schema object
// defining the expected parameters"; the API checks it by draft 2020-12.
// https://platform.claude.com/docs/en/managed-agents/self-hosted-sandboxes: "It rejects reference keywords
// such as $ref anywhere in a custom tool's input_schema … It also rejects top-level oneOf, anyOf, and allOf,
// and property names outside letters, digits, underscores, dots, and hyphens (1–64 characters)." What it answers otherwise: "input_schema does
// not support oneOf, allOf, or anyOf at the top level" (https://github.com/anthropics/claude-code/issues/40075).

import type { JsonObject } from "../../../src/core/types/json.ts";
import { schemaFaults } from "./json-schema.ts";
import { commonFaults, propertyNames, visits } from "./walk.ts";

const NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

export function check(root: JsonObject): string[] {
  const faults = [...schemaFaults(root)];
  if (root.type !== "object") faults.push("#: must have type 'object'");
  for (const key of ["oneOf", "anyOf", "allOf"]) {
    if (key in root) faults.push(`#: has ${key} at the top level`);
  }
  for (const visit of visits(root)) {
    faults.push(...commonFaults(visit));
    for (const name of propertyNames(visit.schema)) {
      if (!NAME.test(name)) faults.push(`${visit.path}: property name '${name}'`);
    }
  }
  return faults;
}
