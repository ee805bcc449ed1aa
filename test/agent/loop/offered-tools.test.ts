import { describe, expect, it } from "vitest";
import { leftOutTools, offeredTools } from "../../../src/agent/loop/offered-tools.ts";
import { knownProviders, modelLimits } from "../../../src/agent/loop/provider.ts";
import type { ModelProvider } from "../../../src/core/types/agent-config.ts";
import type { Tool } from "../../../src/core/types/tool.ts";

function tool(name: string, { server = "s", description = "Short.", parameters = {} } = {}): Tool {
  return {
    name: `mcp__${server}__${name}`,
    label: name,
    description,
    parameters: { type: "object", ...parameters },
    source: { kind: "mcp", server, tool: name },
    execute: async () => ({ content: [] }),
  };
}

const LONG = { description: "x".repeat(43_500) };
const LOCAL: ModelProvider = { type: "openai-compatible", baseUrl: "http://127.0.0.1/v1" };

function leftOut(tools: Tool[], provider: ModelProvider): string[] {
  return leftOutTools(tools, { id: "lab/qwen", ...modelLimits(provider) }).map(
    ({ server, subject, message }) => `${server}/${subject}: ${message}`,
  );
}

describe("what a model is not offered", () => {
  it.each<[string, Tool[], ModelProvider, string[]]>([
    ["is nothing where all fits", [tool("a"), tool("b")], LOCAL, []],
    [
      "is a definition above a quarter of its window",
      [tool("a"), tool("long", LONG)],
      LOCAL,
      [
        "s/long: not offered to lab/qwen: its definition takes about 10k tokens, more than a quarter of the model's window of 32k",
      ],
    ],
    [
      "depends on the window that is configured",
      [tool("long", LONG)],
      { ...LOCAL, contextWindow: 64_000 },
      [],
    ],
    ["depends on the provider", [tool("long", LONG)], { type: "google" }, []],
    [
      "is told once for each server and reason",
      Array.from({ length: 133 }, (_, at) => tool(`t${at}`, { server: at < 132 ? "s" : "other" })),
      { type: "openai" },
      [
        "s/t128, t129, t130 and 1 more: not offered to lab/qwen: the provider takes no more than 128 tools",
        "other/t132: not offered to lab/qwen: the provider takes no more than 128 tools",
      ],
    ],
    [
      "is a schema that its provider refuses",
      [{ ...tool("bad"), parameters: { type: "string" } }],
      LOCAL,
      [
        expect.stringMatching(
          /^s\/bad: not offered to lab\/qwen: its schema does not fit the rules/,
        ),
      ],
    ],
    [
      "is not what people keep from models",
      [{ ...tool("long", LONG), include: "manual" }],
      LOCAL,
      [],
    ],
  ])("%s", (_, tools, provider, expected) => {
    expect(leftOut(tools, provider)).toEqual(expected);
  });

  it("is what the loop leaves out", () => {
    const tools = [tool("a"), tool("long", LONG)];
    const offered = offeredTools(() => tools, modelLimits(LOCAL), {});
    expect([...offered.list().keys()]).toEqual(["mcp__s__a"]);
  });
});

it("a configured provider replaces the built-in one of its name", () => {
  const known = knownProviders({ ollama: LOCAL });
  expect(known.get("ollama")).toBe(LOCAL);
  expect(known.get("anthropic")).toEqual({ type: "anthropic" });
});
