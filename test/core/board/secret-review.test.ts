import { describe, expect, it } from "vitest";
import { AgentSecrets } from "../../../src/core/board/agent-secrets.ts";
import { reviewSecrets } from "../../../src/core/board/secret-review.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import { silentLogger } from "../../../src/core/types/logger.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const VALUE = "the-value-of-the-token";

function open() {
  const clock = new ManualClock();
  const env: Record<string, string> = { HOME: "/nowhere", TOKEN: VALUE };
  const secrets = new AgentSecrets({ env, clock, logger: silentLogger });
  const agent = parseAgentConfig({
    servers: {
      a: { command: "a", env: { A: "secret://env/TOKEN", B: "secret://env/MISSING" } },
      b: { url: "https://b.example/mcp", headers: { X: "Bearer ${secret://env/TOKEN}" } },
    },
  });
  return { clock, env, secrets, review: reviewSecrets({ agent: () => agent, secrets }) };
}

describe("the references of a configuration", () => {
  it("are listed once each, with everybody who uses them", () => {
    const { review } = open();
    expect(review.list()).toEqual([
      {
        reference: "secret://env/TOKEN",
        provider: "env",
        users: [
          { server: "a", key: "env.A" },
          { server: "b", key: "headers.X" },
        ],
      },
      {
        reference: "secret://env/MISSING",
        provider: "env",
        users: [{ server: "a", key: "env.B" }],
      },
    ]);
  });

  it("say when they were last resolved and why not, and never a value", async () => {
    const { review, clock, env } = open();
    const works = await review.check("secret://env/TOKEN");
    expect(works.last).toEqual({ at: clock.now() });
    const fails = await review.check("secret://env/MISSING");
    expect(fails.last?.failure?.message).toContain("MISSING");
    expect(JSON.stringify(review.list())).not.toContain(VALUE);
    env["MISSING"] = "here-it-is-now";
    expect((await review.check("secret://env/MISSING")).last).toEqual({ at: clock.now() });
    await expect(review.check("secret://env/OTHER")).rejects.toThrow("does not refer to");
  });
});
