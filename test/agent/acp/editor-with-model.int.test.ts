// A model that uses the editor's files and terminals, what the history keeps of it, and diffs in servers' answers.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NewResponder } from "../../../src/agent/acp/responder/responder.ts";
import { fixture } from "../../support/boards.ts";
import { useDesk } from "./harness.ts";
import { useScripted } from "./scripted.ts";
import { ALL_CAPABILITIES, Workstation } from "./workstation.ts";

const desk = useDesk();
const scripted = useScripted();
const { session } = methods.agent;
let station: Workstation;
let cwd = "";

beforeEach(() => {
  station = new Workstation();
  cwd = join(desk.directory, "project");
  mkdirSync(cwd);
});

afterEach(() => {
  station.expectAllReleased();
});

function call(id: string, name: string, args: object) {
  return { toolCalls: [{ id, name, arguments: { ...args } }] };
}

const sit = async (newResponder: NewResponder) =>
  desk.open({ capabilities: ALL_CAPABILITIES, equip: station.equip, keeps: true, newResponder });

describe("a model with an editor", () => {
  it("reads, writes and runs, and the editor shows every step", async () => {
    writeFileSync(join(cwd, "sum.sh"), "echo $((1 + 1))\n");
    const editor = await sit(
      await scripted.script([
        call("c1", "read_file", { path: "sum.sh" }),
        call("c2", "write_file", { path: "sum.sh", content: "echo $((2 + 3))\n" }),
        call("c3", "run_command", { command: "sh sum.sh" }),
        { text: "It is five." },
      ]),
    );
    const sessionId = await editor.newSession([], cwd);
    expect(await editor.ask(sessionId, "Make it five")).toBe("It is five.");
    expect(scripted.requests.map(({ toolResults }) => toolResults.at(-1)?.text)).toEqual([
      undefined,
      "echo $((1 + 1))\n",
      "Wrote sum.sh: 1 line.",
      "exit code 0\n5",
    ]);
    const ids = editor.of(sessionId, "tool_call").map(({ toolCallId }) => toolCallId);
    expect(editor.questions.map(({ toolCall }) => toolCall.toolCallId)).toEqual(ids);
    const calls = editor.of(sessionId, "tool_call").map(({ title, kind }) => [title, kind]);
    expect(calls).toEqual([
      ["read sum.sh", "read"],
      ["write sum.sh", "edit"],
      ["run sh sum.sh", "execute"],
    ]);
    const updates = editor.of(sessionId, "tool_call_update");
    expect(updates.map(({ status, content }) => [status, content?.[0]])).toMatchObject([
      ["in_progress", undefined],
      ["in_progress", undefined],
      ["completed", { type: "content" }],
      ["in_progress", undefined],
      ["in_progress", { type: "diff" }],
      ["completed", { oldText: "echo $((1 + 1))\n", newText: "echo $((2 + 3))\n" }],
      ["in_progress", undefined],
      ["in_progress", { type: "terminal", terminalId: "t1" }],
      ["completed", undefined],
    ]);
    expect(readFileSync(join(cwd, "sum.sh"), "utf8")).toBe("echo $((2 + 3))\n");
  });

  it("shows no secret that it puts into a file, nor one that is there", async () => {
    const secret = "hunter2-hunter2-hunter2";
    writeFileSync(join(cwd, "old"), `was ${secret}`);
    const editor = await desk.open({
      capabilities: ALL_CAPABILITIES,
      equip: station.equip,
      keeps: true,
      servers: { own: { ...fixture("echo"), env: { API_TOKEN: secret } } },
      newResponder: await scripted.script([
        call("c1", "write_file", { path: "new", content: `is ${secret}` }),
        call("c2", "write_file", { path: "old", content: "none" }),
        call("c3", secret, {}),
        { text: "done" },
      ]),
    });
    const sessionId = await editor.newSession([], cwd);
    expect(await editor.ask(sessionId, `write ${secret}`)).toBe("done");
    expect(readFileSync(join(cwd, "new"), "utf8")).toBe(`is ${secret}`);
    expect(JSON.stringify([editor.updates, editor.questions])).not.toContain(secret);
    expect(editor.questions).toMatchObject([
      { toolCall: { content: [{ newText: "is [REDACTED]" }, {}] } },
      { toolCall: { content: [{ oldText: "was [REDACTED]" }, {}] } },
    ]);
  });

  it("gets its diffs and outputs back when the session is loaded, but no dead terminal", async () => {
    const editor = await sit(
      await scripted.script([
        call("c1", "write_file", { path: "a", content: "x" }),
        call("c2", "run_command", { command: "echo hi" }),
        { text: "done" },
      ]),
    );
    const sessionId = await editor.newSession([], cwd);
    await editor.prompt(sessionId, "go");
    await editor.agent.request(session.close, { sessionId });
    const before = editor.updates.length;
    await editor.agent.request(session.load, { sessionId, cwd, mcpServers: [] });
    const replayed = editor.updates
      .slice(before)
      .flatMap(({ update }) =>
        update.sessionUpdate === "tool_call_update" ? [update.content] : [],
      );
    expect(replayed).toMatchObject([
      [{ type: "diff", newText: "x" }, { type: "content" }],
      [{ type: "content", content: { text: "exit code 0\nhi" } }],
    ]);
  });

  it("reads as much of a long file as a result may hold", async () => {
    writeFileSync(join(cwd, "long"), "x".repeat(400_000));
    const editor = await sit(
      await scripted.script([call("c1", "read_file", { path: "long" }), { text: "long" }]),
    );
    const sessionId = await editor.newSession([], cwd);
    await editor.prompt(sessionId, "go");
    const read = scripted.requests[1]?.toolResults[0]?.text ?? "";
    expect(read.length).toBeGreaterThan(200_000);
    expect(read.length).toBeLessThan(300_000);
  });

  it("is cancelled while its command runs", async () => {
    const editor = await sit(
      await scripted.script([
        call("c1", "run_command", { command: "exec sleep 60" }),
        { text: "well" },
      ]),
    );
    const sessionId = await editor.newSession([], cwd);
    const turn = editor.prompt(sessionId, "go");
    await editor.until(() =>
      JSON.stringify(editor.of(sessionId, "tool_call_update")).includes("terminal"),
    );
    const ended = station.terminals.get("t1")?.ended;
    await editor.agent.notify(session.cancel, { sessionId });
    expect(await turn).toEqual({ stopReason: "cancelled" });
    expect(await ended).toMatchObject({ signal: "SIGKILL" });
    expect(await editor.ask(sessionId, "again")).toBe("well");
  });
});

describe("a server's diff", () => {
  it("is shown as a diff with an absolute path, between the text around it", async () => {
    writeFileSync(join(cwd, "a.txt"), "one\ntwo\n");
    const server = {
      name: "fs",
      command: process.execPath,
      args: [
        join(process.cwd(), "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"),
        cwd,
      ],
      env: [],
    };
    const editor = await desk.open();
    const sessionId = await editor.newSession([server], cwd);
    const edit = { path: join(cwd, "a.txt"), edits: [{ oldText: "two", newText: "zwei" }] };
    await editor.prompt(sessionId, `/call fs/edit_file ${JSON.stringify(edit)}`);
    const last = editor.of(sessionId, "tool_call_update").at(-1);
    expect(last).toMatchObject({ status: "completed" });
    expect(last?.content).toEqual([
      { type: "diff", path: join(cwd, "a.txt"), oldText: "one\ntwo\n", newText: "one\nzwei\n" },
    ]);
  });

  it("has paths relative to the session's directory, and other text is unchanged", async () => {
    const editor = await desk.open({
      board: {
        native: [
          {
            name: "say",
            description: "Says it",
            parameters: { type: "object" },
            execute: (_id, { text }) => ({
              content: [
                { type: "text", text: String(text) },
                { type: "image", data: "AA==", mimeType: "image/png" },
              ],
            }),
          },
        ],
      },
    });
    const sessionId = await editor.newSession([], cwd);
    const text = "Done:\n--- a/src/x\n+++ b/src/x\n@@ -1 +1 @@\n-a\n+b\nSee?";
    await editor.prompt(sessionId, `/call say ${JSON.stringify({ text })}`);
    expect(editor.of(sessionId, "tool_call_update").at(-1)?.content).toMatchObject([
      { content: { type: "text", text: "Done:" } },
      { type: "diff", path: join(cwd, "src/x"), oldText: "a\n", newText: "b\n" },
      { content: { type: "text", text: "See?" } },
      { content: { type: "image" } },
    ]);
    await editor.prompt(sessionId, '/call say {"text":"plain"}');
    expect(editor.of(sessionId, "tool_call_update").at(-1)?.content?.[0]).toMatchObject({
      content: { text: "plain" },
    });
  });
});
