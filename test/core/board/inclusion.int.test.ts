// What a board's user adds to the tools of models, and takes away from them.

import { describe, expect, it } from "vitest";
import type { ToolsEvent } from "../../../src/core/types/events.ts";
import type { Tool } from "../../../src/core/types/tool.ts";
import { closeBoards, fixture, open } from "../../support/boards.ts";
import { tmpdir } from "node:os";

closeBoards();

const modes = (tools: readonly Tool[], ...names: string[]): unknown[] =>
  names.map((name) => tools.find((tool) => tool.name.endsWith(`__${name}`))?.include);

const own = {
  name: "own",
  description: "One of mine.",
  parameters: { type: "object" },
  execute: () => ({ content: [] }),
};

describe("a tool", () => {
  it("is added and removed under any of its names, for one board or session", async () => {
    const include = { default: "agent", tools: { move: "manual" } } as const;
    const board = await open(
      { a: { ...fixture("special-tools"), include }, b: fixture("echo") },
      { native: [own] },
    );
    const session = await board.openSession({ cwd: tmpdir() });
    const changes: ToolsEvent[] = [];
    board.on("tools", (change) => changes.push(change));
    const names = ["draw", "move", "add"] as const;
    expect(modes(board.tools(), ...names)).toEqual(["agent", "manual", undefined]);
    expect(board.include("move").include).toBe("always");
    expect(board.include("a/draw").include).toBe("always");
    expect(board.exclude("mcp__b__add").include).toBe("manual");
    expect(modes(board.tools(), ...names)).toEqual(["always", "always", "manual"]);
    // Once more changes nothing.
    board.include("a/draw");
    expect(changes.flatMap(({ changed }) => changed)).toEqual([
      "mcp__a__move",
      "mcp__a__draw",
      "mcp__b__add",
    ]);
    expect(board.exclude("native/own").include).toBe("manual");
    expect((await board.find("a/draw")).include).toBe("always");
    expect(await board.call("b/add", { a: 1, b: 2 })).toMatchObject({ content: [{ text: "3" }] });
    expect(modes(session.tools(), ...names)).toEqual(["agent", "manual", undefined]);
    // The list has the same objects as before, so that nobody sees a change where there is none.
    expect(board.tools()).toEqual(board.tools());
    expect(board.tools()[1]).toBe(board.tools()[1]);
  });

  it("stays added while its server is started again, and when the configuration is replaced", async () => {
    const a = { ...fixture("special-tools"), include: "agent" } as const;
    const board = await open({ a });
    board.include("a/draw");
    await board.restart("a");
    expect(modes(board.tools(), "draw", "move")).toEqual(["always", "agent"]);
    await board.reload({ servers: { a: { ...a, include: "manual" } }, toolSearch: "index" });
    expect(modes(board.tools(), "draw", "move")).toEqual(["always", "manual"]);
    expect(board.toolSearch).toBe("index");
  });

  it.each([
    ["nothing", "UNKNOWN_TOOL", "there is no tool named 'nothing'"],
    ["a/drew", "UNKNOWN_TOOL", "there is no tool named 'a/drew'"],
    ["echo", "UNKNOWN_TOOL", "several tools are named 'echo'"],
    ["refresh", "UNSUPPORTED", "for its own app"],
    ["b/add", "UNKNOWN_TOOL", "there is no tool named 'b/add'"],
  ])("that cannot be added is refused: %s", async (name, code, message) => {
    const b = { ...fixture("echo"), tools: { deny: ["add"] } };
    const board = await open({ a: fixture("special-tools"), b });
    for (const choose of [() => board.include(name), () => board.exclude(name)]) {
      expect(choose).toThrow(
        expect.objectContaining({ code, message: expect.stringContaining(message) }) as Error,
      );
    }
  });
});
