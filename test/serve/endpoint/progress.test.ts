// The progress of a call, and the heartbeat while the tool says nothing.

import { describe, expect, it } from "vitest";
import type { Exchange } from "../../../src/serve/endpoint/client.ts";
import { reportProgress } from "../../../src/serve/endpoint/progress.ts";
import { ManualClock } from "../../support/manual-clock.ts";

function begin(_meta: unknown) {
  const clock = new ManualClock();
  const sent: { progress: number; message?: string }[] = [];
  const exchange = {
    request: { id: 1, method: "tools/call", params: { _meta } },
    send: ({ params }: { params: (typeof sent)[number] }) => sent.push(params),
  } as unknown as Exchange;
  return { clock, sent, progress: reportProgress(exchange, clock) };
}

describe("progress", () => {
  it.each([
    undefined,
    {},
    { progressToken: {} },
    { progressToken: NaN },
    { progressToken: "t".repeat(1001) },
  ])("is not sent without a token that is one: case %#", (meta) => {
    const { progress, clock } = begin(meta);
    expect(progress).toBeUndefined();
    expect(clock.next()).toBeUndefined();
  });

  it("beats while the tool says nothing, growing, and starts anew with what the tool says", async () => {
    const { clock, sent, progress } = begin({ progressToken: "t" });
    await clock.advance(14_999);
    expect(sent).toEqual([]);
    await clock.advance(1);
    expect(sent).toEqual([{ progressToken: "t", progress: 0.001 }]);
    await clock.advance(10_000);
    progress?.onUpdate({ content: [], progress: { progress: 1, total: 4, message: "begun" } });
    await clock.advance(14_999);
    expect(sent.slice(1)).toEqual([
      { progressToken: "t", progress: 1, total: 4, message: "begun" },
    ]);
    await clock.advance(1);
    expect(sent[2]?.progress).toBeGreaterThan(1);
  });

  it("never goes back, whatever the tool says", () => {
    const { sent, progress } = begin({ progressToken: 7 });
    for (const each of [5, 3, 5, 6]) {
      progress?.onUpdate({ content: [], progress: { progress: each } });
    }
    const figures = sent.map((each) => each.progress);
    expect(figures).toEqual(figures.toSorted((a, b) => a - b));
    expect(new Set(figures).size).toBe(4);
  });

  it("has the words of a tool that counts nothing", () => {
    const { sent, progress } = begin({ progressToken: 7 });
    progress?.onUpdate({ content: [{ type: "text", text: "half way" }] });
    expect(sent).toEqual([{ progressToken: 7, progress: 0.001, message: "half way" }]);
  });

  it("goes on saying what the call waits for", async () => {
    const { clock, sent, progress } = begin({ progressToken: 7 });
    progress?.waiting("waits for approval");
    await clock.advance(15_000);
    expect(sent.map(({ message }) => message)).toEqual([
      "waits for approval",
      "waits for approval",
    ]);
  });

  it("ends with the call", async () => {
    const { clock, sent, progress } = begin({ progressToken: 7 });
    progress?.stop();
    await clock.advance(60_000);
    expect(sent).toEqual([]);
    expect(clock.next()).toBeUndefined();
  });
});
