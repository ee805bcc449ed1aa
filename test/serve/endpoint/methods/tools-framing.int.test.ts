// Results for MCP clients pass through as they are, unless the configuration itself asks for framing.

import { expect, it } from "vitest";
import { openBoard } from "../../../../src/core/board/board.ts";
import type { BoardConfig } from "../../../../src/core/types/agent-config.ts";
import { closeBoards, fixture } from "../../../support/boards.ts";
import { closeServed, connectLegacy, connectModern, serve } from "../harness.ts";

closeBoards();
closeServed();

const MARKER = "EXTERNAL_UNTRUSTED_CONTENT";

it.each<[string, Partial<BoardConfig>, "full" | "off" | undefined, boolean]>([
  ["as they are by default", {}, undefined, false],
  ["framed if the agent asks for framing", { framing: "compact" }, undefined, true],
  ["framed if the server asks for framing", {}, "full", true],
  ["as they are if the server wants no framing", { framing: "compact" }, "off", false],
  ["as they are if nothing is to be framed", { framing: "off" }, undefined, false],
])("MCP clients get results %s", async (_, config, framing, isFramed) => {
  const servers = { all: { ...fixture("content"), ...(framing && { framing }) } };
  await using board = await openBoard({ servers, ...config });
  const { url } = await serve(board);
  for (const connect of [connectLegacy, connectModern]) {
    const client = await connect(url);
    const { tools } = await client.listTools();
    const structured = tools.find(({ name }) => name === "mcp__all__structured");
    // A client would refuse a result without the structured content that an output schema promises.
    expect(structured?.outputSchema === undefined).toBe(isFramed);
    const result = await client.callTool({ name: "mcp__all__structured" });
    expect(JSON.stringify(result.content).includes(MARKER)).toBe(isFramed);
    expect(JSON.stringify(result.content)).toContain("value");
    expect(result.structuredContent === undefined).toBe(isFramed);
  }
});

it("MCP clients get prompts framed if the configuration asks for framing", async () => {
  const servers = {
    plain: fixture("library"),
    framed: { ...fixture("library"), framing: "full" as const },
  };
  await using board = await openBoard({ servers });
  const { url } = await serve(board);
  const client = await connectLegacy(url);
  const textOf = async (name: string): Promise<string> =>
    JSON.stringify((await client.getPrompt({ name, arguments: { who: "you" } })).messages);
  expect(await textOf("framed__greet")).toContain(MARKER);
  expect(await textOf("plain__greet")).not.toContain(MARKER);
});

it.each([
  ["2025-11-25", connectLegacy],
  ["2026-07-28", connectModern],
])("MCP clients learn what does not fit the schema after a failure: %s", async (_, connect) => {
  await using board = await openBoard({ servers: { echo: fixture("echo") } });
  const { url } = await serve(board);
  const client = await connect(url);
  const failing = async (message: unknown): Promise<unknown> =>
    (await client.callTool({ name: "mcp__echo__rpc_error", arguments: { message } })).content;
  const text = "The arguments do not fit the tool's schema:\n- message: expected string, got 5";
  expect(await failing(5)).toMatchObject([{ type: "text" }, { type: "text", text }]);
  expect(await failing("boom")).toMatchObject([{ type: "text" }]);
});
