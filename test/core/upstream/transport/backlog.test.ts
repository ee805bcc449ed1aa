import { describe, expect, it } from "vitest";
import { Backlog } from "../../../../src/core/upstream/transport/backlog.ts";

/** A backlog with room for so many requests. */
function setUp(initial = 0) {
  const sent: number[] = [];
  let room = initial;
  const backlog = new Backlog(() => sent.length < room);
  const add = (...ids: number[]): void => {
    for (const id of ids) backlog.add(id, () => sent.push(id));
  };
  const makeRoom = (total: number): void => {
    room = total;
    backlog.advance();
  };
  return { add, backlog, makeRoom, sent };
}

describe("a backlog", () => {
  it("is open while there is room and nobody waits: nothing overtakes what waits", () => {
    const { add, backlog, makeRoom } = setUp(1);
    expect(backlog.isOpen).toBe(true);
    add(1);
    expect(backlog.isOpen).toBe(false);
    makeRoom(2);
    expect(backlog.isOpen).toBe(true);
    makeRoom(1);
    expect(backlog.isOpen).toBe(false);
  });

  it("sends in order, as far as there is room", () => {
    const { add, makeRoom, sent } = setUp();
    add(5, 3, 4);
    makeRoom(2);
    expect(sent).toEqual([5, 3]);
    makeRoom(3);
    expect(sent).toEqual([5, 3, 4]);
  });

  it("forgets what is removed, and tells whether it was waiting", () => {
    const { add, backlog, makeRoom, sent } = setUp();
    add(1, 2, 3);
    expect(backlog.remove(2)).toBe(true);
    expect(backlog.remove(2)).toBe(false);
    makeRoom(1);
    expect(backlog.remove(1)).toBe(false);
    backlog.clear();
    makeRoom(9);
    expect(sent).toEqual([1]);
  });

  it("refuses what comes when 100 000 wait", () => {
    const { add, backlog } = setUp();
    add(...Array.from({ length: 100_000 }, (_, id) => id));
    expect(() => add(-1)).toThrow(
      expect.objectContaining({
        code: "SERVER_UNAVAILABLE",
        message:
          "the server does not keep up: 100000 requests wait to be sent; this one has not run",
      }),
    );
    expect(backlog.remove(99_999)).toBe(true);
    add(-1);
  });
});
