import { describe, expect, it } from "vitest";
import { IdRing } from "../../src/util/id-ring.ts";

interface Entry {
  id: number;
}

/** Far more than the ring has places. */
const MANY = 5000;
const FIRST = 100_000_000;

function ringOf(count: number): IdRing<Entry> {
  const ring = new IdRing<Entry>();
  for (let id = FIRST; id < FIRST + count; id += 1) ring.add({ id });
  return ring;
}

describe("a ring of ids", () => {
  it("has what was added until it is taken", () => {
    const ring = ringOf(2);
    expect([ring.size, ring.get(FIRST), ring.get(FIRST + 2)]).toEqual([
      2,
      { id: FIRST },
      undefined,
    ]);
    expect([ring.take(FIRST), ring.take(FIRST)]).toEqual([{ id: FIRST }, undefined]);
    expect([ring.size, ring.get(FIRST), ring.all()]).toEqual([1, undefined, [{ id: FIRST + 1 }]]);
  });

  it("keeps an entry that stays while all places are used again", () => {
    const ring = ringOf(1);
    for (let id = FIRST + 1; id < FIRST + MANY; id += 1) {
      ring.add({ id });
      expect(ring.take(id)).toEqual({ id });
    }
    expect([ring.size, ring.all()]).toEqual([1, [{ id: FIRST }]]);
    expect([ring.take(FIRST), ring.size]).toEqual([{ id: FIRST }, 0]);
  });

  it("holds more than it has places, and lists them by id", () => {
    const ring = ringOf(MANY);
    const ids = Array.from({ length: MANY }, (_, index) => FIRST + index);
    expect([ring.size, ring.all().map(({ id }) => id)]).toEqual([MANY, ids]);
    expect(ids.filter((id) => ring.take(id)?.id !== id)).toEqual([]);
    expect([ring.size, ring.all()]).toEqual([0, []]);
  });

  it.each([Number.NaN, -1, 0.5, FIRST + 0.5])("has nothing under %s", (id) => {
    const ring = ringOf(MANY);
    expect([ring.get(id), ring.take(id), ring.size]).toEqual([undefined, undefined, MANY]);
  });
});
