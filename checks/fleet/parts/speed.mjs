// What more gateways and a shared state cost, or gain.

import { setTimeout as delay } from "node:timers/promises";
import { countOf, failuresIn, loadFor, median, sayFailures, startLoad } from "../lib/load.mjs";
import { atLeast, atMost, none } from "../lib/results.mjs";
import { countServer, openLanes } from "../lib/rig.mjs";

const EACH = 32;
/** After fewer calls, Node still compiles: a call costs a quarter more after 5,000 than after 15,000. */
const WARM_UP = 60_000;
const WARM_UP_MS = 90_000;
const ROUNDS = 3;
/** Until every line of the audit is sent, and the load to see how large they are. */
const SENT_MS = 2_000;
const STORED_MS = 3_000;

/** A tool that takes 50 ms, 32 calls in flight for each gateway. */
export async function latencyBound(rig, { seconds }) {
  const compared = await openCompared(rig, 50, [
    { count: 1 },
    { count: 2 },
    { count: 4 },
    { count: 4, isApart: true },
  ]);
  const [one, two, four, apart] = await compared.measure(seconds(7));
  const stored = await compared.stored(2);
  await compared.close();
  return [
    atLeast("calls a second with four, to those with one", four.rate / one.rate, 3.8),
    compared.none(),
    ...[one, two, four].map((each) => ({
      note: `${inWords(each)}, ${each.memory} MB of memory each`,
    })),
    { note: `four alone: ${(apart.rate / one.rate).toFixed(2)} times the calls a second` },
    { note: stored },
  ];
}

/**
 * A tool that answers at once, as fast as the gateways can. Four programs of this size on two cores empty each other's caches, whatever they
 * share, so four that serve together are compared with four that each serve alone: the same load, on the same cores.
 */
export async function cpuBound(rig, { seconds }) {
  const compared = await openCompared(rig, 0, [
    { count: 1 },
    { count: 4 },
    { count: 4, isApart: true },
  ]);
  const [one, four, apart] = await compared.measure(seconds(10));
  await compared.close();
  return [
    atLeast("calls a CPU second with four, to those with four alone", apart.cpu / four.cpu, 0.9),
    compared.none(),
    { note: `${inWords(four)}; alone: ${inWords(apart)}` },
    {
      note: `${inWords(one)}: with four together ${(one.cpu / four.cpu).toFixed(2)} times the calls a CPU second, with four alone ${(one.cpu / apart.cpu).toFixed(2)} times`,
    },
  ];
}

/**
 * So many gateways each, which wait side by side and are measured in turn. Of those that are apart, each has a database, limits and a
 * balancer of its own, as if it were the only one.
 */
async function openCompared(rig, toolMs, wanted) {
  const upstream = await rig.startUpstream();
  // The same server, so that a tool that takes its time need not be waited for until everything is compiled.
  const { count: quick } = countServer(upstream, 0);
  const servers = { ...countServer(upstream, toolMs), quick };
  const all = [];
  const lost = new Map();
  for (const { count, isApart = false, isTemplate = false } of wanted) {
    const sizes = isApart ? Array.from({ length: count }, () => 1) : [count];
    const fleets = [];
    const lanes = [];
    const first = [];
    for (const size of sizes) {
      const { database, shared } = await rig.newShared();
      const { fleet, haproxy } = isTemplate
        ? await rig.startTemplate({ count: size, servers, shared })
        : await startPlain(rig, { count: size, servers, shared });
      const given = { port: haproxy.port, token: fleet.token, count: EACH * size };
      lanes.push(...(await openLanes(given)));
      first.push(...(await openLanes({ ...given, server: "quick" })));
      fleets.push({ database, fleet, haproxy });
    }
    await warmUp(first, count);
    for (const lane of first) lane.close();
    all.push({ count, fleets, lanes });
  }
  return {
    /** Of each, the medians of the rounds: calls a second, and seconds of CPU a call, of its gateways together. */
    async measure(ms) {
      const found = all.map(() => ({ rates: [], cpu: [] }));
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [at, { fleets, lanes }] of all.entries()) {
          const cpu = () => fleets.reduce((sum, { fleet }) => sum + fleet.cpu(), 0);
          const before = cpu();
          const { outcomes, rate } = await loadFor(lanes, ms);
          found[at].cpu.push((cpu() - before) / outcomes.size);
          found[at].rates.push(rate);
          for (const [what, times] of failuresIn(outcomes)) {
            lost.set(what, (lost.get(what) ?? 0) + times);
          }
        }
      }
      return all.map(({ count, fleets }, at) => ({
        count,
        rate: median(found[at].rates),
        cpu: median(found[at].cpu),
        memory: Math.max(...fleets.map(({ fleet }) => fleet.memory())),
      }));
    },
    none: () => none("calls without a result", countOf(lost), sayFailures(lost)),
    /** What the audit of one of them takes in PostgreSQL, in words. */
    async stored(which) {
      const { fleets, lanes } = all[which];
      const postgres = await rig.postgres();
      const size = () =>
        postgres
          .sql(
            fleets[0].database,
            "select count(*), pg_total_relation_size('plugboard_audit') from plugboard_audit",
          )
          .join("")
          .split("|")
          .map(Number);
      await delay(SENT_MS);
      const before = size();
      const { outcomes } = await loadFor(lanes, STORED_MS);
      await delay(SENT_MS);
      const [rows, bytes] = size().map((each, at) => (each - before[at]) / outcomes.size);
      return `PostgreSQL has ${rows.toFixed(1)} rows and ${bytes.toFixed(0)} bytes more for each call, with its indexes`;
    },
    async close() {
      for (const { fleets, lanes } of all) {
        for (const lane of lanes) lane.close();
        for (const { fleet, haproxy } of fleets) {
          await haproxy.close();
          await fleet.close();
        }
      }
      await upstream.close();
    },
  };
}

async function startPlain(rig, given) {
  const fleet = await rig.startFleet(given);
  return { fleet, haproxy: await rig.startHaproxy(fleet, { isLogged: false }) };
}

function inWords({ count, rate, cpu }) {
  return `${rate.toFixed(0)} calls/s with ${count}, ${(cpu * 1e6).toFixed(0)} µs of CPU a call`;
}

/** What is compiled once is not measured: each gateway has so many calls first, or as many as it can in that time. */
async function warmUp(lanes, gateways) {
  const load = startLoad(lanes);
  const deadline = performance.now() + WARM_UP_MS;
  while (load.answered < WARM_UP * gateways && performance.now() < deadline) await delay(50);
  await load.stop();
}

/** As `plugboard deploy systemd --gateways` writes it: one, two and four on one machine, behind its HAProxy. */
export async function oneMachine(rig, { seconds }) {
  const counts = [1, 2, 4].map((count) => ({ count, isTemplate: true }));
  const results = [];
  for (const [toolMs, what] of [
    [50, "a tool of 50 ms"],
    [0, "a tool that answers at once"],
  ]) {
    const compared = await openCompared(rig, toolMs, counts);
    const [one, two, four] = await compared.measure(seconds(5));
    await compared.close();
    if (toolMs > 0) {
      results.push(atLeast("calls a second with two, to those with one", two.rate / one.rate, 1.9));
      results.push(atLeast("calls a second with four", four.rate / one.rate, 3.6));
    }
    results.push(
      compared.none(),
      ...[one, two, four].map((each) => ({
        note: `${what}: ${inWords(each)}, ${each.memory} MB of memory each`,
      })),
    );
  }
  return results;
}

/** The same gateway with files and with engines, round by round in turn. */
export async function sharedCost(rig, { seconds }) {
  const upstream = await rig.startUpstream();
  const ms = seconds(3);
  const both = await compare(rig, { upstream, ms, isCounted: true });
  const neither = await compare(rig, { upstream, ms, isCounted: false });
  await upstream.close();
  return [
    atMost("CPU a call with limits and audit, to files", both.cpu, 1.25),
    atMost("added p50 with limits and audit, in ms", both.added, 0.15),
    atMost("CPU a call without limits and audit, to files", neither.cpu, 1.05),
    none("calls without a result", both.lost + neither.lost),
    {
      note:
        `${both.files.toFixed(0)} µs of CPU a call with files, ${both.engines.toFixed(0)} µs with engines; ` +
        `without limits and audit ${neither.files.toFixed(0)} and ${neither.engines.toFixed(0)} µs`,
    },
  ];
}

const COMPARED = 5;

async function compare(rig, { upstream, ms, isCounted }) {
  const { shared } = await rig.newShared({ withValkey: isCounted });
  const servers = countServer(upstream, 0, isCounted ? { rateLimit: 1_000_000 } : {});
  // With a file of its own, a gateway does not send its audit anywhere.
  const rest = (at) => (isCounted ? {} : { audit: { file: `${rig.root}/audit-${at}.jsonl` } });
  const contenders = [];
  for (const given of [undefined, shared]) {
    const fleet = await rig.startFleet({
      count: 1,
      servers,
      rest: rest(given === undefined ? "files" : "engines"),
      shared: given,
    });
    const { port } = fleet.gateways[0];
    const lanes = await openLanes({ port, token: fleet.token, count: EACH });
    contenders.push({ fleet, lanes, cpu: [], alone: [] });
  }
  let lost = 0;
  for (const { lanes } of contenders) await warmUp(lanes, 1);
  for (let round = 0; round < COMPARED; round += 1) {
    for (const { fleet, lanes, cpu, alone } of contenders) {
      const before = fleet.cpu();
      const { outcomes } = await loadFor(lanes, ms);
      cpu.push(((fleet.cpu() - before) / outcomes.size) * 1e6);
      // One call after another, so that nothing is measured but the call.
      const single = await loadFor(lanes.slice(1, 2), ms / 2);
      alone.push(median([...single.outcomes.values()].map(({ took }) => took)));
      lost += countOf(failuresIn(outcomes)) + countOf(failuresIn(single.outcomes));
    }
  }
  for (const { fleet, lanes } of contenders) {
    for (const lane of lanes) lane.close();
    await fleet.close();
  }
  const [files, engines] = contenders;
  return {
    cpu: median(engines.cpu) / median(files.cpu),
    added: median(engines.alone) - median(files.alone),
    files: median(files.cpu),
    engines: median(engines.cpu),
    lost,
  };
}
