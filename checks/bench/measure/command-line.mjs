// The command as a person meets it, from the start of the process to its end, in milliseconds:
// `--version` against an empty Node, and the tools of a slow server out of the cache.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../lib/processes.mjs";
import { medians } from "../lib/stats.mjs";

const BIN = fileURLToPath(new URL("../../../dist/bin.cjs", import.meta.url));
const SERVER = fileURLToPath(new URL("../server.mjs", import.meta.url));

/** `dir` is an empty directory to work in. */
export async function measureCommandLine({ runtime, scenario, dir }) {
  const { path: node } = runtime;
  const home = join(dir, "home");
  const config = join(dir, "plugboard.json");
  const args = [SERVER, `--start-delay=${scenario.slowServerMs}`];
  const servers = { slow: { command: node, args } };
  mkdirSync(home);
  writeFileSync(config, JSON.stringify({ agents: { defaults: { mcp: { servers } } } }));

  const execute = async (what, ...words) => {
    const env = { PLUGBOARD_HOME: home };
    const result = await run(node, words, { cwd: dir, env, timeLimit: scenario.timeLimit });
    if (result.code === 0) return result;
    const said = result.stderr.trim().split("\n")[0];
    throw new Error(`${what}: exit ${result.code ?? result.signal}: ${said}`);
  };
  const listTools = async () => {
    const result = await execute("plugboard tools", BIN, "tools", "--config", config);
    if (result.stdout.includes("echo")) return result;
    throw new Error(`plugboard tools did not list the server's tools: ${result.stdout}`);
  };

  const cold = await listTools();
  const samples = [];
  while (samples.length < scenario.rounds) {
    const empty = await execute("node -e 0", "-e", "0");
    const version = await execute("plugboard --version", BIN, "--version");
    const tools = await listTools();
    samples.push({
      empty: empty.exited,
      version: version.exited,
      toolsPrinted: tools.printed,
      tools: tools.exited,
    });
  }
  return { samples, ...medians(samples), toolsCold: cold.exited };
}
