// What more gateways and a shared state cost, or gain.

import { setTimeout as delay } from "node:timers/promises";
import { countOf, failuresIn, loadFor, median, sayFailures, startLoad } from "../lib/load.mjs";
import { atLeast, atMost, none } from "../lib/results.mjs";
import { countServer, openLanes } from "../lib/rig.mjs";

const EACH = 32;
const COUNTS = [1, 2, 4];
/** Of each gateway: half of what two cores can do with four of them. */
const PACE = 400;
/** After fewer calls, Node still compiles: a call costs a quarter more after 5,000 than after 15,000. */
const WARM_UP = 15_000;
const WARM_UP_MS = 90_000;
const ROUNDS = 3;
/** Until every line of the audit is sent, and the load to see how large they are. */
const SENT_MS = 2_000;
const STORED_MS = 3_000;

/** A tool that takes 50 ms, 32 calls in flight for each gateway. */
export async function latencyBound(rig, { seconds }) {
  const fleets = await openFleets(rig, COUNTS, { toolMs: 50 });
  const found = await measure(fleets, seconds(7));
  const memory = fleets.all.map(({ fleet }) => fleet.memory());
  const stored = await fleets.stored();
  await fleets.close();
  const apart = await openFleets(rig, [1, 4], { toolMs: 50, isShared: false });
  const [oneApart, fourApart] = await measure(apart, seconds(7));
  await apart.close();
  const [one, , four] = found;
  return [
    atLeast("calls a second with four, to those with one", four.rate / one.rate, 3.8),
    none("calls without a result", countOf(fleets.lost), sayFailures(fleets.lost)),
    ...found.map((each, at) => ({ note: `${inWords(each)}, ${memory[at]} MB of memory each` })),
    {
      note: `gateways that share nothing, without a balancer: ${(fourApart.rate / oneApart.rate).toFixed(2)} times the calls a second with four`,
    },
    { note: stored },
  ];
}

/**
 * A tool that answers at once, and as many calls a second for each gateway, however many there are. A gateway that answers many calls
 * in one turn of its event loop needs less for each; as fast as they can, one alone has many of them, and four on two cores have few.
 */
export async function cpuBound(rig, { seconds }) {
  const fleets = await openFleets(rig, [1, 4], { toolMs: 0 });
  const paced = await measure(fleets, seconds(10), PACE);
  const fast = await measure(fleets, seconds(5));
  await fleets.close();
  const apart = await openFleets(rig, [1, 4], { toolMs: 0, isShared: false });
  const fastApart = await measure(apart, seconds(5));
  await apart.close();
  const made = Math.min(...paced.map(({ rate, count }) => rate / (PACE * count)));
  const lost = countOf(fleets.lost) + countOf(apart.lost);
  return [
    atLeast("calls a CPU second with four, to those with one", perCpu(paced), 0.9),
    atLeast("calls made, of those that were due", made, 0.95),
    none("calls without a result", lost, sayFailures(new Map([...fleets.lost, ...apart.lost]))),
    { note: paced.map(inWords).join("; ") },
    {
      note:
        `as fast as they can: ${fast.map(inWords).join("; ")}; calls a CPU second with four, to those with one: ` +
        `${perCpu(fast).toFixed(2)}, and ${perCpu(fastApart).toFixed(2)} if they share nothing`,
    },
  ];
}

/** Fleets of so many gateways, which wait side by side and are measured in turn. Those that share nothing have no balancer either. */
async function openFleets(rig, counts, { toolMs, isShared = true }) {
  const upstream = await rig.startUpstream();
  const servers = countServer(upstream, toolMs);
  const all = [];
  for (const count of counts) {
    const { database, shared } = isShared ? await rig.newShared() : {};
    const fleet = await rig.startFleet({ count, servers, shared });
    const haproxy = isShared ? await rig.startHaproxy(fleet, { isLogged: false }) : undefined;
    const lanes =
      haproxy === undefined
        ? await lanesOf(fleet)
        : await openLanes({ port: haproxy.port, token: fleet.token, count: EACH * count });
    await warmUp(lanes, count);
    all.push({ count, database, fleet, haproxy, lanes });
  }
  return {
    all,
    lost: new Map(),
    /** What the audit of the last one takes in PostgreSQL, in words. */
    async stored() {
      const { database, lanes } = all.at(-1);
      const postgres = await rig.postgres();
      const size = () =>
        postgres
          .sql(
            database,
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
      for (const { fleet, haproxy, lanes } of all) {
        for (const lane of lanes) lane.close();
        await haproxy?.close();
        await fleet.close();
      }
      await upstream.close();
    },
  };
}

async function lanesOf({ gateways }) {
  const lanes = [];
  for (const { port, token } of gateways) {
    lanes.push(...(await openLanes({ port, token, count: EACH })));
  }
  return lanes;
}

/** Of each fleet, the medians of the rounds: calls a second, and seconds of CPU a call, of its gateways together. */
async function measure({ all, lost }, ms, pace) {
  const found = all.map(({ count }) => ({ count, rates: [], cpu: [] }));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, { count, fleet, lanes }] of all.entries()) {
      const before = fleet.cpu();
      const { outcomes, rate } = await loadFor(lanes, ms, pace && pace * count);
      found[at].cpu.push((fleet.cpu() - before) / outcomes.size);
      found[at].rates.push(rate);
      for (const [what, times] of failuresIn(outcomes)) {
        lost.set(what, (lost.get(what) ?? 0) + times);
      }
    }
  }
  return found.map(({ count, rates, cpu }) => ({
    count,
    rate: median(rates),
    cpu: median(cpu),
  }));
}

function perCpu([one, many]) {
  return one.cpu / many.cpu;
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
