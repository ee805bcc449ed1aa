// Sessions that are kept: loaded with everything that was said, listed, resumed and deleted.

import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import type { NewResponder } from "../../../../src/agent/acp/responder/responder.ts";
import { fixture } from "../../../support/boards.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { History } from "../../../../src/agent/acp/history/history.ts";
import { mcpServer, useDesk } from "../harness.ts";

const desk = useDesk();
const { session } = methods.agent;
const echo = () => mcpServer("echo", "echo");
const fileOf = (sessionId: string): string =>
  join(desk.directory, "sessions", `${sessionId}.jsonl`);

describe("session/load", () => {
  it("sends messages and calls in order to another client", async () => {
    const first = await desk.open({ keeps: true });
    const sessionId = await first.newSession([echo()], desk.directory);
    await first.prompt(sessionId, '/call echo/echo {"text": "remember me"}');
    await first.close();

    const second = await desk.open({ keeps: true });
    const params = { sessionId, cwd: desk.directory, mcpServers: [echo()] };
    const answer = await second.agent.request(session.load, params);
    expect(answer).toMatchObject({ modes: { currentModeId: "ask" } });
    expect(second.updates.map(({ update }) => update.sessionUpdate)).toEqual([
      "user_message_chunk",
      "tool_call",
      "tool_call_update",
      "agent_message_chunk",
    ]);
    expect(JSON.stringify(second.updates)).toContain("remember me");
    expect(await second.ask(sessionId, "/call echo/pid")).toBe("Done.");
  });

  it("keeps the title from the first prompt", async () => {
    const first = await desk.open({ keeps: true });
    const sessionId = await first.newSession([], desk.directory);
    await first.prompt(sessionId, " /tools  first\n");
    await first.prompt(sessionId, "/tools second");
    expect(first.of(sessionId, "session_info_update")).toMatchObject([{ title: "/tools first" }]);
    await first.close();

    const second = await desk.open({ keeps: true });
    const params = { sessionId, cwd: desk.directory, mcpServers: [] };
    await second.agent.request(session.load, params);
    await second.prompt(sessionId, "/tools third");
    expect(second.of(sessionId, "session_info_update")).toEqual([]);
    const { sessions } = await second.agent.request(session.list, {});
    expect(sessions).toMatchObject([{ sessionId, title: "/tools first" }]);
  });

  it("survives a last line that was never finished", async () => {
    const first = await desk.open({ keeps: true });
    const sessionId = await first.newSession([], desk.directory);
    await first.prompt(sessionId, "/mcp");
    await first.close();
    const whole = readFileSync(fileOf(sessionId), "utf8");
    appendFileSync(
      fileOf(sessionId),
      `{"update":{"sessionUpdate":"agent_mess${"x".repeat(70_000)}`,
    );

    const second = await desk.open({ keeps: true });
    const params = { sessionId, cwd: desk.directory, mcpServers: [] };
    await second.agent.request(session.load, params);
    expect(second.said(sessionId)).toBe("There are no servers.");
    expect(readFileSync(fileOf(sessionId), "utf8")).toBe(whole);
    await second.prompt(sessionId, "/tools");
    await second.close();
    expect(readFileSync(fileOf(sessionId), "utf8").startsWith(whole)).toBe(true);
  });

  it("of an open session keeps its servers if they are the same, and replaces them otherwise", async () => {
    const editor = await desk.open({ keeps: true });
    const sessionId = await editor.newSession([echo()], desk.directory);
    const pid = async (): Promise<string> => {
      await editor.prompt(sessionId, "/call echo/pid");
      return JSON.stringify(editor.of(sessionId, "tool_call_update").at(-1)?.content);
    };
    const before = await pid();
    const same = { sessionId, cwd: desk.directory, mcpServers: [echo()] };
    await editor.agent.request(session.load, same);
    expect(await pid()).toBe(before);
    await editor.agent.request(session.resume, same);
    expect(await pid()).toBe(before);
    const other = join(desk.directory, "other");
    mkdirSync(other);
    await editor.agent.request(session.load, { ...same, cwd: other });
    expect(await pid()).not.toBe(before);
  });

  it("of a session in the middle of a prompt sends what has been streamed so far", async () => {
    const newResponder: NewResponder = () => ({
      async answer({ say, signal }) {
        say("half of ");
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return "cancelled";
      },
    });
    const clock = new ManualClock();
    const editor = await desk.open({ keeps: true, newResponder, clock });
    const sessionId = await editor.newSession([], desk.directory);
    const turn = editor.prompt(sessionId, "go");
    await editor.until(() => editor.said(sessionId) === "half of ");
    const params = { sessionId, cwd: desk.directory, mcpServers: [] };
    await editor.agent.request(session.load, params);
    expect(editor.said(sessionId)).toBe("half of half of ");
    await editor.agent.notify(session.cancel, { sessionId });
    expect(await turn).toEqual({ stopReason: "cancelled" });
  });

  it("ignores files of another format", async () => {
    const editor = await desk.open({ keeps: true });
    await editor.newSession([], desk.directory);
    writeFileSync(fileOf("stray"), "not json\n");
    const params = { sessionId: "stray", cwd: desk.directory, mcpServers: [] };
    await expect(editor.agent.request(session.load, params)).rejects.toMatchObject({
      code: -32002,
    });
    expect((await editor.agent.request(session.list, {})).sessions).toHaveLength(1);
  });
});

describe("session/resume", () => {
  it("continues without sending anything again", async () => {
    const first = await desk.open({ keeps: true });
    const sessionId = await first.newSession([], desk.directory);
    await first.prompt(sessionId, "/mcp");
    await first.close();
    const second = await desk.open({ keeps: true });
    await second.agent.request(session.resume, { sessionId, cwd: desk.directory });
    expect(second.said(sessionId)).toBe("");
    expect(await second.ask(sessionId, "/mcp")).toBe("There are no servers.");
  });
});

describe("session/list", () => {
  it("has title, directory and time, the latest first, and filters by directory", async () => {
    const editor = await desk.open({ keeps: true });
    const other = join(desk.directory, "other");
    mkdirSync(other);
    const first = await editor.newSession([], desk.directory);
    const second = await editor.newSession([], other);
    await editor.prompt(second, "/mcp");
    await editor.prompt(first, "/tools\nof mine");
    utimesSync(fileOf(first), 1_700_000_000, 1_700_000_000);
    utimesSync(fileOf(second), 1_800_000_000, 1_800_000_000);
    expect(await editor.agent.request(session.list, {})).toEqual({
      sessions: [
        { sessionId: second, cwd: other, title: "/mcp", updatedAt: "2027-01-15T08:00:00.000Z" },
        {
          sessionId: first,
          cwd: desk.directory,
          title: "/tools of mine",
          updatedAt: "2023-11-14T22:13:20.000Z",
        },
      ],
    });
    const { sessions } = await editor.agent.request(session.list, { cwd: other });
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([second]);
  });

  it.each([session.load, session.resume])(
    "has a session under the directory that %s named last, with all that was said in it",
    async (method) => {
      const other = join(desk.directory, "other");
      mkdirSync(other);
      const first = await desk.open({ keeps: true });
      const sessionId = await first.newSession([], desk.directory);
      await first.prompt(sessionId, "/mcp");
      await first.close();
      const under = async (cwd: string): Promise<string[]> => {
        const { sessions } = await second.agent.request(session.list, { cwd });
        return sessions.map((each) => each.sessionId);
      };
      const second = await desk.open({ keeps: true });
      const reopen = (cwd: string) =>
        second.agent.request(method, { sessionId, cwd, mcpServers: [] });
      await reopen(other);
      expect([await under(other), await under(desk.directory)]).toEqual([[sessionId], []]);
      // While it is open, too.
      await second.prompt(sessionId, "/tools");
      await reopen(desk.directory);
      expect([await under(other), await under(desk.directory)]).toEqual([[], [sessionId]]);
      await second.close();
      const third = await desk.open({ keeps: true });
      await third.agent.request(session.load, { sessionId, cwd: other, mcpServers: [] });
      const said = JSON.stringify(third.updates);
      for (const word of ["/mcp", "/tools"]) expect(said).toContain(`"${word}"`);
      expect(statSync(fileOf(sessionId)).mode & 0o777).toBe(0o600);
      expect(readdirSync(join(desk.directory, "sessions"))).toEqual([`${sessionId}.jsonl`]);
    },
  );

  it("comes in pages", async () => {
    const editor = await desk.open({ keeps: true });
    mkdirSync(join(desk.directory, "sessions"));
    for (let n = 0; n < 60; n += 1) {
      writeFileSync(
        fileOf(`s-${n}`),
        `${JSON.stringify({ version: 1, sessionId: `s-${n}`, cwd: "/" })}\n`,
      );
    }
    const one = await editor.agent.request(session.list, {});
    const two = await editor.agent.request(session.list, { cursor: one.nextCursor ?? "" });
    expect([one.sessions.length, two.sessions.length]).toEqual([50, 10]);
    expect(two.nextCursor).toBeUndefined();
    const ids = [...one.sessions, ...two.sessions].map(({ sessionId }) => sessionId);
    expect(new Set(ids).size).toBe(60);
  });

  it("reads a few files at a time, however many there are", async () => {
    const directory = join(desk.directory, "sessions");
    mkdirSync(directory);
    for (let n = 0; n < 400; n += 1) {
      writeFileSync(fileOf(`s-${n}`), `${JSON.stringify({ version: 1, cwd: "/" })}\n`);
    }
    let most = 0;
    const look = (): void => {
      const open = process.getActiveResourcesInfo().filter((each) => each === "FSReqPromise");
      most = Math.max(most, open.length);
      looking = setImmediate(look);
    };
    let looking = setImmediate(look);
    const { sessions, nextCursor } = await new History(directory).list({});
    clearImmediate(looking);
    expect(sessions).toHaveLength(50);
    expect(nextCursor).toBeDefined();
    expect(most).toBeLessThan(64);
  });

  it("is empty where nothing is kept", async () => {
    const editor = await desk.open();
    await editor.newSession([], desk.directory);
    expect(await editor.agent.request(session.list, {})).toEqual({ sessions: [] });
  });
});

describe("session/delete", () => {
  it("ends the session and deletes it; deleting it again is not an error", async () => {
    const editor = await desk.open({ keeps: true });
    const sessionId = await editor.newSession([echo()], desk.directory);
    await editor.agent.request(session.delete, { sessionId });
    expect(readdirSync(join(desk.directory, "sessions"))).toEqual([]);
    await expect(editor.prompt(sessionId, "/mcp")).rejects.toMatchObject({ code: -32002 });
    await editor.agent.request(session.delete, { sessionId });
    await editor.agent.request(session.delete, { sessionId: "../x" });
  });
});

describe("what is kept", () => {
  it("is nothing if the directory cannot be written, and the user is told", async () => {
    writeFileSync(join(desk.directory, "sessions"), "in the way");
    const editor = await desk.open({ keeps: true });
    const sessionId = await editor.newSession();
    await editor.until(() => editor.said(sessionId) !== "");
    expect(editor.said(sessionId)).toContain("This session cannot be saved");
    expect(await editor.ask(sessionId, "/mcp")).toBe("There are no servers.");
  });

  it("is readable only by its owner, and has neither credentials nor servers", async () => {
    const editor = await desk.open({ keeps: true });
    const secret = "hunter2-hunter2-hunter2";
    const server = { ...echo(), env: [{ name: "API_TOKEN", value: secret }] };
    const sessionId = await editor.newSession([server], desk.directory);
    await editor.prompt(sessionId, `/call echo/echo {"text": "${secret}"}`);
    await editor.failure(sessionId, `what is ${secret}?`);
    await editor.close();
    const text = readFileSync(fileOf(sessionId), "utf8");
    expect(text).toContain("[REDACTED]");
    expect(text).not.toContain(secret);
    expect(text).not.toContain("API_TOKEN");
    expect(statSync(fileOf(sessionId)).mode & 0o777).toBe(0o600);
    expect(statSync(join(desk.directory, "sessions")).mode & 0o777).toBe(0o700);
  });

  it("has no secret of the agent's own servers, nor has what is shown of calls or the session's title", async () => {
    const secret = "hunter2-hunter2-hunter2";
    const own = { ...fixture("echo"), env: { API_TOKEN: secret } };
    const editor = await desk.open({ keeps: true, servers: { own } });
    const sessionId = await editor.newSession([], desk.directory);
    await editor.failure(sessionId, `what is ${secret}?`);
    await editor.prompt(sessionId, `/call own/echo {"text": "${secret}"}`);
    const title = "what is [REDACTED]?";
    expect(editor.of(sessionId, "session_info_update")).toMatchObject([{ title }]);
    const calls = editor.of(sessionId, "tool_call");
    expect(calls).toMatchObject([{ rawInput: { text: "[REDACTED]" } }]);
    expect(JSON.stringify(calls)).not.toContain(secret);
    const { sessions } = await editor.agent.request(session.list, {});
    expect(sessions).toMatchObject([{ sessionId, title }]);
    await editor.close();
    expect(readFileSync(fileOf(sessionId), "utf8")).not.toContain(secret);
  });

  it("can be nothing: a session works without its history", async () => {
    writeFileSync(join(desk.directory, "sessions"), "a file where the directory should be");
    const editor = await desk.open({ keeps: true });
    expect(await editor.ask(await editor.newSession(), "/mcp")).toBe("There are no servers.");
  });
});

it("a session that is loaded in the middle of an answer has all of its text so far", async () => {
  let goOn = (): void => {};
  const newResponder: NewResponder = () => ({
    async answer({ emit }) {
      emit({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "so far" } });
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      return "end_turn";
    },
  });
  const editor = await desk.open({ keeps: true, newResponder });
  const sessionId = await editor.newSession([], desk.directory);
  const turn = editor.prompt(sessionId, "How far?");
  await editor.until(() => editor.said(sessionId) === "so far");
  const opening = { sessionId, cwd: desk.directory, mcpServers: [] };
  await editor.agent.request(session.load, opening);
  expect(editor.said(sessionId)).toBe("so farso far");
  goOn();
  expect(await turn).toEqual({ stopReason: "end_turn" });
});

it("a session that does not open says why, even if nothing can be kept", async () => {
  writeFileSync(join(desk.directory, "sessions"), "");
  const editor = await desk.open({ keeps: true });
  const servers = [mcpServer("a", "echo"), mcpServer("a", "echo")];
  await expect(editor.newSession(servers)).rejects.toMatchObject({ code: -32602 });
});
