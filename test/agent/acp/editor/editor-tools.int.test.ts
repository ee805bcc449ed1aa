// The editor's files and terminals as tools that the user calls: real files, real programs, and the guard in
// between.

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { methods, RequestError, type ToolCallContent } from "@agentclientprotocol/sdk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../support/manual-clock.ts";
import { eventually } from "../../../support/processes.ts";
import { choose, useDesk } from "../harness.ts";
import { ALL_CAPABILITIES, Workstation } from "../workstation.ts";

type DeskOptions = NonNullable<Parameters<typeof desk.open>[0]>;

const desk = useDesk();
const { session } = methods.agent;
let station: Workstation;
let cwd = "";

beforeEach(() => {
  station = new Workstation();
  cwd = join(desk.directory, "project");
  mkdirSync(cwd);
});

afterEach(() => station.expectAllReleased());

async function sit(options: DeskOptions = {}, mode = "auto") {
  const editor = await desk.open({
    capabilities: ALL_CAPABILITIES,
    equip: station.equip,
    ...options,
  });
  const sessionId = await editor.newSession([], cwd);
  await editor.agent.request(session.setMode, { sessionId, modeId: mode });
  const call = async (tool: string, args: object) => {
    await editor.prompt(sessionId, `/call ${tool} ${JSON.stringify(args)}`);
    const updates = editor.of(sessionId, "tool_call_update");
    const last = updates.at(-1);
    return { status: last?.status, content: last?.content ?? [], last, updates };
  };
  return { editor, sessionId, call };
}

function textOf(content: readonly ToolCallContent[]): string {
  return content
    .flatMap((each) =>
      each.type === "content" && each.content.type === "text" ? [each.content.text] : [],
    )
    .join("\n");
}

describe("the tools", () => {
  it.each([
    ["none", {}, []],
    ["read_file", { fs: { readTextFile: true } }, ["read_file"]],
    ["write_file", { fs: { writeTextFile: true } }, ["write_file"]],
    ["run_command", { terminal: true }, ["run_command"]],
    ["all", ALL_CAPABILITIES, ["read_file", "write_file", "run_command"]],
  ])("%s, depending on the client's capabilities", async (_, capabilities, names) => {
    const { editor, sessionId } = await sit({ capabilities });
    const said = await editor.ask(sessionId, "/tools");
    expect(said.match(/\b(?:read_file|write_file|run_command)\b/g) ?? []).toEqual(names);
  });

  it("are left out if the agent has one with the same name", async () => {
    const own = {
      name: "run_command",
      description: "Mine",
      parameters: { type: "object" },
      execute: () => ({ content: [{ type: "text" as const, text: "mine" }] }),
    };
    const { call, editor } = await sit({ board: { native: [own] } }, "ask");
    const { content } = await call("run_command", { command: "echo theirs" });
    expect(textOf(content)).toBe("mine");
    expect(textOf(editor.questions[0]?.toolCall.content ?? [])).toContain('"command"');
    expect(station.log).toEqual([]);
  });
});

describe("read_file", () => {
  beforeEach(() => writeFileSync(join(cwd, "a.txt"), "one\ntwo\nthree\n"));

  it.each([
    ["whole", {}, "one\ntwo\nthree\n"],
    ["from a line on", { line: 2 }, "two\nthree\n"],
    [
      "some lines, and says how to go on",
      { line: 1, limit: 2 },
      "one\ntwo\n\nThe file has more lines: continue with line 3.",
    ],
    ["the last lines", { line: 2, limit: 2 }, "two\nthree\n"],
  ])("%s", async (_, args, text) => {
    const { call, editor, sessionId } = await sit();
    const { status, content, last } = await call("read_file", { path: "a.txt", ...args });
    expect(status).toBe("completed");
    expect(textOf(content)).toBe(text);
    expect(last?.locations).toMatchObject([{ path: join(cwd, "a.txt") }]);
    expect(editor.of(sessionId, "tool_call")).toMatchObject([
      { title: "read a.txt", kind: "read", name: "read_file" },
    ]);
  });

  it("shows the place in the file", async () => {
    const { call } = await sit();
    const { updates } = await call("read_file", { path: "a.txt", line: 3 });
    const locations = [{ path: join(cwd, "a.txt"), line: 3 }];
    expect(updates).toMatchObject([
      { status: "in_progress" },
      { status: "in_progress", locations },
      { status: "completed", locations },
    ]);
  });

  it("reads in an additional directory of the session", async () => {
    const other = join(desk.directory, "other");
    mkdirSync(other);
    writeFileSync(join(other, "b.txt"), "there");
    const { editor } = await sit();
    const { sessionId } = await editor.agent.request(session.new, {
      cwd,
      additionalDirectories: [other],
      mcpServers: [],
    });
    await editor.prompt(sessionId, '/call read_file {"path":"../other/b.txt"}');
    expect(textOf(editor.of(sessionId, "tool_call_update").at(-1)?.content ?? [])).toBe("there");
  });

  it("shows a diff that is a file's text as text", async () => {
    const diff = "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n";
    writeFileSync(join(cwd, "a.patch"), diff);
    const { call } = await sit();
    expect(textOf((await call("read_file", { path: "a.patch" })).content)).toBe(diff);
  });

  it.each([
    [
      "a file that is not there",
      { path: "none" },
      "the editor could not read none: Resource not found",
    ],
    ["a file outside", { path: "/etc/hosts" }, "outside of the session's directories"],
    ["a link that leads out", { path: "link/x" }, "outside of the session's directories"],
  ])("fails for %s", async (_, args, words) => {
    symlinkSync(desk.directory, join(cwd, "link"));
    const { call } = await sit();
    const { status, content } = await call("read_file", args);
    expect(status).toBe("failed");
    expect(textOf(content)).toContain(words);
  });

  it("is not called with line 0", async () => {
    const { editor, sessionId } = await sit();
    const said = await editor.ask(sessionId, '/call read_file {"path":"a.txt","line":0}');
    expect(said).toContain("line: ");
    expect(editor.of(sessionId, "tool_call")).toEqual([]);
  });
});

describe("write_file", () => {
  it.each([
    ["a new file", undefined, null],
    ["another text", "old\n", "old\n"],
  ])("%s, shown as a diff", async (_, before, oldText) => {
    const path = join(cwd, "b.txt");
    if (before !== undefined) writeFileSync(path, before);
    const { call, editor, sessionId } = await sit();
    const { status, content, last, updates } = await call("write_file", {
      path: "b.txt",
      content: "new\n",
    });
    const diff = { type: "diff", path, oldText, newText: "new\n" };
    expect(status).toBe("completed");
    expect(updates[1]).toMatchObject({ status: "in_progress", content: [diff] });
    expect(content[0]).toEqual(diff);
    expect(textOf(content)).toBe("Wrote b.txt: 1 line.");
    expect(last?.locations).toEqual([{ path }]);
    expect(editor.of(sessionId, "tool_call")).toMatchObject([
      { title: "write b.txt", kind: "edit" },
    ]);
    expect(readFileSync(path, "utf8")).toBe("new\n");
  });

  it("says that it could not read the current text", async () => {
    writeFileSync(join(cwd, "b.txt"), "old");
    const { call } = await sit({ capabilities: { fs: { writeTextFile: true } } });
    const { content } = await call("write_file", { path: "b.txt", content: "" });
    expect(content[0]).toMatchObject({ type: "diff", oldText: null });
    expect(textOf(content)).toMatch(/could not be read\.\nWrote b\.txt: 0 lines\.$/);
  });

  it.each([
    ["new", "", "x".repeat(300_000)],
    ["old", "x".repeat(300_000), "short"],
    ["old, by its lines,", "\n".repeat(20_001), "short"],
  ])("shows no diff if the %s text is too long", async (_, before, after) => {
    writeFileSync(join(cwd, "b.txt"), before);
    const { call } = await sit();
    const { content } = await call("write_file", { path: "b.txt", content: after });
    expect(content.map(({ type }) => type)).toEqual(["content", "content"]);
    expect(textOf(content)).toContain("too long to show as a diff");
    expect(readFileSync(join(cwd, "b.txt"), "utf8")).toBe(after);
  });

  it("treats a missing file as new, whatever error the editor returns", async () => {
    station = new Workstation({
      "fs/read_text_file": () => Promise.reject(new Error("ENOENT")),
      "fs/write_text_file": () => ({}),
    });
    const { call } = await sit();
    const { content } = await call("write_file", { path: "c.txt", content: "x" });
    expect(textOf(content)).toBe("Wrote c.txt: 1 line.");
  });

  it("fails with the editor's reason", async () => {
    station = new Workstation({
      "fs/read_text_file": () => Promise.reject(new Error("no such window")),
      "fs/write_text_file": () => Promise.reject(new Error("the disk is full")),
    });
    writeFileSync(join(cwd, "b.txt"), "old");
    const { call } = await sit();
    const { status, content } = await call("write_file", { path: "b.txt", content: "x" });
    expect(status).toBe("failed");
    expect(textOf(content)).toContain("could not be read");
    expect(textOf(content)).toContain("could not write b.txt: Internal error: the disk is full");
  });

  it("refuses files outside of the session's directories in every mode", async () => {
    const { call } = await sit();
    const { status } = await call("write_file", { path: "../evil", content: "x" });
    expect(status).toBe("failed");
    expect(existsSync(join(desk.directory, "evil"))).toBe(false);
    expect(station.log).toEqual([]);
  });
});

describe("run_command", () => {
  it("runs in a terminal that is shown, and released", async () => {
    const { call, editor, sessionId } = await sit();
    const { status, content, last, updates } = await call("run_command", {
      command: "echo $((1 + 1)) | tr 2 3; echo oops >&2; exit 4",
    });
    const shown = [{ type: "terminal", terminalId: "t1" }];
    expect(updates[1]).toMatchObject({ status: "in_progress", content: shown });
    // Left as it is: the editor goes on showing the terminal, whose id is gone.
    expect({ status, content }).toEqual({ status: "completed", content: [] });
    expect(last).not.toHaveProperty("content");
    expect(JSON.stringify(last?.rawOutput)).toMatch(
      /exit code 4\\n3\\noops|exit code 4\\noops\\n3/,
    );
    expect(editor.of(sessionId, "tool_call")[0]).toMatchObject({ kind: "execute" });
    expect(station.log).toEqual([
      "terminal/create t1",
      "terminal/wait_for_exit t1",
      "terminal/output t1",
      "terminal/release t1",
    ]);
  });

  it.each([
    ["the session's directory", {}, "project"],
    ["another, from there", { cwd: ".." }, "."],
  ])("runs in %s", async (_, args, expected) => {
    writeFileSync(join(desk.directory, "project", "mark"), "");
    const { call } = await sit();
    const { last } = await call("run_command", { command: "ls -d project mark", ...args });
    const found = expected === "project" ? "mark" : "project";
    expect(JSON.stringify(last?.rawOutput)).toContain(`\\n${found}`);
  });

  it("is stopped after its timeout, and its output so far is returned", async () => {
    const clock = new ManualClock();
    const { editor, sessionId } = await sit({ clock });
    const turn = editor.prompt(
      sessionId,
      '/call run_command {"command":"echo begun; exec sleep 60","timeout":7}',
    );
    await eventually(() => station.terminals.get("t1")?.output === "begun\n");
    await clock.advance(7000);
    await turn;
    const last = editor.of(sessionId, "tool_call_update").at(-1);
    expect(last?.status).toBe("failed");
    expect(textOf(last?.content ?? [])).toBe("stopped after its timeout of 7 s\nbegun");
    expect(station.log.slice(2)).toEqual([
      "terminal/kill t1",
      "terminal/output t1",
      "terminal/release t1",
    ]);
  });

  it.each(["cancel", "close"] as const)("ends with a %s of the session", async (how) => {
    const { editor, sessionId } = await sit();
    const turn = editor.prompt(sessionId, '/call run_command {"command":"exec sleep 60"}');
    await editor.until(() =>
      JSON.stringify(editor.of(sessionId, "tool_call_update")).includes("terminal"),
    );
    const ended = station.terminals.get("t1")?.ended;
    if (how === "cancel") await editor.agent.notify(session.cancel, { sessionId });
    else await editor.agent.request(session.close, { sessionId });
    expect(await turn).toEqual({ stopReason: "cancelled" });
    expect(await ended).toMatchObject({ signal: "SIGKILL" });
    expect(station.log.slice(2)).toEqual(["terminal/kill t1", "terminal/release t1"]);
  });

  it("releases a terminal that the editor creates after the cancel", async () => {
    let open = (): void => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    let asked = (): void => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    let released = (): void => {};
    const isReleased = new Promise<void>((resolve) => {
      released = resolve;
    });
    station = new Workstation({
      "terminal/create": async () => {
        asked();
        await opened;
        return { terminalId: "late" };
      },
      "terminal/release": () => {
        released();
        return {};
      },
    });
    const { editor, sessionId } = await sit();
    const turn = editor.prompt(sessionId, '/call run_command {"command":"x"}');
    await isAsked;
    await editor.agent.notify(session.cancel, { sessionId });
    expect(await turn).toEqual({ stopReason: "cancelled" });
    open();
    await isReleased;
    expect(station.log.slice(1)).toEqual(["terminal/kill late", "terminal/release late"]);
  });

  it.each<[string, ConstructorParameters<typeof Workstation>[0], string]>([
    [
      "no terminal",
      { "terminal/create": () => Promise.reject(new Error("no room")) },
      "the editor could not run the command: Internal error: no room",
    ],
    [
      "no exit",
      { "terminal/wait_for_exit": () => Promise.reject(RequestError.methodNotFound("x")) },
      "the editor could not wait for the command",
    ],
    [
      "no output",
      { "terminal/output": () => Promise.reject(new Error("gone")) },
      "exit code 0\\n(the editor did not return its output)",
    ],
    [
      "part of the output",
      { "terminal/output": () => ({ output: "\u001b[31mend\u001b[0m\n", truncated: true }) },
      "exit code 0\\n(the beginning of the output is left out)\\nend",
    ],
    ["a signal", { "terminal/wait_for_exit": () => ({ signal: "SIGSEGV" }) }, "ended by SIGSEGV"],
    ["no word on how it ended", { "terminal/wait_for_exit": () => ({}) }, '"ended'],
  ])("an editor that gives %s", async (_, faults, words) => {
    station = new Workstation(faults);
    const { call } = await sit();
    const { last } = await call("run_command", { command: "echo hi" });
    expect(JSON.stringify(last)).toContain(words);
  });

  it("does not wait for an editor that is gone", async () => {
    const { editor, sessionId } = await sit();
    const turn = editor.prompt(sessionId, '/call run_command {"command":"exec sleep 60"}');
    turn.catch(() => {});
    await editor.until(() => editor.of(sessionId, "tool_call_update").length > 0);
    await editor.leave();
    for (const [id, { process: child, ended }] of station.terminals) {
      child.kill("SIGKILL");
      await ended;
      station.terminals.delete(id);
    }
    await expect(turn).rejects.toThrow();
  });
});

describe("under the guard", () => {
  it("a tool that is denied is not listed, and refused when it is called", async () => {
    const { call, editor, sessionId } = await sit({
      config: { tools: { deny: ["native/run_command"] } },
    });
    expect(await editor.ask(sessionId, "/tools")).not.toContain("run_command");
    const { content } = await call("run_command", { command: "echo hi" });
    expect(textOf(content)).toContain("native/run_command is refused");
    expect(station.log).toEqual([]);
  });

  it.each([
    ["read_file", { path: "a" }],
    ["write_file", { path: "a", content: "x" }],
    ["run_command", { command: "touch made" }],
  ])("%s asks for permission, and does nothing if it is refused", async (tool, args) => {
    const { call, editor } = await sit({ decide: () => choose("reject") }, "ask");
    const { status } = await call(tool, args);
    expect(status).toBe("failed");
    expect(editor.questions).toMatchObject([{ toolCall: { name: tool, rawInput: args } }]);
    expect(station.log.filter((line) => !line.startsWith("fs/read"))).toEqual([]);
  });

  it.each([
    ["read_file", { path: "a" }, "completed"],
    ["write_file", { path: "a", content: "x" }, "failed"],
    ["run_command", { command: "touch made" }, "failed"],
  ])("%s in read-only mode: %o %s", async (tool, args, expected) => {
    writeFileSync(join(cwd, "a"), "old");
    const { call } = await sit({}, "read-only");
    expect((await call(tool, args)).status).toBe(expected);
    expect(readFileSync(join(cwd, "a"), "utf8")).toBe("old");
    expect(existsSync(join(cwd, "made"))).toBe(false);
  });

  it("the audit has every call with the decision", async () => {
    const file = join(desk.directory, "audit.jsonl");
    const decide = () => choose("reject");
    const { call, editor } = await sit({ config: { audit: { file } }, decide }, "ask");
    await call("run_command", { command: "true" });
    await editor.close();
    expect(readFileSync(file, "utf8")).toMatch(/"tool":"run_command".*"refused"/);
  });

  it("the question shows the diff", async () => {
    writeFileSync(join(cwd, "a"), "old");
    const { call, editor } = await sit({}, "ask");
    await call("write_file", { path: "a", content: "new" });
    const path = join(cwd, "a");
    expect(editor.questions[0]?.toolCall).toMatchObject({
      kind: "edit",
      title: `write ${path}`,
      content: [
        { type: "diff", path, oldText: "old", newText: "new" },
        { content: { text: "Every call of this tool needs approval (native/write_file)." } },
      ],
      locations: [{ path }],
    });
  });

  it.each([
    ["the place in a file", "read_file", { path: "a", line: 5, limit: 2 }, "lines 5 to 6"],
    ["the command and where it runs", "run_command", { command: "ls\u202e" }, "\n```\nin\n```\n/"],
    ["what cannot be seen", "run_command", { command: "ls\u202e" }, "ls\\u{202e}"],
  ])("the question shows %s", async (_, tool, args, words) => {
    const { call, editor } = await sit({ decide: () => choose("reject") }, "ask");
    await call(tool, args);
    expect(textOf(editor.questions[0]?.toolCall.content ?? [])).toContain(words);
  });

  it("there is no question about a call that cannot be made", async () => {
    const { call, editor } = await sit({}, "ask");
    const { content } = await call("read_file", { path: "/etc/hosts" });
    expect(textOf(content)).toContain("outside of the session's directories");
    expect(editor.questions).toEqual([]);
  });

  it('"always" for a command covers only this command', async () => {
    const { call, editor } = await sit({ decide: () => choose("always") }, "ask");
    for (const command of ["true", "true", "exit 0"]) {
      expect((await call("run_command", { command })).status).toBe("completed");
    }
    expect(editor.questions.map(({ toolCall }) => toolCall.rawInput)).toEqual([
      { command: "true" },
      { command: "exit 0" },
    ]);
    expect(editor.questions[0]?.options.map(({ name }) => name)).toContain(
      "Always allow this command",
    );
  });

  it('"always" for a file covers the tool', async () => {
    const { call, editor } = await sit({ decide: () => choose("always") }, "ask");
    await call("write_file", { path: "a", content: "1" });
    await call("write_file", { path: "b", content: "2" });
    expect(editor.questions).toHaveLength(1);
  });
});
