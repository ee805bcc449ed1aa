// What the first servers of a process cost it in CPU time, beside the limit: many small servers on stdio, or one at a
// URL. Each start is a process of its own; the contenders take turns, and the best round of each counts, since other
// work on the machine only adds to it.

import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { end, run, start } from "../lib/processes.mjs";

const SCRIPT = fileURLToPath(new URL("../cold-start.mjs", import.meta.url));
const SERVER = fileURLToPath(new URL("../remote-server.mjs", import.meta.url));

/** `dir` is an empty directory to work in. */
export async function measureColdStart({ runtime, scenario, dir }) {
  const { path: node } = runtime;
  const { servers, contenders, rounds, timeLimit } = scenario;
  const remote = servers === undefined ? await startRemote(node) : undefined;
  const what = remote === undefined ? ["stdio", String(servers)] : ["remote", remote.url];
  const samples = Object.fromEntries(contenders.map((name) => [name, []]));
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const name of contenders) {
        const env = { PLUGBOARD_HOME: dir };
        const result = await run(node, [SCRIPT, ...what, name], { cwd: dir, env, timeLimit });
        if (result.code !== 0) throw new Error(`${name}: ${firstError(result)}`);
        samples[name].push(JSON.parse(result.stdout));
      }
    }
  } finally {
    if (remote !== undefined) end(remote.child);
  }
  const best = Object.fromEntries(contenders.map((name) => [name, bestOf(samples[name])]));
  const [limit] = contenders;
  const ratio = (figure) => best.plugboard[figure] / best[limit][figure];
  return { limit, samples, best, ratio: ratio("start"), whole: ratio("whole") };
}

async function startRemote(node) {
  const child = start(node, [SERVER], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(child.stdout.setEncoding("utf8"), "data");
  return { child, url: line.trim() };
}

function bestOf(samples) {
  const least = (figure) => Math.min(...samples.map(figure));
  return {
    load: least(({ load }) => load),
    start: least(({ start: spent }) => spent),
    whole: least(({ load, start: spent }) => load + spent),
    ms: least(({ ms }) => ms),
  };
}

function firstError({ stderr, code, signal }) {
  const said = stderr.split("\n").find((line) => line.includes("Error"));
  return `exit ${code ?? signal}: ${said}`;
}
