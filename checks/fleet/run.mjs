// `npm run fleet`: gateways on a shared state under load and under faults, each part with a figure, its goal and a verdict. Fails where
// a goal is missed.

import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { runChecks } from "../lib/checks.mjs";
import { readEvidence } from "../lib/evidence.mjs";
import { npm } from "../lib/own-packages.mjs";
import { endLoads } from "./lib/load.mjs";
import { pageText } from "./lib/page.mjs";
import { installPrograms, versions } from "./lib/programs.mjs";
import { openRig } from "./lib/rig.mjs";
import { cutOff, listChanged, oneRedemption, tokenRevoked } from "./parts/agreement.mjs";
import { killed, postgresStopped, restarted, valkeyKilled } from "./parts/faults.mjs";
import { cpuBound, latencyBound, oneMachine, sharedCost } from "./parts/speed.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const PARTS = [
  ["latency: 1 to 4 gateways, a tool of 50 ms", latencyBound],
  ["processor: 1 to 4 gateways, a tool that answers at once", cpuBound],
  ["one machine: the template for systemd, 1 to 4 gateways", oneMachine],
  ["cost: shared state against files", sharedCost],
  ["kill -9 of one of three, behind HAProxy", killed("Haproxy")],
  ["kill -9 of one of three, behind nginx", killed("Nginx")],
  ["rolling restart of three, behind HAProxy", restarted("Haproxy")],
  ["rolling restart of three, behind nginx", restarted("Nginx")],
  ["Valkey killed, another primary by Sentinel", valkeyKilled],
  ["PostgreSQL stopped for a minute", postgresStopped],
  ["one sign-in that has expired, eight gateways", oneRedemption],
  ["token revoked at one, seen by all", tokenRevoked],
  ["list changed at one, heard at all", listChanged],
  ["cut off from both engines", cutOff],
];

/** The short form shows that a part works; its figures say little. */
const isShort = process.env.FLEET_SHORT === "1";
const seconds = (full) => (isShort ? Math.max(2, full / 5) : full) * 1_000;

/** What the parts found, for the page. */
const found = [];

await runChecks({
  who: "fleet",
  script: "fleet",
  checks: PARTS.map(([name, part]) => ({ name, run: (rigs) => runPart(name, part, rigs) })),
  prepare({ build }) {
    installPrograms();
    if (build) npm({ who: "fleet", what: "building the project", cwd: ROOT }, ["run", "build"]);
  },
  openRig: openRigs,
  versions,
  textOf: (_, head) =>
    pageText({ head, found, before: readEvidence("fleet"), order: PARTS.map(([name]) => name) }),
  keepsOthers: true,
});

/** One rig for each part: what a part has left running or broken does not disturb the next. */
async function openRigs() {
  let rig;
  const close = async () => {
    endLoads();
    await rig?.close();
    rig = undefined;
  };
  return {
    close,
    async next() {
      await close();
      rig = await openRig();
      return rig;
    },
  };
}

/** Throws where a goal is missed. */
async function runPart(name, part, rigs) {
  const load = loadavg()[0];
  const results = await part(await rigs.next(), { seconds, isShort });
  const judged = results.filter(({ claim }) => claim !== undefined);
  const notes = results.flatMap(({ note }) => note ?? []);
  const lines = judged.map(
    ({ claim, figure, goal, isMet }) =>
      `  ${isMet ? "met   " : "MISSED"}  ${claim}: ${figure}; goal: ${goal}`,
  );
  process.stdout.write(`${name}\n${[...lines, ...notes.map((each) => `  ${each}`)].join("\n")}\n`);
  found.push({ name, load, judged, notes });
  const missed = judged.filter(({ isMet }) => !isMet).length;
  if (missed > 0) throw new Error(`${missed} of ${judged.length} goals missed`);
}
