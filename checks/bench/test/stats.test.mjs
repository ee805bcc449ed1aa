import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { median, medians, percentile } from "../lib/stats.mjs";

describe("statistics", () => {
  it("median: the middle one, or the mean of the two in the middle", () => {
    assert.equal(median([30, 1, 2]), 2);
    assert.equal(median([10, 9, 2, 1]), 5.5);
  });

  it("percentile: one of the numbers, whatever their order", () => {
    const numbers = Array.from({ length: 100 }, (_, i) => 100 - i);
    assert.equal(percentile(numbers, 0.5), 50);
    assert.equal(percentile(numbers, 0.99), 99);
    assert.equal(percentile([7], 0.99), 7);
    assert.equal(percentile([7, 8], 0), 7);
  });

  it("medians: key by key", () => {
    const samples = [
      { a: 1, b: 10 },
      { a: 3, b: 30 },
      { a: 2, b: 20 },
    ];
    assert.deepEqual(medians(samples), { a: 2, b: 20 });
  });
});
