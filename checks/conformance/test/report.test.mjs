import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { evidence, textTable, totals } from "../lib/report.mjs";

const expected = { three: { extension: "not built <yet>" } };
const required = { "2025-11-25": ["one"], "2026-07-28": ["one", "two"] };
const outcomes = [
  { scenario: "one", version: "2025-11-25", state: "passed", passed: 2, total: 2 },
  { scenario: "one", version: "2026-07-28", state: "passed", passed: 3, total: 3 },
  {
    scenario: "two",
    version: "2026-07-28",
    state: "failed",
    passed: 1,
    total: 2,
    reason: ["a|b", "c"],
  },
  {
    scenario: "three",
    version: "extension",
    state: "untested",
    passed: 0,
    total: 0,
    reason: ["x"],
  },
];
const head = "Last run: today.";

describe("a report", () => {
  it("gives the terminal a line for each run and the reasons below", () => {
    assert.equal(
      textTable(outcomes, expected),
      "  one    2025-11-25  passed 2/2\n" +
        "  one    2026-07-28  passed 3/3\n" +
        "  two    2026-07-28  failed 1/2\n      a|b\n      c\n" +
        "  three  extension   untested (expected)\n      not built <yet>\n",
    );
  });

  it("counts what is required apart from all", () => {
    assert.deepEqual(totals(outcomes, required), [
      { what: "required for 2025-11-25", passed: 1, total: 1 },
      { what: "required for 2026-07-28", passed: 1, total: 2 },
      { what: "all runs", passed: 2, total: 4 },
    ]);
  });

  it("gives the docs its tables", () => {
    const text = evidence({ outcomes, expected, required, head });
    const lines = new Set(text.split("\n").map((line) => line.replace(/ {2,}/g, " ")));
    for (const line of [
      "| required for 2026-07-28 | 1 of 2 |",
      "| `one` | **passed 2/2** | **passed 3/3** | – |",
      "| `two` | – | **failed 1/2** | – |",
      "| `three` | – | – | extension: untested |",
      "| `two` | 2026-07-28 | failed | unexpected: a\\|b; c |",
      "| `three` | extension | untested | not built &lt;yet> |",
    ]) {
      assert.ok(lines.has(line), line);
    }
    assert.match(text, /^Last run: today\.\n\n\|/);
  });

  it("aligns the tables", () => {
    const text = evidence({ outcomes, expected, required, head });
    assert.ok(
      text.includes(
        "|                         | passed |\n" +
          "| ----------------------- | ------ |\n" +
          "| required for 2025-11-25 | 1 of 1 |\n",
      ),
    );
  });

  it("says so when nothing is left to pass", () => {
    const text = evidence({ outcomes: outcomes.slice(0, 2), expected, required, head });
    assert.match(text, /What does not pass:\n\nNothing\./);
  });
});
