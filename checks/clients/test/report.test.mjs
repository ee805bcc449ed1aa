import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withResults } from "../lib/report.mjs";

const facts = {
  date: "2026-11-16",
  plugboard: "0.1.0",
  node: "20.20.2",
  cores: 2,
  claude: "2.1.197",
  codex: "0.166.0",
  gemini: "0.61.0",
  clientNode: "24.21.0",
};

describe("the results", () => {
  it("replace the last part of the page", () => {
    const outcomes = [{ name: "one" }, { name: "three", reason: "    no" }];
    const text = withResults("# How\n\nSo.\n\n## Tested with\n\nold\n", { outcomes, facts });
    assert.match(text, /^# How\n\nSo\.\n\n## Tested with\n\nThe real clients/);
    assert.match(
      text,
      /Claude Code 2\.1\.197, Gemini CLI 0\.61\.0, Codex 0\.166\.0 on Node 24\.21\.0/,
    );
    assert.match(text, /^\| one {3}\| passed \|$/m);
    assert.match(text, /^\| three \| failed \|$/m);
    assert.doesNotMatch(text, /old/);
    assert.equal(withResults(text, { outcomes, facts }), text);
  });

  it("do not go into a page without a place for them", () => {
    assert.throws(() => withResults("# How\n", { outcomes: [], facts }), /no "## Tested with"/);
  });
});
