// One call from the shell to a server that is typed with it and is in no configuration, from the start of the process to
// its end, in milliseconds: Plugboard's beside mcporter's, and beside an empty Node. The server starts and ends with
// each call.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MODULES } from "../lib/gateway.mjs";
import { run } from "../lib/processes.mjs";
import { median, medians } from "../lib/stats.mjs";

const BIN = fileURLToPath(new URL("../../../dist/bin.cjs", import.meta.url));
const SERVER = fileURLToPath(new URL("../server.mjs", import.meta.url));

/** `dir` is an empty directory to work in. */
export async function measureAdHocCall({ runtime, scenario, dir }) {
  const { path: node } = runtime;
  const home = join(dir, "home");
  mkdirSync(home);
  const env = { PLUGBOARD_HOME: home, HOME: home, CI: "1" };
  const execute = async (what, words, expected) => {
    const result = await run(node, words, { cwd: dir, env, timeLimit: scenario.timeLimit });
    if (result.code === 0 && result.stdout.includes(expected)) return result.exited;
    const said = `${result.stderr}${result.stdout}`.trim().split("\n")[0];
    throw new Error(`${what}: exit ${result.code ?? result.signal}: ${said}`);
  };
  const call = ["call", "echo", "text=hello", "--", node, SERVER];
  const stdio = ["--stdio", node, "--stdio-arg", SERVER];
  const theirs = [`${MODULES}mcporter/dist/cli.js`, "call", ...stdio, "echo", "text=hello"];
  const calls = {
    empty: () => execute("node -e 0", ["-e", "0"], ""),
    plugboard: () => execute("plugboard", [BIN, ...call], "hello"),
    mcporter: () => execute("mcporter", theirs, "hello"),
  };
  // The first call makes the directories that later ones find.
  for (const each of Object.values(calls)) await each();
  const samples = [];
  while (samples.length < scenario.rounds) {
    const sample = {};
    for (const [name, each] of Object.entries(calls)) sample[name] = await each();
    samples.push(sample);
  }
  const ratio = median(samples.map(({ plugboard, mcporter }) => plugboard / mcporter));
  return { samples, ...medians(samples), ratio };
}
