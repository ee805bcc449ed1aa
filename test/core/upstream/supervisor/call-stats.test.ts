import { describe, expect, it } from "vitest";
import { CallStats } from "../../../../src/core/upstream/supervisor/call-stats.ts";

describe("CallStats", () => {
  it("starts at zero", () => {
    expect(new CallStats().snapshot()).toEqual({ total: 0, failed: 0, inFlight: 0 });
  });

  it("counts the calls that have ended, those that failed, and how long they waited for answers", () => {
    const stats = new CallStats();
    stats.ended({ durationMs: 10, waitedMs: 0, isError: false });
    stats.ended({ durationMs: 99_999, waitedMs: 60_000, isError: true });
    stats.inFlight = 1;
    expect(stats.snapshot()).toEqual({
      total: 2,
      failed: 1,
      inFlight: 1,
      latencyMs: 10,
      waitedMs: 60_000,
    });
  });

  it("takes a running mean of the latency, the newest call weighing a fifth", () => {
    const stats = new CallStats();
    const latency = [100, 200, 200].map((durationMs) => {
      stats.ended({ durationMs, waitedMs: 0, isError: false });
      return stats.snapshot().latencyMs;
    });
    expect(latency).toEqual([100, 120, 136]);
  });
});
