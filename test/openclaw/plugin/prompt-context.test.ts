// What the plugin adds to OpenClaw's prompts.

import { describe, expect, it } from "vitest";
import { BoardProblem } from "../../../src/openclaw/plugin/board-client.ts";
import { promptContext } from "../../../src/openclaw/plugin/prompt-context.ts";
import type { OpenClawConfig } from "../../../src/openclaw/plugin/openclaw.ts";

function hookOf(answers: (string | Error)[], config: OpenClawConfig = {}) {
  const asked: string[] = [];
  const warned: string[] = [];
  const hook = promptContext({
    board: {
      read: async (uri) => {
        asked.push(uri);
        const answer = answers.shift() ?? "";
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
    config: () => config,
    maxResourceBytes: 16_384,
    warn: (message) => warned.push(message),
  });
  return { hook, asked, warned };
}

describe("the block of the board", () => {
  it("goes to the end of the system prompt", async () => {
    const { hook } = hookOf(["# Resources"]);
    expect(await hook({}, { agentId: "main" })).toEqual({ appendSystemContext: "# Resources" });
  });

  it("takes at most a tenth of the model's context window", async () => {
    const { hook, asked } = hookOf([]);
    await hook({}, { contextTokenBudget: 8000 });
    await hook({}, { contextTokenBudget: 1_000_000 });
    await hook({}, {});
    expect(asked).toEqual(
      [2400, 16_384, 16_384].map((bytes) => `plugboard://context?maxBytes=${bytes}`),
    );
  });

  it("is left out where there are no resources, and where the agent may not use the board", async () => {
    const empty = hookOf([""]);
    expect(await empty.hook({}, {})).toBeUndefined();
    const denied = hookOf(["# Resources"], { tools: { deny: ["plugboard__*"] } });
    expect(await denied.hook({}, { agentId: "main" })).toBeUndefined();
    expect(denied.asked).toEqual([]);
  });

  it("is left out while the board cannot be read, which is logged once, with what to do", async () => {
    const down = new BoardProblem("the gateway cannot be reached", "start it");
    const { hook, warned } = hookOf([down, down, "# Resources", down]);
    for (let turn = 0; turn < 4; turn += 1) await hook({}, {});
    const line = "no resources in the prompt: the gateway cannot be reached; start it";
    expect(warned).toEqual([line, line]);
  });
});
