// How the ACP agent ends: whatever ends it, its servers end with it.

import { describe, expect, it } from "vitest";
import { processesWith } from "../support/processes.ts";
import { useAgents } from "./acp-agent.ts";

const desk = useAgents();
const servers = (): number[] => processesWith(desk.marker);

/** An agent with a server of its own, and a session that has brought one and is in the middle of a call. */
async function inTheMiddle() {
  const config = { agents: { defaults: { mcp: { servers: { own: desk.configured("echo") } } } } };
  const agent = await desk.start({ config });
  const sessionId = await agent.newSession(desk.directory, [desk.server("brought", "echo")]);
  const turn = agent.prompt(sessionId, '/call brought/sleep {"ms": 600000}').catch(() => "gone");
  await agent.until(() => agent.of(sessionId, "tool_call").length > 0);
  expect(servers()).toHaveLength(2);
  return { agent, sessionId, turn };
}

describe("plugboard acp", () => {
  it("calls a tool of the session's server, and ends with its stdin", async () => {
    const agent = await desk.start();
    const sessionId = await agent.newSession(desk.directory, [desk.server("echo", "echo")]);
    expect(await agent.prompt(sessionId, "/call echo/pid")).toEqual({ stopReason: "end_turn" });
    expect(agent.said(sessionId)).toBe("Done.");
    expect(servers()).toHaveLength(1);
    expect(await agent.leave()).toBe(0);
    expect(servers()).toEqual([]);
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)(
    "leaves nothing behind when %s comes in the middle of a call",
    async (signal, code) => {
      const { agent, turn } = await inTheMiddle();
      agent.process.kill(signal);
      expect(await agent.exited).toEqual([code, null]);
      expect(servers()).toEqual([]);
      await turn;
    },
  );

  it("leaves nothing behind when its stdin ends in the middle of a call", async () => {
    const { agent, turn } = await inTheMiddle();
    expect(await agent.leave()).toBe(0);
    expect(servers()).toEqual([]);
    await turn;
  });

  it("leaves nothing behind when nobody reads its stdout any more", async () => {
    const { agent, sessionId, turn } = await inTheMiddle();
    agent.process.stdout.destroy();
    // The answer to this is what it cannot write.
    agent.process.stdin.write(
      `${JSON.stringify({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } })}\n`,
    );
    expect(await agent.exited).toEqual([0, null]);
    expect(servers()).toEqual([]);
    await turn;
  });
});
