// Which tools a board offers and calls, by its rules.

import { describe, expect, it } from "vitest";
import type { BoardConfig } from "../../../src/core/types/agent-config.ts";
import type { BoardEvents } from "../../../src/core/types/events.ts";
import type { NativeTool } from "../../../src/core/types/tool.ts";
import { closeBoards, fixture, openWith, statusOf, textOf } from "../../support/boards.ts";
import { recordingLogger } from "../../support/logger.ts";
import { load, namesOf } from "./boards.ts";

closeBoards();

function native(name: string, more: Partial<NativeTool> = {}): NativeTool {
  return {
    name,
    description: "Says its name.",
    parameters: { type: "object" },
    execute: () => ({ content: [{ type: "text", text: name }] }),
    ...more,
  };
}

const ALL = ["echo", "add", "sleep", "progress", "fail", "rpc_error", "big", "env", "pid", "cwd"];
const own = (names: string[]): string[] => names.map((name) => name.replace("mcp__echo__", ""));

describe("rules of a board", () => {
  it.each<[string, Omit<BoardConfig, "servers">, BoardConfig["servers"][string], string[]]>([
    ["deny by server/tool", { tools: { deny: ["echo/crash"] } }, {}, ALL],
    ["deny by public name", { tools: { deny: ["mcp__echo__crash"] } }, {}, ALL],
    ["deny as other programs spell it", { tools: { deny: ["mcp_echo_crash"] } }, {}, ALL],
    ["deny of the server", {}, { tools: { deny: ["crash"] } }, ALL],
    [
      "allow of the board",
      { tools: { allow: ["echo/p*", "*__echo"] } },
      {},
      ["echo", "progress", "pid"],
    ],
    ["allow of the server", {}, { tools: { allow: ["pid", "cwd"] } }, ["pid", "cwd"]],
    [
      "every allow list, without what is denied",
      { tools: { allow: ["echo/*"], deny: ["*/env"] } },
      { tools: { allow: ["env", "pid", "add"], deny: ["add"] } },
      ["pid"],
    ],
    ["an empty allow list", { tools: { allow: [] } }, {}, []],
    ["ownerOnly of the board", { tools: { ownerOnly: ["echo/crash"] } }, {}, ALL],
    ["ownerOnly of the server, for all", {}, { tools: { ownerOnly: true } }, []],
  ])("%s: the others are neither listed nor counted", async (_, rules, server, listed) => {
    const board = await openWith({
      ...rules,
      servers: { echo: { ...fixture("echo"), ...server } },
    });
    expect(own(namesOf(board))).toEqual(listed);
    expect(statusOf(board, "echo").tools).toBe(listed.length);
  });

  it("deny a tool as the template of names spells it, although its public name got a hash", async () => {
    const board = await openWith({
      toolNames: "t_{tool}_{server}",
      tools: { deny: ["t_rpc_error_echo"] },
      servers: { echo: { ...fixture("echo"), toolPrefix: "echo" } },
    });
    expect(namesOf(board)).toHaveLength(ALL.length);
    expect(namesOf(board).join()).not.toContain("rpc");
    expect(await board.call("echo/rpc_error")).toMatchObject({
      failure: { code: "REFUSED_BY_POLICY" },
    });
  });

  it.each(["echo/crash", "mcp__echo__crash"])("a call of %s says which rule", async (name) => {
    const board = await openWith({
      tools: { deny: ["echo/cr*"] },
      servers: { echo: fixture("echo") },
    });
    const outcome = await board.call(name);
    expect(outcome).toMatchObject({
      isError: true,
      failure: {
        code: "REFUSED_BY_POLICY",
        message: 'echo/crash is refused by the rule "echo/cr*" in tools.deny',
      },
    });
    expect(statusOf(board, "echo")).toMatchObject({ state: { kind: "ready" }, restarts: 0 });
  });

  it("before its server has ever been started, too", async () => {
    const board = await openWith(
      { tools: { deny: ["echo/crash"] }, servers: { echo: fixture("echo") } },
      { start: "none" },
    );
    expect((await board.call("echo/crash")).failure?.code).toBe("REFUSED_BY_POLICY");
  });

  it("of the defaults, of the agent and of the server in a file, each by its place", async () => {
    const agent = await load(
      {
        agents: {
          defaults: {
            tools: { deny: ["echo/env"] },
            mcp: { servers: { echo: { ...fixture("echo"), tools: { deny: ["pid"] } } } },
          },
          list: [
            {
              id: "research",
              tools: { allow: ["echo/*"], deny: ["mcp__echo__cwd"] },
              mcp: { servers: { echo: { tools: { ownerOnly: ["crash"] } } } },
            },
          ],
        },
      },
      "research",
    );
    const board = await openWith(agent, { native: [native("shout")] });
    const refusals = await Promise.all(
      ["env", "cwd", "pid", "crash"].map(async (tool) => textOf(await board.call(`echo/${tool}`))),
    );
    expect(refusals).toEqual([
      'echo/env is refused by the rule "echo/env" in agents.defaults.tools.deny',
      'echo/cwd is refused by the rule "mcp__echo__cwd" in agents.list[0].tools.deny',
      'echo/pid is refused by the rule "pid" in agents.defaults.mcp.servers.echo.tools.deny',
      'echo/crash is reserved for the owner by "crash" in agents.list[0].mcp.servers.echo.tools.ownerOnly (if you are the owner, use --owner; in an editor, set acp.owner in your own file; in code, owner: true)',
    ]);
    expect(textOf(await board.call("shout"))).toBe(
      "native/shout is refused: nothing in agents.list[0].tools.allow allows it",
    );
    expect(own(namesOf(board))).toEqual(
      ALL.filter((name) => !["env", "cwd", "pid"].includes(name)),
    );
  });

  it("a name that is a typing error is not led to a tool that is refused", async () => {
    const board = await openWith(
      { tools: { deny: ["echo/crash", "native/shout"] }, servers: { echo: fixture("echo") } },
      { native: [native("shout")] },
    );
    for (const name of ["echo/crahs", "mcp__echo__crahs", "shuot"]) {
      const outcome = await board.call(name);
      expect(outcome.failure?.code).toBe("UNKNOWN_TOOL");
      expect(textOf(outcome)).not.toMatch(/crash|shout/);
    }
  });
});

describe("native tools", () => {
  const config: BoardConfig = {
    tools: { deny: ["native/drop"], ownerOnly: ["native/deploy", "mcp__*"] },
    servers: { echo: fixture("echo") },
  };
  const tools = ["drop", "deploy", "shout"].map((name) => native(name));
  const kept = native("kept", { ownerOnly: true });

  it("obey the same rules, by either name", async () => {
    const board = await openWith(config, { native: [...tools, kept] });
    expect(namesOf(board)).toEqual(["shout"]);
    for (const name of ["drop", "native/drop", "deploy", "kept", "native/kept"]) {
      expect((await board.call(name)).failure?.code).toBe("REFUSED_BY_POLICY");
    }
    expect(textOf(await board.call("kept"))).toContain("by the tool's own ownerOnly");
    expect(textOf(await board.call("native/shout"))).toBe("shout");
  });

  it("an owner has what is for the owner, and still not what is denied", async () => {
    const board = await openWith(config, { native: [...tools, kept], owner: true });
    expect(namesOf(board).slice(0, 4)).toEqual(["deploy", "shout", "kept", "mcp__echo__echo"]);
    expect(textOf(await board.call("deploy"))).toBe("deploy");
    expect((await board.call("drop")).failure?.code).toBe("REFUSED_BY_POLICY");
  });
});

describe("what is refused is no news", () => {
  it.each<[string, string[], Partial<BoardEvents["tools"]>[]]>([
    [
      "nothing denied",
      [],
      [
        {
          added: ["mcp__live__after"],
          removed: ["mcp__live__before"],
          changed: ["mcp__live__stays"],
        },
      ],
    ],
    [
      "one of them",
      ["live/after", "live/stays"],
      [{ added: [], removed: ["mcp__live__before"], changed: [] }],
    ],
    ["all that change", ["live/after", "live/before", "live/stays"], []],
  ])("%s", async (_, deny, expected) => {
    const board = await openWith({ tools: { deny }, servers: { live: fixture("list-changed") } });
    const events: BoardEvents["tools"][] = [];
    board.on("tools", (event) => events.push(event));
    await board.call("live/swap");
    await board.refresh();
    expect(events).toEqual(expected);
  });

  it("a rule that matches nothing is told once, and in the status until it matches", async () => {
    const logger = recordingLogger();
    const board = await openWith(
      {
        tools: { deny: ["live/after", "live/befroe"] },
        servers: { live: fixture("list-changed") },
      },
      { logger },
    );
    const unmatched = () => board.unmatchedRules().map(({ rule }) => rule);
    expect(unmatched()).toEqual(["live/after", "live/befroe"]);
    expect(statusOf(board, "live").diagnostics).toContainEqual({
      server: "live",
      message: `the rule "live/befroe" in tools.deny matches no tool; did you mean live/before?`,
      kind: "rule",
    });
    await board.call("live/swap");
    await board.refresh();
    expect(unmatched()).toEqual(["live/befroe"]);
    const told = logger.lines.filter(({ fields }) => fields?.["setting"] !== undefined);
    // So that a command about another server can leave them out.
    expect(told.map(({ fields }) => fields?.["server"])).toEqual(["live", "live"]);
    expect(told.map(({ message }) => message)).toEqual([
      `the rule "live/after" matches no tool`,
      `the rule "live/befroe" matches no tool; did you mean live/before?`,
    ]);
  });

  it("a rule with two meanings allows neither tool, and says so", async () => {
    const logger = recordingLogger();
    const board = await openWith(
      {
        tools: { allow: ["mcp_a_b_echo"] },
        servers: { a: fixture("echo"), a_b: { ...fixture("echo"), enabled: false } },
      },
      { logger },
    );
    expect(namesOf(board)).toEqual([]);
    expect(logger.lines.map(({ message }) => message)).toContain(
      `the rule "mcp_a_b_echo" allows nothing, because it could mean a/b_echo or a_b/echo; write the one you mean`,
    );
  });

  it("its call does not reach the server, and counts as one that failed", async () => {
    const board = await openWith({
      tools: { deny: ["echo/*"] },
      servers: { echo: fixture("echo") },
    });
    const calls: BoardEvents["call"][] = [];
    board.on("call", (event) => calls.push(event));
    const sent: string[] = [];
    board.on("callStart", ({ tool }) => sent.push(tool));
    await board.call("echo/echo", { text: "x" });
    expect(sent).toEqual([]);
    expect(statusOf(board, "echo").calls).toMatchObject({ inFlight: 0, total: 1, failed: 1 });
    expect(calls).toMatchObject([{ isError: true, failure: { code: "REFUSED_BY_POLICY" } }]);
  });
});
