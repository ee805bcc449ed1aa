// One contender in one scenario, in a process of its own: `node checks/bench/worker.mjs <contender> <scenario>`.
// Under the bench it takes a sample whenever it is told to; alone (under a profiler, for one) it takes
// them all and prints their medians.

import { fileURLToPath } from "node:url";
import { contenders } from "./contenders.mjs";
import { medians } from "./lib/stats.mjs";
import { scenarios, sized } from "./scenarios.mjs";

const SERVER = fileURLToPath(new URL("server.mjs", import.meta.url));

const args = process.argv.slice(2).filter((arg) => arg !== "--quick");
const contender = contenders.find(({ name }) => name === args[0]);
const measured = scenarios.filter(({ measure }) => measure !== undefined);
const found = measured.find(({ name }) => name === args[1]);
if (contender === undefined || found === undefined) {
  const names = (list) => list.map(({ name }) => name).join("|");
  console.error(
    `usage: node checks/bench/worker.mjs <${names(contenders)}> <${names(measured)}> [--quick]`,
  );
  process.exit(2);
}
const scenario = sized(found, process.argv.includes("--quick"));

if (process.send === undefined) await runAlone();
else runUnderBench();

async function prepare() {
  const { prepare: prepareMeasure } = await import(`./measure/${scenario.measure}.mjs`);
  const { open, openAll } = await import(`./clients/${contender.name}.mjs`);
  const serve = (options = []) => [process.execPath, [SERVER, ...options]];
  return await prepareMeasure({ open, openAll, serve, scenario, contender });
}

async function runAlone() {
  const measure = await prepare();
  const samples = [];
  while (samples.length < scenario.rounds) samples.push(await measure.sample());
  await measure.close();
  console.log(JSON.stringify(medians(samples)));
  // A contender may leave something open behind close().
  process.exit();
}

/** Takes the steps it is told, and answers each with what came of it. */
function runUnderBench() {
  let measure;
  const steps = {
    async prepare() {
      measure = await prepare();
    },
    sample: () => measure.sample(),
    close: () => measure.close(),
  };
  process.on("message", (step) => {
    void attempt(steps[step]).then((answer) => {
      process.send(answer, () => step === "close" && process.exit());
    });
  });
  process.on("disconnect", () => process.exit());
}

async function attempt(step) {
  try {
    return { sample: await step() };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}
