import { describe, expect, it } from "vitest";
import { strictestGuard, strictestInclude } from "../../../src/core/guard/strictest.ts";
import type { ApprovalMode, ServerGuard } from "../../../src/core/types/guard-settings.ts";
import type { Include } from "../../../src/core/types/include.ts";

const DOCS = { name: "docs" };

const rule = (place: string) => ({ place, deny: ["x"] });

describe("a limit of a session", () => {
  it.each<[string, number | undefined, ServerGuard]>([
    ["holds where the other one is higher", 100, {}],
    ["that is not there gives way to the other one", undefined, { rateLimit: { default: 1000 } }],
  ])("%s", (_, perMinute, expected) => {
    const other = { rateLimit: { default: 1000 } };
    expect(strictestGuard(DOCS, {}, other, "never", perMinute)).toEqual(expected);
  });
});

describe("what a server is held to by two settings", () => {
  it.each<[string, ServerGuard | undefined, ServerGuard | undefined, ServerGuard | undefined]>([
    ["nothing", undefined, undefined, undefined],
    ["its own where there is no other", { pins: "off" }, undefined, { pins: "off" }],
    [
      "the rules of both",
      { rules: [rule("a")] },
      { rules: [rule("b")] },
      { rules: [rule("b"), rule("a")] },
    ],
    ["nothing that would loosen", {}, { trusted: true, framing: "off", maxResultBytes: 9 }, {}],
    [
      "no more calls than either",
      {},
      { rateLimit: { default: 10 } },
      { rateLimit: { default: 10 } },
    ],
    [
      "exceptions for resources, whatever holds for tools",
      { approval: { default: "ask" } },
      {
        approval: { tools: { "resource:*": "never", "prompt:*": "ask" } },
        rateLimit: { tools: { "resource:*": 500 } },
      },
      {
        approval: { default: "ask", tools: { "resource:*": "never", "prompt:*": "ask" } },
        rateLimit: { tools: { "resource:*": 500 } },
      },
    ],
    [
      "the stricter exception for resources",
      { rateLimit: { tools: { "resource:*": 50 } } },
      { rateLimit: { tools: { "resource:*": 500, "resource:file:*": 70 } } },
      { rateLimit: { tools: { "resource:*": 50, "resource:file:*": 50 } } },
    ],
    [
      "its own limit where the other has none",
      { rateLimit: { default: 10 } },
      { rateLimit: { default: false } },
      { rateLimit: { default: 10 } },
    ],
    [
      "the other's limit where its own is none",
      { rateLimit: { default: false } },
      { rateLimit: { default: 500 } },
      { rateLimit: { default: 500 } },
    ],
    [
      "the limits of tools, whatever they are called",
      { concurrency: { default: 4, tools: { constructor: 3 } } },
      { concurrency: { tools: { slow: 1, constructor: 2 } } },
      { concurrency: { default: 4, tools: { constructor: 2, slow: 1 } } },
    ],
    [
      "a question about one tool",
      {},
      { approval: { default: "never", tools: { remove: "ask" } } },
      { approval: { tools: { remove: "ask" } } },
    ],
    [
      "no exception for a tool that a pattern of the other is about",
      { approval: { tools: { write_file: "never" } } },
      { approval: { tools: { "mcp_docs_write_*": "ask" } } },
      { approval: { tools: { write_file: "ask", "mcp_docs_write_*": "ask" } } },
    ],
    [
      "no pattern that would loosen an exception",
      { rateLimit: { default: 50, tools: { "re*": false } } },
      { rateLimit: { tools: { read: 10 } } },
      { rateLimit: { default: 50, tools: { "re*": false, read: 10 } } },
    ],
  ])("is %s", (_, mine, other, expected) => {
    expect(strictestGuard(DOCS, mine, other)).toEqual(expected);
  });

  it.each<[ApprovalMode | undefined, ApprovalMode, ApprovalMode, ApprovalMode | undefined]>([
    [undefined, "ask", "never", "ask"],
    [undefined, "destructive", "ask", undefined],
    [undefined, "never", "never", undefined],
    ["never", "destructive", "ask", "destructive"],
    ["ask", "destructive", "never", "ask"],
  ])("with approval %s, the other's %s and the agent's %s asks: %s", (mine, other, agent, mode) => {
    const own = mine === undefined ? {} : { approval: { default: mine } };
    expect(strictestGuard(DOCS, own, { approval: { default: other } }, agent)).toEqual(
      mode === undefined ? {} : { approval: { default: mode } },
    );
  });
});

describe("what a model is offered of a server with two settings", () => {
  it.each<[string, Include | undefined, Include | undefined, Include | undefined]>([
    ["everything", undefined, undefined, undefined],
    ["nothing that its own keeps back", { default: "manual" }, {}, { default: "manual" }],
    ["nothing that the other keeps back", {}, { default: "manual" }, { default: "manual" }],
    [
      "an exception where neither says otherwise",
      {},
      { default: "manual", tools: { read: "always" } },
      { default: "manual", tools: { read: "always" } },
    ],
    [
      "no exception from what the other keeps back",
      { tools: { read: "always" } },
      { default: "manual" },
      { default: "manual", tools: { read: "manual" } },
    ],
    [
      "no exception from what its own keeps back",
      { default: "manual" },
      { tools: { read: "always" } },
      { default: "manual", tools: { read: "manual" } },
    ],
    ["in the prompt, though the other leaves it to a search", {}, { default: "agent" }, undefined],
    [
      "an exception that the other leaves to a search",
      {},
      { default: "manual", tools: { read: "agent" } },
      { default: "manual", tools: { read: "always" } },
    ],
    ["left to a search by its own", { default: "agent" }, {}, { default: "agent" }],
  ])("is %s", (_, mine, other, expected) => {
    expect(strictestInclude(DOCS, mine, other)).toEqual(expected);
  });
});
