import { expect, it } from "vitest";
import { readingOf } from "../../../src/guard/present/lookalikes.ts";
import { findForged } from "../../../src/guard/present/neutralise.ts";

it("finds the name with every character that reads as an x", () => {
  const missed: string[] = [];
  let found = 0;
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const reading = readingOf(code).toLowerCase();
    if (!reading.includes("x")) continue;
    found += 1;
    const char = String.fromCodePoint(code);
    // A ligature says more than the x, so it may belong to no name.
    if (reading === "x" && findForged(`<E${char}TERNAL_UNTRUSTED_CONTENT>`).length === 0) {
      missed.push(char);
    }
  }
  expect(missed).toEqual([]);
  expect(found).toBeGreaterThan(60);
});
