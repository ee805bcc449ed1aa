// Servers that a session disables and enables for itself.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import { closeBoards, fixture, openWith, textOf } from "../../support/boards.ts";
import { isAlive } from "../../support/processes.ts";
import { cwd, statusIn } from "./session/sessions.ts";

closeBoards();

const toolNames = (session: { tools(): { name: string }[] }) =>
  session.tools().map(({ name }) => name);

describe("a server that a session disables", () => {
  it.each<[string, Record<string, ServerConfig>, Record<string, ServerConfig>]>([
    ["that it brought", {}, { crlf: fixture("crlf") }],
    ["that each session has its own of", { crlf: { ...fixture("crlf"), scope: "session" } }, {}],
  ])("%s is stopped, and started when it is enabled", async (_, servers, own) => {
    const board = await openWith({ servers });
    const session = await board.openSession({ cwd, servers: own });
    const other = await board.openSession({ cwd, servers: own });
    const pids = [session, other].map((each) => statusIn(each, "crlf").pid ?? 0);
    const heard: string[] = [];
    session.on("server", ({ state }) => heard.push(state.kind));
    session.on("tools", ({ added, removed }) => heard.push(`+${added.join()} -${removed.join()}`));

    const off = await session.setEnabled("crlf", false);
    expect(off).toMatchObject({ state: { kind: "disabled" }, available: false, tools: 0 });
    expect(heard).toEqual(["+ -mcp__crlf__echo", "disabled"]);
    expect(pids.map(isAlive)).toEqual([false, true]);
    expect(toolNames(session)).toEqual([]);
    expect(toolNames(other)).toEqual(["mcp__crlf__echo"]);
    expect(textOf(await session.call("crlf/echo"))).toBe("server 'crlf' is disabled");
    await session.wake();
    expect(await session.setEnabled("crlf", false)).toEqual(off);
    expect((await session.restart("crlf")).state.kind).toBe("disabled");

    expect(await session.setEnabled("crlf", true)).toMatchObject({ state: { kind: "ready" } });
    expect(textOf(await session.call("crlf/echo", { text: "back" }))).toBe("back");
    expect(heard.slice(2)).toEqual(["starting", "+mcp__crlf__echo -", "ready"]);
  });

  it("that is shared keeps running for others", async () => {
    const board = await openWith({
      servers: { shared: fixture("library"), echo: fixture("crlf") },
    });
    const session = await board.openSession({ cwd });
    const { pid = 0 } = statusIn(session, "shared");
    const heard: string[] = [];
    session.on("server", ({ state, previous }) => heard.push(`${previous.kind} ${state.kind}`));
    const before = toolNames(session);

    const off = await session.setEnabled("shared", false);
    expect(off).toMatchObject({ state: { kind: "disabled" }, available: false, tools: 0 });
    expect(off).not.toHaveProperty("pid");
    expect(session.status().map(({ name, state }) => `${name} ${state.kind}`)).toEqual([
      "echo ready",
      "shared disabled",
    ]);
    expect(toolNames(session)).toEqual(["mcp__echo__echo"]);
    expect(await session.resources.list()).toEqual([]);
    expect(await session.prompts.list()).toEqual([]);
    expect((await session.call("shared/add")).failure).toEqual({
      code: "SERVER_UNAVAILABLE",
      message: "server 'shared' is disabled",
    });
    await expect(session.restart("shared")).rejects.toMatchObject({ code: "UNSUPPORTED" });
    expect(isAlive(pid)).toBe(true);
    expect(toolNames(board)).toEqual(before);

    expect((await session.setEnabled("shared", true)).pid).toBe(pid);
    expect(new Set(toolNames(session))).toEqual(new Set(before));
    expect(await session.resources.list()).not.toEqual([]);
    expect(heard).toEqual(["ready disabled", "disabled ready"]);
  });

  it("stays disabled when servers of its name are added and removed", async () => {
    const board = await openWith({ servers: { echo: fixture("crlf") } });
    const session = await board.openSession({ cwd });
    await session.setEnabled("echo", false);
    await session.add("echo", fixture("slow-start", "--ms=1"));
    expect(session.status().map(({ origin, state }) => [origin, state.kind])).toEqual([
      ["session", "ready"],
    ]);
    await session.remove("echo");
    expect(session.status().map(({ origin, state }) => [origin, state.kind])).toEqual([
      ["agent", "disabled"],
    ]);
    expect(toolNames(session)).toEqual([]);
  });

  it("does not bring back the server that it replaced", async () => {
    const board = await openWith({ servers: { echo: fixture("crlf") } });
    const session = await board.openSession({ cwd, servers: { echo: fixture("crlf") } });
    await session.setEnabled("echo", false);
    expect(toolNames(session)).toEqual([]);
    await session.remove("echo");
    expect(toolNames(session)).toEqual(["mcp__echo__echo"]);
  });
});

describe("a session cannot", () => {
  it("enable a server that the configuration disables, or one that does not exist", async () => {
    const off = { ...fixture("crlf"), enabled: false };
    const board = await openWith({ servers: { off, mine: { ...off, scope: "session" } } });
    const session = await board.openSession({ cwd, servers: { own: off } });
    for (const server of ["off", "mine"]) {
      await expect(session.setEnabled(server, true)).rejects.toMatchObject({
        code: "UNSUPPORTED",
        message: `server '${server}' is disabled in the configuration`,
      });
    }
    expect((await session.setEnabled("own", true)).state.kind).toBe("ready");
    await expect(session.setEnabled("mime", true)).rejects.toMatchObject({
      code: "UNKNOWN_SERVER",
      hint: "did you mean 'mine'?",
    });
    await session.close();
    await session.wake();
    await expect(session.setEnabled("own", false)).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
    });
  });
});

it.each([
  ["http://far.example/mcp", 'use https, or add "http://far.example" to network.allow'],
  ["https://10.0.0.1/mcp", 'add "10.0.0.1" to network.allow'],
])(
  "a server that a session brings is refused %s with a remedy that there is",
  async (url, hint) => {
    const board = await openWith({ servers: {} });
    const session = await board.openSession({ cwd, servers: { far: { url } } });
    expect(statusIn(session, "far").state).toMatchObject({
      kind: "failed",
      error: { code: "REFUSED_ADDRESS", hint },
    });
  },
);

describe("servers of scope session, on a board that has them only in sessions", () => {
  it("are on no other board, and the status says where they are", async () => {
    const servers = {
      shared: fixture("crlf"),
      own: { ...fixture("crlf"), scope: "session" as const },
    };
    const board = await openWith({ servers }, { onlyInSessions: true });
    const status = () => board.status().find(({ name }) => name === "own");
    expect(toolNames(board)).toEqual(["mcp__shared__echo"]);
    expect((await board.call("own/echo", { text: "hi" })).failure?.code).toBe("UNKNOWN_SERVER");
    expect(status()).toMatchObject({ state: { kind: "idle" }, tools: 0, available: false });
    expect(status()?.diagnostics[0]?.message).toBe(
      "runs once for each session, and there are 0 now; clients without a session are not offered it",
    );

    const session = await board.openSession({ cwd });
    expect(toolNames(session)).toEqual(["mcp__shared__echo", "mcp__own__echo"]);
    expect(textOf(await session.call("own/echo", { text: "hi" }))).toBe("hi");
    const without = await board.openSession({ cwd, perSession: false });
    expect(toolNames(without)).toEqual(["mcp__shared__echo"]);
    expect(status()?.diagnostics[0]?.message).toContain("there is 1 now");
    const { pid = 0 } = statusIn(session, "own");
    await session.close();
    expect(isAlive(pid)).toBe(false);
    expect(status()?.diagnostics[0]?.message).toContain("there are 0 now");
  });

  it("are listed at once where an earlier session has listed them, unless a session brought them", async () => {
    const stateDir = mkdtempSync(join(tmpdir(), "plugboard-own-"));
    onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
    const isTime = join(stateDir, "is-time");
    writeFileSync(isTime, "");
    const slow = fixture("slow-start", `--until=${isTime}`);
    const servers = { own: { ...slow, scope: "session" as const } };
    const board = await openWith({ servers }, { onlyInSessions: true, stateDir });
    const first = await board.openSession({ cwd, servers: { brought: slow } });
    expect(toolNames(first)).toEqual(["mcp__own__echo", "mcp__brought__echo"]);
    await first.close();
    rmSync(isTime);
    const second = await board.openSession({ cwd, servers: { brought: slow }, startupWait: 0 });
    expect(toolNames(second)).toEqual(["mcp__own__echo"]);
    expect(statusIn(second, "own")).toMatchObject({ state: { kind: "starting" }, cached: true });
    writeFileSync(isTime, "");
    expect(textOf(await second.call("own/echo", { text: "hi" }))).toBe("hi");
  });

  it("get other roots than shared servers", async () => {
    const servers = {
      shared: { ...fixture("asks"), roots: true },
      own: { ...fixture("asks"), scope: "session" as const },
    };
    const board = await openWith({ servers }, { onlyInSessions: true, workspaceDir: cwd });
    const session = await board.openSession({ cwd, roots: [] });
    const rootsOf = async (server: string): Promise<string> =>
      textOf(await session.call(`${server}/ask`, { method: "roots/list", params: {} }));
    expect(await rootsOf("own")).toBe('{"roots":[]}');
    session.setRoots(["file:///home/me/project"]);
    expect(await rootsOf("own")).toContain("file:///home/me/project");
    expect(await rootsOf("shared")).not.toContain("project");
    expect(() => session.setRoots(["https://example.com"])).toThrow("is not a directory");
  });
});
