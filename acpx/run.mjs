// `npm run e2e:acpx`: the built agent driven by the real acpx. Fails where a check does.

import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { CHECKS } from "./checks.mjs";
import { versions } from "./lib/acpx.mjs";
import { parseOptions, pickChecks, USAGE } from "./lib/options.mjs";
import { prepare } from "./lib/prepare.mjs";
import { page, reasonOf } from "./lib/report.mjs";
import { openRig } from "./lib/rig.mjs";

const PAGE = new URL("../docs/acpx.md", import.meta.url);
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

const options = readOptions();
try {
  if (options !== undefined) process.exitCode = await testAgent();
} catch (error) {
  process.stderr.write(`acpx: ${error.message}\n`);
  process.exitCode = 2;
}

/** Resolves to the exit code. */
async function testAgent() {
  const checks = pickChecks(CHECKS, options.only);
  prepare(options);
  const outcomes = await runAll(checks);
  const failed = outcomes.filter(({ reason }) => reason !== undefined);
  process.stdout.write(`${outcomes.length - failed.length} of ${outcomes.length} passed\n`);
  if (options.write) writeFileSync(PAGE, page({ outcomes, facts: gatherFacts() }));
  return failed.length === 0 ? 0 : 1;
}

/** One after the other: what is left running is looked for by what they have in common. */
async function runAll(checks) {
  const rig = await openRig();
  const onSignal = (signal) => {
    void rig.close().finally(() => {
      for (const one of SIGNALS) process.removeListener(one, onSignal);
      process.kill(process.pid, signal);
    });
  };
  for (const one of SIGNALS) process.once(one, onSignal);
  const outcomes = [];
  try {
    for (const { name, run } of checks) {
      const reason = await run(rig).then(() => undefined, reasonOf);
      outcomes.push({ name, reason });
      const verdict = reason === undefined ? "passed" : `FAILED\n${reason}`;
      process.stdout.write(`${name}: ${verdict}\n`);
    }
  } finally {
    for (const one of SIGNALS) process.removeListener(one, onSignal);
    await rig.close();
  }
  return outcomes;
}

function gatherFacts() {
  return {
    date: new Date().toISOString().slice(0, 10),
    plugboard: JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
      .version,
    node: process.versions.node,
    cores: availableParallelism(),
    ...versions(),
  };
}

/** Undefined where there is nothing to do but what it has said. */
function readOptions() {
  try {
    const parsed = parseOptions(process.argv.slice(2));
    if (!parsed.help) return parsed;
    process.stdout.write(`${USAGE}\n`);
  } catch (error) {
    process.stderr.write(`acpx: ${error.message}\n${USAGE}\n`);
    process.exitCode = 2;
  }
  return undefined;
}
