// What many large calls in one turn of the event loop cost: 6 000 calls with one shared argument of 100 KB, whose
// results nobody keeps. Prints how many were answered, the peak memory of this process and the longest time that
// the event loop stood still. `--silent` calls a server that does not read. Run `npm run build` first.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openBoard } from "../../dist/index.js";

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "6000" },
    bytes: { type: "string", default: "100000" },
    silent: { type: "boolean", default: false },
  },
});

const NANOSECONDS_PER_MS = 1e6;
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const echo = { command: process.execPath, args: [path("server.mjs")] };
const silent = {
  command: process.execPath,
  args: [path("../../test/fixtures/servers/not-reading.mjs"), "--after=tools/list"],
  toolTimeout: 5000,
};

const stateDir = await mkdtemp(join(tmpdir(), "plugboard-bench-"));
const board = await openBoard({ servers: { echo: values.silent ? silent : echo } }, { stateDir });
const tool = board.tools()[0].name;
await board.call(tool, values.silent ? {} : { text: "warm" });

const args = { text: "x".repeat(Number(values.bytes)) };
const failures = new Map();
let answered = 0;
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
// It measures from the first turn that ends after this.
await new Promise((resolve) => setTimeout(resolve, 50));
const started = performance.now();
const call = async () => {
  const outcome = await board.call(tool, args);
  if (outcome.failure === undefined) answered += 1;
  else {
    const { message } = outcome.failure;
    failures.set(message, (failures.get(message) ?? 0) + 1);
  }
};
await Promise.all(Array.from({ length: Number(values.calls) }, call));
const seconds = (performance.now() - started) / 1000;
delay.disable();

console.log(
  JSON.stringify(
    {
      answered,
      failures: Object.fromEntries(failures),
      seconds: Number(seconds.toFixed(1)),
      peakMemoryMiB: Math.round(process.resourceUsage().maxRSS / 1024),
      longestPauseMs: Math.round(delay.max / NANOSECONDS_PER_MS),
    },
    undefined,
    2,
  ),
);
await board.close();
await rm(stateDir, { recursive: true, force: true });
