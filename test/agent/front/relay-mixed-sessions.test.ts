import { describe, expect, it } from "vitest";
import { startFront } from "./memory-front.ts";

function frontOf(name: string) {
  return startFront({
    script: {
      initialize: () => ({
        protocolVersion: 1,
        agentInfo: { name, version: "1" },
        agentCapabilities: { mcpCapabilities: { http: true } },
      }),
    },
  });
}

describe("an agent that gives a session's servers to its other sessions", () => {
  it("gets a process for each session that is open at the same time", async () => {
    const front = await frontOf("OpenCode");
    const first = await front.newSession();
    expect(front.agents).toHaveLength(1);
    await front.newSession();
    expect(front.agents).toHaveLength(2);
    const servers = front.agents.map((agent) => agent.asked("session/new")[0]?.params.mcpServers);
    expect(servers).toMatchObject([[{ name: "plugboard" }], [{ name: "plugboard" }]]);
    expect(servers[0][0].url).not.toBe(servers[1][0].url);

    await front.request("session/close", { sessionId: first });
    await front.newSession();
    expect(front.agents).toHaveLength(2);
    expect(front.agent(1).asked("session/new")).toHaveLength(2);
  });

  it("any other agent has one process for all sessions", async () => {
    const front = await frontOf("another");
    await front.newSession();
    await front.newSession();
    expect(front.agents).toHaveLength(1);
  });
});
