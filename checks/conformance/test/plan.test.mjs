import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pickRuns, planRuns } from "../lib/plan.mjs";
import { readRequired, readScenarios } from "../lib/suite.mjs";

const REVISIONS = ["2025-11-25", "2026-07-28"];

describe("what the suite lists", () => {
  it("is read with the versions of each scenario", () => {
    const text =
      "Client scenarios (test against a client):\n" +
      "  - tools_call [2025-06-18,2025-11-25,2026-07-28]\n" +
      "  - auth/dpop [extension]\n";
    assert.deepEqual(readScenarios(text), [
      { name: "tools_call", versions: ["2025-06-18", "2025-11-25", "2026-07-28"] },
      { name: "auth/dpop", versions: ["extension"] },
    ]);
  });

  it("is required where it is scored, for each role apart", () => {
    const text =
      "Server scenarios (test against a server):\n  - tools-list\n\n" +
      "Client scenarios (test against a client):\n  - tools_call\n  - auth/basic-cimd\n\n" +
      "Run and reported, but never scored:\n  extension (1):\n    - auth/dpop [client]\n";
    assert.deepEqual(readRequired("client", text), ["tools_call", "auth/basic-cimd"]);
    assert.deepEqual(readRequired("server", text), ["tools-list"]);
  });
});

describe("a plan", () => {
  for (const { title, versions, runs } of [
    {
      title: "runs a scenario once for each revision it applies to",
      versions: ["2025-06-18", "2025-11-25", "2026-07-28"],
      runs: ["2025-11-25", "2026-07-28"],
    },
    {
      title: "runs one that only older versions have at the newest of those",
      versions: ["2025-03-26", "2025-06-18"],
      runs: ["2025-06-18"],
    },
    { title: "runs an extension once", versions: ["extension"], runs: ["extension"] },
  ]) {
    it(title, () => {
      const planned = planRuns([{ name: "one", versions }], REVISIONS);
      assert.deepEqual(
        planned,
        runs.map((version) => ({ scenario: "one", version })),
      );
    });
  }

  it("can be narrowed, but not to nothing", () => {
    const runs = [
      { scenario: "one", version: "2025-11-25" },
      { scenario: "one", version: "2026-07-28" },
      { scenario: "two", version: "2026-07-28" },
    ];
    assert.deepEqual(pickRuns(runs, {}), runs);
    assert.deepEqual(pickRuns(runs, { scenario: "one" }), runs.slice(0, 2));
    assert.deepEqual(pickRuns(runs, { version: "2026-07-28" }), runs.slice(1));
    assert.throws(() => pickRuns(runs, { scenario: "three" }), /no scenario three/);
  });
});
