import { describe, expect, it } from "vitest";
import { CallStats } from "../../../../src/core/upstream/supervisor/call-stats.ts";

describe("CallStats", () => {
  it("starts at zero", () => {
    expect(new CallStats().snapshot()).toEqual({ total: 0, failed: 0, inFlight: 0 });
  });

  it("counts calls, those under way and those that failed", () => {
    const stats = new CallStats();
    stats.started();
    stats.started();
    stats.started();
    expect(stats.inFlight).toBe(3);
    stats.ended(10, false);
    stats.ended(99_999, true);
    expect(stats.inFlight).toBe(1);
    expect(stats.snapshot()).toEqual({ total: 3, failed: 1, inFlight: 1, latencyMs: 10 });
  });

  it("takes a running mean of the latency, the newest call weighing a fifth", () => {
    const stats = new CallStats();
    const latency = [100, 200, 200].map((ms) => {
      stats.started();
      stats.ended(ms, false);
      return stats.snapshot().latencyMs;
    });
    expect(latency).toEqual([100, 120, 136]);
  });
});
