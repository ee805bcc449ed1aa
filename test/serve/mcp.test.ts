// A board of your own tools as an MCP server.

import { PassThrough } from "node:stream";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished } from "vitest";
import { openBoard } from "../../src/core/board/board.ts";
import { serveMcp, type ServeMcpOptions } from "../../src/serve/mcp.ts";
import type { NativeTool } from "../../src/core/types/tool.ts";

const BUILD: NativeTool = {
  name: "build",
  label: "Build the site",
  description: "Builds the site.",
  parameters: { type: "object", properties: { draft: { type: "boolean" } } },
  outputSchema: { type: "object", properties: { pages: { type: "number" } } },
  annotations: { destructiveHint: false },
  execute: (_callId, params, _signal, onUpdate) => {
    onUpdate?.({ content: [{ type: "text", text: "reading" }] });
    onUpdate?.({ content: [], progress: { progress: 2, total: 3, message: "writing" } });
    const text = `draft: ${String(params["draft"])}`;
    return { content: [{ type: "text", text }], structuredContent: { pages: 3 } };
  },
};
const PLAIN: NativeTool = {
  name: "plain",
  description: "Fails.",
  parameters: { type: "object" },
  execute: () => {
    throw new Error("out of paper");
  },
};

interface Answer {
  result: { tools?: unknown; instructions?: string };
}

async function serve(options: ServeMcpOptions = {}) {
  const board = await openBoard({ servers: {} }, { native: [BUILD, PLAIN] });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const over = serveMcp(board, { input, output, ...options });
  onTestFinished(async () => {
    input.end();
    await over;
    await board.close();
  });
  const heard: { params?: unknown }[] = [];
  const waiting = new Map<number, (message: Answer) => void>();
  createInterface({ input: output }).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.id === undefined) heard.push(message);
    else waiting.get(message.id)?.(message);
  });
  let ids = 0;
  const ask = (method: string, params: object = {}): Promise<Answer> =>
    new Promise((resolve) => {
      ids += 1;
      waiting.set(ids, resolve);
      input.write(`${JSON.stringify({ jsonrpc: "2.0", id: ids, method, params })}\n`);
    });
  return { ask, heard };
}

describe("native tools", () => {
  it("are listed with their label as the title", async () => {
    const { ask } = await serve();
    const { result } = await ask("tools/list");
    expect(result.tools).toEqual([
      {
        name: "build",
        title: "Build the site",
        description: "Builds the site.",
        inputSchema: BUILD.parameters,
        outputSchema: BUILD.outputSchema,
        annotations: { destructiveHint: false },
      },
      { name: "plain", description: "Fails.", inputSchema: { type: "object" } },
    ]);
  });

  it("are called, and tell how far they are", async () => {
    const { ask, heard } = await serve();
    const _meta = { progressToken: "p" };
    const { result } = await ask("tools/call", {
      name: "build",
      arguments: { draft: true },
      _meta,
    });
    expect(result).toEqual({
      content: [{ type: "text", text: "draft: true" }],
      structuredContent: { pages: 3 },
    });
    expect(heard.map(({ params }) => params)).toEqual([
      { progressToken: "p", progress: 0.001, message: "reading" },
      { progressToken: "p", progress: 2, total: 3, message: "writing" },
    ]);
  });

  it("that fail say why", async () => {
    const { ask } = await serve();
    const { result } = await ask("tools/call", { name: "plain" });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("out of paper") }],
    });
  });
});

it("what the program says about the board is in the instructions", async () => {
  const { ask } = await serve({ about: "The tools of our site." });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} };
  const { result } = await ask("initialize", params);
  expect(result.instructions).toBe("The tools of our site.");
});

describe("a name of a megabyte", () => {
  const LONG = "x".repeat(1_000_000);

  it.each([
    ["a method", LONG, {}],
    ["a tool", "tools/call", { name: LONG }],
    ["a resource to read", "resources/read", { uri: `file:///${LONG}` }],
    ["a resource to subscribe to", "resources/subscribe", { uri: `file:///${LONG}` }],
    ["a prompt", "prompts/get", { name: LONG }],
    [
      "a template",
      "completion/complete",
      { ref: { type: "ref/resource", uri: `a:${LONG}` }, argument: { name: LONG, value: LONG } },
    ],
  ])("is cut in the error about %s", async (_, method, params) => {
    const { ask } = await serve();
    await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} });
    const answer = await ask(method, params);
    expect(answer).toHaveProperty("error.message");
    expect(JSON.stringify(answer).length).toBeLessThan(4000);
  });
});
