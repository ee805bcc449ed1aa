import { expect, it } from "vitest";
import { describeGrammar } from "../../src/cli/describe-grammar.ts";
import type { CommandGrammar } from "../../src/cli/completion/grammar.ts";

it("has every command, and says what to offer for each of its arguments and options", async () => {
  const program = await describeGrammar();
  const named = (name: string): CommandGrammar | undefined =>
    program.commands.find((command) => command.name === name);
  expect(named("call")).toMatchObject({
    about: "call a tool",
    args: [
      { values: "tool", isVariadic: false },
      { values: "argument", isVariadic: true },
    ],
    takesProgram: true,
  });
  expect(named("status")).toMatchObject({ args: [{ values: "server" }], takesProgram: false });
  expect(named("remove")?.aliases).toEqual(["rm"]);
  const taking = program.commands.filter(({ takesProgram }) => takesProgram);
  const names = taking.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["acp", "add", "call", "read", "tools"]));
  expect(names).not.toContain("status");
});
