// The measuring itself, with the real server and the hand-written client in real processes.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { open as openBare } from "../clients/bare.mjs";
import { open as openHandWritten } from "../clients/hand-written.mjs";
import { compare } from "../lib/compare.mjs";
import { run } from "../lib/processes.mjs";
import { startWorker } from "../lib/worker-process.mjs";
import { echo } from "../measure/echo.mjs";
import { prepare as prepareBig } from "../measure/big.mjs";
import { prepare as prepareStart } from "../measure/start.mjs";
import { scenarios, sized } from "../scenarios.mjs";

const WORKER = fileURLToPath(new URL("../worker.mjs", import.meta.url));
const SERVER = fileURLToPath(new URL("../server.mjs", import.meta.url));
const runtime = { path: process.execPath };
const handWritten = { name: "hand-written" };
const unknown = { name: "nobody" };

const serve = (options = []) => [process.execPath, [SERVER, ...options]];
const quick = (name) =>
  sized(
    scenarios.find((one) => one.name === name),
    true,
  );

describe("a measure", () => {
  it("of big results checks their size", async () => {
    const scenario = { bytes: 100_000, callsPerRound: 2 };
    const measure = await prepareBig({ open: openBare, serve, scenario });
    const { ms, peakRss } = await measure.sample();
    await measure.close();
    assert.ok(ms > 0 && peakRss > 0);

    const tooShort = async (command, args) => {
      const client = await openBare(command, args);
      return { ...client, text: (result) => client.text(result).slice(1) };
    };
    const open = [];
    const kept = async (...server) => {
      open.push(await tooShort(...server));
      return open[0];
    };
    await assert.rejects(prepareBig({ open: kept, serve, scenario }), /expected 100000 bytes/);
    await open[0].close();
  });

  it("of a start counts every server's tools", async () => {
    const scenario = { servers: 3, stepMs: 20 };
    const measure = await prepareStart({ open: openHandWritten, serve, scenario });
    const { all, alone, ratio } = await measure.sample();
    await measure.close();
    assert.equal(ratio, all / alone);

    const openAll = async () => ({ tools: 1, close: async () => {} });
    const lacking = await prepareStart({ open: openHandWritten, openAll, serve, scenario });
    await assert.rejects(lacking.sample(), /expected 2 tools, found 1/);
  });

  it("does not take a wrong answer for a fast one", async () => {
    const client = { call: async () => "the server is down", text: (result) => result };
    await assert.rejects(echo(client, 7), /sent "message 7", received "the server is down"/);
  });

  it("fails where the server refuses", async () => {
    const client = await openHandWritten(...serve());
    await assert.rejects(client.call("nothing", {}), /No tool nothing/);
    await client.close();
  });
});

describe("a worker", () => {
  it("runs alone and prints the medians", async () => {
    const args = [WORKER, "hand-written", "sequential", "--quick"];
    const { code, stdout } = await run(process.execPath, args, { timeLimit: 60 });
    assert.equal(code, 0);
    assert.deepEqual(Object.keys(JSON.parse(stdout)), ["p50", "p99"]);
  });

  it("says how it is used", async () => {
    const { code, stderr } = await run(process.execPath, [WORKER, "nobody"], { timeLimit: 60 });
    assert.equal(code, 2);
    assert.match(stderr, /^usage: node bench\/worker\.mjs <bare\|hand-written/);
  });

  it("that is too slow is ended, and says so at every further step", async () => {
    const scenario = { ...quick("start"), timeLimit: 1 };
    const worker = startWorker({ runtime, contender: handWritten, scenario, quick: true });
    assert.equal((await worker.prepare()).failure, undefined);
    assert.equal((await worker.sample()).failure, "no answer in 1 s");
    assert.equal((await worker.sample()).failure, "no answer in 1 s");
    await worker.close();
  });

  it("whose process cannot be started is a failure, not an exception", async () => {
    const scenario = quick("start");
    const missing = { path: `${process.execPath}-missing` };
    const worker = startWorker({ runtime: missing, contender: handWritten, scenario });
    assert.match((await worker.prepare()).failure, /ENOENT/);
    await worker.close();
  });
});

describe("compare", () => {
  for (const together of [true, false]) {
    it(`takes every round of who can, ${together ? "together" : "apart"}`, async () => {
      const scenario = { ...quick("concurrent"), rounds: 2, together };
      const contenders = [unknown, handWritten];
      const entries = await compare({ scenario, contenders, runtime, quick: true });
      assert.match(entries[0].failure, /ended with 2/);
      assert.deepEqual(entries[0].samples, []);
      assert.equal(entries[1].failure, undefined);
      assert.equal(entries[1].samples.length, 2);
      assert.ok(entries[1].samples.every(({ callsPerSecond }) => callsPerSecond > 0));
    });
  }
});
