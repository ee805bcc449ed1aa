// The guard of a session: which rules, limits, approvals and audit lines belong to it.

import { getEventListeners } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { SessionBoard } from "../../../../src/core/types/board.ts";
import type { ContentBlock } from "../../../../src/core/types/content.ts";
import { SESSION_RATE_LIMIT } from "../../../../src/core/types/server-definition.ts";
import type { SessionRules } from "../../../../src/core/types/board-options.ts";
import type { ApprovalMode } from "../../../../src/core/types/guard-settings.ts";
import type { ModelDetails, ToolResult } from "../../../../src/core/types/tool.ts";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import { systemClock } from "../../../../src/util/clock.ts";
import { temporaryDirectory } from "../../../support/directory.ts";
import { closeBoards, fixture, openWith, textOf } from "../../../support/boards.ts";
import { recordingLogger } from "../../../support/logger.ts";
import { cwd, reached, statusIn } from "./sessions.ts";

closeBoards();

const hi = { text: "hi" };
const names = (session: SessionBoard) => session.tools().map(({ name }) => name);

async function codes(
  session: Pick<SessionBoard, "call">,
  tool: string,
  count: number,
): Promise<string[]> {
  const calls = Array.from({ length: count }, () => session.call(tool, hi));
  return (await Promise.all(calls)).map(({ failure }) => failure?.code ?? "ok");
}

async function execute(session: SessionBoard, name: string, args: JsonObject) {
  const tool = session.tools().find((each) => each.name === name);
  return (await tool?.execute("call-1", args)) as ToolResult<ModelDetails>;
}

describe("rules", () => {
  it("that deny a configured server apply to a session's server of its name, rules that allow it do not", async () => {
    const board = await openWith({
      servers: { docs: { ...fixture("echo"), tools: { deny: ["env"], allow: ["echo", "pid"] } } },
      tools: { deny: ["*/cwd"], allow: ["docs/*", "*/add"] },
    });
    const shared = await board.openSession({ cwd });
    expect(names(shared)).toEqual(["mcp__docs__echo", "mcp__docs__pid"]);
    const session = await board.openSession({ cwd, servers: { docs: fixture("echo") } });
    expect(names(session)).toEqual(["mcp__docs__add"]);
    for (const tool of ["docs/echo", "docs/env", "docs/cwd"]) {
      expect((await session.call(tool, hi)).failure?.code).toBe("REFUSED_BY_POLICY");
    }
  });

  it("of a server apply from when it is added until it is removed", async () => {
    const board = await openWith({ servers: {}, session: { tools: { deny: ["crash"] } } });
    const session = await board.openSession({ cwd });
    await session.add("mine", { ...fixture("echo"), tools: { allow: ["echo", "crash"] } });
    expect(names(session)).toEqual(["mcp__mine__echo"]);
    await session.remove("mine");
    await session.add("mine", fixture("echo"));
    expect(names(session)).toContain("mcp__mine__pid");
    expect(names(session)).not.toContain("mcp__mine__crash");
  });

  it("for the owner depend on the owner option of the session", async () => {
    const board = await openWith({
      servers: { docs: { ...fixture("echo"), tools: { ownerOnly: ["env"] } } },
    });
    const owner = await board.openSession({ cwd, owner: true });
    const other = await board.openSession({ cwd });
    expect(names(owner)).toContain("mcp__docs__env");
    expect(names(other)).not.toContain("mcp__docs__env");
  });
});

describe("the rules that a session is opened with", () => {
  it("take tools away, and never give back what the configuration takes", async () => {
    const board = await openWith({
      servers: { docs: { ...fixture("echo"), tools: { deny: ["env"] } } },
      tools: { allow: ["docs/echo", "docs/pid", "docs/env"] },
    });
    const open = async (tools: SessionRules) => board.openSession({ cwd, tools });
    const cases: [SessionRules, string[]][] = [
      [{}, ["echo", "pid"]],
      [{ allow: ["*"] }, ["echo", "pid"]],
      [{ allow: ["docs/env", "docs/add", "docs/echo"] }, ["echo"]],
      [{ deny: ["docs/echo"] }, ["pid"]],
      [{ allow: ["docs/echo"], deny: ["*"] }, []],
      [{ allow: [] }, []],
    ];
    for (const [tools, left] of cases) {
      const session = await open(tools);
      expect(names(session)).toEqual(left.map((name) => `mcp__docs__${name}`));
      for (const tool of ["echo", "pid", "env"]) {
        const { failure } = await session.call(`docs/${tool}`, hi);
        expect(failure?.code).toBe(left.includes(tool) ? undefined : "REFUSED_BY_POLICY");
      }
    }
    expect(names(board as never)).toEqual(["mcp__docs__echo", "mcp__docs__pid"]);
    const named = await open({ deny: ["docs/echo"], place: "the token's tools" });
    expect(textOf(await named.call("docs/echo", hi))).toContain(
      `refused by the rule "docs/echo" in the token's tools.deny`,
    );
  });

  it("can ask for more approval than the configuration, not for less", async () => {
    const board = await openWith({
      servers: {
        docs: { ...fixture("echo"), approval: { tools: { echo: "never", add: "ask" } } },
        free: { ...fixture("echo"), approval: "never" },
      },
    });
    const asked = async (approval: ApprovalMode | undefined): Promise<string[]> => {
      const heard: string[] = [];
      const session = await board.openSession({
        cwd,
        tools: { approval },
        onApproval: ({ tool }) => {
          heard.push(tool);
          return "once";
        },
      });
      for (const tool of ["docs/echo", "docs/add", "free/echo"]) {
        await session.call(tool, { text: "hi", a: 1, b: 2 });
      }
      return heard;
    };
    expect(await asked(undefined)).toEqual(["docs/add"]);
    expect(await asked("never")).toEqual(["docs/add"]);
    expect(await asked("ask")).toEqual(["docs/echo", "docs/add", "free/echo"]);
    await expect(board.openSession({ cwd, tools: { approval: "maybe" as never } })).rejects.toThrow(
      "must be never, ask or destructive",
    );
  });
});

it("what cannot be the option of a session is refused, with its name", async () => {
  const board = await openWith({ servers: {} });
  const wrong: [string, object][] = [
    ["id", { id: 5 }],
    ["approval", { approval: "maybe" }],
    ["tools", { tools: null }],
    ["tools.allow", { tools: { allow: 5 } }],
    ["tools.deny", { tools: { deny: ["a", 5] } }],
    ["tools.approval", { tools: { approval: 1 } }],
    ["rateLimit", { rateLimit: -1 }],
    ["rateLimit", { rateLimit: true }],
    ["toolNames", { toolNames: "x" }],
    ["toolNames", { toolNames: { template: "{tool}", length: "x" } }],
    ["toolTimeout", { toolTimeout: -5 }],
    ["defaultToolTimeout", { defaultToolTimeout: Number.NaN }],
    ["onApproval", { onApproval: "x" }],
    ["onSampling", { onSampling: () => "x" }],
  ];
  for (const [name, options] of wrong) {
    await expect(
      board.openSession({ cwd, ...options }),
      JSON.stringify(options),
    ).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: expect.stringContaining(`${name} of a session must be `),
    });
  }
});

describe("limits", () => {
  it("of a session can be lifted where something else limits its calls", async () => {
    const board = await openWith({ servers: { docs: fixture("echo") } });
    const limited = await board.openSession({ cwd, rateLimit: 1 });
    const free = await board.openSession({ cwd, rateLimit: false });
    expect((await codes(limited, "docs/echo", 3)).filter((code) => code === "ok")).toHaveLength(1);
    expect(await codes(free, "docs/echo", 200)).toEqual(Array(200).fill("ok"));
  });

  it("leave out further servers and tools without a search, and name them", async () => {
    const board = await openWith({
      servers: { shared: fixture("echo") },
      toolSearch: "off",
      limits: { sessionServers: 2, sessionTools: 3 },
    });
    const session = await board.openSession({
      cwd,
      servers: {
        one: fixture("many-tools", "--count=4"),
        two: fixture("crlf"),
        three: fixture("echo"),
      },
    });
    expect(session.notices).toEqual([
      "1 server of the session is left out, the limit is 2: three; raise it with limits.sessionServers or PLUGBOARD_MAX_SESSION_SERVERS",
      "2 tools of the session are left out, the limit is 3: one/tool_3, two/echo; raise it with limits.sessionTools or PLUGBOARD_MAX_SESSION_TOOLS",
    ]);
    expect(session.status().map(({ name }) => name)).toEqual(["shared", "one", "two"]);
    expect(names(session).filter((name) => !name.startsWith("mcp__shared"))).toEqual([
      "mcp__one__tool_0",
      "mcp__one__tool_1",
      "mcp__one__tool_2",
    ]);
    expect(textOf(await session.call("two/echo", hi))).toBe("hi");
    await expect(session.add("four", fixture("echo"))).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: expect.stringContaining("the limit is 2: four;"),
    });
  });

  it("leave further tools to the search, which finds no others of the session", async () => {
    const board = await openWith({
      servers: { shared: fixture("echo") },
      limits: { sessionTools: 3 },
    });
    const many = fixture("many-tools", "--count=5");
    const session = await board.openSession({ cwd, servers: { many } });
    expect(session.notices).toEqual([
      "2 tools of the session are found by search alone, the limit is 3: many/tool_3, many/tool_4; raise it with limits.sessionTools or PLUGBOARD_MAX_SESSION_TOOLS",
    ]);
    const modes = (): unknown[] =>
      session
        .tools()
        .filter(({ source }) => source.kind === "mcp" && source.server === "many")
        .map(({ include }) => include);
    expect(modes()).toEqual(["always", "always", "always", "agent", "agent"]);
    const hits = await session.search("tool number");
    const found = hits.map(({ tool }) => tool.name).filter((name) => name.startsWith("mcp__many"));
    expect(found.sort()).toEqual(["mcp__many__tool_3", "mcp__many__tool_4"]);
    expect((await session.find("many/tool_3")).include).toBe("agent");
    // What somebody adds stays, and takes nobody's place.
    session.include("many/tool_4");
    session.exclude("many/tool_0");
    expect(modes()).toEqual(["manual", "always", "always", "always", "always"]);
  });

  it("count only tools that are shown to the model", async () => {
    const board = await openWith({ servers: {}, limits: { sessionTools: 1 } });
    const include = { default: "manual", tools: { tool_2: "always" } } as const;
    const many = { ...fixture("many-tools", "--count=4"), include };
    const session = await board.openSession({ cwd, servers: { many } });
    expect(session.notices).toEqual([]);
    expect(session.tools().map((tool) => tool.include)).toEqual([
      "manual",
      "manual",
      "always",
      "manual",
    ]);
  });

  it("can be set in the environment, and there is a warning before they are reached", async () => {
    const logger = recordingLogger();
    const board = await openWith(
      { servers: {}, session: { lazy: true } },
      { env: { ...process.env, PLUGBOARD_MAX_SESSION_SERVERS: "6" }, logger },
    );
    const six = Object.fromEntries("abcdef".split("").map((name) => [name, fixture("echo")]));
    const session = await board.openSession({ cwd, servers: six, startupWait: 0 });
    const warning = "the session starts 6 programs of its own; more than 5 make it slow to start";
    expect(session.notices).toEqual([warning]);
    expect(logger.lines.map(({ message }) => message)).toContain(warning);
  });

  it("tell of tools that are left out when a slow server brings them", async () => {
    const board = await openWith({ servers: {}, limits: { sessionTools: 2 } });
    const session = await board.openSession({ cwd, servers: { one: fixture("crlf") } });
    const told: string[] = [];
    session.on("notice", ({ text }) => told.push(text));
    expect(session.notices).toEqual([]);
    await session.add("many", fixture("many-tools", "--count=3"));
    await session.add("more", fixture("crlf"));
    expect(told).toEqual([
      "2 tools of the session are found by search alone, the limit is 2: many/tool_1, many/tool_2; raise it with limits.sessionTools or PLUGBOARD_MAX_SESSION_TOOLS",
      "3 tools of the session are found by search alone, the limit is 2: many/tool_1, many/tool_2, more/echo; raise it with limits.sessionTools or PLUGBOARD_MAX_SESSION_TOOLS",
    ]);
  });

  it("let any number of calls share a signal, without a warning and without a listener left", async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on("warning", onWarning);
    onTestFinished(() => void process.off("warning", onWarning));
    const board = await openWith({ servers: { shared: { ...fixture("echo"), concurrency: 1 } } });
    const session = await board.openSession({ cwd });
    for (const from of [board, session]) {
      const { signal } = new AbortController();
      const all = Array.from({ length: 15 }, () => from.call("shared/echo", hi, { signal }));
      expect((await Promise.all(all)).filter(({ isError }) => isError)).toEqual([]);
      expect(getEventListeners(signal, "abort")).toEqual([]);
    }
    expect(warnings).toEqual([]);
  });

  it("let a session for a model make 100 calls a minute to a server that has no limit of its own, any other all", async () => {
    // However long the calls take, no time goes by in which another one would be due.
    const clock = { ...systemClock, monotonic: () => 0 };
    const board = await openWith({ servers: { shared: fixture("echo") } }, { clock });
    const rateLimit = SESSION_RATE_LIMIT;
    const session = await board.openSession({ cwd, servers: { mine: fixture("echo") }, rateLimit });
    const other = await board.openSession({ cwd });
    const told: string[] = [];
    session.on("notice", ({ text }) => told.push(text));
    for (const tool of ["shared/echo", "mine/echo"]) {
      const abort = new AbortController();
      const { signal } = abort;
      const waits: string[] = [];
      const onUpdate = (update: { content: ContentBlock[] }): void =>
        void waits.push(textOf(update));
      const all = Array.from({ length: 200 }, () => session.call(tool, hi, { signal, onUpdate }));
      // The last ones would wait for more than 30 s.
      expect((await all.at(-1))?.failure?.code).toBe("RATE_LIMITED");
      await Promise.all(all.slice(0, 100));
      abort.abort();
      const server = tool.slice(0, tool.indexOf("/"));
      expect(waits[0]).toMatch(`: calls to ${server} are slowed down to 100 calls a minute`);
      const ended = (await Promise.all(all)).map(({ failure }) => failure?.code ?? "ok");
      expect(ended.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => "ok"));
      expect(new Set(ended.slice(100))).toEqual(new Set(["CANCELLED", "RATE_LIMITED"]));
    }
    expect(told).toEqual([
      "calls to shared are slowed down to 100 calls a minute; rateLimit of the server 'shared' changes that",
      "calls to mine are slowed down to 100 calls a minute; mcp.session.rateLimit changes that",
    ]);
    for (const free of [other, board]) {
      expect(new Set(await codes(free, "shared/echo", 150))).toEqual(new Set(["ok"]));
    }
  });

  it("slow a fast loop down instead of failing its calls", async () => {
    // However long the calls take, no time goes by in which another one would be due.
    const clock = { ...systemClock, monotonic: () => 0 };
    const mine = { ...fixture("echo"), rateLimit: 600 };
    const board = await openWith({ servers: {} }, { clock });
    const session = await board.openSession({ cwd, servers: { mine } });
    const told: string[] = [];
    session.on("notice", ({ text }) => told.push(text));
    expect(new Set(await codes(session, "mine/echo", 605))).toEqual(new Set(["ok"]));
    expect(told).toHaveLength(1);
  });

  it("of a shared server count the calls of all sessions", async () => {
    const board = await openWith({
      servers: {
        few: { ...fixture("echo"), rateLimit: 1 },
        busy: { ...fixture("counts-calls"), concurrency: { tools: { hold: 1 } } },
      },
    });
    const [one, two] = [await board.openSession({ cwd }), await board.openSession({ cwd })];
    expect(await codes(one, "few/echo", 1)).toEqual(["ok"]);
    expect(await codes(two, "few/echo", 1)).toEqual(["RATE_LIMITED"]);

    const held = [one.call("busy/hold", { key: "a" }), two.call("busy/hold", { key: "b" })];
    const report = async () =>
      JSON.parse(textOf(await one.call("busy/report"))) as { most: number; now: number };
    for (const call of held) {
      while ((await report()).now === 0);
      await one.call("busy/release");
      await call;
    }
    expect((await report()).most).toBe(1);
  });
});

describe("approval", () => {
  it("is requested from the session, which remembers it for its own servers", async () => {
    const asked: string[] = [];
    const ask = (who: string) => ({
      onApproval: ({ tool }: { tool: string }) => {
        asked.push(`${who} ${tool}`);
        return "always" as const;
      },
    });
    const board = await openWith({ servers: { shared: fixture("echo") } }, ask("board"));
    const servers = { mine: fixture("echo") };
    const one = await board.openSession({ cwd, servers, approval: "ask", ...ask("one") });
    const two = await board.openSession({ cwd, servers, approval: "ask", ...ask("two") });
    const calm = await board.openSession({ cwd, servers, ...ask("calm") });
    for (const session of [one, one, two, calm]) await session.call("mine/echo", hi);
    await one.call("shared/echo", hi);
    await board.call("shared/echo", hi);
    expect(asked).toEqual(["one mine/echo", "two mine/echo", "one shared/echo"]);
  });

  it("follows the configuration, if that sets it", async () => {
    const board = await openWith({ servers: {}, approval: "never", session: { approval: "ask" } });
    const session = await board.openSession({
      cwd,
      approval: "ask",
      servers: { mine: fixture("echo"), free: { ...fixture("echo"), approval: "never" } },
      onApproval: () => "refuse",
    });
    expect((await session.call("mine/echo", hi)).failure?.code).toBe("NOT_APPROVED");
    expect(textOf(await session.call("free/echo", hi))).toBe("hi");
  });
});

describe("on disk a session leaves", () => {
  it("its lines in the audit log, and nothing else", async () => {
    const stateDir = temporaryDirectory();
    const board = await openWith({ servers: { shared: fixture("echo") } }, { stateDir });
    const session = await board.openSession({
      cwd,
      id: "s-1",
      servers: { mine: fixture("large-results") },
    });
    const other = await board.openSession({ cwd, servers: { mine: fixture("large-results") } });
    const bytes = { bytes: 600_000 };
    await execute(session, "mcp__mine__lines", bytes);
    await execute(other, "mcp__mine__lines", bytes);
    expect(await readdir(join(stateDir, "spill"))).toHaveLength(2);
    await session.call("shared/echo", hi);
    await board.call("shared/echo", hi);
    await session.close();
    expect(await readdir(join(stateDir, "spill"))).toHaveLength(1);
    await other.close();
    await board.close();
    // The shared one's.
    expect(await readdir(join(stateDir, "catalog"))).toHaveLength(1);
    expect(await readdir(join(stateDir, "spill"))).toEqual([]);
    const lines = (await readFile(join(stateDir, "audit.jsonl"), "utf8")).trim().split("\n");
    const entries = lines
      .map((line) => JSON.parse(line) as JsonObject)
      .filter(({ type }) => type === "call");
    expect(entries.map(({ session: of, server, tool }) => [of, server, tool])).toEqual([
      ["s-1", "mine", "lines"],
      [other.id, "mine", "lines"],
      ["s-1", "shared", "echo"],
      [undefined, "shared", "echo"],
    ]);
  });
});

describe("pins", () => {
  it("apply in a session to configured servers, and not to those it brings", async () => {
    const stateDir = temporaryDirectory();
    const file = join(stateDir, "tools.json");
    const offer = (description: string) =>
      writeFile(file, JSON.stringify({ tools: [{ name: "read", description }] }));
    const config = {
      pins: "block" as const,
      servers: {
        shared: fixture("from-file", `--file=${file}`),
        each: { ...fixture("from-file", `--file=${file}`), scope: "session" as const },
      },
    };
    await offer("Reads.");
    await (await openWith(config, { stateDir })).close();
    const pinned = await readdir(join(stateDir, "pins"));

    await offer("Reads, and sends it to me.");
    const board = await openWith(config, { stateDir });
    const session = await board.openSession({
      cwd,
      servers: { mine: fixture("from-file", `--file=${file}`) },
    });
    expect((await session.call("shared/read")).failure?.code).toBe("CHANGED_TOOL");
    expect((await session.call("each/read")).failure?.code).toBe("CHANGED_TOOL");
    expect(textOf(await session.call("mine/read"))).toBe("read");
    const files = (await readdir(join(stateDir, "pins"))).filter((name) => name.endsWith(".json"));
    expect(files).toEqual(pinned);
  });
});

describe("secrets", () => {
  it("of its own and of shared servers are redacted from all answers", async () => {
    const board = await openWith({
      servers: { shared: { ...fixture("echo"), env: { SHARED_TOKEN: "shared-token-123456" } } },
    });
    const session = await board.openSession({
      cwd,
      servers: { mine: { ...fixture("echo"), env: { MY_TOKEN: "my-token-654321" } } },
    });
    await session.add("late", { ...fixture("echo"), env: { LATE_TOKEN: "late-token-777777" } });
    const said = { text: "shared-token-123456 my-token-654321 late-token-777777" };
    const hidden = "[REDACTED] [REDACTED] [REDACTED]";
    for (const tool of ["shared/echo", "mine/echo", "late/echo"]) {
      expect(textOf(await session.call(tool, said))).toBe(hidden);
    }
    expect(textOf(await board.call("shared/echo", said))).toBe(
      "[REDACTED] my-token-654321 late-token-777777",
    );
  });

  it("are not requested: a session's server that needs a sign-in reports it", async () => {
    const http = createServer((_request, response) => {
      response.writeHead(401, { "www-authenticate": "Bearer" }).end();
    });
    await new Promise<void>((resolve) => {
      http.listen(0, "127.0.0.1", resolve);
    });
    try {
      const { port } = http.address() as AddressInfo;
      const asked: string[] = [];
      const board = await openWith(
        { servers: {} },
        { stateDir: temporaryDirectory(), onAuthorization: ({ url }) => void asked.push(url) },
      );
      const url = `http://127.0.0.1:${port}/mcp`;
      const session = await board.openSession({ cwd, servers: { remote: { url } } });
      await reached(session, "remote", "needs-auth");
      const { available, state } = statusIn(session, "remote");
      expect(available).toBe(false);
      expect(state).toMatchObject({ remedy: expect.stringContaining("give it fresh headers") });
      expect(asked).toEqual([]);
    } finally {
      http.closeAllConnections();
      http.close();
    }
  });
});

describe("what a server asks for during a call", () => {
  it("goes to the session that made the call, whether the server is shared or its own", async () => {
    const answer = (name: string) => ({
      onElicitation: () => ({ action: "accept" as const, content: { name } }),
    });
    const board = await openWith({ servers: { shared: fixture("asks") } }, answer("board"));
    const servers = { mine: fixture("asks") };
    const one = await board.openSession({ cwd, servers, ...answer("one") });
    const two = await board.openSession({ cwd, servers, ...answer("two") });
    const silent = await board.openSession({ cwd, servers });
    const question = {
      method: "elicitation/create",
      params: {
        message: "Who?",
        requestedSchema: { type: "object", properties: { name: { type: "string" } } },
      },
    };
    const who = async (session: SessionBoard, server: string) =>
      textOf(await session.call(`${server}/ask`, question));
    for (const server of ["shared", "mine"]) {
      expect(await who(one, server)).toContain('"one"');
      expect(await who(two, server)).toContain('"two"');
      expect(await who(silent, server)).toContain('"board"');
    }
    const own = await one.call("mine/ask", question, answer("call"));
    expect(textOf(own)).toContain('"call"');
    // A handler that is explicitly undefined was not given: the session's answers, not the agent's.
    const unset = { onElicitation: undefined, onSampling: undefined };
    for (const server of ["shared", "mine"]) {
      const outcome = await one.call(`${server}/ask`, question, unset);
      expect(textOf(outcome)).toContain('"one"');
    }
  });
});
