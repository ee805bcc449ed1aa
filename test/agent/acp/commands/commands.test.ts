// What a line that begins with a slash means, and the arguments of a prompt.

import { describe, expect, it } from "vitest";
import {
  availableCommands,
  parseCommand,
  promptArguments,
} from "../../../../src/agent/acp/commands/commands.ts";
import type { Prompt } from "../../../../src/core/types/prompt.ts";

const prompt: Prompt = {
  server: "my docs",
  name: "explain",
  description: "Explains\nsomething",
  available: true,
  arguments: [{ name: "topic", required: true }, { name: "tone" }],
};

describe("parseCommand", () => {
  it.each([
    ["/tools", { kind: "tools", query: [] }],
    ["/tools  two words ", { kind: "tools", query: ["two", "words"] }],
    ["/tools add a b/c", { kind: "choose", action: "add", names: ["a", "b/c"] }],
    ["/tools remove", { kind: "choose", action: "remove", names: [] }],
    ["/mcp reconnect a", { kind: "mcp", words: ["reconnect", "a"] }],
    ["/call t", { kind: "call", line: "t" }],
    ['/call t {"a":\n 1}', { kind: "call", line: 't {"a":\n 1}' }],
    ["/help", { kind: "help", topic: "", commands: availableCommands([prompt]) }],
    ["/help  docs/x ", { kind: "help", topic: "docs/x", commands: availableCommands([prompt]) }],
    ["/resources", { kind: "resources" }],
    ["/read a b", { kind: "read", uri: "a b" }],
    ["/my_docs:explain x", { kind: "prompt", prompt, words: ["x"] }],
    ["/my_docs:other", undefined],
    ["/unknown", undefined],
    ["/", undefined],
    ["tools", undefined],
  ])("%j", (text, command) => {
    expect(parseCommand(text, [prompt])).toEqual(command);
  });
});

describe("availableCommands", () => {
  it("lists our own commands first, then prompts with their arguments", () => {
    const commands = availableCommands([prompt, { server: "a", name: "b", available: true }]);
    expect(commands.slice(-2)).toEqual([
      {
        name: "my_docs:explain",
        description: "Explains something",
        input: { hint: "topic=… [tone=…]" },
      },
      { name: "a:b", description: "A prompt of this server" },
    ]);
  });
});

describe("promptArguments", () => {
  it.each([
    [["topic=a=b"], { topic: "a=b" }],
    [["cats"], { topic: "cats" }],
    [["cats", "very", "dry"], { topic: "cats", tone: "very dry" }],
    [["tone=dry", "cats", "and", "dogs"], { topic: "cats and dogs", tone: "dry" }],
    [["x=y"], { topic: "x=y" }],
  ])("%j", (words, args) => {
    expect({ ...promptArguments(prompt, words) }).toEqual(args);
  });

  it("says which are missing", () => {
    expect(() => promptArguments(prompt, ["tone=dry"])).toThrow("the prompt explain needs: topic");
  });
});

it("a server with very many prompts gets a hundred commands, each once", () => {
  const many = Array.from({ length: 300 }, (_, at) => ({
    server: "a",
    name: at < 5 ? "same" : `p${at}`,
    available: true,
  }));
  const names = availableCommands([...many, prompt]).map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => name.startsWith("a:"))).toHaveLength(100);
  expect(names.at(-1)).toBe("my_docs:explain");
  expect(parseCommand("/a:p299", many)).toMatchObject({ kind: "prompt" });
});
