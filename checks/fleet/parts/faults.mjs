// What holds while something dies under load.

import { setTimeout as delay } from "node:timers/promises";
import { until } from "../lib/engines.mjs";
import { countOf, failuresIn, judgeExecutions, sayFailures, startLoad } from "../lib/load.mjs";
import { atMost, none } from "../lib/results.mjs";
import { countServer, openLanes } from "../lib/rig.mjs";
import { callTool, signIn } from "../lib/sign-in.mjs";

const GATEWAYS = 3;
const LANES = 24;
const TOOL_MS = 50;
/** How far the clocks of the balancer's log and of this process are apart at most: both count milliseconds. */
const CLOCK_MS = 2;
const HEAL_MS = 60_000;

export const killed = (balancer) => (rig, options) =>
  behind(balancer, rig, async ({ fleet, front, lanes, upstream }) => {
    const load = startLoad(lanes);
    await delay(options.seconds(5));
    const before = load.answered;
    const at = Date.now();
    await fleet.gateways[0].kill();
    const dead = Date.now();
    await delay(options.seconds(10));
    const { outcomes } = await load.stop();
    // HAProxy writes no line for a request whose connection breaks, so those of the others are taken off.
    const isThen = ({ from, to }) => from <= dead + CLOCK_MS && to >= at - CLOCK_MS;
    const elsewhere = front.requests().filter((each) => each.gateway !== 0 && isThen(each)).length;
    const underWay = Math.max(0, [...outcomes.values()].filter(isThen).length - elsewhere);
    const failures = failuresIn(outcomes);
    const silent = [...outcomes.values()].filter(({ text = "" }) => text.startsWith("no answer"));
    const { twice, untrue } = judgeExecutions(outcomes, upstream.executions());
    return [
      none("calls that ran twice", twice),
      none("results of calls that did not run", untrue),
      {
        ...atMost("errors, to calls that were under way there", countOf(failures), underWay),
        figure: `${countOf(failures)}${failures.size > 0 ? ` (${sayFailures(failures)})` : ""}`,
      },
      none("calls without any answer", silent.length),
      {
        note: `${balancer}: ${outcomes.size} calls, ${before} of them before the kill, ${underWay} under way there`,
      },
    ];
  });

export const restarted = (balancer) => (rig, options) =>
  behind(balancer, rig, async ({ fleet, lanes, upstream }) => {
    const load = startLoad(lanes);
    for (const gateway of fleet.gateways) {
      await delay(options.seconds(5));
      await gateway.stop();
      await gateway.start();
    }
    await delay(options.seconds(5));
    const { outcomes } = await load.stop();
    const failures = failuresIn(outcomes);
    const { twice, untrue } = judgeExecutions(outcomes, upstream.executions());
    return [
      none("calls that failed", countOf(failures), sayFailures(failures)),
      none("calls that ran twice", twice),
      none("results of calls that did not run", untrue),
      { note: `${balancer}: ${outcomes.size} calls, ${fleet.gateways.length} restarts` },
    ];
  });

async function behind(balancer, rig, task) {
  const upstream = await rig.startUpstream();
  const { shared } = await rig.newShared();
  const servers = countServer(upstream, TOOL_MS);
  const fleet = await rig.startFleet({ count: GATEWAYS, servers, shared });
  const front = await rig[`start${balancer}`](fleet);
  const lanes = await openLanes({ port: front.port, token: fleet.token, count: LANES });
  try {
    return await task({ fleet, front, lanes, upstream });
  } finally {
    for (const lane of lanes) lane.close();
    await front.close();
    await fleet.close();
    await upstream.close();
  }
}

/** Calls a minute of the server whose limit is reached. */
const LIMIT = 120;
const REPLICAS = 2;

/** The primary is killed, and the sentinels make its copy the primary. */
export async function valkeyKilled(rig, { seconds }) {
  const upstream = await rig.startUpstream();
  const valkey = await rig.valkey();
  const { shared } = await rig.newShared({ isWatched: true });
  const { count } = countServer(upstream, 0, { rateLimit: 1_000_000 });
  const servers = { count, limited: { ...count, rateLimit: LIMIT } };
  const fleet = await rig.startFleet({ count: REPLICAS, servers, shared });
  const { token } = fleet;
  const lanes = { free: [], limited: [] };
  for (const { port } of fleet.gateways) {
    lanes.free.push(...(await openLanes({ port, token, count: 4, server: "count" })));
    lanes.limited.push(...(await openLanes({ port, token, count: 4, server: "limited" })));
  }
  const [free, limited] = [startLoad(lanes.free), startLoad(lanes.limited)];
  const began = performance.now();
  await delay(seconds(10));
  const primary = valkey.primaryPort();
  await valkey.primary.end("SIGKILL");
  const dead = performance.now();
  let isSaid = false;
  await until(HEAL_MS, "the sentinels made no other primary", async () => {
    isSaid ||= (await readiness(fleet.gateways[0])).includes("degraded");
    return valkey.primaryPort() !== primary;
  });
  const chosen = performance.now();
  await until(HEAL_MS, "a gateway did not go on with the new primary", async () =>
    (await Promise.all(fleet.gateways.map(readiness))).every((text) => text === "ready"),
  );
  const healed = performance.now();
  await delay(seconds(10));
  const results = await Promise.all([free.stop(), limited.stop()]);
  const took = (performance.now() - began) / 1_000;
  const failures = failuresIn(new Map(results.flatMap(({ outcomes }) => [...outcomes])));
  // The calls that wait for their turn at the end have taken it.
  const allowed = LIMIT + (LIMIT / 60) * took;
  const over = Math.max(0, results[1].outcomes.size - lanes.limited.length - allowed);
  for (const lane of [...lanes.free, ...lanes.limited]) lane.close();
  await fleet.close();
  await upstream.close();
  return [
    none("calls that failed", countOf(failures), sayFailures(failures)),
    atMost("calls beyond the limit, in windows of a minute", over / LIMIT, 1 + 1 / REPLICAS),
    none("gateways that did not say so", isSaid ? 0 : 1),
    {
      note:
        `${results[0].outcomes.size} calls; the sentinels took ${((chosen - dead) / 1_000).toFixed(1)} s, ` +
        `all gateways counted together again ${((healed - dead) / 1_000).toFixed(1)} s after the kill`,
    },
  ];
}

/** PostgreSQL is stopped for a minute and started again. */
export async function postgresStopped(rig, { seconds }) {
  const upstream = await rig.startUpstream();
  const provider = await rig.startProvider();
  const { shared, database } = await rig.newShared();
  const servers = { ...countServer(upstream, TOOL_MS), signed: { url: provider.url } };
  const rest = { audit: { arguments: true } };
  const fleet = await rig.startFleet({ count: REPLICAS, servers, shared, rest });
  const { token, gateways } = fleet;
  await signIn(rig, fleet, "signed", provider);
  const postgres = await rig.postgres();
  const lanes = [];
  for (const { port } of gateways) lanes.push(...(await openLanes({ port, token, count: 8 })));
  const load = startLoad(lanes);
  const signed = { calls: 0, failures: new Map() };
  const callSigned = async () => {
    while (!load.isOver) {
      for (const gateway of gateways) {
        const text = await callTool(gateway, token, "signed__count", { key: "x" });
        signed.calls += 1;
        if (text !== "counted x") signed.failures.set(text, (signed.failures.get(text) ?? 0) + 1);
      }
      await delay(50);
    }
  };
  await until(HEAL_MS, "the server that needs a sign-in did not become ready", async () => {
    const texts = await Promise.all(
      gateways.map((gateway) => callTool(gateway, token, "signed__count", { key: "x" })),
    );
    return texts.every((text) => text === "counted x");
  });
  const calling = callSigned();
  await delay(seconds(5));
  await postgres.stop();
  await delay(seconds(30));
  const said = await Promise.all(gateways.map(readiness));
  await delay(seconds(30));
  await postgres.start();
  await until(
    HEAL_MS,
    "a gateway did not go on with PostgreSQL",
    async () => (await Promise.all(gateways.map(readiness))).every((text) => text === "ready"),
    () => gateways.map((gateway, at) => `\ngateway ${at + 1}:\n${gateway.output()}`).join(""),
  );
  await delay(seconds(5));
  const { outcomes } = await load.stop();
  await calling;
  const made = outcomes.size;
  const ofCount = `line like '%"server":"count"%' and line like '%"outcome"%'`;
  await until(HEAL_MS, "the rows of the audit do not come", () => {
    const [rows] = postgres.sql(database, `select count(*) from plugboard_audit where ${ofCount}`);
    return Number(rows) >= made;
  }).catch(() => {});
  const rows = new Map();
  for (const line of postgres.sql(database, `select line from plugboard_audit where ${ofCount}`)) {
    const number = Number(/"number":(\d+)/.exec(line)?.[1]);
    rows.set(number, (rows.get(number) ?? 0) + 1);
  }
  const lost = [...outcomes.keys()].filter((number) => !rows.has(number)).length;
  const doubled = [...rows.values()].filter((times) => times > 1).length;
  for (const lane of lanes) lane.close();
  await fleet.close();
  await upstream.close();
  const failures = failuresIn(outcomes);
  return [
    none("calls that failed", countOf(failures), sayFailures(failures)),
    none(
      "calls with a sign-in that failed",
      countOf(signed.failures),
      sayFailures(signed.failures),
    ),
    none("rows of the audit that were lost", lost),
    none("rows of the audit that were doubled", doubled),
    none("gateways that did not say so", said.filter((text) => !text.includes("degraded")).length),
    { note: `${made} calls and ${signed.calls} with a sign-in, ${rows.size} of them on record` },
  ];
}

/** The first line says how it is. */
export async function readiness({ host, port }) {
  const response = await fetch(`http://${host}:${port}/readyz`);
  return (await response.text()).split("\n")[0];
}
