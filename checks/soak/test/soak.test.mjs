import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HOSTILE } from "../lib/hostile.mjs";
import { answered, judgeHostile } from "../mix.mjs";
import { judge } from "../lib/client.mjs";
import { plan } from "../lib/plan.mjs";
import { judgeBeside, judgeReloads, judgeSoak, p99, tally } from "../lib/verdict.mjs";

const MB = 1_048_576;
const counted = { kind: "counted" };

describe("the plan", () => {
  it("has every kill and restart, spread over the calls", () => {
    const events = plan({ calls: 100_000, kills: 10, restarts: 3 });
    assert.equal(events.filter(({ what }) => what === "kill").length, 10);
    assert.deepEqual(
      events.flatMap(({ what }, index) => (what === "restart" ? [index] : [])),
      [4, 8, 12],
    );
    const after = events.map((event) => event.after);
    assert.deepEqual(
      after,
      [...after].sort((a, b) => a - b),
    );
    assert.ok(after[0] > 0 && after.at(-1) < 100_000);
  });
});

describe("the plan of reloads", () => {
  it("has nothing else, spread over the calls", () => {
    const events = plan({ calls: 1000, kills: 10, restarts: 3, reloads: 4 });
    assert.deepEqual(
      events.map(({ after, what }) => [after, what]),
      [200, 400, 600, 800].map((after) => [after, "reload"]),
    );
  });
});

describe("reloads", () => {
  for (const { kept, replaced, passed } of [
    { kept: ["1"], replaced: ["2", "3", "4"], passed: [true, true] },
    { kept: ["1", "5"], replaced: ["2", "3", "4"], passed: [false, true] },
    { kept: ["1"], replaced: ["2", "3"], passed: [true, false] },
  ]) {
    it(`with ${kept.length} and ${replaced.length} processes`, () => {
      const verdicts = judgeReloads({ reloads: 2, kept, replaced });
      assert.deepEqual(
        verdicts.map((each) => each.passed),
        passed,
      );
    });
  }
});

describe("an answer", () => {
  const json = (message, status = 200) => ({
    status,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 7, ...message }),
  });
  const text = (value, isError) => ({
    result: { content: [{ type: "text", text: value }], isError },
  });
  for (const { name, given, kind } of [
    {
      name: "with the call's own number is a result",
      given: json(text("counted 7")),
      kind: "counted",
    },
    { name: "with another number is wrong", given: json(text("counted 8")), kind: "wrong" },
    {
      name: "to another request is wrong",
      given: json({ id: 8, ...text("counted 7") }),
      kind: "wrong",
    },
    { name: "may be an error result", given: json(text("it ended", true)), kind: "error" },
    {
      name: "may be an error",
      given: json({ error: { code: -1, message: "no" } }, 503),
      kind: "error",
    },
    { name: "that says nothing is wrong", given: json(text("", true)), kind: "wrong" },
    {
      name: "may be a refusal in words",
      given: { status: 503, headers: { "content-type": "text/plain" }, body: "stopping" },
      kind: "error",
    },
    {
      name: "that the session is gone is wrong",
      given: { status: 404, headers: { "content-type": "text/plain" }, body: "no session" },
      kind: "wrong",
    },
    {
      name: "that came twice is wrong",
      given: {
        status: 200,
        headers: { "content-type": "text/event-stream" },
        body: `data: ${json(text("counted 7")).body}\n\n`.repeat(2),
      },
      kind: "wrong",
    },
  ]) {
    it(name, () => assert.equal(judge(given, 7).kind, kind));
  }
});

describe("the verdict", () => {
  const good = {
    calls: 3,
    outcomes: new Map([
      [1, counted],
      [2, { kind: "error", text: "the server ended; the call may have run" }],
      [3, { kind: "error", text: "the server starts again in 2 s" }],
    ]),
    executed: [1, 2],
    memory: { before: 100 * MB, after: 119 * MB },
    brokenIsError: false,
  };
  const failing = (soak) =>
    judgeSoak({ ...good, ...soak }).flatMap(({ claim, passed }) => (passed ? [] : [claim]));
  const withOutcome = (number, outcome) => new Map([...good.outcomes, [number, outcome]]);

  it("is good where every call has one answer and ran at most once", () => {
    assert.deepEqual(failing({}), []);
  });

  for (const { name, soak, claim } of [
    { name: "a call without an answer", soak: { calls: 4 }, claim: /are answered/ },
    { name: "a call that ran twice", soak: { executed: [1, 2, 2] }, claim: /runs twice/ },
    { name: "a result without a run", soak: { executed: [2] }, claim: /has run/ },
    { name: "an error that hides a run", soak: { executed: [1, 2, 3] }, claim: /says that it may/ },
    { name: "more memory", soak: { memory: { before: MB, after: 2 * MB } }, claim: /memory/ },
    {
      name: "a broken connection",
      soak: { outcomes: withOutcome(3, { kind: "broken", text: "reset" }) },
      claim: /are answered/,
    },
  ]) {
    it(`tells of ${name}`, () => {
      const claims = failing(soak);
      assert.equal(claims.length, 1);
      assert.match(claims[0], claim);
    });
  }

  it("tells of a session that was lost", () => {
    const outcomes = withOutcome(3, { kind: "wrong", text: "HTTP 404: no such session" });
    assert.ok(failing({ outcomes }).some((claim) => /sessions go on/.test(claim)));
  });

  it("takes a broken connection for an error where the gateway was killed", () => {
    const outcomes = withOutcome(3, { kind: "broken", text: "reset" });
    assert.deepEqual(failing({ outcomes, brokenIsError: true }), []);
  });
});

describe("the tally", () => {
  it("puts errors together that differ in their numbers alone", () => {
    const outcomes = new Map([
      [1, counted],
      [2, { kind: "error", text: "call 2 failed" }],
      [3, { kind: "error", text: "call 3 failed" }],
    ]);
    assert.deepEqual(tally(outcomes), [
      ["error: call … failed", 2],
      ["counted", 1],
    ]);
  });
});

describe("hostile clients", () => {
  const refused = new Map(
    Object.entries(HOSTILE).map(([name, { allowed }]) => [name, new Map([[allowed[0], 3]])]),
  );
  const failed = (attempts) => judgeHostile(attempts).filter(({ passed }) => !passed);

  it("may all be refused", () => {
    assert.deepEqual(failed(refused), []);
  });

  it("must get no result", () => {
    const attempts = new Map(refused).set("wrong token", new Map([["200", 1]]));
    assert.match(failed(attempts)[0].claim, /wrong token/);
  });

  it("must have tried", () => {
    const attempts = new Map(refused).set("huge body", new Map());
    assert.equal(failed(attempts)[0].because, "none was made");
  });
});

describe("a call of the mix", () => {
  it("has no answer where nobody listens, which is no clear error", () => {
    assert.equal(answered({ kind: "unsent" }).kind, "broken");
    assert.equal(answered(counted), counted);
  });
});

describe("beside a greedy client", () => {
  const calm = { quiet: [2], beside: [6], lag: { quiet: 11, beside: 50 }, failed: 0 };
  const passed = (given) => judgeBeside({ ...calm, ...given }).map((each) => each.passed);

  it("the good one may be slower, and the loop later, up to a bound", () => {
    assert.deepEqual(passed({}), [true, true, true]);
    assert.deepEqual(passed({ failed: 1 }), [false, true, true]);
    assert.deepEqual(passed({ beside: [6.1] }), [true, false, true]);
    assert.deepEqual(passed({ lag: { quiet: 11, beside: 51 } }), [true, true, false]);
  });

  it("the slowest of a hundred calls is the p99", () => {
    assert.equal(p99(Array.from({ length: 100 }, (_, at) => at)), 99);
  });
});
