// Starts ten servers with ten references each, once, and prints as JSON how long that took and what was asked for.
//
//   node checks/bench/secrets-start.mjs <milliseconds that a request takes> <tiny|node>

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openBoard } from "../../dist/index.js";

const [delay, kind] = [Number(process.argv[2]), process.argv[3]];
const SERVERS = 10;
/** Of the ten references of a server, so many are its own; the rest are the same for all. */
const OWN = 5;
const SHARED = 5;

const fileOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const [command, script] =
  kind === "tiny" ? ["/bin/sh", "tiny-server.sh"] : [process.execPath, "server.mjs"];

const asked = [];
let slowest = 0;
let lastSecret = 0;
const provider = {
  name: "bench",
  async resolve({ path }) {
    asked.push(path);
    const began = performance.now();
    if (delay > 0) await sleep(delay);
    lastSecret = performance.now();
    slowest = Math.max(slowest, lastSecret - began);
    return `the-value-of-${path}`;
  },
};

const range = (count) => Array.from({ length: count }, (_, index) => index);
const servers = Object.fromEntries(
  range(SERVERS).map((server) => {
    const names = [
      ...range(OWN).map((each) => `own-${server}-${each}`),
      ...range(SHARED).map((each) => `shared-${each}`),
    ];
    const env = Object.fromEntries(
      names.map((name, index) => [`VALUE_${index}`, `secret://bench/${name}`]),
    );
    return [`s${server}`, { command, args: [fileOf(script)], env }];
  }),
);

const stateDir = await mkdtemp(join(tmpdir(), "plugboard-bench-"));
const began = performance.now();
const board = await openBoard({ servers }, { stateDir, secretProviders: [provider] });
const ready = performance.now();
const isReady = board.status().every(({ state }) => state.kind === "ready");
await board.close();
await rm(stateDir, { recursive: true, force: true });
if (!isReady) throw new Error("not every server is ready");
const distinct = OWN * SERVERS + SHARED;
if (asked.length !== distinct || new Set(asked).size !== distinct) {
  throw new Error(`${asked.length} requests for ${distinct} secrets`);
}
console.log(
  JSON.stringify({ all: ready - began, slowest, rest: ready - lastSecret, requests: asked.length }),
);
