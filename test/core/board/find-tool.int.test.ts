// Finds a tool of a board by its name.

import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import type { PlugboardError } from "../../../src/core/types/errors.ts";
import type { ToolRules } from "../../../src/core/types/guard-settings.ts";
import type { NativeTool } from "../../../src/core/types/tool.ts";
import { closeBoards, fixture, open, openWith, textOf } from "../../support/boards.ts";
import { temporaryDirectory } from "../../support/directory.ts";

closeBoards();

const shout: NativeTool = {
  name: "shout",
  description: "Says it loudly.",
  parameters: { type: "object" },
  execute: () => ({ content: [{ type: "text", text: "HI" }] }),
};

describe("a tool is found", () => {
  it.each([
    ["by its public name", "mcp__one__echo", "mcp__one__echo"],
    ["by server and tool", "two/add", "mcp__two__add"],
    ["by server and tool, as other programs write it", "two.add", "mcp__two__add"],
    ["by its own name, if only one has it", "slow", "mcp__lib__slow"],
    ["as a native tool", "shout", "shout"],
    ["as a native tool, by its full name", "native/shout", "shout"],
  ])("%s: %s", async (_, name, expected) => {
    const board = await open(
      { one: fixture("echo"), two: fixture("echo"), lib: fixture("late-reply") },
      { native: [shout], start: "none" },
    );
    expect((await board.find(name)).name).toBe(expected);
  });

  it("by server and tool without starting any other server", async () => {
    const board = await open({ one: fixture("echo"), two: fixture("echo") }, { start: "none" });
    await board.find("one/echo");
    expect(board.status().map(({ state }) => state.kind)).toEqual(["ready", "idle"]);
  });

  it("by server and tool, even if the list in the cache is from before the server had it", async () => {
    const stateDir = temporaryDirectory();
    const file = join(stateDir, "offer.json");
    const servers = { docs: fixture("from-file", `--file=${file}`) };
    await writeFile(file, JSON.stringify({ tools: [{ name: "old" }] }));
    await (await openBoard({ servers }, { stateDir })).close();
    await writeFile(file, JSON.stringify({ tools: [{ name: "old" }, { name: "new" }] }));
    const board = await openBoard({ servers }, { stateDir, start: "none" });
    try {
      expect((await board.find("docs/old")).name).toBe("mcp__docs__old");
      expect(board.status()[0]?.state.kind).toBe("idle");
      expect(textOf(await board.call("docs/new"))).toBe("new");
    } finally {
      await board.close();
    }
  });

  it("on a session's board, its own tools included", async () => {
    const board = await open({ one: fixture("echo") });
    const session = await board.openSession({
      cwd: tmpdir(),
      servers: { mine: fixture("late-reply") },
    });
    expect((await session.find("one/echo")).name).toBe("mcp__one__echo");
    expect((await session.find("mine/slow")).name).toBe("mcp__mine__slow");
    await session.close();
    await expect(session.find("one/echo")).rejects.toMatchObject({ code: "SERVER_UNAVAILABLE" });
  });
});

describe("a tool is not found", () => {
  it.each([
    [
      "mcp__one__ecoh",
      "UNKNOWN_TOOL",
      "there is no tool named 'mcp__one__ecoh'",
      "did you mean 'mcp__one__echo'?",
    ],
    ["one/ecoh", "UNKNOWN_TOOL", "there is no tool named 'one/ecoh'", "did you mean 'one/echo'"],
    ["two.ecoh", "UNKNOWN_TOOL", "there is no tool named 'two/ecoh'", "did you mean 'two/echo'"],
    ["shuot", "UNKNOWN_TOOL", "there is no tool named 'shuot'", "did you mean 'shout'?"],
    ["echo", "UNKNOWN_TOOL", "several tools are named 'echo'", "say which: one/echo, two/echo"],
  ])("%s", async (name, code, message, hint) => {
    const board = await open({ one: fixture("echo"), two: fixture("echo") }, { native: [shout] });
    await expect(board.find(name)).rejects.toMatchObject({
      code,
      message,
      hint: expect.stringContaining(hint) as string,
    });
  });

  it.each([
    ["broken/anything", "SPAWN_FAILED", "server 'broken' has failed"],
    [
      "anything",
      "SERVER_UNAVAILABLE",
      "none of the servers that answered has a tool named 'anything'",
    ],
    ["broken.echo", "SPAWN_FAILED", "server 'broken'"],
  ])("%s, if a server cannot be asked: %s", async (name, code, message) => {
    const board = await open({ broken: { command: "no-such-command-anywhere" } });
    await expect(board.find(name)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message) as string,
    });
  });

  it.each<[string, ToolRules]>([
    ["deny", { deny: ["broken/*"] }],
    ["allow", { allow: ["one/*"] }],
    ["ownerOnly", { ownerOnly: ["broken"] }],
  ])("without a word about a server of which %s leaves no tool", async (_, tools) => {
    const servers = { one: fixture("echo"), broken: { command: "no-such-command-anywhere" } };
    const board = await openWith({ servers, tools }, { start: "none" });
    for (const name of ["anything", "brokn/echo"]) {
      const error: PlugboardError = await board.find(name).then(
        () => expect.fail(),
        (each) => each,
      );
      expect(error.code).toMatch(/^UNKNOWN/);
      expect(`${error.message} ${error.hint}`.replaceAll("brokn", "")).not.toContain("broken");
    }
    expect(board.status()[1]?.state.kind).toBe("idle");
  });

  it("on a server that has used up its restarts, which neither finding nor calling starts again", async () => {
    const directory = temporaryDirectory();
    const starts = join(directory, "starts");
    const args = ["-c", `echo started >> '${starts}'; echo 'no database' >&2; exit 1`];
    const board = await open({ spent: { command: "sh", args, maxRestarts: 0 } });
    expect(board.status()[0]).toMatchObject({ state: { kind: "failed" }, available: false });
    const { failure } = await board.call("spent/anything");
    expect(failure).toMatchObject({
      message: expect.stringMatching(/no database; it is not restarted automatically/) as string,
      hint: 'to start it again: board.restart("spent")',
    });
    await expect(board.find("spent/anything")).rejects.toMatchObject({ code: failure?.code });
    expect(await readFile(starts, "utf8")).toBe("started\n");
    await board.restart("spent");
    expect(await readFile(starts, "utf8")).toBe("started\nstarted\n");
  });

  it("on a server that was asked, while others were not", async () => {
    const board = await open({ one: fixture("echo"), two: fixture("echo") }, { start: "none" });
    await expect(board.find("one/nothing")).rejects.toMatchObject({ code: "UNKNOWN_TOOL" });
  });

  it("if the caller cancels, or the caller's time is over", async () => {
    const board = await open({ slow: fixture("never-initialize") }, { start: "none" });
    const late = board.find("slow/echo", { signal: AbortSignal.timeout(50) });
    await expect(late).rejects.toMatchObject({ code: "TIMEOUT" });
    const ending = new AbortController();
    const found = board.find("slow/echo", { signal: ending.signal });
    ending.abort();
    await expect(found).rejects.toMatchObject({ code: "CANCELLED" });
  });
});

it("finds a tool that the rules hide; its call is refused and audited with its arguments", async () => {
  const stateDir = temporaryDirectory();
  const audit = join(stateDir, "audit.jsonl");
  const board = await openBoard(
    {
      servers: { one: { ...fixture("echo"), tools: { deny: ["echo"] } } },
      audit: { arguments: true },
    },
    { stateDir },
  );
  try {
    const tool = await board.find("one/echo");
    const outcome = await board.call(tool.name, { text: "secret plans" });
    expect(outcome.failure?.code).toBe("REFUSED_BY_POLICY");
    expect(textOf(outcome)).toContain("one/echo");
  } finally {
    await board.close();
  }
  const lines = (await readFile(audit, "utf8")).trim().split("\n");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("secret plans");
});
