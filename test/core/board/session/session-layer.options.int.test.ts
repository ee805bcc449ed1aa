// What a session can set for itself that the board has otherwise: names of tools, times of calls, resource tools.

import { describe, expect, it } from "vitest";
import type { SessionOptions } from "../../../../src/core/types/board-options.ts";
import { closeBoards, fixture, openWith } from "../../../support/boards.ts";
import { cwd } from "./sessions.ts";

closeBoards();

const names = (board: { tools(): { name: string }[] }): string[] =>
  board.tools().map(({ name }) => name);

describe("names of tools", () => {
  it.each<[string, SessionOptions["toolNames"], string]>([
    ["as on the board", undefined, "mcp__crlf__echo"],
    ["of the session's own", { template: "{server}-{tool}" }, "crlf-echo"],
    [
      "no longer than the session wants",
      { template: "{server}__{tool}", length: 12 },
      "crlf__echo",
    ],
    ["their own, of a single server", { template: "{tool}" }, "echo"],
  ])("%s", async (_, toolNames, name) => {
    const board = await openWith({ servers: { crlf: fixture("crlf") } });
    const session = await board.openSession({ cwd, ...(toolNames && { toolNames }) });
    expect(names(session)).toEqual([name]);
    expect(names(board)).toEqual(["mcp__crlf__echo"]);
    expect(await session.call(name, { text: "x" })).not.toHaveProperty("failure");
  });

  it("leave the rules what they mean", async () => {
    const board = await openWith({
      servers: { crlf: fixture("crlf") },
      tools: { deny: ["mcp__crlf__echo"] },
    });
    const session = await board.openSession({ cwd, toolNames: { template: "{server}-{tool}" } });
    expect(names(session)).toEqual([]);
  });
});

describe("the time of a call", () => {
  it.each<[string, number | undefined, Partial<SessionOptions>, string]>([
    ["is the session's default", undefined, { defaultToolTimeout: 50 }, "TIMEOUT"],
    ["is the configured one, if there is one", 30_000, { defaultToolTimeout: 50 }, "CANCELLED"],
    ["is the session's own, whatever is configured", 30_000, { toolTimeout: 50 }, "TIMEOUT"],
  ])("%s", async (_, toolTimeout, options, code) => {
    const asks = { ...fixture("asks"), ...(toolTimeout && { toolTimeout }) };
    const board = await openWith({ servers: { asks } });
    const session = await board.openSession({ cwd, ...options });
    const ending = new AbortController();
    const timer = code === "CANCELLED" ? setTimeout(() => ending.abort(), 500) : undefined;
    const { signal } = ending;
    expect(await session.call("asks/sleep", {}, { signal })).toMatchObject({ failure: { code } });
    clearTimeout(timer);
  });
});

it("resource tools are the session's alone", async () => {
  const board = await openWith({ servers: { library: fixture("library") } });
  const [plain, session] = await Promise.all([
    board.openSession({ cwd }),
    board.openSession({ cwd, resourceTools: true }),
  ]);
  expect(names(session)).toEqual(expect.arrayContaining(["list_resources", "read_resource"]));
  expect([...names(board), ...names(plain)]).not.toContain("list_resources");
});
