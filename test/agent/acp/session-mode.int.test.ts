// The mode of a session that is opened again: it is kept, except `auto`.

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { methods, type ResumeSessionResponse } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { mcpServer, useDesk } from "./harness.ts";

const desk = useDesk();
const { session } = methods.agent;

type Editor = Awaited<ReturnType<typeof desk.open>>;

function set(editor: Editor, sessionId: string, modeId: string) {
  return editor.agent.request(session.setMode, { sessionId, modeId });
}

async function resumed(editor: Editor, sessionId: string, servers: string[] = []) {
  const mcpServers = servers.map((name) => mcpServer(name, "crlf"));
  const params = { sessionId, cwd: desk.directory, mcpServers };
  const { modes, configOptions } = await editor.agent.request<ResumeSessionResponse, object>(
    session.resume,
    params,
  );
  const option = configOptions?.find(({ id }) => id === "mode");
  return [modes?.currentModeId, option?.currentValue];
}

describe("the mode of a session", () => {
  it.each([
    [["read-only"], "read-only"],
    [["auto"], "ask"],
    [["read-only", "auto"], "ask"],
    [["auto", "read-only", "ask"], "ask"],
    [[], "ask"],
  ])("that was set to %j is %s in another process", async (modes, expected) => {
    const first = await desk.open({ keeps: true });
    const sessionId = await first.newSession([], desk.directory);
    for (const mode of modes) await set(first, sessionId, mode);
    await first.close();
    const second = await desk.open({ keeps: true });
    expect(await resumed(second, sessionId)).toEqual([expected, expected]);
  });

  it("is kept when an open session is resumed with the same servers; auto ends with other servers", async () => {
    const editor = await desk.open({ keeps: true });
    const sessionId = await editor.newSession([], desk.directory);
    await set(editor, sessionId, "auto");
    expect(await resumed(editor, sessionId)).toEqual(["auto", "auto"]);
    expect(await resumed(editor, sessionId, ["more"])).toEqual(["ask", "ask"]);
  });

  it("that was set as an option is kept and obeyed", async () => {
    const first = await desk.open({ keeps: true });
    const sessionId = await first.newSession([], desk.directory);
    const option = { sessionId, configId: "mode", value: "read-only" };
    await first.agent.request(session.setConfigOption, option);
    await first.close();
    const second = await desk.open({ keeps: true });
    await resumed(second, sessionId, ["crlf"]);
    expect(await second.call(sessionId, "crlf/echo", { text: "hi" })).toContain("read-only mode");
  });

  it("is never an unknown one, whatever the file says", async () => {
    const first = await desk.open({ keeps: true });
    const sessionId = await first.newSession([], desk.directory);
    await set(first, sessionId, "read-only");
    await first.close();
    const file = join(desk.directory, "sessions", `${sessionId}.jsonl`);
    appendFileSync(file, '{"mode":"yolo"}\n{"mode":7}\n');
    const second = await desk.open({ keeps: true });
    expect(await resumed(second, sessionId)).toEqual(["read-only", "read-only"]);
  });
});
