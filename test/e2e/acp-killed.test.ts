// An agent that is killed in the middle of a turn: what was said and done is there, and goes on elsewhere.

import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { expect, it } from "vitest";
import { startModel } from "../support/model/start.mjs";
import { eventually, processesWith } from "../support/processes.ts";
import { useAgents } from "./acp-agent.ts";

const desk = useAgents();
const { session } = methods.agent;
const echo = () => desk.server("echo", "echo");

it("kill -9 while a call runs and while an answer is streamed: another agent goes on", async () => {
  await using model = await startModel({
    turns: [
      {
        text: "Let me look. ",
        toolCalls: [{ name: "mcp__echo__sleep", arguments: { ms: 600_000 } }],
      },
      { text: "One two three four. ".repeat(500), chunkDelayMs: 20 },
      { text: "Five." },
    ],
  });
  const config = {
    agents: {
      defaults: { model: "scripted/m", mcp: { servers: { own: desk.configured("echo") } } },
    },
    models: {
      providers: { scripted: { type: "anthropic", baseUrl: `${model.url}/v1`, apiKey: "key" } },
    },
  };

  const first = await desk.start({ config });
  const sessionId = await first.newSession(desk.directory, [echo()]);
  const file = join(desk.directory, "home", "sessions", `${sessionId}.jsonl`);
  const recorded = (): string => readFileSync(file, "utf8");
  const setup = { sessionId, cwd: desk.directory, mcpServers: [echo()] };
  const asked = first.prompt(sessionId, "What is there?").catch(() => "gone");
  await eventually(() => recorded().includes("toolCallId"));
  expect(processesWith(desk.marker)).toHaveLength(2);
  first.process.kill("SIGKILL");
  await first.exited;
  // Its own server and that of the session end with their pipes.
  await eventually(() => processesWith(desk.marker).length === 0);
  await asked;

  const second = await desk.start({ config });
  const { sessions } = await second.agent.request(session.list, {});
  expect(sessions).toMatchObject([{ sessionId, title: "What is there?", cwd: desk.directory }]);
  await second.agent.request(session.load, setup);
  const told = second.updates.map(({ update }) => update.sessionUpdate);
  // A slow machine's server is waited for, and that is told too.
  expect(told.filter((kind) => kind !== "agent_thought_chunk").slice(0, 4)).toEqual([
    "user_message_chunk",
    "agent_message_chunk",
    "tool_call",
    "tool_call_update",
  ]);
  expect(second.said(sessionId)).toBe("Let me look. ");
  const [call] = second.of(sessionId, "tool_call");
  expect(second.of(sessionId, "tool_call_update")).toMatchObject([
    { toolCallId: call?.toolCallId, status: "failed" },
  ]);
  expect(second.result(sessionId)).toContain("The agent ended before this call did");
  const streamed = second.prompt(sessionId, "Count.").catch(() => "gone");
  await eventually(() => recorded().includes("One two three"));
  second.process.kill("SIGKILL");
  await second.exited;
  await streamed;
  appendFileSync(file, '{"update":{"sessionUpdate":"agent_message_chunk","content":{"ty');

  const third = await desk.start({ config });
  await third.agent.request(session.load, setup);
  expect(recorded()).toMatch(/\}\n$/);
  expect(third.of(sessionId, "tool_call_update")).toHaveLength(1);
  expect(third.said(sessionId)).toMatch(/^Let me look\. One two three/);
  expect(await third.ask(sessionId, "And then?")).toBe("Five.");
  const seen = model.requests[2]?.messages.slice(1).map(({ role, text }) => [role, text]);
  expect(seen).toEqual([
    ["user", "What is there?"],
    ["assistant", "Let me look. "],
    ["tool", expect.stringContaining("so its result is unknown")],
    ["user", "Count."],
    ["assistant", expect.stringMatching(/^One two three/)],
    ["user", "And then?"],
  ]);
  expect(await third.leave()).toBe(0);
});
