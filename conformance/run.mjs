// `npm run conformance:client`: every client scenario of the official suite, and whether each ended as
// expected-failures.json says. Fails on a scenario that should pass, and on an entry that no longer fails.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { endAll, execute } from "./lib/execute.mjs";
import { parseOptions, USAGE } from "./lib/options.mjs";
import { pickRuns, planRuns } from "./lib/plan.mjs";
import { prepare } from "./lib/prepare.mjs";
import { page, textTable, totals } from "./lib/report.mjs";
import { listClientScenarios, listRequired, REVISIONS, suiteVersion } from "./lib/suite.mjs";
import { compare, judge } from "./lib/verdict.mjs";

const AT_ONCE = 2;
const PAGE = new URL("../docs/conformance.md", import.meta.url);

const options = readOptions();
try {
  if (options !== undefined) process.exitCode = await testClient();
} catch (error) {
  process.stderr.write(`conformance: ${error.message}\n`);
  process.exitCode = 2;
}

/** Resolves to the exit code. */
async function testClient() {
  prepare(options);
  const expected = readJson("./expected-failures.json").client;
  const required = Object.fromEntries(REVISIONS.map((one) => [one, listRequired(one)]));
  const allRuns = planRuns(listClientScenarios(), REVISIONS);
  const outcomes = await runAll(pickRuns(allRuns, options));

  process.stdout.write(`\n${textTable(outcomes, expected)}\n`);
  if (outcomes.length === allRuns.length) {
    for (const { what, passed, total } of totals(outcomes, required)) {
      process.stdout.write(`${what}: ${passed} of ${total}\n`);
    }
  }
  if (options.write) {
    writeFileSync(PAGE, page({ outcomes, expected, required, facts: gatherFacts() }));
  }
  const { unexpected, stale, unknown } = compare(outcomes, expected, allRuns);
  tell("should pass and does not", unexpected);
  tell("passes: remove it from expected-failures.json, which may only shrink", stale);
  tell("is in expected-failures.json and not in the suite", unknown);
  return unexpected.length + stale.length + unknown.length === 0 ? 0 : 1;
}

/** Results come in the order of `runs`, whatever order they end in. */
async function runAll(runs) {
  const dir = mkdtempSync(join(tmpdir(), "plugboard-conformance-"));
  const clean = () => {
    endAll();
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
  const waiting = [...runs.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, run] = next;
      outcomes[index] = { ...run, ...judge(await execute(run, dir)) };
      process.stderr.write(
        `conformance: ${run.scenario} at ${run.version}: ${outcomes[index].state}\n`,
      );
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    clean();
    for (const one of signals) process.removeListener(one, onSignal);
  }
  return outcomes;
}

function gatherFacts() {
  return {
    date: new Date().toISOString().slice(0, 10),
    suite: suiteVersion(),
    plugboard: readJson("../package.json").version,
    node: process.versions.node,
    cores: availableParallelism(),
  };
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
