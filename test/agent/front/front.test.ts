import { expect, it } from "vitest";
import { ManualClock } from "../../support/manual-clock.ts";
import { settled, startFront } from "./memory-front.ts";

it.each([
  ["ignores the servers of a session", false],
  ["ignores the file that was made for it", true],
])("an agent that %s: the client is told why its tools are missing", async (_, isPerSession) => {
  const clock = new ManualClock();
  const front = await startFront({ isPerSession, clock });
  // A board without servers has nothing to miss.
  const sessionId = await front.newSession([
    { type: "http", name: "docs", url: "http://127.0.0.1:9/mcp", headers: [] },
  ]);
  const before = front.lines.length;
  await clock.advance(10_000);
  await settled();
  const prompt = [{ type: "text", text: "hi" }];
  await front.request("session/prompt", { sessionId, prompt });
  const said = front.lines.slice(before).join("\n");
  expect(said).toContain("agent has not connected to its board after 10 s");
  expect(said).toContain(sessionId);
});
