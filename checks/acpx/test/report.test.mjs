import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { page } from "../lib/report.mjs";

const facts = {
  date: "2026-11-15",
  acpx: "0.19.1",
  acpxNode: "24.21.0",
  plugboard: "0.1.0",
  node: "20.20.2",
  cores: 2,
};

describe("a report", () => {
  it("has a line for each check, and what it ran with", () => {
    const outcomes = [{ name: "one | two" }, { name: "three", reason: "    no" }];
    const text = page({ outcomes, facts });
    assert.match(
      text,
      /acpx 0\.19\.1 on Node 24\.21\.0, Plugboard 0\.1\.0 on Node 20\.20\.2, 2 cores/,
    );
    assert.match(text, /^\| one \\\| two \| passed \|$/m);
    assert.match(text, /^\| three {6}\| failed \|$/m);
  });
});
