import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import type { ToolsEvent } from "../../../src/core/types/events.ts";
import type { NativeTool, Tool, ToolUpdate } from "../../../src/core/types/tool.ts";
import { recordingLogger } from "../../support/logger.ts";
import { closeBoards, fixture, open, reaches, statusOf, textOf } from "../../support/boards.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { MovableClock } from "../../support/movable-clock.ts";
import { eventually, expectNoProcesses, startedProcesses } from "../../support/processes.ts";

closeBoards();

it("logs which servers are disabled, how many are ready, and credentials that are written out", async () => {
  const logger = recordingLogger();
  const servers = {
    echo: {
      ...fixture("echo"),
      env: { API_TOKEN: "Zx81Qw22aa", FROM_SHELL_TOKEN: "of-the-shell" },
    },
    shell: { ...fixture("echo"), env: { SHELL_TOKEN: "of-the-shell" } },
    broken: { command: "no-such-command-anywhere" },
    off: { ...fixture("echo"), enabled: false },
  };
  await openBoard({ servers }, { logger, env: { ...process.env, KEY: "of-the-shell" } }).then(
    (board) => board.close(),
  );
  const told = (level: string) =>
    logger.lines.filter((line) => line.level === level).map(({ message }) => message);
  expect(told("info")).toEqual(expect.arrayContaining(["disabled: off", "2 of 3 servers ready"]));
  expect(told("warn").filter((message) => message.includes("plaintext"))).toEqual([
    expect.stringContaining("MCP server 'echo' has plaintext credentials in config"),
  ]);
});

it("notes what a server says is missing, although it runs", async () => {
  const { command = "", args = [] } = fixture("echo");
  const script = 'echo "Warning: ACME_API_KEY is not set" >&2; exec "$@"';
  const board = await open({
    acme: { command: "sh", args: ["-c", script, "sh", command, ...args] },
  });
  await eventually(() => statusOf(board, "acme").diagnostics.length > 0);
  expect(statusOf(board, "acme")).toMatchObject({
    state: { kind: "ready" },
    diagnostics: [
      {
        kind: "missing",
        message: expect.stringMatching(
          /^it runs, but says: Warning: ACME_API_KEY is not set \(set ACME_API_KEY in its "env"/,
        ),
      },
    ],
  });
});

const shout: NativeTool = {
  name: "shout",
  description: "Returns the text in capitals",
  parameters: { type: "object", properties: { text: { type: "string" } } },
  execute: (_id, { text }) => ({ content: [{ type: "text", text: String(text).toUpperCase() }] }),
};

describe("one list of tools", () => {
  it("native tools first, then each server's in the order of the configuration", async () => {
    const board = await open(
      { slow: fixture("echo", "--start-delay=200"), quick: fixture("echo") },
      { native: [shout] },
    );
    const names = board.tools().map(({ name }) => name);
    expect(names[0]).toBe("shout");
    expect(names.indexOf("mcp__slow__echo")).toBeLessThan(names.indexOf("mcp__quick__echo"));
    expect(new Set(names).size).toBe(names.length);
  });

  it("labels, descriptions and schemas as a model needs them", async () => {
    const board = await open({ echo: fixture("echo") });
    const tool = board.tools().find(({ name }) => name === "mcp__echo__add");
    expect(tool).toMatchObject({
      label: "MCP: echo/add",
      source: { kind: "mcp", server: "echo", tool: "add" },
      parameters: { type: "object", properties: { a: { type: "number" } } },
    });
    expect(tool?.description).toMatch(/^\[echo\] ./);
    expect(tool?.outputSchema).toBeDefined();
    expect(board.tools().find(({ name }) => name === "mcp__echo__add")).toBe(tool);
  });

  it("both protocol eras side by side, without a second process", async () => {
    const board = await open({
      legacy: fixture("exit-on-unknown"),
      oldest: fixture("echo", "--version-reply=2024-11-05"),
      refusing: fixture("modern-only", "--initialize=unsupported"),
      unaware: fixture("modern-only", "--initialize=method-not-found"),
      pinned: { ...fixture("modern-only", "--initialize=exit"), protocol: "2026-07-28" },
      held: { ...fixture("echo"), protocol: "legacy" },
    });
    expect(
      board
        .status()
        .map(({ name, identity, restarts }) => [name, identity?.protocolVersion, restarts]),
    ).toEqual([
      ["legacy", "2025-11-25", 0],
      ["oldest", "2024-11-05", 0],
      ["refusing", "2026-07-28", 0],
      ["unaware", "2026-07-28", 0],
      ["pinned", "2026-07-28", 0],
      ["held", "2025-11-25", 0],
    ]);
    for (const { name } of board.status()) {
      expect(textOf(await board.call(`${name}/echo`, { text: name }))).toBe(name);
    }
  });

  it("a modern server that exits on initialize is asked in its own words by the next attempt", async () => {
    const board = await open({ modern: fixture("modern-only", "--initialize=exit") });
    const status = await reaches(board, "modern", "ready");
    expect(status).toMatchObject({ restarts: 1, identity: { era: "modern" } });
  });
});

describe("calls", () => {
  it("by public name, by server/tool, for native tools too", async () => {
    const board = await open({ echo: fixture("echo") }, { native: [shout] });
    const args = { text: "hi" };
    expect(textOf(await board.call("mcp__echo__echo", args))).toBe("hi");
    expect(textOf(await board.call("echo/echo", args))).toBe("hi");
    expect(textOf(await board.call("shout", args))).toBe("HI");
    expect(textOf(await board.call("native/shout", args))).toBe("HI");
  });

  it("structured content, errors of the tool and errors of the protocol", async () => {
    const board = await open({ echo: fixture("echo") });
    expect(await board.call("echo/add", { a: 2, b: 3 })).toMatchObject({
      structuredContent: expect.anything(),
    });
    const failed = await board.call("echo/fail");
    expect(failed).toMatchObject({ isError: true });
    expect(failed.failure).toBeUndefined();
    const refused = await board.call("echo/rpc_error");
    expect(refused).toMatchObject({ isError: true, failure: { code: "SERVER_ERROR" } });
    expect(textOf(refused)).toMatch(/^server 'echo' refused 'rpc_error': .+ \(-?\d+\)$/);
  });

  it("an unknown name gets the nearest one, or the server that could not be asked", async () => {
    const board = await open({
      echo: fixture("echo"),
      broken: { command: "no-such-command-anywhere" },
    });
    const typo = await board.call("mcp__echo__ecoh");
    expect(typo.failure?.code).toBe("UNKNOWN_TOOL");
    expect(textOf(typo)).toContain("did you mean 'mcp__echo__echo'?");
    expect(textOf(typo)).toContain("Server 'broken' has failed");
    expect((await board.call("broken/anything")).failure?.code).toBe("SPAWN_FAILED");
    expect((await board.call("echo/nothing")).failure?.code).toBe("UNKNOWN_TOOL");
  });

  it("cancellation reaches the server", async () => {
    const board = await open({ echo: fixture("echo") });
    const abort = new AbortController();
    const call = board.call("echo/sleep", { ms: 30_000 }, { signal: abort.signal });
    setTimeout(() => abort.abort(), 50);
    expect((await call).failure?.code).toBe("CANCELLED");
    expect(
      (await board.call("echo/sleep", { ms: 1 }, { signal: abort.signal })).failure?.code,
    ).toBe("CANCELLED");
    expect(statusOf(board, "echo").calls.inFlight).toBe(0);
  });

  it("the timeout ends a call; progress extends it", async () => {
    const clock = new MovableClock();
    const board = await open({ echo: { ...fixture("echo"), toolTimeout: 30_000 } }, { clock });
    const late = board.call("echo/sleep", { ms: 600_000 });
    await eventually(() => statusOf(board, "echo").calls.inFlight === 1);
    clock.forward(30_000);
    expect((await late).failure?.code).toBe("TIMEOUT");
    expect(textOf(await late)).toContain("within 30 s");
    const updates: ToolUpdate[] = [];
    const steps = await board.call(
      "echo/progress",
      { steps: 8, ms: 1 },
      {
        onUpdate(each) {
          updates.push(each);
          clock.forward(20_000);
        },
      },
    );
    expect(steps.isError).toBeUndefined();
    expect(updates).toHaveLength(8);
    expect(updates[0]).toMatchObject({ progress: { progress: 1, total: 8 } });
    // Nobody listens here, and the server is asked for it all the same.
    const told: unknown[] = [];
    const end = board.trace((entry) => {
      if (entry.kind === "message" && "method" in entry.message) told.push(entry.message.method);
    });
    await board.call("echo/progress", { steps: 2, ms: 1 });
    await end();
    expect(told).toEqual(["tools/call", "notifications/progress", "notifications/progress"]);
  });

  it("cancellation and progress in the modern era", async () => {
    const board = await open({ modern: { ...fixture("modern-only"), toolTimeout: 300 } });
    const abort = new AbortController();
    const call = board.call("modern/sleep", { ms: 30_000 }, { signal: abort.signal });
    setTimeout(() => abort.abort(), 50);
    expect((await call).failure?.code).toBe("CANCELLED");
    expect((await board.call("modern/sleep", { ms: 30_000 })).failure?.code).toBe("TIMEOUT");
    expect((await board.call("modern/no_such_tool")).failure?.code).toBe("UNKNOWN_TOOL");
  });

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("boom");
      },
    ],
    ["rejects, which would end the process,", () => Promise.reject(new Error("boom"))],
  ])("a listener that %s harms nobody", async (_, boom) => {
    const logger = recordingLogger();
    const board = await open({ echo: fixture("echo") }, { logger });
    board.on("call", boom);
    const outcome = await board.call("echo/progress", { steps: 1, ms: 1 }, { onUpdate: boom });
    expect(outcome.isError).toBeUndefined();
    expect(logger.lines.filter(({ level }) => level === "error")).toHaveLength(2);
  });

  it("100 at once, each with its own answer", async () => {
    const board = await open({ echo: fixture("echo") });
    const calls = Array.from({ length: 100 }, async (_, index) =>
      textOf(await board.call("echo/echo", { text: `${index}` })),
    );
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 100 }, (_, index) => `${index}`));
  });

  it("an 8 MB answer comes whole", async () => {
    const board = await open({ echo: fixture("echo") });
    expect(textOf(await board.call("echo/big", { bytes: 8_000_000 }))).toHaveLength(8_000_000);
  });

  it("every kind of content, lossless; what is malformed is shown as text", async () => {
    const board = await open({ content: fixture("content") });
    for (const tool of board.tools()) {
      const outcome = await board.call(tool.name);
      const isResult = !/(null_result|string_result|no_content|null_content)$/.test(tool.name);
      const isBroken = /(breaks_output_schema|lacks_structured|redos)$/.test(tool.name);
      const expected = isBroken ? "INVALID_RESULT" : isResult ? undefined : "PROTOCOL";
      expect(outcome.failure?.code, tool.name).toBe(expected);
      for (const block of outcome.content) {
        expect(["text", "image", "audio", "resource", "resource_link"], tool.name).toContain(
          block.type,
        );
      }
      const result = await tool.execute("1", {});
      expect(result.content.length, tool.name).toBeGreaterThan(0);
      expect(result.details).toEqual(expect.objectContaining({ content: expect.any(Array) }));
    }
  });
});

describe("native tools", () => {
  it("come from factories too, which may leave themselves out", async () => {
    const board = await open(
      {},
      {
        workspaceDir: tmpdir(),
        native: [
          ({ workspaceDir }) => ({
            ...shout,
            name: "where",
            execute: () => ({ content: [{ type: "text", text: workspaceDir ?? "" }] }),
          }),
          () => undefined,
        ],
      },
    );
    expect(board.tools().map(({ name }) => name)).toEqual(["where"]);
    expect(textOf(await board.call("where"))).toBe(tmpdir());
  });

  it("report what they throw, and stop with the signal", async () => {
    const board = await open(
      {},
      {
        native: [{ ...shout, execute: () => Promise.reject(new Error("out of paper")) }],
      },
    );
    expect(await board.call("shout")).toMatchObject({
      isError: true,
      failure: { code: "TOOL_FAILED", message: "out of paper" },
    });
    expect((await board.call("shout", {}, { signal: AbortSignal.abort() })).failure?.code).toBe(
      "CANCELLED",
    );
    const [tool] = board.tools();
    expect(await tool?.execute("1", {})).toMatchObject({ isError: true });
  });

  it("pass updates on, and an execute is a call", async () => {
    const updates: ToolUpdate[] = [];
    const native: NativeTool = {
      ...shout,
      label: "Shout",
      ownerOnly: true,
      annotations: { readOnlyHint: true },
      outputSchema: { type: "object" },
      execute(_id, _params, _signal, onUpdate) {
        onUpdate?.({ content: [{ type: "text", text: "half" }] });
        return { content: [], structuredContent: { done: true }, details: "dropped" };
      },
    };
    const board = await open({}, { native: [native], owner: true });
    const [tool] = board.tools() as [Tool];
    expect(tool).toMatchObject({ label: "Shout", ownerOnly: true, source: { kind: "native" } });
    const result = await tool.execute("1", {}, new AbortController().signal, (each) =>
      updates.push(each),
    );
    expect(textOf(result)).toBe('{"done":true}');
    expect(updates).toHaveLength(1);
  });

  it.each([
    ["a name no provider takes", [{ ...shout, name: "no spaces" }]],
    ["a name given twice", [shout, shout]],
  ])("%s is a configuration error", async (_, native) => {
    await expect(openBoard({ servers: {} }, { native })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
  });
});

describe("changes", () => {
  it.each([
    ["list-changed", 1],
    ["list-changed", 20],
    ["modern-only", 1],
  ])("%s (%i notifications) updates the list in place", async (server, burst) => {
    const seen: string[][] = [];
    const board = await open(
      { one: fixture(server, `--burst=${burst}`), two: fixture("echo") },
      {
        onToolsChanged: (tools) => seen.push(tools.map((tool) => tool.name)),
      },
    );
    const before = board.tools().map((tool) => tool.name);
    const event = new Promise<ToolsEvent>((resolve) => void board.on("tools", resolve));
    await board.call("one/swap");
    const { added, removed } = await event;
    expect(added).toHaveLength(1);
    const after = board.tools().map((tool) => tool.name);
    expect(seen).toEqual([after]);
    expect(after.filter((each) => before.includes(each))).toEqual(
      before.filter((each) => after.includes(each)),
    );
    expect((await board.call(added[0] ?? "")).failure).toBeUndefined();
    for (const name of removed) {
      expect((await board.call(name)).failure?.code).toBe("UNKNOWN_TOOL");
    }
  });

  it("a listener for an event that there is not is refused", async () => {
    const board = await open({});
    expect(() => board.on("nope" as "call", () => {})).toThrow(
      expect.objectContaining({
        code: "INVALID_ARGUMENTS",
        message:
          "the event must be one of tools, appTools, resources, prompts, server, callStart, call, log, notice, not 'nope'",
      }),
    );
  });

  it("state and call events tell what happens", async () => {
    const board = await open({ echo: fixture("echo") });
    const kinds: string[] = [];
    const calls: string[] = [];
    const off = board.on("server", ({ state }) => kinds.push(state.kind));
    board.on("call", ({ tool, isError, durationMs }) =>
      calls.push(`${tool} ${isError} ${durationMs > 0}`),
    );
    await board.call("echo/fail");
    await board.restart("echo");
    off();
    await board.close();
    expect(calls).toEqual(["mcp__echo__fail true true"]);
    expect(kinds).toEqual(["stopping", "idle", "starting", "ready"]);
  });

  it("tools of a server that is down stay listed", async () => {
    const board = await open({ echo: fixture("echo") });
    const before = board.tools().map(({ name }) => name);
    await board.call("echo/crash");
    expect(statusOf(board, "echo")).toMatchObject({ state: { kind: "backoff" }, available: false });
    expect(board.tools().map(({ name }) => name)).toEqual(before);
  });

  it("refresh starts what is down and lists what is up", async () => {
    const board = await open(
      { echo: fixture("echo"), lazy: { ...fixture("echo"), lazy: true } },
      { start: "none" },
    );
    expect(board.tools()).toEqual([]);
    const status = await board.refresh();
    expect(status.map(({ state }) => state.kind)).toEqual(["ready", "ready"]);
    await board.refresh();
    expect(statusOf(board, "echo").restarts).toBe(0);
  });

  it("an unknown server cannot be restarted", async () => {
    const board = await open({ echo: fixture("echo") });
    await expect(board.restart("ehco")).rejects.toMatchObject({
      code: "UNKNOWN_SERVER",
      hint: "did you mean 'echo'?",
    });
    await expect(board.restart("time")).rejects.toMatchObject({
      hint: "the servers are: echo",
    });
  });
});

describe("starting", () => {
  it("never waits for a slow server beyond startupWait, and uses it when it comes", async () => {
    const isTime = join(temporaryDirectory(), "is-time");
    const board = await openBoard({
      servers: { slow: fixture("slow-start", `--until=${isTime}`), quick: fixture("echo") },
      startupWait: 100,
    });
    try {
      expect(statusOf(board, "slow").state.kind).toBe("starting");
      expect(textOf(await board.call("quick/echo", { text: "now" }))).toBe("now");
      await writeFile(isTime, "");
      expect(textOf(await board.call("slow/echo", { text: "then" }))).toBe("then");
    } finally {
      await board.close();
    }
  });

  it("a lazy server starts with its first call and idles again", async () => {
    const stateDir = temporaryDirectory();
    const servers = { lazy: { ...fixture("echo"), lazy: true, idleTimeout: 300 } };
    const first = await open(servers, { stateDir });
    expect(statusOf(first, "lazy").tools).toBeGreaterThan(0);
    await first.close();
    const board = await open(servers, { stateDir });
    expect(statusOf(board, "lazy")).toMatchObject({ state: { kind: "idle" }, cached: true });
    expect(textOf(await board.call("lazy/echo", { text: "up" }))).toBe("up");
    expect(statusOf(board, "lazy")).toMatchObject({ state: { kind: "ready" }, cached: false });
    await reaches(board, "lazy", "idle");
    expectNoProcesses();
    expect(textOf(await board.call("lazy/echo", { text: "again" }))).toBe("again");
  });

  it("with start: none only the server a call names is started", async () => {
    const board = await open({ one: fixture("echo"), two: fixture("echo") }, { start: "none" });
    expect(textOf(await board.call("one/echo", { text: "x" }))).toBe("x");
    expect(board.status().map(({ state }) => state.kind)).toEqual(["ready", "idle"]);
    expect(textOf(await board.call("mcp__two__echo", { text: "y" }))).toBe("y");
    expect((await board.call("mcp__two__nothing")).failure?.code).toBe("UNKNOWN_TOOL");
  });

  it("disabled servers neither start nor list", async () => {
    const board = await open({ off: { ...fixture("echo"), enabled: false } });
    expect(board.tools()).toEqual([]);
    expect(statusOf(board, "off").state.kind).toBe("disabled");
    expect(textOf(await board.call("off/echo"))).toBe("server 'off' is disabled");
    await board.refresh();
    expect(statusOf(board, "off").state.kind).toBe("disabled");
  });

  it("a bad configuration rejects before anything starts", async () => {
    const error: unknown = await openBoard({
      servers: { a: {}, b: { command: 7 } } as never,
    }).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(PlugboardError);
    expect(error).toMatchObject({
      code: "CONFIG_INVALID",
      problems: [expect.anything(), expect.anything()],
    });
    expectNoProcesses();
  });
});

it("servers start one by one, and the host goes on between two of them", async () => {
  const names = Array.from({ length: 6 }, (_, at) => `s${at}`);
  const servers = Object.fromEntries(names.map((name) => [name, fixture("echo")]));
  const opening = open(servers);
  const counts = new Set<number>();
  while (!counts.has(names.length)) {
    counts.add(startedProcesses().length);
    await nextTurn();
  }
  expect(counts.size).toBeGreaterThan(2);
  await opening;
});

describe("the catalog cache", () => {
  it("has the tools at once, refreshes behind, and is private", async () => {
    const stateDir = join(temporaryDirectory(), "home");
    const isTime = join(stateDir, "..", "is-time");
    const slow = { slow: fixture("slow-start", `--until=${isTime}`) };
    await writeFile(isTime, "");
    const first = await open(slow, { stateDir });
    const names = first.tools().map(({ name }) => name);
    expect(names.length).toBeGreaterThan(0);
    await first.close();
    const [file] = await readdir(join(stateDir, "catalog"));
    expect((await stat(join(stateDir, "catalog", file ?? ""))).mode & 0o777).toBe(0o600);

    await rm(isTime);
    const board = await open(slow, { stateDir });
    expect(statusOf(board, "slow")).toMatchObject({ state: { kind: "starting" }, cached: true });
    expect(board.tools().map(({ name }) => name)).toEqual(names);
    await writeFile(isTime, "");
    expect(textOf(await board.call("slow/echo", { text: "waited" }))).toBe("waited");
    expect(statusOf(board, "slow").cached).toBe(false);
  });

  it("is written again only if something has changed, or after an hour", async () => {
    const clock = new MovableClock();
    const stateDir = temporaryDirectory();
    const savedAt = async (): Promise<unknown> => {
      const board = await open({ echo: fixture("echo") }, { stateDir, clock });
      await reaches(board, "echo", "ready");
      await board.close();
      const [file = ""] = await readdir(join(stateDir, "catalog"));
      return JSON.parse(await readFile(join(stateDir, "catalog", file), "utf8")).savedAt;
    };
    const first = await savedAt();
    clock.forward(60_000);
    expect(await savedAt()).toBe(first);
    clock.forward(3_600_000);
    expect(await savedAt()).not.toBe(first);
  });

  it("says for a few minutes why the last start failed, and the server is tried again", async () => {
    const stateDir = temporaryDirectory();
    const servers = { dead: { ...fixture("exit-at-once"), maxRestarts: 0 } };
    const options = { stateDir, logger: recordingLogger() };
    await (await open(servers, options)).close();
    const board = await open(servers, { ...options, start: "none" });
    expect(statusOf(board, "dead")).toMatchObject({
      state: { kind: "idle" },
      lastError: expect.stringMatching(/; tried (just now|.* ago)$/) as string,
    });
  });

  it("a server that hangs is known as late to the next run, which tries it again all the same", async () => {
    const stateDir = temporaryDirectory();
    const servers = { hangs: fixture("never-initialize") };
    const clock = new MovableClock();
    const options = { stateDir, logger: recordingLogger(), clock };
    const first = await open(servers, { ...options, start: "none" });
    const attempt = first.restart("hangs");
    await expect.poll(() => statusOf(first, "hangs").state.kind).toBe("starting");
    clock.forward(6000);
    const notes = () => readdir(join(stateDir, "failures")).catch(() => []);
    await expect.poll(notes).toHaveLength(1);
    await Promise.all([first.close(), attempt]);
    const next = await open(servers, { ...options, start: "none", skipFailed: true });
    expect(statusOf(next, "hangs")).toMatchObject({
      state: { kind: "idle" },
      lastError: expect.stringMatching(/^it had not answered after 5 s; tried /) as string,
    });
  });

  it("nothing is written without a stateDir, and one that cannot be written is only a warning, once", async () => {
    const logger = recordingLogger();
    const servers = { echo: fixture("echo"), other: fixture("echo") };
    const board = await open(servers, { stateDir: import.meta.filename, logger });
    expect(statusOf(board, "echo").state.kind).toBe("ready");
    await board.close();
    const told = logger.lines.filter(({ level }) => level === "warn");
    const message = "lists of tools cannot be saved for the next run";
    expect(told.filter((each) => each.message === message)).toHaveLength(1);
  });
});

describe("environment of a server", () => {
  it("is the baseline and what is configured, never the host's", async () => {
    const env = {
      PATH: process.env.PATH,
      HOME: "/home/someone",
      SECRET_OF_HOST: "leaked?",
      NAME: "value",
    };
    const board = await open(
      { echo: { ...fixture("echo"), env: { GIVEN: "${NAME}-${MISSING:-default}" } } },
      { env },
    );
    const seen = JSON.parse(textOf(await board.call("echo/env"))) as Record<string, string>;
    expect(seen).toMatchObject({ HOME: "/home/someone", GIVEN: "value-default" });
    expect(seen).not.toHaveProperty("SECRET_OF_HOST");
  });

  it("runs where the definition or the workspace says", async () => {
    const workspaceDir = temporaryDirectory();
    const board = await open(
      { here: fixture("echo"), there: { ...fixture("echo"), cwd: "/" } },
      { workspaceDir },
    );
    expect(textOf(await board.call("here/cwd"))).toBe(workspaceDir);
    expect(textOf(await board.call("there/cwd"))).toBe("/");
  });
});

describe("closing", () => {
  it("is idempotent, fails what is under way, and refuses what comes later", async () => {
    const board = await open({ echo: fixture("echo") });
    const call = board.call("echo/sleep", { ms: 30_000 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await Promise.all([board.close(), board.close()]);
    await board.close();
    expect((await call).failure?.code).toBe("CONNECTION_CLOSED");
    expect(textOf(await board.call("echo/echo"))).toBe("server 'echo' is stopped");
    expectNoProcesses();
  });

  it("while servers are still starting", async () => {
    const board = await openBoard({
      servers: { slow: fixture("slow-start", "--ms=20000") },
      startupWait: 50,
    });
    await board.close();
    expectNoProcesses();
  });

  it("by `await using`", async () => {
    {
      await using board = await openBoard({ servers: { echo: fixture("echo") } });
      expect(board.tools().length).toBeGreaterThan(0);
    }
    expectNoProcesses();
  });

  it("by a signal, before, during and after opening", async () => {
    await expect(openBoard({ servers: {} }, { signal: AbortSignal.abort() })).rejects.toThrow();
    const during = new AbortController();
    const opening = openBoard(
      { servers: { slow: fixture("slow-start", "--ms=20000") } },
      { signal: during.signal },
    );
    setTimeout(() => during.abort(), 100);
    await expect(opening).rejects.toThrow();
    expectNoProcesses();
    const after = new AbortController();
    const board = await openBoard({ servers: { echo: fixture("echo") } }, { signal: after.signal });
    after.abort();
    await board.close();
    expectNoProcesses();
  });
});
