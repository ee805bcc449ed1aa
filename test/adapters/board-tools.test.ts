import { expect, it } from "vitest";
import { boardTools } from "../../src/adapters/board-tools.ts";
import type { Diagnostic } from "../../src/core/types/diagnostic.ts";
import type { Tool } from "../../src/core/types/tool.ts";

const tool = (name: string, source: Tool["source"], parameters: Tool["parameters"]): Tool => ({
  name,
  label: name,
  description: "",
  parameters,
  source,
  execute: async () => ({ content: [] }),
});

it("reports a tool that is left out or changed under the name that its server or the host gave it", () => {
  const told: Diagnostic[] = [];
  const tools = [
    tool("mcp__s__bad", { kind: "mcp", server: "s", tool: "bad" }, { type: "string" }),
    tool("clock", { kind: "native" }, { type: "object", "x-order": 1 }),
  ];
  const rules = { providers: ["generic" as const] };
  const onDiagnostic = (each: Diagnostic): number => told.push(each);
  const listed = boardTools({ tools: () => tools }, rules, { onDiagnostic }).tools.list();
  expect([...listed.keys()]).toEqual(["clock"]);
  expect(told).toEqual([
    {
      server: "s",
      subject: "bad",
      message: expect.stringMatching(
        /^left out: its schema does not fit the rules for "generic": /,
      ),
    },
    {
      server: "native",
      subject: "clock",
      message: "offered with changes: /: x-order is not a known keyword; dropped",
    },
  ]);
});
