// A board laid over an agent's board for one session: what is on it, what is shared, what is private, and
// that it is gone when the session is.

import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SessionOptions } from "../src/core/types/board-options.ts";
import type { NativeTool } from "../src/core/types/tool.ts";
import { cwd, marked, reached, statusIn } from "./core/board/session/sessions.ts";
import { load } from "./core/guard/boards.ts";
import { temporaryDirectory } from "./support/directory.ts";
import { asUntrusted, closeBoards, fixture, openWith, textOf } from "./support/boards.ts";
import { eventually, expectNoProcesses, isAlive, processesWith } from "./support/processes.ts";

closeBoards();

const hi = { text: "hi" };
const native = (name: string): NativeTool => ({
  name,
  description: "Says its name.",
  parameters: { type: "object" },
  execute: () => ({ content: [{ type: "text", text: name }] }),
});

describe("a session's board", () => {
  it("has native tools, those of the agent's servers and those of its own", async () => {
    const board = await openWith(
      { servers: { slow: fixture("slow-start", "--ms=1") } },
      { native: [native("shout")] },
    );
    const session = await board.openSession({
      cwd,
      servers: { mine: fixture("crlf") },
      native: [native("whisper")],
    });
    expect(session.tools().map(({ name }) => name)).toEqual([
      "shout",
      "whisper",
      "mcp__slow__echo",
      "mcp__mine__echo",
    ]);
    expect(board.tools().map(({ name }) => name)).toEqual(["shout", "mcp__slow__echo"]);
    for (const name of ["mcp__slow__echo", "slow/echo", "mcp__mine__echo", "mine/echo"]) {
      expect(textOf(await session.call(name, hi))).toBe("hi");
    }
    expect(textOf(await session.call("whisper"))).toBe("whisper");
    const [, , , tool] = session.tools();
    expect(textOf((await tool?.execute("1", hi)) ?? { content: [] })).toContain("hi");
    expect(session.status().map(({ name, origin, tools }) => [name, origin, tools])).toEqual([
      ["slow", "agent", 1],
      ["mine", "session", 1],
    ]);
    expect(session.notices).toEqual([]);
    expect((await board.call("mine/echo", hi)).failure?.code).toBe("UNKNOWN_SERVER");
  });

  it("is advised of settings that the servers of sessions have", async () => {
    const huge = { ...fixture("huge-line", "--bytes=3000000"), maxMessageBytes: 1_000_000 };
    const board = await openWith({ servers: { configured: huge } });
    const session = await board.openSession({
      cwd,
      servers: { mine: huge, off: { ...fixture("echo"), resources: false } },
    });
    const called = async (name: string): Promise<string | undefined> =>
      (await session.call(`${name}/huge`)).failure?.hint;
    expect(await called("configured")).toContain('raise "maxMessageBytes" for this server');
    expect(await called("mine")).toContain('raise "maxMessageBytes" in mcp.session');
    expect(statusIn(session, "mine").state).toMatchObject({
      error: { hint: expect.stringContaining("in mcp.session") },
    });
    await expect(session.resources.read("note:///a", { server: "off" })).rejects.toMatchObject({
      hint: 'set "resources": true in mcp.session to use them',
    });
  });

  it("runs its servers in its directory, which is their root, relative commands too", async () => {
    const directoryOfSession = await realpath(temporaryDirectory());
    await mkdir(join(directoryOfSession, "sub"));
    const { command = "", args = [] } = fixture("echo");
    const script = `#!/bin/sh\nexec "${command}" "${args.join('" "')}"\n`;
    await writeFile(join(directoryOfSession, "serve.sh"), script, { mode: 0o700 });
    const board = await openWith({ servers: { shared: fixture("echo") } });
    const session = await board.openSession({
      cwd: directoryOfSession,
      servers: {
        mine: fixture("echo"),
        below: { ...fixture("echo"), cwd: "sub" },
        asks: { ...fixture("asks"), roots: true },
        script: { command: "./serve.sh" },
      },
    });
    expect(textOf(await session.call("mine/cwd"))).toBe(directoryOfSession);
    expect(textOf(await session.call("script/echo", hi))).toBe("hi");
    expect(textOf(await session.call("below/cwd"))).toBe(join(directoryOfSession, "sub"));
    expect(textOf(await session.call("shared/cwd"))).toBe(process.cwd());
    const { structuredContent } = await session.call("asks/ask", {
      method: "roots/list",
      params: {},
    });
    expect(JSON.stringify(structuredContent)).toContain(`file://${directoryOfSession}"`);
  });

  it.each<[string, Partial<Omit<SessionOptions, "cwd">> & { cwd?: unknown }, string, RegExp]>([
    ["a relative cwd", { cwd: "src" }, "INVALID_ARGUMENTS", /absolute path, not 'src'/],
    ["no cwd", { cwd: undefined }, "INVALID_ARGUMENTS", /cwd of a session must be a string/],
    ["no command", { servers: { x: {} } }, "CONFIG_INVALID", /servers\.x {2}has neither/],
    ["a bad name", { servers: { "a/b": { command: "x" } } }, "CONFIG_INVALID", /a "\/" in/],
    ["an unknown key", { servers: { x: { cmd: "x" } as object } }, "CONFIG_INVALID", /servers\.x/],
    ["a list", { servers: [] as never }, "CONFIG_INVALID", /servers {2}is a list/],
  ])("is refused, and nothing starts, for %s", async (_, given, code, message) => {
    const board = await openWith({ servers: {} });
    const good = { good: fixture("echo") };
    const servers = Array.isArray(given.servers) ? given.servers : { ...good, ...given.servers };
    const opening = board.openSession({ cwd, ...given, servers } as SessionOptions);
    await expect(opening).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expectNoProcesses();
  });

  it("is not kept waiting by a server that is slow or hangs, which comes later", async () => {
    const board = await openWith({ servers: {} });
    const isTime = join(temporaryDirectory(), "is-time");
    const session = await board.openSession({
      cwd,
      startupWait: 1,
      servers: {
        slow: fixture("slow-start", `--until=${isTime}`),
        hangs: fixture("never-initialize"),
      },
    });
    expect(statusIn(session, "hangs").state.kind).toBe("starting");
    const told = new Promise<string[]>((resolve) => {
      session.on("tools", ({ added }) => resolve(added));
    });
    await writeFile(isTime, "");
    expect(textOf(await session.call("slow/echo", hi))).toBe("hi");
    expect(await told).toEqual(["mcp__slow__echo"]);
    await session.close();
    expectNoProcesses();
  });

  it("closes with its processes, and closes once", async () => {
    const board = await openWith({ servers: { shared: fixture("echo") } });
    {
      await using session = await board.openSession({
        cwd,
        servers: {
          stubborn: marked("closing", "ignores-eof"),
          rude: marked("closing", "ignores-sigterm"),
        },
      });
      expect(processesWith("TEST_MARK=closing")).not.toEqual([]);
      await Promise.all([session.close(), session.close()]);
      await expect(session.add("late", fixture("echo"))).rejects.toMatchObject({
        code: "SERVER_UNAVAILABLE",
      });
    }
    expect(processesWith("TEST_MARK=closing")).toEqual([]);
    expect(statusIn(board, "shared").state.kind).toBe("ready");
    await board.close();
    expectNoProcesses();
  });

  it("takes its calls with it, on servers that are shared too, and makes no more", async () => {
    const board = await openWith({ servers: { shared: fixture("echo") } });
    const session = await board.openSession({ cwd, native: [native("whisper")] });
    const sleeping = session.call("shared/sleep", { ms: 600_000 });
    const ending = new AbortController();
    const other = session.call("shared/sleep", { ms: 600_000 }, { signal: ending.signal });
    await eventually(() => statusIn(board, "shared").calls.inFlight === 2);
    ending.abort();
    expect((await other).failure?.code).toBe("CANCELLED");
    const aborted = { signal: AbortSignal.abort() };
    expect((await session.call("whisper", {}, aborted)).failure?.code).toBe("CANCELLED");
    await session.close();
    expect((await sleeping).failure?.code).toBe("CANCELLED");
    expect((await session.call("shared/echo", hi)).failure).toEqual({
      code: "SERVER_UNAVAILABLE",
      message: "the session is closed",
    });
    await expect(session.resources.list("shared")).rejects.toMatchObject({
      code: "UNKNOWN_SERVER",
    });
    expect(textOf(await board.call("shared/echo", hi))).toBe("hi");
  });

  it("does not open on a board that closes meanwhile", async () => {
    const board = await openWith({ servers: {} });
    const servers = { mine: marked("opening", "slow-start") };
    const opening = board.openSession({ cwd, servers }).catch((error: unknown) => error);
    await eventually(() => processesWith("TEST_MARK=opening").length > 0);
    await board.close();
    expect(await opening).toMatchObject({ code: "SERVER_UNAVAILABLE" });
  });

  it("ends with the board, which opens no more", async () => {
    const board = await openWith({ servers: {} });
    const session = await board.openSession({ cwd, servers: { mine: fixture("echo") } });
    await board.close();
    expect(statusIn(session, "mine").state.kind).toBe("stopped");
    await expect(board.openSession({ cwd })).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
    });
  });
});

describe("many sessions", () => {
  it("share the agent's servers and none of their own: 10 processes, and one each", async () => {
    const servers = Object.fromEntries(
      Array.from({ length: 10 }, (_, at) => [`shared${at}`, marked("shared-ten")]),
    );
    const board = await openWith({ servers });
    const sessions = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        board.openSession({
          cwd,
          startupWait: 30_000,
          servers: {
            mine: {
              ...fixture("echo"),
              env: { TEST_MARK: "private-twenty", WHO: `session ${at}` },
            },
          },
        }),
      ),
    );
    expect(processesWith("TEST_MARK=shared-ten")).toHaveLength(10);
    const own = processesWith("TEST_MARK=private-twenty");
    expect(own).toHaveLength(20);
    const answers = await Promise.all(
      sessions.map(async (session) => [
        textOf(await session.call("shared3/pid")),
        (JSON.parse(textOf(await session.call("mine/env"))) as { WHO: string }).WHO,
      ]),
    );
    expect(new Set(answers.map(([pid]) => pid)).size).toBe(1);
    expect(answers.map(([, who]) => who)).toEqual(sessions.map((_, at) => `session ${at}`));
    const [first, ...others] = sessions;
    await first?.close();
    expect(own.filter(isAlive)).toHaveLength(19);
    await Promise.all(others.map((session) => session.close()));
    expect(own.filter(isAlive)).toEqual([]);
    expect(processesWith("TEST_MARK=shared-ten")).toHaveLength(10);
  });

  it("are not affected by what happens to another session's servers", async () => {
    const board = await openWith({ servers: { shared: fixture("echo") } });
    const calm = await board.openSession({ cwd, servers: { mine: fixture("echo") } });
    const heard: string[] = [];
    calm.on("server", ({ server, state }) => heard.push(`${server} ${state.kind}`));
    calm.on("tools", () => heard.push("tools"));
    calm.on("call", ({ tool }) => heard.push(tool));
    const troubled = await board.openSession({
      cwd,
      startupWait: 3000,
      servers: {
        mine: { ...fixture("echo"), restartOnCrash: false },
        exits: { ...fixture("exit-at-once"), maxRestarts: 1 },
        missing: { command: "no-such-program-anywhere" },
        junk: fixture("malformed-json"),
        hangs: fixture("never-initialize"),
      },
    });
    expect((await troubled.call("mine/crash")).failure?.code).toBe("CONNECTION_CLOSED");
    expect(textOf(await calm.call("mine/echo", hi))).toBe("hi");
    expect(textOf(await calm.call("shared/echo", hi))).toBe("hi");
    expect(statusIn(troubled, "missing").state.kind).toBe("failed");
    expect(statusIn(troubled, "missing").lastError).toContain("no-such-program-anywhere");
    expect(calm.status().map(({ name }) => name)).toEqual(["shared", "mine"]);
    await troubled.close();
    expect(textOf(await calm.call("mine/echo", hi))).toBe("hi");
    expect(heard).toEqual(["mcp__mine__echo", "mcp__shared__echo", "mcp__mine__echo"]);
  });

  it("all hear of a server that they share", async () => {
    const board = await openWith({ servers: { shared: fixture("list-changed") } });
    const [one, two] = await Promise.all([board.openSession({ cwd }), board.openSession({ cwd })]);
    const heard = Promise.all(
      [one, two].map(
        (session) =>
          new Promise<string[]>((resolve) => {
            session.on("tools", ({ added }) => resolve(added));
          }),
      ),
    );
    await one.call("shared/swap");
    expect(await heard).toEqual([["mcp__shared__after"], ["mcp__shared__after"]]);
    for (const session of [one, two]) {
      expect(session.tools().map(({ name }) => name)).toEqual(
        board.tools().map(({ name }) => name),
      );
    }
    const restarted = reached(two, "shared", "stopping");
    await board.restart("shared");
    await restarted;
    expect(statusIn(two, "shared").state.kind).toBe("ready");
  });
});

describe('a server with scope "session"', () => {
  it("is started for each session, and on the board itself only to be known", async () => {
    const place = await realpath(temporaryDirectory());
    const config = await load({
      agents: {
        defaults: {
          mcp: { servers: { each: { ...marked("each-session"), scope: "session" } } },
        },
      },
    });
    const board = await openWith(config, { start: "none" });
    expect(processesWith("TEST_MARK=each-session")).toEqual([]);
    const [one, two] = await Promise.all([
      board.openSession({ cwd: place, startupWait: 30_000 }),
      board.openSession({ cwd: place, startupWait: 30_000 }),
    ]);
    expect(processesWith("TEST_MARK=each-session")).toHaveLength(2);
    expect(textOf(await one.call("each/cwd"))).toBe(place);
    expect(textOf(await one.call("each/pid"))).not.toBe(textOf(await two.call("each/pid")));
    expect(statusIn(one, "each").origin).toBe("defaults");
    await expect(one.remove("each")).rejects.toMatchObject({ code: "UNSUPPORTED" });
    await one.close();
    expect(processesWith("TEST_MARK=each-session")).toHaveLength(1);
    expect(textOf(await board.call("each/cwd"))).toBe(process.cwd());
  });

  it("gives way to a session's own of its name", async () => {
    const board = await openWith(
      { servers: { each: { ...fixture("echo"), scope: "session" } } },
      { start: "none" },
    );
    const session = await board.openSession({ cwd, servers: { each: fixture("crlf") } });
    expect(session.status().map(({ name, origin }) => [name, origin])).toEqual([
      ["each", "session"],
    ]);
    await session.remove("each");
    expect(statusIn(session, "each").origin).toBe("agent");
    expect(textOf(await session.call("each/echo", hi))).toBe("hi");
    await session.add("each", fixture("crlf"));
    expect((await session.call("each/pid")).failure?.code).toBe("UNKNOWN_TOOL");
  });
});

describe("a session's server", () => {
  it("takes the place of an agent's of its name, with a warning, in its session alone", async () => {
    const board = await openWith({ servers: { docs: fixture("echo"), other: fixture("crlf") } });
    const plain = await board.openSession({ cwd });
    const session = await board.openSession({ cwd, servers: { docs: fixture("crlf") } });
    const warning = "the session's server 'docs' replaces the agent's server of that name";
    expect(session.notices).toEqual([warning]);
    expect(statusIn(session, "docs")).toMatchObject({
      origin: "session",
      diagnostics: [{ server: "docs", message: warning }],
    });
    const names = (of: Pick<typeof session, "tools">) => of.tools().map(({ name }) => name);
    expect(names(session)).toEqual(["mcp__other__echo", "mcp__docs__echo"]);
    expect((await session.call("docs/pid")).failure?.code).toBe("UNKNOWN_TOOL");
    expect(names(plain)).toEqual(names(board));
    expect(textOf(await plain.call("docs/echo", hi))).toBe("hi");

    const heard: string[][] = [];
    session.on("tools", ({ added, removed }) => heard.push(removed, added));
    await session.remove("docs");
    expect(session.notices).toEqual([]);
    expect(names(session).toSorted()).toEqual(names(board).toSorted());
    expect(heard[0]).toEqual(["mcp__docs__echo"]);
    expect(heard.at(-1)).toContain("mcp__docs__pid");
    expect(await session.call("docs/pid")).toEqual(await board.call("docs/pid"));
  });

  it("can be added and removed while the session lasts", async () => {
    const board = await openWith({ servers: { docs: fixture("echo") } });
    const session = await board.openSession({ cwd });
    const heard: string[][] = [];
    session.on("tools", ({ added, removed }) => heard.push(removed, added));
    const status = await session.add("mine", marked("added"));
    expect(status).toMatchObject({ name: "mine", origin: "session", state: { kind: "ready" } });
    expect(textOf(await session.call("mine/echo", hi))).toBe("hi");
    expect(heard.flat()).toContain("mcp__mine__echo");
    await expect(session.add("mine", fixture("echo"))).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: "the session already has a server 'mine'",
    });
    await expect(session.add("bad", {})).rejects.toMatchObject({ code: "CONFIG_INVALID" });

    await session.add("docs", fixture("crlf"));
    expect(session.tools().some(({ name }) => name === "mcp__docs__pid")).toBe(false);
    await session.remove("docs");
    expect(session.tools().some(({ name }) => name === "mcp__docs__pid")).toBe(true);

    await session.remove("mine");
    expect(processesWith("TEST_MARK=added")).toEqual([]);
    expect((await session.call("mine/echo", hi)).failure?.code).toBe("UNKNOWN_SERVER");
    await expect(session.remove("mine")).rejects.toMatchObject({ code: "UNKNOWN_SERVER" });
    expect(textOf(await session.call("docs/echo", hi))).toBe("hi");
  });

  it("can keep a name from a shared one, which is said there", async () => {
    const board = await openWith(
      { servers: { late: { ...fixture("crlf"), toolPrefix: "same" } } },
      { start: "none" },
    );
    const session = await board.openSession({
      cwd,
      servers: { mine: { ...fixture("crlf"), toolPrefix: "same" } },
    });
    await board.refresh();
    expect(statusIn(session, "late").diagnostics).toEqual([
      {
        server: "late",
        subject: "echo",
        message: "tool left out: its public name mcp__same__echo is taken",
        kind: "left-out",
      },
    ]);
    expect(statusIn(board, "late").diagnostics).toEqual([]);
  });

  it("can be removed while it starts", async () => {
    const board = await openWith({ servers: {} });
    const session = await board.openSession({
      cwd,
      startupWait: 1,
      servers: { hangs: marked("hanging", "never-initialize") },
    });
    await eventually(() => processesWith("TEST_MARK=hanging").length === 1);
    await session.remove("hangs");
    expect(processesWith("TEST_MARK=hanging")).toEqual([]);
    expect(session.status()).toEqual([]);
  });

  it("can be restarted by its session, one that is shared cannot", async () => {
    const board = await openWith({ servers: { shared: fixture("echo") } });
    const session = await board.openSession({ cwd, servers: { mine: fixture("echo") } });
    const before = textOf(await session.call("mine/pid"));
    expect((await session.restart("mine")).state.kind).toBe("ready");
    expect(textOf(await session.call("mine/pid"))).not.toBe(before);
    await expect(session.restart("shared")).rejects.toMatchObject({ code: "UNSUPPORTED" });
    await expect(session.restart("mina")).rejects.toMatchObject({
      code: "UNKNOWN_SERVER",
      hint: "did you mean 'mine'?",
    });
  });

  it("starts whether the agent's configuration is trusted or not", async () => {
    const config = await load({
      agents: { defaults: { mcp: { servers: { docs: fixture("echo") } } } },
    });
    const board = await openWith({ ...config, ...asUntrusted(config) });
    const session = await board.openSession({ cwd, servers: { mine: fixture("echo") } });
    expect(statusIn(session, "docs").state.kind).toBe("untrusted");
    expect(textOf(await session.call("mine/echo", hi))).toBe("hi");
  });
});
