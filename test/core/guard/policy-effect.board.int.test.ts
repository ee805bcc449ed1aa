// Rules by what a tool does: `@readOnly` in allow counts on what is pinned, `@destructive` in deny on servers that are
// trusted. Lists, searches, calls, sessions and an attached command agree about them.

import { describe, expect, it } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import type { AgentConfig, BoardConfig } from "../../../src/core/types/agent-config.ts";
import type { Board, SessionBoard } from "../../../src/core/types/board.ts";
import type { NativeTool } from "../../../src/core/types/tool.ts";
import { openAttachedBoard } from "../../support/attached.ts";
import { closeBoards, fixture, openWith, statusOf, textOf } from "../../support/boards.ts";
import { closeChannelsAfterAll, openChannel } from "../../support/channels.ts";
import { eventually } from "../../support/processes.ts";
import { namesOf } from "./boards.ts";
import { list, read, useDocsServer } from "./docs-server.ts";

closeChannelsAfterAll();
closeBoards();
const docs = useDocsServer();

const reading = { ...read, annotations: { readOnlyHint: true } };
const adding = { name: "add", annotations: { readOnlyHint: false, destructiveHint: false } };
const removing = { name: "remove", annotations: { readOnlyHint: false, destructiveHint: true } };
const contradicting = { name: "odd", annotations: { readOnlyHint: true, destructiveHint: true } };
const ALL = [reading, list, adding, removing, contradicting];

const peek: NativeTool = {
  name: "peek",
  description: "Looks.",
  parameters: { type: "object" },
  annotations: { readOnlyHint: true },
  execute: () => ({ content: [{ type: "text", text: "peek" }] }),
};
const poke: NativeTool = { ...peek, name: "poke", annotations: undefined };

function agentWith(config: Omit<BoardConfig, "servers">, server: object = {}): AgentConfig {
  return parseAgentConfig({ ...config, servers: { docs: { ...docs.config, ...server } } });
}

const short = (board: Board | SessionBoard): string[] =>
  board.tools().map(({ name }) => name.replace("mcp__docs__", ""));

/** What every way to a tool says about it: listed, found by a search, called. */
async function ways(board: Board | SessionBoard, tool: string): Promise<boolean[]> {
  const hits = await board.search([tool], { all: true });
  const isListed = short(board).includes(tool);
  const { failure } = await board.call(`docs/${tool}`);
  expect([undefined, "REFUSED_BY_POLICY"]).toContain(failure?.code);
  const isFound = hits.some(({ tool: { name } }) => name === `mcp__docs__${tool}`);
  return [isListed, isFound || !isListed, failure === undefined];
}

describe("a rule by what a tool does", () => {
  it.each<[string, Omit<BoardConfig, "servers">, object, string[]]>([
    ["allows what only reads", { tools: { allow: ["@readOnly"] } }, {}, ["peek", "read"]],
    ["allows it on one server", { tools: { allow: ["docs/@readOnly"] } }, {}, ["read"]],
    ["allows nothing of another server", { tools: { allow: ["native/@readOnly"] } }, {}, ["peek"]],
    [
      "stands in the rules of a server",
      {},
      { tools: { allow: ["@readOnly"] } },
      ["peek", "poke", "read"],
    ],
    [
      "adds to other patterns",
      { tools: { allow: ["@readOnly", "docs/list"] } },
      {},
      ["peek", "read", "list"],
    ],
    ["allows nothing without pins", { tools: { allow: ["@readOnly"] } }, { pins: "off" }, ["peek"]],
    [
      "refuses all of a server that is not trusted",
      { tools: { deny: ["@destructive"] } },
      {},
      ["peek"],
    ],
    [
      "refuses what does not say that it destroys nothing",
      { tools: { deny: ["@destructive"] } },
      { trusted: true },
      ["peek", "read", "add"],
    ],
    [
      "refuses it on one server",
      { tools: { deny: ["docs/@destructive"] } },
      { trusted: true },
      ["peek", "poke", "read", "add"],
    ],
    [
      "reserves it for the owner",
      { tools: { ownerOnly: ["@destructive"] } },
      { trusted: true },
      ["peek", "read", "add"],
    ],
    [
      "believes only trusted servers where both apply",
      { tools: { allow: ["@readOnly"], deny: ["@destructive"] } },
      {},
      ["peek"],
    ],
  ])("%s", async (_, rules, server, expected) => {
    await docs.setTools(ALL);
    const board = await openWith(agentWith(rules, server), { native: [peek, poke] });
    expect(short(board)).toEqual(expected);
    const session = await board.openSession({ cwd: docs.stateDir });
    expect(short(session)).toEqual(expected);
    for (const each of [board, session]) {
      for (const { name } of [reading, removing]) {
        expect(await ways(each, name)).toEqual([
          expected.includes(name),
          true,
          expected.includes(name),
        ]);
      }
    }
  });

  it("says why", async () => {
    await docs.setTools(ALL);
    const allow = await openWith(agentWith({ tools: { allow: ["docs/@readOnly"] } }));
    expect(textOf(await allow.call("docs/list"))).toBe(
      `docs/list is refused: nothing in tools.allow allows it, and "docs/@readOnly" does not because the tool does not say that it only reads`,
    );
    const deny = await openWith(agentWith({ tools: { deny: ["@destructive"] } }));
    expect(textOf(await deny.call("docs/read"))).toBe(
      `docs/read is refused by the rule "@destructive" in tools.deny, because the labels of its server are not believed`,
    );
  });

  it("of a session limits that session alone", async () => {
    await docs.setTools(ALL);
    const board = await openWith(agentWith({}));
    const session = await board.openSession({
      cwd: docs.stateDir,
      tools: { allow: ["@readOnly"] },
      servers: { mine: fixture("from-file", `--file=${docs.file}`) },
    });
    expect(short(session)).toEqual(["read"]);
    expect(textOf(await session.call("mine/read"))).toContain(
      "nothing is pinned of a server that a session brings",
    );
    expect(short(board)).toHaveLength(ALL.length);
    await expect(
      board.openSession({ cwd: docs.stateDir, tools: { deny: ["@readOnly"] } }),
    ).rejects.toThrow(
      "'@readOnly' in tools.deny of a session is not what deny takes; expected @destructive, server/@destructive or the name of a tool",
    );
  });

  it("leaves resources and prompts to their own patterns", async () => {
    const board = await openWith(
      {
        tools: { allow: ["@readOnly"], deny: ["@destructive"] },
        servers: { library: fixture("library") },
      },
      { resourceTools: true },
    );
    expect(await board.resources.list()).not.toEqual([]);
    expect(await board.prompts.list()).not.toEqual([]);
    // The host's own tools say that they only read.
    expect(namesOf(board)).toEqual(["list_resources", "read_resource"]);
  });

  it("that allows nothing of what is there is told", async () => {
    await docs.setTools([list]);
    const board = await openWith(agentWith({ tools: { allow: ["@readOnly"] } }));
    expect(board.unmatchedRules()).toMatchObject([
      {
        rule: "@readOnly",
        problem: "matches no tool whose pinned definition says that it only reads",
      },
    ]);
    const other = await openWith(
      agentWith({ tools: { deny: ["docs/@destructive"] } }, { trusted: true }),
    );
    expect(other.unmatchedRules()).toEqual([]);
  });
});

describe("a tool that has changed since it was pinned", () => {
  const more = { ...reading, description: "Reads a file, and another." };

  it.each(["warn", "block"] as const)(
    "loses what @readOnly allows, at %s, until that is approved",
    async (pins) => {
      await docs.pinned([reading]);
      await docs.setTools([more, { ...reading, name: "late" }]);
      const { stateDir } = docs;
      const agent = agentWith({ tools: { allow: ["@readOnly"] } }, { pins });
      const board = await openWith(agent, { stateDir });
      // Its tools are known from the earlier run, and it may still be called.
      expect(short(board)).toEqual(["read"]);
      const session = await board.openSession({ cwd: stateDir });
      const events: unknown[] = [];
      session.on("tools", (event) => events.push(event));
      // The call starts the server, and is refused once that has listed the other tool.
      const message = textOf(await session.call("docs/read"));
      expect(message).toMatch(/it (has )?changed .* it was pinned .*nobody has approved that/);
      for (const each of [board, session]) {
        expect(short(each)).toEqual([]);
        expect(await ways(each, "read")).toEqual([false, true, false]);
        expect(await ways(each, "late")).toEqual([false, true, false]);
      }
      expect(statusOf(board, "docs")).toMatchObject({ tools: 0, hiddenByRules: 2 });
      await docs.approveAll();
      await eventually(() => short(session).length === 2 && short(board).length === 2);
      for (const each of [board, session])
        expect(await ways(each, "late")).toEqual([true, true, true]);
      expect(events.at(-1)).toMatchObject({ added: ["mcp__docs__read", "mcp__docs__late"] });
    },
  );

  it("is one that a trusted server is believed about in deny", async () => {
    await docs.pinned([reading]);
    await docs.setTools([{ ...reading, annotations: { readOnlyHint: false } }]);
    const { stateDir } = docs;
    const agent = agentWith({ tools: { deny: ["@destructive"] } }, { trusted: true });
    const board = await openWith(agent, { stateDir });
    const [held] = board.tools();
    expect(short(board)).toEqual(["read"]);
    const { failure } = await board.call("docs/read");
    expect(failure?.message).toContain("it does not say that it destroys nothing");
    expect(JSON.stringify(await held?.execute("id", {}))).toContain("it does not say that");
    expect(short(board)).toEqual([]);
  });

  it("can be called as soon as it is approved, or is as it was", async () => {
    await docs.pinned([reading]);
    await docs.setTools([more]);
    const agent = agentWith({ tools: { allow: ["@readOnly"] } });
    const board = await openWith(agent, { stateDir: docs.stateDir });
    await board.refresh();
    expect(await ways(board, "read")).toEqual([false, true, false]);
    await docs.approveAll();
    expect(textOf(await board.call("docs/read"))).toBe("read");
  });
});

describe("an attached command", () => {
  it("has the tools that the gateway allows, and hears when that changes", async () => {
    await docs.pinned([reading]);
    await docs.setTools([
      { ...reading, description: "Other." },
      { ...reading, name: "late" },
      list,
    ]);
    const { stateDir } = docs;
    const agent = agentWith({});
    const gateway = await openBoard(agent, { stateDir });
    await gateway.refresh();
    const channel = await openChannel({ [agent.agentId]: gateway });
    const attached = await openAttachedBoard({ agent, channel });
    try {
      const session = await attached.openSession({
        cwd: stateDir,
        tools: { allow: ["@readOnly"] },
      });
      expect(short(attached)).toHaveLength(3);
      expect(short(session)).toEqual([]);
      expect(await ways(session, "read")).toEqual([false, true, false]);
      await docs.approveAll();
      await eventually(() => short(session).length === 2);
      expect(await ways(session, "late")).toEqual([true, true, true]);
      expect(await ways(session, "list")).toEqual([false, true, false]);
    } finally {
      await attached.close();
      await gateway.close();
    }
  });
});
