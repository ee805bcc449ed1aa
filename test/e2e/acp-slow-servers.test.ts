// A session whose servers are slow or never come: it is there at once, and nothing is promised that is not.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
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
  // A session waits two seconds for its servers; the rest is for a busy machine.
  const hanging = { ...desk.configured("never-initialize"), timeout: 10_000, maxRestarts: 0 };
  const isTime = join(desk.directory, "is-time");
  const agent = await desk.start({
    config: {
      agents: { defaults: { model: "scripted/m", mcp: { servers: { hanging } } } },
      models: {
        providers: { scripted: { type: "anthropic", baseUrl: `${model.url}/v1`, apiKey: "key" } },
      },
    },
  });
  const sessionId = await agent.newSession(desk.directory, [
    desk.server("slow", "slow-start", [`--until=${isTime}`]),
  ]);
  const status = await agent.ask(sessionId, "/mcp");
  expect(status).toMatch(/slow.*starting/);
  expect(status).toMatch(/hanging.*starting/);

  const answered = agent.prompt(sessionId, "go");
  await agent.until(() => agent.of(sessionId, "agent_thought_chunk").length > 0);
  writeFileSync(isTime, "");
  expect(await answered).toEqual({ stopReason: "end_turn" });
  expect(agent.of(sessionId, "agent_thought_chunk").map(({ content }) => content)).toEqual([
    {
      type: "text",
      text: expect.stringMatching(/^Waiting for (slow, hanging|hanging, slow) to start\.\n$/),
    },
  ]);
  expect(model.requests[0]?.tools.map(({ name }) => name)).toContain("mcp__slow__echo");
  expect(agent.result(sessionId)).toBe("late, but here");
  expect(model.requests[0]?.messages[0]?.text).toContain("not available now: hanging (");
  expect(agent.said(sessionId)).toMatch(/hanging: .*10 s/);
  expect(agent.said(sessionId)).toMatch(/done$/);
  expect(await agent.leave()).toBe(0);
});
