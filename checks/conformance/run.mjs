// `npm run conformance:client` and `npm run conformance:server`: every scenario of the official suite for that
// role, and whether each ended as expected-failures.json says. Fails on a scenario that should pass, and on an
// entry that no longer fails.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gatherFacts, lastRun, writeEvidence } from "../lib/evidence.mjs";
import { endAll, execute } from "./lib/execute.mjs";
import { parseOptions, USAGE } from "./lib/options.mjs";
import { pickRuns, planRuns } from "./lib/plan.mjs";
import { prepare } from "./lib/prepare.mjs";
import { evidence, textTable, totals } from "./lib/report.mjs";
import { listRequired, listScenarios, REVISIONS, suiteVersion } from "./lib/suite.mjs";
import { endTargets, startTarget } from "./lib/target.mjs";
import { compare, judge } from "./lib/verdict.mjs";

const AT_ONCE = 2;

const options = readOptions();
try {
  if (options !== undefined) process.exitCode = await test(options);
} catch (error) {
  process.stderr.write(`conformance: ${error.message}\n`);
  process.exitCode = 2;
}

/** Resolves to the exit code. */
async function test({ role, isDirect, upstream, write }) {
  prepare(options);
  const expected = readJson("./expected-failures.json")[role];
  const required = Object.fromEntries(REVISIONS.map((one) => [one, listRequired(role, one)]));
  const allRuns = planRuns(listScenarios(role), REVISIONS);
  const runs = pickRuns(allRuns, options);
  const openLanes = role === "client" ? clientLanes : serverLanes({ isDirect, upstream });
  const { outcomes, problems } = await runAll(runs, openLanes);

  process.stdout.write(`\n${textTable(outcomes, expected)}\n`);
  if (outcomes.length === allRuns.length) {
    for (const { what, passed, total } of totals(outcomes, required)) {
      process.stdout.write(`${what}: ${passed} of ${total}\n`);
    }
  }
  if (write) {
    const head = lastRun(
      `suite \`@modelcontextprotocol/conformance\` ${suiteVersion()}`,
      gatherFacts(),
    );
    writeEvidence(`conformance-${role}`, evidence({ outcomes, expected, required, head }));
  }
  const { unexpected, stale, unknown } = compare(outcomes, expected, allRuns);
  tell("should pass and does not", unexpected);
  tell("passes: remove it from expected-failures.json, which may only shrink", stale);
  tell("is in expected-failures.json and not in the suite", unknown);
  for (const problem of problems) process.stderr.write(`conformance: ${problem}\n`);
  return unexpected.length + stale.length + unknown.length + problems.length === 0 ? 0 : 1;
}

/** As many lanes as run at a time, all on the same runs: clients share nothing. */
async function clientLanes(runs) {
  return Array.from({ length: AT_ONCE }, () => ({ runs, close: () => {} }));
}

/** A server for each version: a scenario that changes its lists must not disturb another. */
function serverLanes(how) {
  return (runs, dir) =>
    Promise.all(
      [...new Set(runs.map(([, { version }]) => version))].map(async (version) => ({
        runs: runs.filter(([, run]) => run.version === version),
        ...(await startTarget({ version, dir, ...how })),
      })),
    );
}

/**
 * Resolves to `{ outcomes, problems }`: the results in the order of `runs`, whatever order they end in, and what went
 * wrong when the tested servers were stopped.
 */
async function runAll(runs, openLanes) {
  const dir = mkdtempSync(join(tmpdir(), "plugboard-conformance-"));
  const clean = () => {
    endAll();
    endTargets();
    rmSync(dir, { recursive: true, force: true });
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  const onSignal = (signal) => {
    clean();
    for (const one of signals) process.removeListener(one, onSignal);
    process.kill(process.pid, signal);
  };
  for (const one of signals) process.once(one, onSignal);

  const outcomes = [];
  const problems = [];
  const work = async ({ runs: waiting, url }) => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, run] = next;
      outcomes[index] = { ...run, ...judge(await execute(run, { dir, url })) };
      process.stderr.write(
        `conformance: ${run.scenario} at ${run.version}: ${outcomes[index].state}\n`,
      );
    }
  };
  try {
    const lanes = await openLanes([...runs.entries()], dir);
    try {
      await Promise.all(lanes.map(work));
    } finally {
      const ends = await Promise.allSettled(lanes.map(({ close }) => close()));
      problems.push(...ends.flatMap(({ reason }) => reason?.message ?? []));
    }
  } finally {
    clean();
    for (const one of signals) process.removeListener(one, onSignal);
  }
  return { outcomes, problems };
}

/** Undefined where there is nothing to do but what it has said. */
function readOptions() {
  try {
    const parsed = parseOptions(process.argv.slice(2));
    if (!parsed.help) return parsed;
    process.stdout.write(`${USAGE}\n`);
  } catch (error) {
    process.stderr.write(`conformance: ${error.message}\n${USAGE}\n`);
    process.exitCode = 2;
  }
  return undefined;
}

function tell(what, runs) {
  for (const { scenario, version } of runs) {
    process.stderr.write(`conformance: ${scenario} at ${version} ${what}\n`);
  }
}

function readJson(path) {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
}
