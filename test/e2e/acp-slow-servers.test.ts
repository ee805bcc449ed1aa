// A session whose servers are slow or never come: it is there at once, and nothing is promised that is not.

import { expect, it } from "vitest";
import { startModel } from "../support/model/start.mjs";
import { useAgents } from "./acp-agent.ts";

const desk = useAgents();

it("answers session/new first, waits for the slow server, and reports the hanging one", async () => {
  await using model = await startModel({
    turns: [
      { toolCalls: [{ name: "mcp__slow__echo", arguments: { text: "late, but here" } }] },
      { text: "done" },
    ],
  });
  // Both take longer than a session waits for its servers before it is there.
  const hanging = { ...desk.configured("never-initialize"), timeout: 5000, maxRestarts: 0 };
  const agent = await desk.start({
    config: {
      agents: { defaults: { model: "scripted/m", mcp: { servers: { hanging } } } },
      models: {
        providers: { scripted: { type: "anthropic", baseUrl: `${model.url}/v1`, apiKey: "key" } },
      },
    },
  });
  const sessionId = await agent.newSession(desk.directory, [
    desk.server("slow", "slow-start", ["--ms=4000"]),
  ]);
  const status = await agent.ask(sessionId, "/mcp");
  expect(status).toMatch(/slow.*starting/);
  expect(status).toMatch(/hanging.*starting/);

  expect(await agent.prompt(sessionId, "go")).toEqual({ stopReason: "end_turn" });
  expect(agent.of(sessionId, "agent_thought_chunk").map(({ content }) => content)).toEqual([
    {
      type: "text",
      text: expect.stringMatching(/^Waiting for (slow, hanging|hanging, slow) to start\.\n$/),
    },
  ]);
  expect(model.requests[0]?.tools.map(({ name }) => name)).toContain("mcp__slow__echo");
  expect(agent.result(sessionId)).toBe("late, but here");
  expect(model.requests[0]?.messages[0]?.text).toContain("not available now: hanging (");
  expect(agent.said(sessionId)).toMatch(/hanging: .*5 s/);
  expect(agent.said(sessionId)).toMatch(/done$/);
  expect(await agent.leave()).toBe(0);
});
