import { expect, it } from "vitest";
import { asText } from "../../src/util/as-text.ts";

function nested(): unknown {
  let value: unknown = {};
  for (let level = 0; level < 100_000; level += 1) value = { value };
  return value;
}

it.each<[string, unknown, string]>([
  ["text", "hi", "hi"],
  ["an object", { a: [1] }, '{"a":[1]}'],
  ["nothing", undefined, "undefined"],
  ["null", null, "null"],
  ["a value deeper than the stack", nested(), "(nested too deep to show)"],
])("writes %s", (_, value, text) => {
  expect(asText(value)).toBe(text);
});
