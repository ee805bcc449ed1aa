// `npm run soak:gateway -- --mix`: good clients beside hostile ones, while the server is killed and the wall clock jumps by hours.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { runGateway } from "../lib/run-gateway.mjs";
import { openLane, openSession } from "./lib/client.mjs";
import { HOSTILE } from "./lib/hostile.mjs";
import { judgeSoak, tally } from "./lib/verdict.mjs";

const UPSTREAM = fileURLToPath(new URL("upstream.mjs", import.meta.url));
const CLOCK = fileURLToPath(new URL("lib/jumping-clock.cjs", import.meta.url));
const LANES = 6;
/** Between two calls of a lane, and two attempts of a hostile client. */
const PAUSE_MS = 20;
const HOSTILE_PAUSE_MS = 100;
const HOUR_MS = 3_600_000;
/** Where the wall clock is, one after the other; at last it is right again. */
const JUMPS = [6 * HOUR_MS, -2 * HOUR_MS, -30 * HOUR_MS, 400 * HOUR_MS, 0];
/** A server that is ended more often than it has come back is no longer started. */
const killsIn = (minutes) => Math.min(10, Math.max(2, Math.floor(minutes / 2)));
/** Of the time: what is compared at the end has done all of its work by then. */
const WARM_UP = 0.2;
const SETTLE_MS = 3_000;
/** In less time, what a gateway keeps for good is not told from what it needs at first. */
const MEMORY_MINUTES = 5;
/** Numbers of calls that nobody waits for. */
const ABANDONED_FROM = 1_000_000_000;
const MOST_ERRORS = 0.02;

/** Resolves to what came of it: `verdicts` as those of `judgeSoak`. `tell` gets lines for people. */
export async function runMix({ home, minutes, tell }) {
  const length = minutes * 60_000;
  const numbersFile = join(home, "numbers");
  const pidsFile = join(home, "pids");
  const clockFile = join(home, "clock");
  writeFileSync(numbersFile, "");
  writeFileSync(clockFile, "0");
  const count = { command: process.execPath, args: [UPSTREAM, numbersFile, pidsFile] };
  const gateway = await runGateway({
    home,
    agent: { mcp: { servers: { count } } },
    env: { NODE_OPTIONS: `--require=${CLOCK}`, SOAK_CLOCK: clockFile },
  });
  const { port, token } = gateway;
  const pid = gateway.pid();
  const session = await openSession({ port, token });
  const [tool] = session.tools;
  const lanes = Array.from({ length: LANES }, (_, at) =>
    openLane({ port, token, tool, session: at % 2 === 0 ? session.headers : undefined }),
  );
  const over = performance.now() + length;
  /** Also where there is nothing left to try: whoever waits for the hour would learn nothing more. */
  const isOver = () => performance.now() >= over || !gateway.isRunning();
  const rest = new AbortController();
  /** Resolves to whether the time has come. */
  const until = (time) =>
    delay(Math.max(0, time - performance.now()), true, { signal: rest.signal }).catch(() => false);

  const outcomes = new Map();
  const times = [];
  let next = 1;
  const good = async (lane) => {
    while (!isOver()) {
      const number = next;
      next += 1;
      const began = performance.now();
      outcomes.set(number, answered(await lane.call(number)));
      times.push(performance.now() - began);
      await delay(PAUSE_MS);
    }
  };
  const attempts = new Map(Object.keys(HOSTILE).map((name) => [name, new Map()]));
  let abandoned = ABANDONED_FROM;
  const hostile = async ([name, { attempt }]) => {
    const around = {
      port,
      token,
      patience: Math.min(20_000, length / 6),
      random: () => Math.random().toString(36).slice(2),
      number: () => (abandoned += 1),
    };
    while (!isOver()) {
      const kind = await attempt(around);
      const kinds = attempts.get(name);
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      await delay(HOSTILE_PAUSE_MS);
    }
  };
  const spread = async (list, act) => {
    const began = performance.now();
    for (const [at, each] of list.entries()) {
      if (await until(began + ((at + 1) * length) / (list.length + 1))) act(each);
    }
  };
  const kills = spread(Array.from({ length: killsIn(minutes) }), () => {
    const server = Number(linesOf(pidsFile).at(-1));
    tell("the server is killed");
    try {
      process.kill(server, "SIGKILL");
    } catch (error) {
      // It is being started again.
      if (error.code !== "ESRCH") throw error;
    }
  });
  const jumps = spread(JUMPS, (offset) => {
    tell(`the wall clock is ${offset / HOUR_MS} hours off`);
    writeFileSync(clockFile, String(offset));
  });
  let before = 0;
  const warmUp = until(over - length * (1 - WARM_UP)).then((isTime) => {
    if (isTime) before = memoryOf(pid);
  });
  await Promise.all([...lanes.map(good), ...Object.entries(HOSTILE).map(hostile)]);
  rest.abort();
  await Promise.all([kills, jumps, warmUp]);
  await delay(SETTLE_MS);
  const isRunning = gateway.isRunning();
  const memory = { before, after: isRunning ? memoryOf(pid) : 0 };
  const last = await lanes[0].call(next);
  const said = gateway.output().trim().slice(-300) || "nothing";
  for (const lane of lanes) lane.close();
  await gateway.stop();

  const calls = outcomes.size;
  const executed = linesOf(numbersFile)
    .map(Number)
    .filter((number) => number <= calls);
  const errors = [...outcomes.values()].filter(({ kind }) => kind === "error").length;
  return {
    calls,
    counts: tally(outcomes),
    attempts,
    times: times.toSorted((a, b) => a - b),
    verdicts: [
      ...judgeSoak({ calls, outcomes, executed, memory, brokenIsError: false }).filter(
        ({ claim }) => (isRunning && minutes >= MEMORY_MINUTES) || !claim.startsWith("memory"),
      ),
      ...judgeHostile(attempts),
      {
        claim: `at most ${MOST_ERRORS * 100} % of the calls of good clients fail`,
        passed: errors <= MOST_ERRORS * calls,
        because: `${errors} of ${calls}`,
      },
      {
        claim: "the gateway never ends, and answers at the end",
        passed: isRunning && last.kind === "counted",
        because: isRunning ? (last.text ?? last.kind) : `it ended; at last it said: ${said}`,
      },
    ],
  };
}

/** Here the gateway is never restarted: a call for which nobody listens has no answer. */
export function answered(outcome) {
  return outcome.kind === "unsent" ? { kind: "broken", text: "nobody listens" } : outcome;
}

/** Nobody who means harm gets anything else than a refusal. `attempts` counts what came of each kind. */
export function judgeHostile(attempts) {
  return Object.entries(HOSTILE).map(([name, { allowed }]) => {
    const kinds = [...(attempts.get(name) ?? [])];
    const wrong = kinds.filter(([kind]) => !allowed.includes(kind));
    return {
      claim: `${name}: nothing but ${allowed.join(", ")}`,
      passed: kinds.length > 0 && wrong.length === 0,
      because: kinds.map(([kind, count]) => `${count} × ${kind}`).join(", ") || "none was made",
    };
  });
}

function linesOf(file) {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "");
}

function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(/^VmRSS:\s*(\d+)/m.exec(status)[1]) * 1_024;
}
