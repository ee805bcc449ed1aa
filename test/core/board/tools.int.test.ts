// Tools that are not for everybody: for a server's own app, or only as a task; and what it takes to list tools.

import { describe, expect, it, vi } from "vitest";
import { toAnthropicTools } from "../../../src/adapters/anthropic.ts";
import { Pins } from "../../../src/core/guard/pins/pins.ts";
import type { ToolsEvent } from "../../../src/core/types/events.ts";
import type { Tool } from "../../../src/core/types/tool.ts";
import { closeBoards, fixture, open, statusOf, textOf } from "../../support/boards.ts";

closeBoards();

const USUAL = ["echo", "draw", "research", "late", "move"];
const ALL = ["echo", "draw", "refresh", "research", "late", "move"];

function own(tools: readonly Tool[]): string[] {
  return tools.map(({ source }) => (source.kind === "mcp" ? source.tool : ""));
}

describe("a tool that its server keeps for its own app", () => {
  it("is left out of what a model gets, and can be listed and called by name", async () => {
    const board = await open({ chart: fixture("special-tools") });
    expect(own(board.tools())).toEqual(USUAL);
    expect(own(board.tools({ all: true }))).toEqual(ALL);
    expect(statusOf(board, "chart").tools).toBe(USUAL.length);
    const offered = toAnthropicTools(board).tools;
    // Nor does it get the tool that runs only as a task.
    expect(offered.map(({ name }) => name.replace("mcp__chart__", ""))).toEqual(
      USUAL.filter((name) => name !== "research"),
    );
    expect(await board.find("refresh")).toMatchObject({
      name: "mcp__chart__refresh",
      include: "app",
      _meta: { ui: { visibility: ["app"] } },
    });
    expect(textOf(await board.call("chart/refresh", { chart: "a" }))).toBe("refreshed a");
    const session = await board.openSession({ cwd: process.cwd() });
    expect(own(session.tools())).toEqual(USUAL);
    expect(own(session.tools({ all: true }))).toEqual(ALL);
  });

  it("is removed from the list when the server takes it from models, and then callable", async () => {
    const board = await open({ chart: fixture("special-tools") });
    const changes: ToolsEvent[] = [];
    const changed = new Promise<void>((resolve) => {
      board.on("tools", (event) => {
        changes.push(event);
        resolve();
      });
    });
    await board.call("chart/move");
    await changed;
    expect(changes).toEqual([{ added: [], removed: ["mcp__chart__late"], changed: [] }]);
    expect(own(board.tools())).not.toContain("late");
    expect(textOf(await board.call("chart/late"))).toBe("late");
  });

  it("gives way to a listed tool of its name; several are ambiguous", async () => {
    const board = await open({
      chart: fixture("special-tools"),
      other: fixture("special-tools"),
      docs: { ...fixture("special-tools"), tools: { deny: ["refresh"] } },
    });
    await expect(board.find("refresh")).rejects.toMatchObject({
      code: "UNKNOWN_TOOL",
      hint: "say which: chart/refresh, other/refresh",
    });
    expect((await board.call("docs/refresh", { chart: "a" })).failure?.code).toBe(
      "REFUSED_BY_POLICY",
    );
  });
});

describe("a call that its server answers with an error", () => {
  const misfit = "The arguments do not fit the tool's schema:\n- message: expected string, got 5";

  it("tells a model, after the frame, what does not fit the schema; a program gets what the server said", async () => {
    const board = await open({ echo: fixture("echo") });
    const tool = await board.find("echo/rpc_error");
    const { content, details } = await tool.execute("call-1", { message: 5 });
    expect(textOf({ content }).endsWith(`>>>\n${misfit}`)).toBe(true);
    const raw = await board.call("echo/rpc_error", { message: 5 });
    expect(raw.failure?.code).toBe("SERVER_ERROR");
    expect(JSON.stringify([raw, details])).not.toContain("do not fit");
  });

  it.each<[string, string, object]>([
    ["with arguments that fit", "echo/rpc_error", { message: "boom" }],
    ["that works all the same", "echo/echo", { text: "hi", more: 1 }],
  ])("adds nothing to one %s", async (_, name, args) => {
    const board = await open({ echo: fixture("echo") });
    const tool = await board.find(name);
    expect(textOf(await tool.execute("call-1", { ...args }))).not.toContain("do not fit");
  });
});

describe("a tool that needs a task", () => {
  it.each([
    ["a result", [], undefined],
    ["an error", ["--error"], "SERVER_ERROR"],
  ])("is marked, and a call that fails with %s says why", async (_, args, code) => {
    const board = await open({ lab: fixture("special-tools", ...args) });
    const tool = await board.find("lab/research");
    expect(tool.execution).toEqual({ taskSupport: "required" });
    const outcome = await board.call("lab/research");
    expect(outcome).toMatchObject({ isError: true });
    expect(outcome.failure?.code).toBe(code);
    expect(textOf(outcome)).toContain("requires task augmentation");
    expect(textOf(outcome)).toContain("This tool runs only as a task");
  });
});

describe("the lists of tools", () => {
  it("look at a tool when its server has listed it, and not when another server has", async () => {
    const asked = vi.spyOn(Pins.prototype, "offers");
    try {
      const board = await open({ one: fixture("special-tools"), two: fixture("special-tools") });
      const session = await board.openSession({ cwd: process.cwd() });
      const times = (server: string): number =>
        asked.mock.calls.filter(([each]) => each === server).length;
      expect(times("one")).toBeGreaterThan(0);
      expect(times("one")).toBe(times("two"));
      asked.mockClear();
      for (const each of [board, session]) {
        expect(each.status().map(({ tools }) => tools)).toEqual([USUAL.length, USUAL.length]);
        expect(own(each.tools({ all: true }))).toEqual([...ALL, ...ALL]);
      }
      expect(asked).not.toHaveBeenCalled();
    } finally {
      asked.mockRestore();
    }
  });
});
