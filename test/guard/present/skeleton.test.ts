import { expect, it } from "vitest";
import { findForged } from "../../../src/guard/present/neutralise.ts";
import { skeletonOf } from "../../../src/guard/present/skeleton.ts";

it("finds the name with every character that reads as an x", () => {
  const missed: string[] = [];
  let found = 0;
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const char = String.fromCodePoint(code);
    // As it is, and as a soft letter.
    if (!["x", "X", "ø", "Ø"].includes(String.fromCharCode(skeletonOf(char)[0] ?? 0))) continue;
    found += 1;
    if (findForged(`<E${char}TERNAL_UNTRUSTED_CONTENT>`).length === 0) missed.push(char);
  }
  expect(missed).toEqual([]);
  expect(found).toBeGreaterThan(60);
});
