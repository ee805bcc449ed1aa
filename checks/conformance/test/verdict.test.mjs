import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compare, judge } from "../lib/verdict.mjs";

const check = (id, status, errorMessage) => ({
  id,
  status,
  description: `about ${id}`,
  errorMessage,
});
const result = (checks, rest) => ({ exitCode: 0, clientErrors: "", log: "", checks, ...rest });

describe("a run", () => {
  for (const { title, given, state, reason } of [
    {
      title: "passes when every check that counts is a success",
      given: result([check("a", "SUCCESS"), check("b", "INFO"), check("c", "SKIPPED")]),
      state: "passed 1/1",
    },
    {
      title: "fails by one failure",
      given: result([check("a", "SUCCESS"), check("b", "FAILURE", "broken\nin detail")]),
      state: "failed 1/2",
      reason: ["b: broken"],
    },
    {
      title: "fails by a warning, told once however often it was given",
      given: result([check("a", "WARNING"), check("a", "WARNING")]),
      state: "failed 0/2",
      reason: ["a: about a"],
    },
    {
      title: "fails when the suite objects to nothing but the client's end",
      given: result([check("a", "SUCCESS")], { exitCode: 1, clientErrors: "one\ntwo\n" }),
      state: "failed 1/1",
      reason: ["the run failed", "the client said: two"],
    },
    {
      title: "passes with an error of the client's that the suite allows",
      given: result([check("a", "SUCCESS")], { clientErrors: "refused\n" }),
      state: "passed 1/1",
    },
    {
      title: "fails when there is no result",
      given: result(undefined, { exitCode: 1, log: "Unknown scenario\n" }),
      state: "failed 0/0",
      reason: ["no result: Unknown scenario"],
    },
    {
      title: "is untested when only the form of the messages was looked at",
      given: result([check("a", "SKIPPED", "never used"), check("wire-schema-valid", "SUCCESS")]),
      state: "untested 1/1",
      reason: ["a: never used"],
    },
  ]) {
    it(title, () => {
      const verdict = judge(given);
      assert.equal(`${verdict.state} ${verdict.passed}/${verdict.total}`, state);
      assert.deepEqual(verdict.reason, reason);
    });
  }
});

describe("the comparison with what is expected", () => {
  const run = (scenario, state) => ({ scenario, version: "2026-07-28", state });
  const expected = { known: { "2026-07-28": "not built" } };
  const none = { unexpected: [], stale: [], unknown: [] };
  const good = run("good", "passed");

  for (const { title, outcomes, differs } of [
    { title: "accepts a failure with a reason", outcomes: [run("known", "failed")], differs: {} },
    { title: "accepts the untested alike", outcomes: [run("known", "untested")], differs: {} },
    {
      title: "tells of a failure without one",
      outcomes: [run("known", "failed"), run("bad", "failed")],
      differs: { unexpected: [run("bad", "failed")] },
    },
    {
      title: "tells of a reason that no longer holds",
      outcomes: [run("known", "passed")],
      differs: { stale: [run("known", "passed")] },
    },
    {
      title: "tells of an entry that the suite does not have",
      outcomes: [],
      differs: { unknown: [{ scenario: "known", version: "2026-07-28" }] },
    },
  ]) {
    it(title, () => {
      const all = [good, ...outcomes];
      assert.deepEqual(compare(all, expected, all), { ...none, ...differs });
    });
  }

  it("says nothing of an entry that was left out of this run", () => {
    assert.deepEqual(compare([good], expected, [good, run("known", "failed")]), none);
  });
});
