import { expect, it } from "vitest";
import { TargetRedactor } from "../../../src/core/board/target-redactor.ts";
import type { ServerTarget } from "../../../src/core/types/server-definition.ts";

const TOKEN = "hunter2-hunter2";

it.each<[string, ServerTarget]>([
  ["variables", { kind: "stdio", command: "server", args: [], env: { API_TOKEN: TOKEN } }],
  ["arguments", { kind: "stdio", command: "server", args: ["--token", TOKEN], env: {} }],
  [
    "headers",
    {
      kind: "http",
      url: "https://example.com/mcp",
      headers: { authorization: `Bearer ${TOKEN}` },
      allowInsecure: false,
      allowPrivate: false,
    },
  ],
])("redacts the credentials in a server's %s from then on", (_, target) => {
  const redactor = new TargetRedactor();
  expect(redactor.value({ said: [TOKEN] })).toEqual({ said: [TOKEN] });
  redactor.hide([target]);
  expect(redactor.value({ said: [TOKEN] })).toEqual({ said: ["[REDACTED]"] });
});
