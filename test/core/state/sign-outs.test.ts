import { expect, it } from "vitest";
import { EVERYBODY, signOutsIn, untilIn, withSignOut } from "../../../src/core/state/sign-outs.ts";

it("counts the last sign-out of somebody or of everybody, and keeps what still says something", () => {
  const both = withSignOut(withSignOut(new Map(), "ann", 1000), "ben", 3000);
  const all = withSignOut(both, EVERYBODY, 2000);
  expect([...all.keys()].toSorted()).toEqual([EVERYBODY, "ben"]);
  expect(["ann", "ben"].map((who) => untilIn(all, who))).toEqual([32_000, 33_000]);
  expect(untilIn(both, "eve")).toBe(-Infinity);
  expect(withSignOut(both, "ben", 1).get("ben")).toBe(3000);
  expect(signOutsIn({ ann: 5, ben: "5" })).toEqual(new Map([["ann", 5]]));
});
