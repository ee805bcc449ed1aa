// Ten servers with ten references each from one provider: milliseconds until all of them are ready, beside the slowest
// request. Nothing is subtracted. Requests that take no time show what the servers cost by themselves.

import { fileURLToPath } from "node:url";
import { run } from "../lib/processes.mjs";
import { medians } from "../lib/stats.mjs";

const SCRIPT = fileURLToPath(new URL("../secrets-start.mjs", import.meta.url));

/** `dir` is an empty directory to work in. */
export async function measureSecrets({ runtime, scenario, dir }) {
  const { path: node } = runtime;
  const start = async (delay, kind) => {
    const words = [SCRIPT, String(delay), kind];
    const { timeLimit } = scenario;
    const result = await run(node, words, { cwd: dir, env: { PLUGBOARD_HOME: dir }, timeLimit });
    if (result.code === 0) return JSON.parse(result.stdout);
    const said = result.stderr
      .trim()
      .split("\n")
      .find((line) => line.includes("Error"));
    throw new Error(`${kind} servers: exit ${result.code ?? result.signal}: ${said}`);
  };
  const figures = {};
  for (const kind of ["tiny", "node"]) {
    for (const delay of [0, scenario.requestMs]) {
      const samples = [];
      while (samples.length < scenario.rounds) samples.push(await start(delay, kind));
      figures[`${kind}${delay === 0 ? "AtOnce" : ""}`] = { samples, ...medians(samples) };
    }
  }
  return { ...figures, ratio: figures.tiny.all / figures.tiny.slowest };
}
