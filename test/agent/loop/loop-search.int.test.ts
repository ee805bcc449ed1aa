// The loop with more tools than fit a prompt: a real server with a hundred, and a model that searches.

import { describe, expect, it } from "vitest";
import { PromptTools } from "../../../src/core/board/prompt-tools.ts";
import type { Board } from "../../../src/core/types/board.ts";
import type { ToolSearchSetting } from "../../../src/core/types/include.ts";
import { closeBoards, fixture, open } from "../../support/boards.ts";
import type { ModelRequest } from "../../support/model/start.mjs";
import { ALL_TYPES, closeModels, only, rig } from "./rig.ts";

closeModels();
closeBoards();

function promptOf(board: Board, toolSearch: ToolSearchSetting = board.toolSearch): PromptTools {
  return new PromptTools({
    tools: () => board.tools(),
    search: (query, options) => board.search(query, options),
    toolSearch: () => toolSearch,
  });
}

const namesIn = (request: ModelRequest | undefined): string[] =>
  request?.tools.map(({ name }) => name.replace("mcp__office__", "")) ?? [];

const search = (...queries: string[]) => ({
  toolCalls: [{ name: "search_tools", arguments: { queries, limit: queries.length } }],
});
const call = (name: string, args = {}) => ({
  toolCalls: [{ name: `mcp__office__${name}`, arguments: args }],
});

describe("a model with a hundred tools behind it", () => {
  it.each(ALL_TYPES)("finds, calls and keeps what it needs: %s", async (type) => {
    const board = await open({ office: fixture("office") });
    const { run, model } = await rig(
      [
        search("create a voucher", "list the vehicles"),
        call("create_voucher", { id: "7" }),
        { text: "done" },
        { text: "again" },
      ],
      type,
    );
    const tools = promptOf(board);
    const { events, history } = await run({
      tools,
      prompt: [{ type: "text", text: "please delete the invoice" }],
    });
    const [first, second, third] = model.requests.map(namesIn);
    // The message itself has brought a few.
    expect(first?.[0]).toBe("search_tools");
    expect(first).toContain("delete_invoice");
    expect(first?.length).toBeLessThanOrEqual(6);
    // What was found comes after what was there, and nothing moves.
    expect(second).toEqual([...(first ?? []), "create_voucher", "list_vehicle"]);
    expect(third).toEqual(second);
    const results = model.requests[2]?.toolResults.map(({ text }) => text) ?? [];
    expect(results[0]).toMatch(
      /^Found 2 tools; .*create_voucher: .*parameters: \{"type":"object"/s,
    );
    expect(results[1]).toContain('"tool":"create_voucher","id":"7"');
    expect(only(events, "notice").map(({ text }) => text)).toEqual([
      expect.stringMatching(
        /^tool search is on, since there are more than 50 tools: a model gets 0 of 100 tools \(~160 instead of ~\S+k tokens\)/,
      ),
    ]);
    const next = await run({ tools, history, prompt: [{ type: "text", text: "thanks" }] });
    expect(only(next.events, "notice")).toEqual([]);
    expect(namesIn(model.requests[3]).slice(0, third?.length)).toEqual(third);
  });

  it("calls a tool that it knows by name, without a search", async () => {
    const board = await open({ office: fixture("office") });
    const { run, model } = await rig([call("archive_badge", { id: "9" }), { text: "done" }]);
    const { events } = await run({ tools: promptOf(board) });
    expect(only(events, "tool_result")).toMatchObject([{ isError: false }]);
    expect(only(events, "tool_call")[0]?.tool?.source).toMatchObject({ tool: "archive_badge" });
    expect(namesIn(model.requests[0])).not.toContain("archive_badge");
    expect(namesIn(model.requests[1])).toContain("archive_badge");
  });

  it("gets neither by search nor by name what is for people, until somebody adds it", async () => {
    const include = { tools: { archive_badge: "manual" } } as const;
    const board = await open({ office: { ...fixture("office"), include } });
    const { run, model } = await rig([
      { toolCalls: [...search("archive a badge").toolCalls, ...call("archive_badge").toolCalls] },
      { text: "sorry" },
      { text: "now" },
    ]);
    const tools = promptOf(board);
    const { events, history } = await run({ tools });
    const failed = only(events, "tool_result").filter(({ isError }) => isError);
    expect(failed.map(({ name }) => name)).toEqual(["mcp__office__archive_badge"]);
    const found = model.requests[1]?.toolResults.find(({ name }) => name === "search_tools");
    expect(found?.text).toMatch(/^Found 1 tool;(?!.*archive_badge)/s);
    board.include("office/archive_badge");
    await run({ tools, history });
    expect(namesIn(model.requests[2])).toContain("archive_badge");
  });

  it("has the names of all tools in its prompt with an index", async () => {
    const board = await open({ office: fixture("office") });
    const names = ["mcp__office__find_survey"];
    const asking = { toolCalls: [{ name: "search_tools", arguments: { names } }] };
    const { run, model } = await rig([asking, { text: "done" }], "openai-compatible");
    await run({ tools: promptOf(board, "index"), prompt: [{ type: "text", text: "%" }] });
    const [index, prompt] = model.requests[0]?.messages ?? [];
    expect(index?.text.split("\n")).toHaveLength(101);
    expect(prompt?.text).toBe("%");
    expect(model.requests.map(namesIn)).toEqual([
      ["search_tools"],
      ["search_tools", "find_survey"],
    ]);
    expect(model.requests[1]?.toolResults[0]?.text).toContain('"id":{"type":"string"');
  });

  it("is told once what has changed since", async () => {
    const board = await open({ list: fixture("list-changed") });
    const listed = new Promise<void>((resolve) => board.on("tools", () => resolve()));
    const { run, model } = await rig(
      [
        { toolCalls: [{ name: "mcp__list__swap", arguments: {} }] },
        { text: "one" },
        { toolCalls: [{ name: "mcp__list__stays", arguments: { text: "x" } }] },
        { text: "two" },
      ],
      "openai-compatible",
    );
    const tools = promptOf(board, "on");
    const { history } = await run({ tools, prompt: [{ type: "text", text: "stays" }] });
    await listed;
    await run({ tools, history, prompt: [{ type: "text", text: "stays" }] });
    const notes = model.requests.at(-1)?.messages.filter(({ text }) => text.includes("changed."));
    expect(notes?.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      "user: [The tools have changed. New tools to search for: 1 of list. " +
        "With another definition: mcp__list__stays. 1 tool can no longer be found.]",
    ]);
  });
});
