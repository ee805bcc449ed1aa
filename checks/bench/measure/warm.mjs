// One call from the shell to a server that runs already, from the start of the process to its end, in milliseconds:
// Plugboard's keep-alive beside mcporter's, and beside an empty Node.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MODULES } from "../lib/gateway.mjs";
import { run } from "../lib/processes.mjs";
import { medians } from "../lib/stats.mjs";

const BIN = fileURLToPath(new URL("../../../dist/bin.cjs", import.meta.url));
const SERVER = fileURLToPath(new URL("../server.mjs", import.meta.url));

/** What it may cost, as a multiple of `node -e 0`, which starts faster on newer versions of Node. */
const mostOn = ({ version }) => (Number.parseInt(version, 10) < 24 ? 2 : 3);

/** `dir` is an empty directory to work in. */
export async function measureWarmCall({ runtime, scenario, dir }) {
  const { path: node } = runtime;
  const home = join(dir, "home");
  mkdirSync(home);
  const echo = { command: node, args: [SERVER] };
  const board = { mcp: { servers: { echo: { ...echo, keepAlive: true } } } };
  const ours = write(join(dir, "plugboard.json"), { agents: { defaults: board } });
  const theirs = write(join(dir, "mcporter.json"), {
    mcpServers: { echo: { ...echo, lifecycle: "keep-alive" } },
  });
  const env = { PLUGBOARD_HOME: home, HOME: home, CI: "1" };
  const execute = async (what, words, expected) => {
    const result = await run(node, words, { cwd: dir, env, timeLimit: scenario.timeLimit });
    if (result.code === 0 && result.stdout.includes(expected)) return result.exited;
    const said = `${result.stderr}${result.stdout}`.trim().split("\n")[0];
    throw new Error(`${what}: exit ${result.code ?? result.signal}: ${said}`);
  };
  const plugboard = (...words) => [BIN, "--config", ours, ...words];
  const mcporter = (...words) => [`${MODULES}mcporter/dist/cli.js`, "--config", theirs, ...words];
  const calls = {
    empty: () => execute("node -e 0", ["-e", "0"], ""),
    plugboard: () => execute("plugboard", plugboard("call", "echo/echo", "text=hello"), "hello"),
    mcporter: () => execute("mcporter", mcporter("call", "echo.echo", "text=hello"), "hello"),
  };
  try {
    // The first call starts the server, and what keeps it.
    for (const call of Object.values(calls)) await call();
    const samples = [];
    while (samples.length < scenario.rounds) {
      const sample = {};
      for (const [name, call] of Object.entries(calls)) sample[name] = await call();
      samples.push(sample);
    }
    return { samples, ...medians(samples), most: mostOn(runtime) };
  } finally {
    await execute("plugboard down", plugboard("down"), "");
    await execute("mcporter daemon stop", mcporter("daemon", "stop"), "");
  }
}

function write(file, value) {
  writeFileSync(file, JSON.stringify(value));
  return file;
}
