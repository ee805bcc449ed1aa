// What a board finds is what it lists, for whoever asks: rules, filters, sessions and changes of a list count.

import { expect, it } from "vitest";
import type { BoardBase } from "../../../src/core/types/board.ts";
import type { SearchOptions } from "../../../src/core/types/search.ts";
import { canonicalName } from "../../../src/core/types/tool.ts";
import { closeBoards, fixture, open, statusOf } from "../../support/boards.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { MovableClock } from "../../support/movable-clock.ts";
import { recordingLogger } from "../../support/logger.ts";

closeBoards();

async function found(
  board: BoardBase,
  query: string | readonly string[],
  options?: SearchOptions,
): Promise<string[]> {
  return (await board.search(query, options)).map(({ tool }) => canonicalName(tool));
}

it("a board finds the tools that it lists and that models are shown", async () => {
  const board = await open(
    {
      echo: { ...fixture("echo"), tools: { deny: ["env"] } },
      people: { ...fixture("echo"), include: "manual" },
      chart: fixture("special-tools"),
    },
    {
      native: [
        {
          name: "lottery",
          description: "Draws the numbers of the lottery.",
          parameters: { type: "object" },
          execute: () => ({ content: [] }),
        },
      ],
    },
  );
  const sum = await found(board, "sum of two numbers");
  expect(sum[0]).toBe("echo/add");
  expect(sum).not.toContain("people/add");
  expect(await found(board, "sum of two numbers", { all: true })).toContain("people/add");
  // Denied tools and those for an app, whoever asks.
  expect(await found(board, "env")).not.toContain("echo/env");
  expect(await found(board, "env", { all: true })).toEqual(["people/env"]);
  expect(await found(board, "refresh")).not.toContain("chart/refresh");
  expect(await found(board, "refresh", { all: true })).toContain("chart/refresh");
  expect(await found(board, "numbers", { servers: ["native"] })).toEqual(["lottery"]);
  expect(await found(board, "numbers", { servers: ["chart"] })).toEqual([]);
  expect(await found(board, ["sum of two numbers", "lottery"], { limit: 2 })).toEqual([
    "echo/add",
    "lottery",
  ]);
  await expect(board.search("x", { servers: ["ehco"] })).rejects.toMatchObject({
    code: "UNKNOWN_SERVER",
    hint: "did you mean 'echo'?",
  });
  // A hit is the tool itself.
  const [hit] = await board.search("sum of two numbers");
  expect(hit?.tool).toBe(board.tools().find((tool) => canonicalName(tool) === "echo/add"));
});

it("a session finds what it has, and other sessions find nothing of it", async () => {
  const board = await open({ echo: fixture("echo") });
  const one = await board.openSession({ cwd: "/", servers: { swap: fixture("list-changed") } });
  const other = await board.openSession({ cwd: "/", tools: { deny: ["echo/add"] } });
  const list = "changes the list of tools";
  expect(await found(one, list, { all: true })).toContain("swap/swap");
  // The model has the tools of the session's own servers, so it need not search for them.
  expect(await found(one, list)).not.toContain("swap/swap");
  expect(await found(board, list, { all: true })).not.toContain("swap/swap");
  expect(await found(one, "add numbers")).toContain("echo/add");
  expect(await found(other, "add numbers")).not.toContain("echo/add");
  await one.setEnabled("echo", false);
  expect(await found(one, "add numbers")).not.toContain("echo/add");
  // The list of a server changes.
  expect(await found(one, "before", { all: true })).toEqual(["swap/before"]);
  const changed = new Promise((resolve) => one.on("tools", resolve));
  await one.call("swap/swap");
  await changed;
  expect(await found(one, "before", { all: true })).toEqual([]);
  expect(await found(one, "after", { all: true })).toEqual(["swap/after"]);
});

it("finds by meaning where the host can embed texts, and by words where that fails", async () => {
  const logger = recordingLogger();
  let isDown = false;
  const board = await open(
    { echo: fixture("echo") },
    {
      logger,
      embed: async (texts) => {
        if (isDown) throw new Error("no network");
        return texts.map((text) => (/add|arithmetic/i.test(text) ? [1, 0] : [0, 1]));
      },
    },
  );
  expect((await found(board, "arithmetic"))[0]).toBe("echo/add");
  isDown = true;
  const session = await board.openSession({ cwd: "/" });
  expect((await found(session, "two numbers"))[0]).toBe("echo/add");
  expect((await found(session, "two numbers"))[0]).toBe("echo/add");
  const warnings = logger.lines.filter(({ level }) => level === "warn");
  expect(warnings).toHaveLength(1);
});

it("a double is named, and comes after the tool that it copies", async () => {
  // Both scripts list the very same `echo`.
  const board = await open({ special: fixture("special-tools"), echo: fixture("echo") });
  const names = (
    diagnostics: readonly { kind?: string; subject?: string }[],
  ): (string | undefined)[] =>
    diagnostics.flatMap(({ kind, subject }) => (kind === "double" ? [subject] : []));
  expect(names(statusOf(board, "echo").diagnostics)).toEqual(["echo"]);
  expect(names(statusOf(board, "special").diagnostics)).toEqual([]);
  const [first, second] = await board.search("echo a text");
  expect([first, second].map((hit) => hit && canonicalName(hit.tool))).toEqual([
    "special/echo",
    "echo/echo",
  ]);
  expect(second?.doubleOf).toBe(first?.tool.name);
  // In a session, what it brings is a double of what the agent has; a tool that it does not get is nobody's.
  const brings = { cwd: "/", servers: { brought: fixture("special-tools") } };
  const session = await (await open({ echo: fixture("echo") })).openSession(brings);
  const doubles = session.status().map(({ diagnostics }) => names(diagnostics));
  expect(doubles).toEqual([[], ["echo"]]);
  const without = await board.openSession({ cwd: "/", tools: { deny: ["special/echo"] } });
  expect(without.status().flatMap(({ diagnostics }) => names(diagnostics))).toEqual([]);
});

it("the original is the tool whose server was pinned earlier, whatever the order of the servers", async () => {
  const clock = new MovableClock();
  const options = { stateDir: temporaryDirectory(), clock };
  const echo = fixture("echo");
  await (await open({ echo }, options)).close();
  clock.forward(24 * 3_600_000);
  const board = await open({ special: fixture("special-tools"), echo }, options);
  const hits = await board.search("echo a text");
  const doubles = hits.filter(({ doubleOf }) => doubleOf !== undefined);
  expect(doubles.map(({ tool }) => canonicalName(tool))).toEqual(["special/echo"]);
});

it("two instances of one program are no doubles", async () => {
  const board = await open({
    home: fixture("echo"),
    work: { ...fixture("echo"), env: { A: "1" } },
  });
  expect(board.status().flatMap(({ diagnostics }) => diagnostics)).toEqual([]);
});
