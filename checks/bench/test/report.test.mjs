// From samples to verdicts and text, with figures made up so that every result is known.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { contenders } from "../contenders.mjs";
import { summarise } from "../lib/summary.mjs";
import { commandTable, contenderTable, verdictLine } from "../lib/tables.mjs";
import { judge } from "../lib/verdicts.mjs";
import { scenarios } from "../scenarios.mjs";

const node20 = { version: "20.20.2" };

function scenario(name) {
  return scenarios.find((one) => one.name === name);
}

/** A contender's samples, or the reason why it has none. */
function entry(name, outcome) {
  const contender = contenders.find((one) => one.name === name);
  if (typeof outcome === "string") return { contender, samples: [], failure: outcome };
  return { contender, samples: outcome, failure: undefined };
}

function rowsOf(name, outcomes) {
  const entries = Object.entries(outcomes).map(([who, outcome]) => entry(who, outcome));
  return summarise(scenario(name), entries, node20);
}

const p50s = (...values) => values.map((p50) => ({ p50, p99: 2 * p50 }));
const rates = (...values) => values.map((callsPerSecond) => ({ callsPerSecond, cpuPerCall: 5 }));
const sizes = (ms) => [{ ms, peakRss: 100 }];

describe("summarise", () => {
  it("compares round by round, so that a slow moment of all does not count", () => {
    const rows = rowsOf("sequential", {
      "hand-written": p50s(20, 200, 24),
      plugboard: p50s(30, 300, 36),
      "sdk-v1": p50s(60, 600, 72),
      mcporter: p50s(90, 900, 108),
    });
    const own = rows.find(({ name }) => name === "plugboard");
    assert.equal(own.figures.p50, 36);
    assert.equal(own.toBestPeer, 0.5);
    assert.equal(own.toLimit, 1.5);
  });

  it("holds against each peer, not against the one that looks best over all rounds", () => {
    const rows = rowsOf("sequential", {
      plugboard: p50s(20, 20, 20),
      "sdk-v1": p50s(10, 10, 400),
      "sdk-v2": p50s(40, 5, 40),
    });
    assert.equal(rows[0].toBestPeer, 2);
  });

  it("compares by the first round with one that had no second", () => {
    const rows = rowsOf("big-64", {
      bare: sizes(200),
      plugboard: sizes(300),
      "ai-sdk": sizes(30_000),
    });
    rows.forEach((row) => assert.ok(row.toBestPeer <= 1));
    const slow = summarise(
      scenario("big-64"),
      [entry("plugboard", [...sizes(300), ...sizes(9_000)]), entry("ai-sdk", sizes(30_000))],
      node20,
    );
    assert.equal(slow[0].toBestPeer, 0.01);
  });

  it("takes the largest as the best where more is better", () => {
    const rows = rowsOf("concurrent", {
      plugboard: rates(100_000),
      "sdk-v1": rates(50_000),
      "sdk-v2": rates(20_000),
    });
    assert.equal(rows[0].toBestPeer, 2);
    assert.equal(rows[0].toLimit, undefined);
  });

  it("does not compare with a peer that failed", () => {
    const rows = rowsOf("big-64", { bare: sizes(200), plugboard: sizes(300), "sdk-v1": "closed" });
    assert.equal(rows[1].toBestPeer, undefined);
    assert.equal(rows[1].toLimit, 1.5);
    assert.equal(rows[2].figures, undefined);
  });

  it("marks a peer that asks for a newer Node", () => {
    const rows = rowsOf("sequential", { mcporter: p50s(50), "sdk-v1": p50s(50) });
    assert.deepEqual(
      rows.map(({ needsNode }) => needsNode),
      [">=24", undefined],
    );
  });
});

describe("judge", () => {
  const loop = { "hand-written": p50s(40) };
  const peers = { ...loop, "sdk-v1": p50s(50) };
  const rivals = { "hand-written": rates(20), "sdk-v1": rates(15) };
  // One verdict beside the best peer, then one beside what the machine allows.
  const cases = [
    { name: "sequential", outcomes: { ...peers, plugboard: p50s(46) }, passed: [true, true] },
    { name: "sequential", outcomes: { ...peers, plugboard: p50s(47) }, passed: [true, false] },
    { name: "sequential", outcomes: { ...peers, plugboard: p50s(51) }, passed: [false, false] },
    { name: "sequential", outcomes: { ...loop, plugboard: p50s(46) }, passed: [undefined, true] },
    { name: "sequential", outcomes: { ...peers, plugboard: "crashed" }, passed: [false, false] },
    { name: "concurrent", outcomes: { ...rivals, plugboard: rates(16) }, passed: [true, true] },
    { name: "concurrent", outcomes: { ...rivals, plugboard: rates(15.9) }, passed: [true, false] },
    { name: "concurrent", outcomes: { ...rivals, plugboard: rates(14) }, passed: [false, false] },
    { name: "big-64", outcomes: { bare: sizes(100), plugboard: sizes(200) }, passed: [true] },
    { name: "big-64", outcomes: { bare: sizes(100), plugboard: sizes(201) }, passed: [false] },
    {
      name: "start",
      outcomes: { plugboard: [{ all: 13, alone: 10, ratio: 1.3 }] },
      passed: [true],
    },
    {
      name: "start",
      outcomes: { plugboard: [{ all: 14, alone: 10, ratio: 1.4 }] },
      passed: [false],
    },
  ];
  for (const { name, outcomes, passed } of cases) {
    it(`${name}: ${JSON.stringify(outcomes)} is ${passed.map(String).join(", ")}`, () => {
      const verdicts = judge(scenario(name), { rows: rowsOf(name, outcomes) });
      assert.deepEqual(
        verdicts.map((verdict) => verdict.passed),
        passed,
      );
    });
  }

  const figures = { empty: 40, version: 80, toolsPrinted: 300, tools: 499, toolsCold: 5_500 };
  const commands = [
    { name: "all in time", result: { figures }, passed: [true, true] },
    {
      name: "both too late",
      result: { figures: { ...figures, version: 81, tools: 500 } },
      passed: [false, false],
    },
    { name: "no figures", result: { failure: "exit 3" }, passed: [false, false] },
  ];
  for (const { name, result, passed } of commands) {
    it(`cli: ${name}`, () => {
      const verdicts = judge(scenario("cli"), result);
      assert.deepEqual(
        verdicts.map((verdict) => verdict.passed),
        passed,
      );
    });
  }

  for (const [ratio, passed] of [
    [0.9, true],
    [1, true],
    [1.01, false],
  ]) {
    it(`adhoc: ${ratio} x of mcporter's time is ${passed}`, () => {
      const [verdict] = judge(scenario("adhoc"), { figures: { ratio } });
      assert.equal(verdict.passed, passed);
    });
  }

  it("claims nothing for the other scenarios", () => {
    assert.deepEqual(judge(scenario("big-1"), { rows: [] }), []);
  });
});

describe("tables", () => {
  it("line up, shorten failures and explain the mark", () => {
    const rows = rowsOf("sequential", {
      "hand-written": p50s(20),
      plugboard: p50s(30),
      mcporter: `broken\n${"x".repeat(100)}`,
      "sdk-v2": p50s(60),
    });
    const text = contenderTable(scenario("sequential"), rows);
    assert.match(
      text,
      /^ {2}hand-written JSON-RPC loop +20\.0 +20\.0–20\.0 +40 +0\.33 x +1\.00 x$/m,
    );
    assert.match(text, /^ {2}mcporter \S+ \* +failed: broken$/m);
    assert.match(text, /\* mcporter asks for Node >=24/);
  });

  for (const { name, sample } of [
    { name: "concurrent", sample: rates(123_456)[0] },
    { name: "big-8", sample: sizes(26)[0] },
    { name: "start", sample: { all: 2_100, alone: 2_050, ratio: 1.02 } },
  ]) {
    it(`has every figure of ${name}`, () => {
      const text = contenderTable(scenario(name), rowsOf(name, { "sdk-v1": [sample] }));
      assert.doesNotMatch(text, /undefined|NaN/);
      assert.match(text, /MCP SDK v1 \S+ +\S/);
    });
  }

  it("say what the command line took, or why it is not known", () => {
    const figures = { empty: 40, version: 60, toolsPrinted: 100, tools: 120, toolsCold: 5_500 };
    assert.match(commandTable({ figures }), /plugboard --version +60 +1\.50 x/);
    assert.match(commandTable({ failure: "exit 3" }), /failed: exit 3/);
  });

  it("give a verdict in one line", () => {
    const verdict = { claim: "it holds", because: "0.50 x", node: "20.20.2" };
    assert.equal(
      verdictLine({ ...verdict, passed: true }),
      "  PASS  Node 20.20.2  it holds: 0.50 x",
    );
    assert.match(verdictLine({ ...verdict, passed: false }), /^ {2}FAIL/);
    assert.match(verdictLine({ ...verdict, passed: undefined }), /^ {2}----/);
  });
});
