import { describe, expect, it } from "vitest";
import { Shares } from "../../src/util/shares.ts";

describe("Shares", () => {
  it("one gets a quarter, and another one still has theirs", () => {
    const shares = new Shares(8);
    expect(["a", "a", "a", "b"].map((who) => shares.take(who))).toEqual([
      undefined,
      undefined,
      "own",
      undefined,
    ]);
  });

  it("all together get what there is", () => {
    const shares = new Shares(3, 2);
    expect([shares.take("a", 2), shares.take("b", 2), shares.take("b")]).toEqual([
      undefined,
      "all",
      undefined,
    ]);
  });

  it("what was given back can be taken again", () => {
    const shares = new Shares(4);
    shares.take("a");
    shares.giveBack("a");
    expect(shares.take("a")).toBe(undefined);
  });

  it("nobody is left without anything", () => {
    expect(new Shares(2).each).toBe(1);
  });
});
