// `npm run bench`: Plugboard beside its peers and beside what the machine allows, in one run.
// Prints tables, ratios and what must hold. Fails only where it could not measure.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { endAll as endMarked } from "../lib/processes.mjs";
import { takesPart } from "./contenders.mjs";
import { compare } from "./lib/compare.mjs";
import { parseOptions, USAGE } from "./lib/options.mjs";
import { pinToOneCpu } from "./lib/pin.mjs";
import { prepare } from "./lib/prepare.mjs";
import { endAll } from "./lib/processes.mjs";
import { findRuntimes } from "./lib/runtimes.mjs";
import { summarise } from "./lib/summary.mjs";
import {
  callTable,
  coldStartTable,
  commandTable,
  contenderTable,
  secretsTable,
  verdictLine,
} from "./lib/tables.mjs";
import { judge } from "./lib/verdicts.mjs";
import { measureAdHocCall } from "./measure/ad-hoc.mjs";
import { measureColdStart } from "./measure/cold-start.mjs";
import { measureCommandLine } from "./measure/command-line.mjs";
import { measureSecrets } from "./measure/secrets.mjs";
import { measureWarmCall } from "./measure/warm.mjs";
import { sized } from "./scenarios.mjs";

const COMMANDS = {
  "command-line": { measure: measureCommandLine, table: commandTable },
  "cold-start": { measure: measureColdStart, table: coldStartTable },
  secrets: { measure: measureSecrets, table: secretsTable },
  "warm-call": { measure: measureWarmCall, table: callTable },
  "ad-hoc-call": { measure: measureAdHocCall, table: callTable },
};

const options = readOptions();
const dir = mkdtempSync(join(tmpdir(), "plugboard-bench-"));
// A peer's daemon leaves the group of whoever started it, but takes the environment along.
process.env.PLUGBOARD_BENCH = dir;
process.once("exit", () => {
  endAll();
  endMarked(`PLUGBOARD_BENCH=${dir}`);
  rmSync(dir, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(130));

try {
  await bench();
} catch (error) {
  console.error(`bench: ${error.message}`);
  process.exitCode = 1;
}

async function bench() {
  const measuresOwn = options.contenders.some(({ kind }) => kind === "own");
  const scenarios = options.scenarios
    .filter((scenario) => scenario.measure !== undefined || measuresOwn)
    .map((scenario) => sized(scenario, options.quick));
  prepare({ needsBuild: measuresOwn });
  const runtimes = findRuntimes(options.node);
  if (options.node === "both" && runtimes.length === 1 && !runtimes[0].version.startsWith("24.")) {
    console.error("bench: no Node 24: the install script of the npm package `node` has not run");
  }
  const machine = describeMachine();
  console.log(`${machine.cpus} x ${machine.model}, load ${machine.load}`);

  const results = [];
  for (const runtime of runtimes) {
    for (const scenario of scenarios) {
      console.log(`\nNode ${runtime.version}: ${scenario.title}`);
      const result = await measure(scenario, runtime);
      const verdicts = measuresOwn ? judge(scenario, result) : [];
      results.push({ node: runtime.version, scenario, ...result, verdicts });
      const table =
        scenario.measure === undefined
          ? COMMANDS[scenario.command].table(result)
          : contenderTable(scenario, result.rows);
      process.stdout.write(table);
      if (result.pinned) console.log("  client and server shared one CPU");
    }
  }
  const verdicts = results.flatMap(({ node, verdicts: some }) =>
    some.map((one) => ({ node, ...one })),
  );
  if (verdicts.length > 0) console.log("\nMust hold");
  for (const verdict of verdicts) console.log(verdictLine(verdict));
  if (options.json !== undefined) {
    const report = { quick: options.quick, machine, results };
    writeFileSync(options.json, `${JSON.stringify(report, undefined, 2)}\n`);
  }
}

/** Resolves to the scenario's figures, or to the reason why there are none. */
async function measure(scenario, runtime) {
  if (scenario.measure !== undefined) {
    const contenders = options.contenders.filter((one) => takesPart(one, scenario));
    const prefix = scenario.oneCpu && options.pin ? pinToOneCpu() : [];
    const entries = await compare({
      scenario,
      contenders,
      runtime,
      quick: options.quick,
      prefix,
      cwd: dir,
    });
    return { pinned: prefix.length > 0, rows: summarise(scenario, entries, runtime) };
  }
  const own = join(dir, `${scenario.name}-${runtime.version}`);
  mkdirSync(own);
  try {
    const { measure: measureCommand } = COMMANDS[scenario.command];
    return { figures: await measureCommand({ runtime, scenario, dir: own }) };
  } catch (error) {
    return { failure: error.message };
  }
}

function describeMachine() {
  const list = cpus();
  return { cpus: list.length, model: list[0]?.model.trim(), load: loadavg()[0].toFixed(2) };
}

function readOptions() {
  try {
    const parsed = parseOptions(process.argv.slice(2));
    if (!parsed.help) return parsed;
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    console.error(`bench: ${error.message}\n${USAGE}`);
    process.exit(2);
  }
}
