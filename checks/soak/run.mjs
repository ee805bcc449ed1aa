// `npm run soak:gateway`: many calls through a gateway whose server is killed, and which is itself restarted or
// reloaded, while they run. Fails where a call is lost, runs twice, or a session does not go on.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { npm } from "../lib/own-packages.mjs";
import { endAll } from "../lib/processes.mjs";
import { BIN, runGateway } from "../lib/run-gateway.mjs";
import { openLane, openSession } from "./lib/client.mjs";
import { runMix } from "./mix.mjs";
import { plan } from "./lib/plan.mjs";
import { judgeBeside, judgeReloads, judgeSoak, tally } from "./lib/verdict.mjs";

const USAGE = `usage: npm run soak:gateway -- [options]

  --calls <n>      how many calls; default 100000
  --kill-gateway   end the gateway with SIGKILL instead of SIGTERM: a connection that breaks is then an error
  --reload         edit the configuration ten times instead: one server stays the same, the other is replaced
  --mix            hostile clients beside good ones, kills of the server, jumps of the wall clock
  --minutes <n>    how long the mix takes; default 60
  --greedy         no kills and no restarts: a greedy client beside a good one, which makes a tenth of the calls
  --no-build       test dist/ as it is
  --help`;

const GREEDY = fileURLToPath(new URL("greedy.mjs", import.meta.url));
const UPSTREAM = fileURLToPath(new URL("upstream.mjs", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SERVER_KILLS = 10;
const RESTARTS = 3;
const RELOADS = 10;
/** Until a reload has started the new server. */
const RELOAD_MS = 30_000;
const SESSIONS = 4;
/** Of the good client beside a greedy one. */
const GOOD_LANES = 4;
const LANES = 32;
/** Beforehand, so that what is compared at the end has done its first work. Numbers from here on are not judged. */
const WARM_UP = 20_000;
/** After an error, twice as long after each further one: a client that does not wait only collects errors. */
const PAUSE_MS = 20;
const MAX_PAUSE_MS = 1_000;
/** Until memory that is only waiting to be freed is gone. */
const SETTLE_MS = 3_000;

const options = readOptions();
if (options !== undefined) {
  try {
    process.exitCode = await soak(options);
  } catch (error) {
    process.stderr.write(`soak: ${error.message}\n`);
    process.exitCode = 2;
  }
}

/** Resolves to the exit code. */
async function soak({ calls, killGateway, reload, greedy, minutes, build }) {
  if (build) npm({ who: "soak", what: "building the project", cwd: ROOT }, ["run", "build"]);
  const home = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-soak-")));
  const clean = () => {
    endAll(`HOME=${home}`);
    rmSync(home, { recursive: true, force: true });
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.once(signal, () => {
      clean();
      process.exit(130);
    });
  }
  try {
    if (minutes !== undefined) return reportMix(minutes, await runMix({ home, minutes, tell }));
    if (greedy) return tellVerdicts(judgeBeside(await besideGreedy({ home, calls: calls / 10 })));
    const began = performance.now();
    const result = await run({ home, calls, killGateway, reload });
    const seconds = Math.round((performance.now() - began) / 1_000);
    return report({ calls, killGateway, reload, seconds, ...result });
  } finally {
    clean();
  }
}

async function run({ home, calls, killGateway, reload }) {
  const numbersFile = join(home, "numbers");
  const pidsFile = join(home, "pids");
  const replacedFile = join(home, "replaced");
  writeFileSync(numbersFile, "");
  const upstream = (pids) => ({ command: process.execPath, args: [UPSTREAM, numbersFile, pids] });
  const count = upstream(pidsFile);
  /** The other server is another one in each round. */
  const agentIn = (round) => {
    const replaced = { ...upstream(replacedFile), env: { ROUND: String(round) } };
    return { mcp: { servers: { count, ...(reload && { replaced }) } } };
  };
  const gateway = await runGateway({ home, agent: agentIn(0) });
  const { port, token } = gateway;
  const sessions = await Promise.all(
    Array.from({ length: SESSIONS }, () => openSession({ port, token })),
  );
  const [{ tools }] = sessions;
  const lanes = Array.from({ length: LANES }, (_, index) => {
    // Every second one has no session.
    const session = index % 2 === 0 ? sessions[(index / 2) % SESSIONS].headers : undefined;
    return openLane({ port, token, session, tool: tools[Math.floor(index / 2) % tools.length] });
  });

  await makeCalls({ lanes, from: calls + 1, to: calls + WARM_UP });
  await delay(SETTLE_MS);
  const before = memoryOf(gateway.pid());

  const events = plan({
    calls,
    kills: SERVER_KILLS,
    restarts: RESTARTS,
    reloads: reload ? RELOADS : 0,
  });
  let restarting = Promise.resolve();
  let round = 0;
  const act = {
    kill() {
      const pid = Number(linesOf(pidsFile).at(-1));
      tell(`the server is killed`);
      killProcess(pid);
    },
    restart() {
      tell(`the gateway is ${killGateway ? "killed" : "restarted"}`);
      restarting = (killGateway ? gateway.kill() : gateway.stop()).then(gateway.start);
      return restarting;
    },
    reload() {
      // One after another: of two edits within a second, only the second would be applied.
      restarting = restarting.then(async () => {
        round += 1;
        tell(`the configuration is edited`);
        gateway.configure(agentIn(round));
        await untilStarted(replacedFile, round + 1);
      });
      return restarting;
    },
  };
  const outcomes = await makeCalls({
    lanes,
    from: 1,
    to: calls,
    onAnswered(answered) {
      if (events[0]?.after !== answered) return undefined;
      return act[events.shift().what]();
    },
  });
  await restarting;
  await delay(SETTLE_MS);
  const after = memoryOf(gateway.pid());
  for (const lane of lanes) lane.close();
  await gateway.stop();
  const executed = linesOf(numbersFile)
    .map(Number)
    .filter((number) => number <= calls);
  const pids = reload && { kept: linesOf(pidsFile), replaced: linesOf(replacedFile) };
  return { outcomes, executed, memory: { before, after }, left: events.length, pids };
}

/** The same calls twice: alone, and beside a client that wants the gateway for itself. */
async function besideGreedy({ home, calls }) {
  const numbersFile = join(home, "numbers");
  const upstream = { command: process.execPath, args: [UPSTREAM, numbersFile, join(home, "pids")] };
  const servers = { count: upstream, denied: upstream };
  const gateway = await runGateway({
    home,
    agent: { mcp: { servers }, tools: { deny: ["denied/*"] } },
  });
  const { port, token, config } = gateway;
  const lanes = Array.from({ length: GOOD_LANES }, () =>
    openLane({ port, token, tool: "count__count" }),
  );
  const measured = async () => {
    await readLag({ port, token });
    const result = await timeCalls(lanes, calls);
    return { ...result, lag: await readLag({ port, token }) };
  };
  await timeCalls(lanes, calls);
  const quiet = await measured();
  const env = { PATH: process.env.PATH, HOME: home, PLUGBOARD_HOME: home };
  const made = ["--config", config, "--json", "tokens", "add", "greedy"];
  const added = JSON.parse(
    execFileSync(process.execPath, [BIN, ...made], { env, encoding: "utf8" }),
  );
  const greedy = spawn(process.execPath, [GREEDY, String(port), added.token], {
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  // It has to make its requests first.
  await delay(SETTLE_MS);
  const beside = await measured();
  if (greedy.exitCode !== null) throw new Error("the greedy client ended");
  greedy.kill("SIGKILL");
  await once(greedy, "exit");
  for (const lane of lanes) lane.close();
  await gateway.stop();
  return {
    quiet: quiet.times,
    beside: beside.times,
    lag: { quiet: quiet.lag, beside: beside.lag },
    failed: quiet.failed + beside.failed,
  };
}

/** Resolves to the milliseconds of each call. */
async function timeCalls(lanes, calls) {
  const times = [];
  let failed = 0;
  let left = calls;
  await Promise.all(
    lanes.map(async (lane) => {
      while (left > 0) {
        left -= 1;
        const began = performance.now();
        const { kind } = await lane.call(left);
        times.push(performance.now() - began);
        if (kind !== "counted") failed += 1;
      }
    }),
  );
  return { times, failed };
}

/** The p99 of the lag of the gateway's event loop since it was last asked, in milliseconds. */
async function readLag({ port, token }) {
  const headers = { Authorization: `Bearer ${token}` };
  const metrics = await fetch(`http://127.0.0.1:${port}/metrics`, { headers });
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(await metrics.text())[1]) * 1_000;
}

async function untilStarted(pidsFile, times) {
  const deadline = performance.now() + RELOAD_MS;
  while (linesOf(pidsFile).length < times) {
    if (performance.now() > deadline) throw new Error("an edit was not applied");
    await delay(20);
  }
}

function linesOf(file) {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "");
}

/**
 * Resolves to the outcome of each number. `onAnswered(n)` is told of the n-th answer; what it returns is not waited
 * for, but a failure of it ends the soak.
 */
async function makeCalls({ lanes, from, to, onAnswered = () => undefined }) {
  const outcomes = new Map();
  let next = from;
  const failures = [];
  const work = async (lane) => {
    let pause = PAUSE_MS;
    while (next <= to && failures.length === 0) {
      const number = next;
      next += 1;
      let outcome = await lane.call(number);
      while (outcome.kind === "unsent" && failures.length === 0) {
        // Nobody listens: it was not sent, so it may be sent now.
        await delay(PAUSE_MS);
        outcome = await lane.call(number);
      }
      outcomes.set(number, outcome);
      Promise.resolve(onAnswered(outcomes.size)).catch((error) => failures.push(error));
      if (outcome.kind === "counted") {
        pause = PAUSE_MS;
      } else {
        await delay(pause);
        pause = Math.min(2 * pause, MAX_PAUSE_MS);
      }
    }
  };
  await Promise.all(lanes.map(work));
  if (failures.length > 0) throw failures[0];
  return outcomes;
}

function report({ calls, killGateway, reload, seconds, outcomes, executed, memory, left, pids }) {
  const restart = killGateway ? "kills" : "restarts";
  const events = reload
    ? `${RELOADS} reloads`
    : `${SERVER_KILLS} kills of the server, ${RESTARTS} ${restart} of the gateway`;
  process.stdout.write(
    `${calls} calls, ${LANES} at a time, ${events}: ` +
      `${seconds} s, Node ${process.versions.node}, ${availableParallelism()} cores\n`,
  );
  for (const [what, count] of tally(outcomes)) {
    process.stdout.write(`${String(count).padStart(9)}  ${what.slice(0, 160)}\n`);
  }
  const verdicts = judgeSoak({ calls, outcomes, executed, memory, brokenIsError: killGateway });
  if (reload) verdicts.push(...judgeReloads({ reloads: RELOADS, ...pids }));
  verdicts.push({
    claim: "everything planned was done",
    passed: left === 0,
    because: `${left} left`,
  });
  return tellVerdicts(verdicts);
}

function reportMix(minutes, { calls, counts, times, verdicts }) {
  const at = (share) => times[Math.floor(share * (times.length - 1))].toFixed(0);
  process.stdout.write(
    `${calls} calls of good clients in ${minutes} min, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms: ` +
      `Node ${process.versions.node}, ${availableParallelism()} cores\n`,
  );
  for (const [what, count] of counts) {
    process.stdout.write(`${String(count).padStart(9)}  ${what.slice(0, 160)}\n`);
  }
  return tellVerdicts(verdicts);
}

/** Returns the exit code. */
function tellVerdicts(verdicts) {
  for (const { claim, passed, because } of verdicts) {
    process.stdout.write(`  ${passed ? "PASS" : "FAIL"}  ${claim}: ${because}\n`);
  }
  return verdicts.every(({ passed }) => passed) ? 0 : 1;
}

function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(/^VmRSS:\s*(\d+)/m.exec(status)[1]) * 1_024;
}

function killProcess(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    // It is gone with the gateway, and the next one has not begun: then there is nothing to kill.
    if (error.code !== "ESRCH") throw error;
  }
}

function tell(what) {
  process.stderr.write(`soak: ${what}\n`);
}

/** Undefined where there is nothing to do but what it has said. */
function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        calls: { type: "string", default: "100000" },
        "kill-gateway": { type: "boolean", default: false },
        reload: { type: "boolean", default: false },
        mix: { type: "boolean", default: false },
        minutes: { type: "string", default: "60" },
        greedy: { type: "boolean", default: false },
        "no-build": { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    const calls = Number(values.calls);
    if (!Number.isInteger(calls) || calls < 1_000) throw new Error("--calls takes 1000 or more");
    const { reload, greedy, mix, "kill-gateway": killGateway } = values;
    if ([reload, greedy, mix, killGateway].filter(Boolean).length > 1) {
      throw new Error("--reload, --greedy, --mix and --kill-gateway are soaks of their own");
    }
    const minutes = Number(values.minutes);
    if (!(minutes >= 0.2)) throw new Error("--minutes takes 0.2 or more");
    if (mix && !values.help) return { minutes, build: !values["no-build"] };
    if (!values.help) {
      return { calls, killGateway, reload, greedy, build: !values["no-build"] };
    }
    process.stdout.write(`${USAGE}\n`);
  } catch (error) {
    process.stderr.write(`soak: ${error.message}\n${USAGE}\n`);
    process.exitCode = 2;
  }
  return undefined;
}
