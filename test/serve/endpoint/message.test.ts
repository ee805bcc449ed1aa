import { expect, it } from "vitest";
import { readMessage } from "../../../src/serve/endpoint/message.ts";

it.each<[string, unknown, "request" | "invalid"]>([
  ["a text", "one", "request"],
  ["an empty text", "", "request"],
  ["a number", -1.5, "request"],
  ["a long text", "x".repeat(1000), "request"],
  ["a text that every answer would be long with", "x".repeat(1001), "invalid"],
  ["no finite number", Infinity, "invalid"],
  ["null", null, "invalid"],
  ["a list", [1], "invalid"],
])("the id of a request: %s", (_, id, kind) => {
  expect(readMessage({ jsonrpc: "2.0", id, method: "ping" }).kind).toBe(kind);
});
