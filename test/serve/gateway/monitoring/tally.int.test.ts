import { expect, it } from "vitest";
import { percentiles, Tally } from "../../../../src/serve/gateway/monitoring/tally.ts";
import type { CallEvent } from "../../../../src/core/types/events.ts";
import { closeBoards, fixture, open, statusOf } from "../../../support/boards.ts";
import { MovableClock } from "../../../support/movable-clock.ts";

closeBoards();

const MINUTES = 180_000;
const QUESTION = { method: "elicitation/create", params: { message: "Which?", mode: "form" } };
const schema = { type: "object", properties: {} };
const asked = { ...QUESTION, params: { ...QUESTION.params, requestedSchema: schema } };

it("counts the calls of a server as its status does, and no time in which people think", async () => {
  const clock = new MovableClock();
  const board = await open(
    {
      echo: { ...fixture("echo"), approval: { tools: { add: "ask" } }, tools: { deny: ["sleep"] } },
      legacy: fixture("asks"),
      modern: fixture("asks-modern"),
    },
    {
      clock,
      onApproval: async () => {
        clock.forward(MINUTES);
        return "once" as const;
      },
      onElicitation: async () => {
        clock.forward(MINUTES);
        return { action: "decline" as const };
      },
    },
  );
  const tally = new Tally();
  tally.watch("default", board, () => true);
  const ended: CallEvent[] = [];
  board.on("call", (event) => ended.push(event));
  await board.call("echo/fail");
  await board.call("echo/sleep", { ms: 1 });
  await board.call("echo/add", { a: 1, b: 2 });
  await board.call("echo/echo", { text: "x" });
  await board.call("legacy/ask", asked);
  await board.call("modern/ask", { inputRequests: { a: asked } });

  for (const [server, total, failed, hasWaited] of [
    ["echo", 4, 2, true],
    ["legacy", 1, 0, true],
    ["modern", 1, 0, true],
  ] as const) {
    const { calls } = statusOf(board, server);
    expect({ server, ...calls }).toMatchObject({ total, failed, inFlight: 0 });
    const tools = tally.tools.filter((tool) => tool.server === server);
    const sum = (of: (tool: (typeof tools)[number]) => number): number =>
      tools.reduce((all, tool) => all + of(tool), 0);
    expect(sum((tool) => tool.calls)).toBe(total);
    expect(sum(({ errors }) => [...errors.values()].reduce((all, count) => all + count, 0))).toBe(
      failed,
    );
    expect((calls.waitedMs ?? 0) >= MINUTES).toBe(hasWaited);
    expect(calls.latencyMs).toBeLessThan(MINUTES);
    for (const { durations } of tools) expect(percentiles(durations).p95).toBeLessThan(MINUTES);
  }
  expect(ended.map(({ waitedMs = 0 }) => Math.round(waitedMs / MINUTES))).toEqual([
    0, 0, 1, 0, 1, 1,
  ]);
});
