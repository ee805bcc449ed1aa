// An editor with malformed answers: the call fails, and the session continues.

import { type ClientCapabilities, methods } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { choose, mcpServer, useDesk } from "./harness.ts";

const desk = useDesk();
const { fs, terminal } = methods.client;
const capabilities: ClientCapabilities = { fs: { readTextFile: true }, terminal: true };

/** An editor that gives these answers. */
const opened = (answers: { read?: unknown; create?: unknown; exit?: unknown; output?: unknown }) =>
  desk.open({
    capabilities,
    equip: (app) =>
      app
        .onRequest(fs.readTextFile, () => answers.read as never)
        .onRequest(terminal.create, () => answers.create as never)
        .onRequest(terminal.waitForExit, () => answers.exit as never)
        .onRequest(terminal.output, () => answers.output as never)
        .onRequest(terminal.kill, () => ({}))
        .onRequest(terminal.release, () => ({})),
  });

describe.each([null, 5, "text", {}, []])("with %j", (answer) => {
  it("as a file: read_file fails", async () => {
    const editor = await opened({ read: answer });
    const text = await editor.call(await editor.newSession(), "read_file", { path: "a" });
    expect(text).toBe("the editor could not read a: its answer has no content");
  });

  it("as a terminal: run_command fails", async () => {
    const editor = await opened({ create: answer });
    const text = await editor.call(await editor.newSession(), "run_command", { command: "ls" });
    expect(text).toBe("the editor could not run the command: its answer has no terminalId");
  });

  it("as the end and output of a command: run_command says that they are missing", async () => {
    const editor = await opened({ create: { terminalId: "t" }, exit: answer, output: answer });
    const sessionId = await editor.newSession();
    await editor.call(sessionId, "run_command", { command: "ls" });
    const { status, rawOutput } = editor.of(sessionId, "tool_call_update").at(-1) ?? {};
    expect(status).toBe("completed");
    expect(JSON.stringify(rawOutput)).toContain("ended\\n(the editor did not return its output)");
  });
});

it.each<[unknown]>([
  [null],
  [5],
  [{}],
  [{ outcome: null }],
  [{ outcome: "selected" }],
  [{ outcome: { outcome: "selected" } }],
  [{ outcome: { outcome: "allow", optionId: "allow" } }],
  [choose("ALLOW")],
  [choose("__proto__")],
])("%j as the answer to a permission question means no", async (answer) => {
  const editor = await desk.open({ decide: () => answer as never });
  const sessionId = await editor.newSession([mcpServer("echo", "echo")]);
  const text = await editor.call(sessionId, "echo/echo", { text: "hi" });
  expect(text).toBe("echo/echo was not approved");
});
