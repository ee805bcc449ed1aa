import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withResults } from "../lib/report.mjs";

const facts = {
  date: "2026-11-16",
  openclaw: "2026.9.6",
  acpx: "0.19.1",
  openclawNode: "24.21.0",
  plugboard: "0.1.0",
  node: "20.20.2",
  cores: 2,
  memory: 23,
};
const outcomes = [
  { name: "one", note: "10 processes" },
  { name: "two", reason: "    no" },
];

describe("the results in the page", () => {
  it("replace the ones before, and nothing else", () => {
    const page = "# OpenClaw\n\n<!-- results -->\n\nold\n\n<!-- /results -->\n\nMore.\n";
    const text = withResults(page, { outcomes, facts });
    assert.match(text, /^# OpenClaw\n\n<!-- results -->\n/);
    assert.doesNotMatch(text, /old/);
    assert.match(text, /OpenClaw 2026\.9\.6 and acpx 0\.19\.1 on Node 24\.21\.0/);
    assert.match(text, /on Node 20\.20\.2, 2 cores, 23 GB of memory/);
    assert.match(text, /^\| one {3}\| passed \|$/m);
    assert.match(text, /^\| two {3}\| failed \|$/m);
    assert.match(text, /^- 10 processes\n\n<!-- \/results -->\n\nMore\.\n$/m);
    assert.equal(withResults(text, { outcomes, facts }), text);
  });

  it("need their place", () => {
    assert.throws(() => withResults("# OpenClaw\n", { outcomes, facts }), /<!-- results -->/);
  });
});
