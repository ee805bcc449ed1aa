import { expect, it } from "vitest";
import { SessionRedactor } from "../../../src/core/board/session-redactor.ts";
import { Redactor } from "../../../src/core/redaction/redactor.ts";
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
  const redactor = new SessionRedactor();
  expect(redactor.value({ said: [TOKEN] })).toEqual({ said: [TOKEN] });
  redactor.hide([target]);
  expect(redactor.value({ said: [TOKEN] })).toEqual({ said: ["[REDACTED]"] });
});

it("redacts what the session's board knows, now and later, and in a text that comes in pieces", () => {
  const redactor = new SessionRedactor();
  redactor.add(TOKEN);
  const board = new Redactor();
  redactor.join(board);
  board.add("correct-horse");
  expect(redactor.text(`${TOKEN} correct-horse`)).toBe("[REDACTED] [REDACTED]");
  expect(redactor.value([TOKEN, "correct-horse"])).toEqual(["[REDACTED]", "[REDACTED]"]);
  const stream = redactor.stream();
  const pieces = ["it is correct-", "horse or hunter2-", "hunter2, says corr"];
  const told = pieces.map((piece) => stream.push(piece)).join("") + stream.end();
  expect(told).toBe("it is [REDACTED] or [REDACTED], says corr");
});
