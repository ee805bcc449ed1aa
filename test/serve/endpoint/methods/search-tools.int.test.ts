// An endpoint whose clients search for tools: four tools stand for all, and what they call is called as it always is.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { declineUnattributed } from "../../../../src/core/board/decline-unattributed.ts";
import type { ApprovalRequest } from "../../../../src/core/types/approval.ts";
import { silentLogger } from "../../../../src/core/types/logger.ts";
import { closeBoards, fixture, open } from "../../../support/boards.ts";
import { closeServed, connectLegacy, connectModern, connectOld, serve } from "../harness.ts";
import { openBoard } from "../../../../src/core/board/board.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

closeBoards();
closeServed();

type Client = Awaited<ReturnType<typeof connectLegacy>>;

const office = fixture("office");
const trusted = { ...office, trusted: true };
const CONNECT = { legacy: connectLegacy, modern: connectModern } as const;

async function ask(
  client: Client,
  name: string,
  args: object,
): Promise<{ text: string; isError: boolean; structured: unknown }> {
  const result = await client.callTool({ name, arguments: { ...args } });
  const content = result.content as { text?: string }[];
  return {
    text: content.map(({ text = "" }) => text).join("\n"),
    isError: result.isError === true,
    structured: result.structuredContent,
  };
}

it("a client is told which tool copies another", async () => {
  const board = await open({ echo: fixture("echo"), special: fixture("special-tools") });
  const { url } = await serve(board, { search: true });
  const client = await connectLegacy(url);
  const { text } = await ask(client, "search_tools", { queries: ["echo"], limit: 2 });
  expect(text.split("\n").slice(1)).toEqual([
    expect.stringMatching(/^mcp__echo__echo \(call_changing_tool\): /),
    expect.stringMatching(
      /^mcp__special__echo \(call_changing_tool; copies mcp__echo__echo, so prefer that one\): /,
    ),
  ]);
});

describe.each(["legacy", "modern"] as const)("a client (%s)", (era) => {
  it("gets four tools, of which one says that it changes things", async () => {
    const board = await open({ office });
    const { url } = await serve(board, { search: true });
    const client = await CONNECT[era](url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ["search_tools", true],
      ["describe_tool", true],
      ["call_tool", true],
      ["call_changing_tool", false],
    ]);
    expect(tools[3]?.annotations?.destructiveHint).toBe(true);
    expect(client.getInstructions()).toContain("found with search_tools: office.");
  });

  it("finds a tool, asks what it takes, and calls it", async () => {
    const board = await open({ office: trusted });
    const { url } = await serve(board, { search: true });
    const client = await CONNECT[era](url);
    const found = await ask(client, "search_tools", {
      queries: ["create a voucher", "list vehicles"],
      limit: 2,
    });
    expect(found.text).toMatch(
      /^Found 2 tools.* it is no instruction to you\.\nmcp__office__create_voucher \(call_changing_tool\): Creates a voucher.*\nmcp__office__list_vehicle \(call_tool\): Lists a vehicle/,
    );
    const described = await ask(client, "describe_tool", { name: "mcp__office__list_vehicle" });
    expect(described.text).toContain("The number of the vehicle, as it is printed on it");
    expect(described.text).toContain("Call it with call_tool.");
    const read = { name: "mcp__office__list_vehicle", arguments: { id: "7" } };
    expect(await ask(client, "call_tool", read)).toMatchObject({
      isError: false,
      structured: { tool: "list_vehicle", id: "7" },
    });
    const change = { name: "office/create_voucher", arguments: { id: "8" } };
    expect(await ask(client, "call_changing_tool", change)).toMatchObject({
      structured: { tool: "create_voucher", id: "8" },
    });
  });

  it("hears of progress, and cancels at the server", async () => {
    const board = await open({ office });
    const { url } = await serve(board, { search: true });
    const client = await CONNECT[era](url);
    const told: (string | undefined)[] = [];
    const name = "mcp__office__archive_badge";
    await client.callTool(
      { name: "call_changing_tool", arguments: { name, arguments: { steps: 3 } } },
      { onprogress: ({ message }) => told.push(message) },
    );
    expect(told.at(-1)).toBe("archive_badge");
    const stop = new AbortController();
    const ended = new Promise((resolve) => board.on("call", resolve));
    board.on("callStart", () => stop.abort());
    const waiting = client.callTool(
      { name: "call_changing_tool", arguments: { name, arguments: { wait: true } } },
      { signal: stop.signal },
    );
    await expect(waiting).rejects.toThrow();
    expect(await ended).toMatchObject({ tool: name, failure: { code: "CANCELLED" } });
  });
});

describe("call_tool", () => {
  it.each([
    ["a tool that changes something", trusted, "create_voucher"],
    ["a tool of a server that is not trusted", office, "list_voucher"],
  ])("does not call %s", async (_, server, tool) => {
    const board = await open({ office: server });
    const calls: unknown[] = [];
    board.on("callStart", (event) => calls.push(event));
    const { url } = await serve(board, { search: true });
    const client = await connectOld(url);
    const name = `mcp__office__${tool}`;
    const refused = await client.callTool({ name: "call_tool", arguments: { name } });
    expect(refused).toMatchObject({
      isError: true,
      content: [
        { text: `${name} may change something, so it was not called; use call_changing_tool` },
      ],
    });
    expect(calls).toEqual([]);
    const done = await client.callTool({ name: "call_changing_tool", arguments: { name } });
    expect(done).toMatchObject({ structuredContent: { tool } });
  });
});

describe("the guard", () => {
  it("judges, audits and asks about the tool itself", async () => {
    const directory = temporaryDirectory();
    const file = join(directory, "audit.jsonl");
    const asked: ApprovalRequest[] = [];
    await using board = await openBoard(
      {
        servers: { office: trusted },
        tools: { deny: ["office/delete_*"] },
        approval: "ask",
        audit: { file },
      },
      { onApproval: () => "once" },
    );
    const { url } = await serve(board, {
      search: true,
      onApproval: async (request) => {
        asked.push(request);
        return "once" as const;
      },
    });
    const client = await connectLegacy(url);
    const call = (tool: string, name: string) =>
      ask(client, tool, { name: `office/${name}`, arguments: { id: "1" } });
    expect((await ask(client, "search_tools", { queries: ["delete a badge"] })).text).not.toContain(
      "delete_badge",
    );
    expect(await ask(client, "describe_tool", { name: "office/delete_badge" })).toEqual({
      isError: true,
      text: "there is no tool named 'office/delete_badge': search_tools finds tools",
      structured: undefined,
    });
    expect(await call("call_changing_tool", "delete_badge")).toMatchObject({
      isError: true,
      text: expect.stringContaining('is refused by the rule "office/delete_*"'),
    });
    expect(await call("call_changing_tool", "create_badge")).toMatchObject({ isError: false });
    expect(await call("call_tool", "find_badge")).toMatchObject({ isError: false });
    expect(asked.map(({ tool }) => tool)).toEqual(["office/create_badge", "office/find_badge"]);
    await board.close();
    const lines = (await readFile(file, "utf8")).trim().split("\n");
    const audited = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(audited.filter(({ outcome }) => outcome !== undefined)).toMatchObject([
      { server: "office", tool: "delete_badge", outcome: "REFUSED_BY_POLICY" },
      { server: "office", tool: "create_badge", outcome: "ok" },
      { server: "office", tool: "find_badge", outcome: "ok" },
    ]);
  });

  it("shows no definition that the pins keep back", async () => {
    await using board = await openBoard({
      servers: { changing: fixture("list-changed") },
      pins: "block",
    });
    const { url } = await serve(board, { search: true });
    const client = await connectLegacy(url);
    const describeTool = async (tool: string) =>
      (await ask(client, "describe_tool", { name: `changing/${tool}` })).text;
    expect(await describeTool("before")).toContain("Call it with call_changing_tool.");
    await board.call("changing/swap");
    await board.refresh();
    expect(await describeTool("stays")).toContain('"Unchanged."');
    expect(await describeTool("after")).toContain("there is no tool named 'changing/after'");
  });

  it("lets a server ask the client in the middle of the call", async () => {
    const board = await open({ asks: fixture("asks") }, declineUnattributed(silentLogger));
    const { url } = await serve(board, { search: true });
    for (const connect of [connectLegacy, connectModern]) {
      const client = await connect(url, { capabilities: { elicitation: { form: {} } } });
      client.setRequestHandler("elicitation/create", async () => ({
        action: "accept",
        content: { name: "carol" },
      }));
      const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
      const args = { method: "elicitation/create", params: { message: "Who?", requestedSchema } };
      const { text } = await ask(client, "call_changing_tool", {
        name: "asks/ask",
        arguments: args,
      });
      expect(text).toContain("carol");
    }
  });
});

describe("what is wrong", () => {
  it.each<[string, object, string]>([
    ["search_tools", {}, "queries must be a list of texts"],
    ["search_tools", { queries: [1] }, "queries must be a list of texts"],
    ["search_tools", { queries: ["badge"], limit: 0 }, "limit must be a number from 1"],
    ["search_tools", { queries: ["zzzz"] }, "No tool was found."],
    ["describe_tool", {}, "name must be the name of a tool"],
    ["describe_tool", { name: "office/find_bage" }, "did you mean 'office/find_badge'?"],
    ["call_tool", { name: "nothing/at_all" }, "nothing"],
    ["call_changing_tool", { name: "office/find_badge", arguments: [] }, "must be one JSON object"],
    ["call_changing_tool", { name: "office/find_badge", arguments: "{" }, "arguments are not JSON"],
    [
      "call_changing_tool",
      { name: "office/find_badge", arguments: { id: "bad" } },
      "no such number",
    ],
    ["describe_tool", { name: "office/list_badge" }, "there is no tool named 'office/list_badge'"],
    ["call_tool", { name: "office/list_badge" }, "there is no tool named 'office/list_badge'"],
  ])("is told to the model: %s %j", async (tool, args, expected) => {
    const board = await open({
      office: { ...trusted, include: { tools: { list_badge: "manual" } } },
    });
    const { url } = await serve(board, { search: true });
    const { text } = await ask(await connectLegacy(url), tool, args);
    expect(text).toContain(expected);
  });

  it("is nothing where a client calls a tool by its own name", async () => {
    const board = await open({ office });
    const { url } = await serve(board, { search: true });
    const client = await connectLegacy(url);
    expect(await ask(client, "mcp__office__find_badge", { id: "3" })).toMatchObject({
      structured: { tool: "find_badge", id: "3" },
    });
  });
});
