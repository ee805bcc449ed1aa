// What all gateways agree on: who renews a sign-in, what was revoked, and what holds for one that hears nothing.

import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import "../../../scripts/sources.mjs";
import { startPostgres, startValkey, until } from "../lib/engines.mjs";
import { percentile } from "../lib/load.mjs";
import { openMachine } from "../lib/network.mjs";
import { atMost, exactly, none } from "../lib/results.mjs";
import { countServer, KEY } from "../lib/rig.mjs";
import { startChangingServer } from "../lib/changing-server.mjs";
import { listenWithout, listenWithSession } from "../lib/listeners.mjs";
import { callTool, signIn } from "../lib/sign-in.mjs";
import { readiness } from "./faults.mjs";

const READY_MS = 60_000;
/** How exactly it is noticed that a token is refused. */
const POLL_MS = 5;
/** Longer than a gateway waits before it asks a server for its list once more. */
const RELIST_MS = 1_200;
const COUNTS = fileURLToPath(new URL("../../soak/upstream.mjs", import.meta.url));

/** A sign-in whose token has expired, and whose refresh token can be used once. */
export async function oneRedemption(rig, { isShort }) {
  const [replicas, calls] = [isShort ? 3 : 8, 50];
  const expiresIn = isShort ? 20 : 30;
  const provider = await rig.startProvider({ expiresIn });
  const { shared } = await rig.newShared();
  const servers = { signed: { url: provider.url } };
  const fleet = await rig.startFleet({ count: replicas, servers, shared });
  const { gateways, token } = fleet;
  const call = (gateway) => callTool(gateway, token, "signed__count", { key: "x" });
  await signIn(rig, fleet, "signed", provider);
  const signedIn = performance.now();
  await until(READY_MS, "the server did not become ready", async () =>
    (await Promise.all(gateways.map(call))).every((text) => text === "counted x"),
  );
  const burst = async () => {
    const before = provider.count("refresh");
    const texts = await Promise.all(
      gateways.flatMap((gateway) => Array.from({ length: calls }, () => call(gateway))),
    );
    const failed = texts.filter((text) => text !== "counted x");
    return { redeemed: provider.count("refresh") - before, failed };
  };
  // Refused by the server before its time is over, then expired by the clock.
  provider.expireTokens();
  const refused = await burst();
  await delay(Math.max(0, expiresIn * 1_000 - (performance.now() - signedIn)));
  provider.expireTokens();
  const again = await burst();
  const revoked = provider.tokens.filter(({ state }) => state === "revoked").length;
  await fleet.close();
  const failed = [...refused.failed, ...again.failed];
  return [
    exactly("redemptions after all were refused", refused.redeemed, 1),
    exactly("redemptions after it had expired", again.redeemed, 1),
    none("calls that failed", failed.length, inWords(failed)),
    none("tokens that the provider took back", revoked),
    { note: `${replicas} gateways with ${calls} calls each, twice` },
  ];
}

/** Each different text, with how many there were. */
function inWords(texts) {
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].map(([text, count]) => `${count} × ${text}`).join("; ");
}

/** A token that is revoked on another machine. */
export async function tokenRevoked(rig, { isShort }) {
  const trials = isShort ? 5 : 30;
  const upstream = await rig.startUpstream();
  const { shared, database } = await rig.newShared();
  const fleet = await rig.startFleet({ count: 4, servers: countServer(upstream, 0), shared });
  const { openEngineState } = await import("../../../src/core/state/engines/open.ts");
  const state = await openEngineState({
    settings: { ...shared, keys: [KEY], maxStale: 60_000 },
    stateDir: join(rig.root, "third"),
    isReplica: false,
  });
  const postgres = await rig.postgres();
  let address = 0;
  const writes = [];
  const seenAfter = async (isLost) => {
    address += 1;
    const headers = { "X-Forwarded-For": `192.0.2.${address}` };
    const { token, text } = await state.tokens.add({ name: `trial${address}` });
    const isTaken = (gateway) => ping(gateway, text, headers);
    await until(READY_MS, "a new token is not known", async () =>
      (await Promise.all(fleet.gateways.map(isTaken))).every(Boolean),
    );
    if (isLost) deafen(postgres, database);
    const began = performance.now();
    await state.tokens.revoke(token.id);
    writes.push(performance.now() - began);
    return Promise.all(
      fleet.gateways.map(async (gateway) => {
        while (await isTaken(gateway)) await delay(POLL_MS);
        return performance.now() - began;
      }),
    );
  };
  const told = [];
  for (let trial = 0; trial < trials; trial += 1) told.push(...(await seenAfter(false)));
  const lost = [];
  for (let trial = 0; trial < Math.ceil(trials / 5); trial += 1) {
    lost.push(...(await seenAfter(true)));
    // Until all of them listen again.
    await delay(2_500);
  }
  await state.close();
  await fleet.close();
  await upstream.close();
  return [
    atMost("ms until a revoked token is refused everywhere, p99", percentile(told, 0.99), 250),
    atMost("ms after the message was lost, at worst", Math.max(...lost), 1_000),
    {
      note: `${trials} tokens at 4 gateways, p50 ${percentile(told, 0.5).toFixed(0)} ms, of which PostgreSQL took ${percentile(writes, 0.5).toFixed(0)} ms to store it; ${lost.length / 4} with the message lost`,
    },
  ];
}

/** Ends the connections over which the gateways hear of changes, so that they miss the next one. */
function deafen(postgres, database) {
  postgres.sql(
    database,
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen%'",
  );
}

/** A server that tells one gateway that its tools are others, and clients of both eras at all of them. */
export async function listChanged(rig, { isShort }) {
  const [count, trials] = [4, isShort ? 5 : 30];
  const server = await startChangingServer();
  const { shared, database } = await rig.newShared();
  const servers = { changing: { url: server.url, headers: { "X-Replica": "${REPLICA}" } } };
  const fleet = await rig.startFleet({ count, servers, shared });
  const postgres = await rig.postgres();
  await until(READY_MS, "the gateways do not listen", () => server.listening() === count);
  const clients = [];
  for (const gateway of fleet.gateways) {
    for (const open of [listenWithSession, listenWithout]) {
      clients.push({ at: clients.length >> 1, client: await open(gateway, fleet.token) });
    }
  }
  const stale = [];
  /** For each client, how long after the first one of the gateway that was told, and after the server has told it. */
  const heardAfter = async (trial, isLost) => {
    const told = trial % count;
    await delay(RELIST_MS);
    // From here on: what comes late of an earlier change is not taken for this one.
    const heard = clients.map(async ({ at, client }) => ({ at, heardAt: await client.next() }));
    if (isLost) deafen(postgres, database);
    const began = performance.now();
    const name = `changing__${server.change(told)}`;
    const all = await Promise.all(heard);
    const first = Math.min(...all.filter(({ at }) => at === told).map(({ heardAt }) => heardAt));
    for (const { client } of clients) {
      const names = await client.tools();
      if (!names.includes(name)) stale.push(names.join());
    }
    // Until all of them listen again.
    if (isLost) await delay(2_500);
    return all
      .filter(({ at }) => at !== told)
      .map(({ heardAt }) => ({ later: heardAt - first, total: heardAt - began }));
  };
  const heard = [];
  for (let trial = 0; trial < trials; trial += 1) heard.push(...(await heardAfter(trial, false)));
  const lost = [];
  for (let trial = 0; trial < Math.ceil(trials / 5); trial += 1) {
    lost.push(...(await heardAfter(trial, true)));
  }
  for (const { client } of clients) client.close();
  await fleet.close();
  server.close();
  const others = heard.length / trials;
  const [later, total] = [heard.map((each) => each.later), heard.map((each) => each.total)];
  const said = (times, share) => `${percentile(times, share).toFixed(0)} ms`;
  return [
    atMost("ms from clients of one to those of the others, p99", percentile(later, 0.99), 250),
    atMost(
      "ms after the message was lost, at worst",
      Math.max(...lost.map((each) => each.later)),
      1_000,
    ),
    none("clients that got the old list afterwards", stale.length, stale[0]),
    {
      note: `${trials} changes told to one of ${count} gateways, ${others} clients at the others, half of each era, p50 ${said(later, 0.5)}; after the server has said so, p50 ${said(total, 0.5)}, p99 ${said(total, 0.99)}; ${lost.length / others} with the message lost`,
    },
  ];
}

/** Whether the token is taken. */
async function ping({ host, port }, token, headers) {
  const response = await fetch(`http://${host}:${port}/mcp`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${token}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...headers,
    },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  });
  await response.text();
  if (response.status !== 200 && response.status !== 401) {
    throw new Error(`a ping was answered with ${response.status}`);
  }
  return response.status === 200;
}

/** A gateway whose link to both engines is cut. */
export async function cutOff(rig, { seconds }) {
  const maxStale = seconds(10) + 10_000;
  const machine = openMachine(`pbf${process.pid}`);
  let engines;
  try {
    const root = join(rig.root, "cut-off");
    mkdirSync(root);
    chmodSync(rig.root, 0o711);
    const given = { root, env: rig.env, hosts: [machine.engines] };
    const postgres = await startPostgres(given);
    const valkey = await startValkey(given);
    engines = { postgres, valkey };
    const shared = {
      postgres: { url: postgres.urlOf(postgres.newDatabase(), machine.engines), tls: false },
      valkey: { url: `valkey://${machine.engines}:${valkey.port}`, tls: false },
      keys: ["${FLEET_KEY}"],
      maxStale,
    };
    const numbers = join(root, "numbers");
    const servers = {
      count: {
        command: process.execPath,
        args: [COUNTS, numbers, join(root, "pids")],
        replicas: "each",
      },
    };
    const fleet = await rig.startFleet({
      count: 2,
      servers,
      shared,
      settings: { allowedHosts: [machine.address] },
      more: (at) => (at === 1 ? { host: machine.address, under: machine.under } : {}),
    });
    const [there, alone] = fleet.gateways;
    let number = 0;
    const call = (gateway) => {
      number += 1;
      return callTool(gateway, fleet.token, "count__count", { number });
    };
    const isServed = async (gateway) => (await call(gateway)).startsWith("counted");
    await until(READY_MS, "the gateways did not become ready", async () =>
      (await Promise.all(fleet.gateways.map(isServed))).every(Boolean),
    );
    const began = performance.now();
    machine.cut();
    let saidAfter;
    let failed = 0;
    let refusedAfter;
    const failures = new Map();
    while (refusedAfter === undefined && performance.now() - began < maxStale + 30_000) {
      const text = await call(alone);
      const now = performance.now() - began;
      if (saidAfter === undefined && (await readiness(alone)).includes("degraded")) saidAfter = now;
      if (text.startsWith("HTTP 401")) refusedAfter = now;
      else if (!text.startsWith("counted")) {
        failed += 1;
        failures.set(text, (failures.get(text) ?? 0) + 1);
      }
      if (!(await isServed(there))) failed += 1;
      await delay(200);
    }
    const stays = await readiness(alone);
    machine.mend();
    const mended = performance.now();
    await until(
      READY_MS,
      "the gateway did not heal",
      async () => (await readiness(alone)) === "ready" && (await isServed(alone)),
    );
    const healed = performance.now() - mended;
    await fleet.close();
    return [
      none("calls that failed before that time", failed, [...failures.keys()][0]),
      atMost(
        "s until tokens are not trusted any more",
        (refusedAfter ?? Infinity) / 1_000,
        maxStale / 1_000 + 1,
      ),
      none(
        "gateways that did not say so",
        saidAfter === undefined || !stays.includes("degraded") ? 1 : 0,
      ),
      none("gateways that did not heal alone", 0),
      {
        note: `maxStale ${maxStale / 1_000} s; it says "${stays}" after ${((saidAfter ?? 0) / 1_000).toFixed(1)} s, and is as before ${(healed / 1_000).toFixed(1)} s after the link is mended`,
      },
    ];
  } finally {
    await engines?.postgres.program.end("SIGQUIT");
    machine.close();
  }
}
