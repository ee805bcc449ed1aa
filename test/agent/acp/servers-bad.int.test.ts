// Servers that are slow, hang, crash or talk nonsense: none affects another, each is reported once, and one that
// recovers is used again.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemPrompt } from "../../../src/agent/loop/system-prompt.ts";
import type { NewResponder } from "../../../src/agent/acp/responder/responder.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { fixture } from "../../support/boards.ts";
import { mcpServer, useDesk } from "./harness.ts";

const desk = useDesk();
const good = () => mcpServer("good", "echo");

/** Makes the first prompt's wait a thousand times as fast. */
const hasty = {
  ...systemClock,
  after: (ms: number, task: () => void) => systemClock.after(ms / 1000, task),
};

/** Keeps a server down while a test looks at it: the next attempt, a second later, does not happen. */
const downForGood = {
  clock: {
    ...systemClock,
    later: (ms: number, task: () => void) => systemClock.later(ms > 500 ? ms * 1000 : ms, task),
  },
};

/** Collects the system prompts that a model would get. */
function listener(): { told: string[]; newResponder: NewResponder } {
  const told: string[] = [];
  const newResponder: NewResponder = () => ({
    async answer({ board }) {
      told.push(systemPrompt("", board.status()));
      return "end_turn";
    },
  });
  return { told, newResponder };
}

const SILENT = new Set(["never-initialize", "not-reading"]);

describe("a server that cannot be used", () => {
  it.each<[string, string, string[], RegExp, RegExp]>([
    ["exits at once", "exit-at-once", [], /^bad: .*code 1/, /bad \(backoff\)/],
    [
      "exits with a reason",
      "stderr-then-exit",
      [],
      /^bad: .*API_KEY is not set/,
      /bad \(backoff\)/,
    ],
    [
      "speaks a version that never was",
      "wrong-version",
      [],
      /^bad: .*1999-01-01/,
      /bad \(failed\)/,
    ],
    ["never answers", "never-initialize", [], /^bad: .*300 ms/, /bad \(backoff\)/],
    ["stops reading", "not-reading", [], /^bad: /, /bad \(backoff\)/],
    ["closes its pipes", "closes-stdout", ["--after=initialize"], /^bad: /, /bad \(backoff\)/],
  ])("because it %s is reported once, to the model too", async (_, file, args, words, model) => {
    const { told, newResponder } = listener();
    const editor = await desk.open({ newResponder, board: downForGood });
    // Its own: under load the others may take as long as they need.
    const timeout = SILENT.has(file) ? 300 : 30_000;
    const bad = { ...mcpServer("bad", file, ...args), _meta: { plugboard: { timeout } } };
    const sessionId = await editor.newSession([bad, good()]);
    await editor.until(() => editor.said(sessionId) !== "");
    expect(editor.said(sessionId)).toMatch(words);
    expect(await editor.call(sessionId, "good/add", { a: 1, b: 2 })).toBe("3");
    await editor.prompt(sessionId, "Hello");
    expect(told[0]).toMatch(model);
    expect(told[0]).not.toContain("good");
    expect(editor.said(sessionId).match(/bad: /g)).toHaveLength(1);
  });
});

describe("a server that also writes nonsense", () => {
  it.each([
    ["malformed-json", "echo"],
    ["log-on-stdout", "echo"],
    ["unknown-id", "echo"],
    ["crlf", "echo"],
    ["split-writes", "echo"],
    ["malformed-tools", "good"],
    ["looping-cursor", "echo"],
  ])("%s can be used", async (file, tool) => {
    const editor = await desk.open();
    const sessionId = await editor.newSession([mcpServer("odd", file), good()]);
    const said = await editor.call(sessionId, `odd/${tool}`, { text: "good" });
    expect(said).toContain("good");
    expect(editor.of(sessionId, "tool_call_update").at(-1)).toMatchObject({ status: "completed" });
    expect(await editor.call(sessionId, "good/add", { a: 1, b: 2 })).toBe("3");
  });
});

describe("a server that recovers", () => {
  it("from a failed start was reported, and is used", async () => {
    const editor = await desk.open({ board: downForGood });
    const state = `--state=${join(desk.directory, "starts")}`;
    const sessionId = await editor.newSession([
      mcpServer("flaky", "flaky-start", "--fail=1", state),
      good(),
    ]);
    await editor.until(() => editor.said(sessionId) !== "");
    expect(editor.said(sessionId)).toMatch(/^flaky: /);
    await editor.ask(sessionId, "/mcp reconnect flaky");
    expect(await editor.call(sessionId, "flaky/echo", { text: "here" })).toBe("here");
    expect(editor.said(sessionId).match(/flaky: /g)).toHaveLength(2);
  });

  it("from a crash during a prompt is used again, and a notice reported the crash", async () => {
    const editor = await desk.open({ capabilities: { session: { notices: {} } } });
    const sessionId = await editor.newSession([mcpServer("bad", "echo"), good()]);
    const pid = await editor.call(sessionId, "bad/pid");
    const crash = editor.call(sessionId, "bad/crash");
    await editor.until(() => editor.of(sessionId, "notice").length > 0);
    expect(await crash).toContain("code 7");
    expect(editor.of(sessionId, "notice")).toMatchObject([
      { severity: "warning", title: expect.stringMatching(/^bad: .*code 7/) },
    ]);
    expect(await editor.call(sessionId, "good/add", { a: 1, b: 2 })).toBe("3");
    expect(await editor.ask(sessionId, "/mcp reconnect bad")).toBe("- bad: ready, 11 tools");
    const now = await editor.call(sessionId, "bad/pid");
    expect(now).toMatch(/^\d+$/);
    expect(now).not.toBe(pid);
    expect(editor.of(sessionId, "notice")).toHaveLength(1);
  });

  it("while it is shared can be started by any session, and restarted by none while others use it", async () => {
    const editor = await desk.open({ servers: { shared: fixture("echo") }, board: downForGood });
    const sessionId = await editor.newSession();
    expect(await editor.call(sessionId, "shared/crash")).toContain("code 7");
    expect(await editor.ask(sessionId, "/mcp reconnect shared")).toMatch(
      /^shared: .*code 7\n\n- shared: ready, 11 tools$/,
    );
    expect(await editor.ask(sessionId, "/mcp reconnect shared")).toBe(
      "server 'shared' is shared by all sessions: do this on the agent's board",
    );
  });
});

describe("a server that is slow to start", () => {
  it("is reported to the model too, and used when it is ready", async () => {
    const { told, newResponder } = listener();
    const editor = await desk.open({ clock: hasty, startupWait: 0, newResponder });
    const itsTime = join(desk.directory, "its-time");
    const sessionId = await editor.newSession([
      mcpServer("late", "slow-start", `--until=${itsTime}`),
      good(),
    ]);
    await editor.prompt(sessionId, "Hello");
    expect(editor.said(sessionId)).toMatch(/late.*: still starting/);
    expect(told[0]).toMatch(/still starting: .*late/);
    writeFileSync(itsTime, "");
    await editor.untilStatus(sessionId, "- late: ready, 1 tool");
    await editor.prompt(sessionId, "Hello again");
    expect(told[1]).not.toContain("late");
    expect(await editor.call(sessionId, "late/echo", { text: "here" })).toBe("here");
  });
});
