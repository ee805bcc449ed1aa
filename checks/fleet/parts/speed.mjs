// What more gateways and a shared state cost, or gain.

import { setTimeout as delay } from "node:timers/promises";
import { countOf, failuresIn, loadFor, median, sayFailures, startLoad } from "../lib/load.mjs";
import { atLeast, atMost, none } from "../lib/results.mjs";
import { countServer, openLanes } from "../lib/rig.mjs";

const EACH = 32;
const MANY = 4;
const WARM_UP = 5_000;
const WARM_UP_MS = 60_000;

/** A tool that takes 50 ms, 32 calls in flight for each gateway. */
export async function latencyBound(rig, { seconds }) {
  const measured = await oneAndMany(rig, { toolMs: 50, ms: seconds(20), rounds: 1 });
  const lost = measured.lost;
  return [
    atLeast("calls a second with four, to those with one", measured.rate, 3.8),
    none("calls without a result", countOf(lost), sayFailures(lost)),
    { note: `${measured.one.rate} calls/s with one, ${measured.many.rate} with four` },
  ];
}

/** A tool that answers at once: the gateways use what the machine has. */
export async function cpuBound(rig, { seconds }) {
  const measured = await oneAndMany(rig, { toolMs: 0, ms: seconds(10), rounds: 3 });
  return [
    atLeast("calls a CPU second with four, to those with one", measured.perCpu, 0.9),
    none("calls without a result", countOf(measured.lost), sayFailures(measured.lost)),
    {
      note: `${measured.one.perCpu} calls a CPU second with one, ${measured.many.perCpu} with four`,
    },
  ];
}

async function oneAndMany(rig, { toolMs, ms, rounds }) {
  const upstream = await rig.startUpstream();
  const { shared } = await rig.newShared();
  const servers = countServer(upstream, toolMs);
  const lost = new Map();
  const measure = async (count) => {
    const fleet = await rig.startFleet({ count, servers, shared });
    const haproxy = await rig.startHaproxy(fleet);
    const lanes = await openLanes({ port: haproxy.port, token: fleet.token, count: EACH * count });
    const found = { rates: [], perCpu: [] };
    try {
      await warmUp(lanes, count);
      for (let round = 0; round < rounds; round += 1) {
        const before = fleet.cpu();
        const { outcomes, rate } = await loadFor(lanes, ms);
        for (const [what, times] of failuresIn(outcomes))
          lost.set(what, (lost.get(what) ?? 0) + times);
        found.rates.push(rate);
        found.perCpu.push(outcomes.size / (fleet.cpu() - before));
      }
    } finally {
      for (const lane of lanes) lane.close();
      await haproxy.close();
      await fleet.close();
    }
    return { rate: Math.round(median(found.rates)), perCpu: Math.round(median(found.perCpu)) };
  };
  const one = await measure(1);
  const many = await measure(MANY);
  await upstream.close();
  return { one, many, rate: many.rate / one.rate, perCpu: many.perCpu / one.perCpu, lost };
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

const ROUNDS = 5;

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
  for (let round = 0; round < ROUNDS; round += 1) {
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
