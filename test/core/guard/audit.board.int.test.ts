// What is on record of a board's calls, and what a board leaves on disk.

import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { BoardConfig } from "../../../src/core/types/agent-config.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import type { NativeTool } from "../../../src/core/types/tool.ts";
import { closeBoards, fixture, openWith, textOf } from "../../support/boards.ts";
import { recordingLogger } from "../../support/logger.ts";
import { execute } from "./boards.ts";
import { temporaryDirectory } from "../../support/directory.ts";

closeBoards();

const shout: NativeTool = {
  name: "shout",
  description: "Says it loud.",
  parameters: { type: "object" },
  execute: () => ({ content: [{ type: "text", text: "HI" }] }),
};
const hi = { text: "hi" };

async function allLinesOf(file: string): Promise<JsonObject[]> {
  const text = await readFile(file, "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as JsonObject);
}

/** Without those about calls that start. */
async function linesOf(file: string): Promise<JsonObject[]> {
  return (await allLinesOf(file)).filter(({ type }) => type !== "start");
}

describe("the audit", () => {
  it("has a line for every call, the refused ones too, with the rule that decided", async () => {
    const stateDir = temporaryDirectory();
    const config: BoardConfig = {
      tools: { deny: ["echo/crash"], ownerOnly: ["native/deploy"] },
      servers: {
        echo: {
          ...fixture("echo"),
          toolTimeout: 1500,
          approval: { tools: { pid: "ask", cwd: "ask" } },
          rateLimit: { tools: { env: 1 } },
        },
      },
    };
    const board = await openWith(config, {
      stateDir,
      native: [shout, { ...shout, name: "deploy" }],
      onApproval: ({ tool }) => (tool === "echo/pid" ? "always" : "refuse"),
    });
    const calls: [string, JsonObject?][] = [
      ["echo/echo", hi],
      ["echo/fail"],
      ["echo/rpc_error"],
      ["echo/sleep", { ms: 60_000 }],
      ["echo/crash"],
      ["echo/pid"],
      ["echo/cwd"],
      ["echo/env"],
      ["echo/env"],
      ["shout"],
      ["native/deploy"],
    ];
    // With a listener, the stages pass on a copy of the call, which must not cost it its line.
    const onUpdate = (): void => {};
    for (const [name, args] of calls) await board.call(name, args, { onUpdate });
    await board.close();
    const lines = await linesOf(join(stateDir, "audit.jsonl"));
    expect(
      lines.map(({ server, tool, decision, rule, outcome }) =>
        [`${String(server)}/${String(tool)}`, decision, rule, outcome].filter(Boolean).join(" | "),
      ),
    ).toEqual([
      "echo/echo | allowed | ok",
      "echo/fail | allowed | error",
      "echo/rpc_error | allowed | SERVER_ERROR",
      "echo/sleep | allowed | TIMEOUT",
      'echo/crash | refused | "echo/crash" in tools.deny | REFUSED_BY_POLICY',
      "echo/pid | approved | approval: always | ok",
      "echo/cwd | refused | approval | NOT_APPROVED",
      "echo/env | allowed | ok",
      "echo/env | refused | rateLimit of echo/env | RATE_LIMITED",
      "native/shout | allowed | ok",
      'native/deploy | refused | "native/deploy" in tools.ownerOnly | REFUSED_BY_POLICY',
    ]);
    const started = (await allLinesOf(join(stateDir, "audit.jsonl"))).filter(
      ({ type }) => type === "start",
    );
    // Those that were refused have not started.
    const sent = ["echo", "fail", "rpc_error", "sleep", "pid", "env", "shout"];
    expect(started.map(({ tool }) => tool)).toEqual(sent);
    const ends = lines.filter(({ start }) => start !== undefined);
    expect(ends.map(({ start }) => start)).toEqual(started.map(({ id }) => id));
    expect(started[0]).toEqual({
      type: "start",
      id: expect.stringMatching(/^[0-9a-f]{8}-0000000001$/) as string,
      time: lines[0]?.["time"],
      agent: "default",
      server: "echo",
      tool: "echo",
    });
    expect(lines[0]).toEqual({
      type: "call",
      start: started[0]?.["id"],
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      agent: "default",
      server: "echo",
      tool: "echo",
      argumentsHash: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
      decision: "allowed",
      durationMs: expect.any(Number) as number,
      bytes: 2,
      outcome: "ok",
    });
    expect((await stat(join(stateDir, "audit.jsonl"))).mode & 0o777).toBe(0o600);
  });

  it("has the call of a changed tool that a server turned out to have", async () => {
    const stateDir = temporaryDirectory();
    const board = await openWith(
      { pins: "block", servers: { live: fixture("list-changed") } },
      { stateDir },
    );
    await board.call("live/swap");
    await board.refresh();
    await board.call("live/stays", hi);
    await board.close();
    expect((await linesOf(join(stateDir, "audit.jsonl")))[1]).toMatchObject({
      tool: "stays",
      decision: "refused",
      rule: "pins: block",
      outcome: "CHANGED_TOOL",
    });
  });

  it("has one line for a call of a model, like for one of a program", async () => {
    const stateDir = temporaryDirectory();
    const board = await openWith({ servers: { echo: fixture("echo") } }, { stateDir });
    await execute(board, "mcp__echo__echo", hi);
    await board.close();
    expect(await linesOf(join(stateDir, "audit.jsonl"))).toHaveLength(1);
  });

  it("goes where it is told to, with the arguments where that is asked for", async () => {
    const file = join(temporaryDirectory(), "calls", "audit.jsonl");
    const board = await openWith({
      audit: { file, arguments: true },
      servers: { echo: fixture("echo") },
    });
    await board.call("echo/echo", hi);
    await board.close();
    const [line] = await linesOf(file);
    expect(line).toMatchObject({ arguments: hi });
    expect(line).not.toHaveProperty("argumentsHash");
  });

  it("is written in full when the board has closed", async () => {
    const stateDir = temporaryDirectory();
    const board = await openWith({ servers: {} }, { stateDir, native: [shout] });
    await Promise.all(Array.from({ length: 2500 }, (_, call) => board.call("shout", { call })));
    await board.close();
    const lines = await linesOf(join(stateDir, "audit.jsonl"));
    expect(lines).toHaveLength(2500);
  });

  it("has what was under way when the board closed", async () => {
    const stateDir = temporaryDirectory();
    const board = await openWith({ servers: { echo: fixture("echo") } }, { stateDir });
    const call = board.call("echo/sleep", { ms: 60_000 });
    while ((board.status()[0]?.calls.inFlight ?? 0) === 0) await new Promise(setImmediate);
    await board.close();
    const { failure } = await call;
    const lines = await linesOf(join(stateDir, "audit.jsonl"));
    expect(lines).toMatchObject([{ tool: "sleep", outcome: failure?.code }]);
  });

  it("that cannot be written costs no call, and is told once", async () => {
    const logger = recordingLogger();
    const file = temporaryDirectory();
    const board = await openWith({ audit: { file }, servers: {} }, { logger, native: [shout] });
    expect(textOf(await board.call("shout"))).toBe("HI");
    expect(textOf(await board.call("shout"))).toBe("HI");
    await board.close();
    const warned = logger.lines.filter(({ level }) => level === "warn");
    expect(warned).toMatchObject([
      { message: "the audit cannot be written; calls go on without it", fields: { file } },
    ]);
  });

  it("costs no call where nothing can be kept at all", async () => {
    const stateDir = join(temporaryDirectory(), "a-file");
    await writeFile(stateDir, "");
    const board = await openWith(
      { approval: "ask", servers: { echo: { ...fixture("echo"), maxResultBytes: 1024 } } },
      { stateDir, onApproval: () => "always" },
    );
    expect(textOf(await board.call("echo/echo", hi))).toBe("hi");
    expect(textOf(await execute(board, "mcp__echo__big", { bytes: 5000 }))).toMatch(
      /the rest could not be saved \(ENOTDIR\)\]$/,
    );
    await board.close();
    expect(await readFile(stateDir, "utf8")).toBe("");
  });
});

describe("without a place for its state", () => {
  it("a board writes nothing to disk", async () => {
    const root = temporaryDirectory();
    const [home, cwd, tmp] = ["home", "cwd", "tmp"].map((name) => join(root, name)) as [
      string,
      string,
      string,
    ];
    await Promise.all([home, cwd, tmp].map((each) => mkdir(each)));
    const servers = {
      echo: { ...fixture("echo"), maxResultBytes: 1024 },
      large: fixture("large-results"),
    };
    const board = await openWith(
      { approval: "ask", pins: "block", servers },
      {
        env: { PATH: process.env["PATH"], HOME: home, TMPDIR: tmp },
        workspaceDir: cwd,
        onApproval: () => "always",
      },
    );
    await execute(board, "mcp__echo__big", { bytes: 10_000 });
    await execute(board, "mcp__large__image", { bytes: 6 * 1024 ** 2 });
    await board.restart("echo");
    await board.close();
    expect(await readdir(root, { recursive: true })).toEqual(["cwd", "home", "tmp"]);
  });
});
