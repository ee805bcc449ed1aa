// What the guard costs a call: CPU of the whole pipeline around a tool that answers at once, against the
// tool alone. Needs `npm run build`. The audit's writer runs on the same thread and is counted.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { GuardedCalls } from "../dist/board/guarded-calls.js";
import { Calls } from "../dist/board/calls.js";
import { createPolicy } from "../dist/guard/policy.js";
import { serverGuards } from "../dist/guard/server-guards.js";
import { silentLogger } from "../dist/model/logger.js";
import { Redactor } from "../dist/secrets/redactor.js";
import { systemClock } from "../dist/util/clock.js";
import { Emitter } from "../dist/util/emitter.js";

const CALLS = 20_000;
const ROUNDS = 25;

const outcome = {
  content: [{ type: "text", text: "The answer is 42, and that is all there is to say." }],
};
const args = { path: "docs/readme.md", head: 20 };
const subject = {
  canonical: "files/read_text_file",
  publicName: "mcp__files__read_text_file",
  source: { kind: "mcp", server: "files", tool: "read_text_file" },
  origin: "agent",
  ownerOnly: false,
  hash: "0".repeat(64),
};
const last = async () => outcome;

const guard = {
  rateLimit: { default: 1_000_000 },
  concurrency: { default: 64 },
  approval: { default: "never" },
};
const servers = serverGuards([{ name: "files", origin: "agent", guard }]);
const policy = createPolicy({
  servers,
  rules: [{ place: "agents.defaults.tools", allow: ["files/*"], deny: ["files/write_*"] }],
});
const redactor = new Redactor();
for (const secret of ["ghp_0123456789abcdefghij", "sk-proj-abcdefghijklmnop", "hunter2hunter2"])
  redactor.add(secret);

async function makeStages(stateDir) {
  const calls = new GuardedCalls({
    agent: { agentId: "bench", servers: [], toolNames: "", warnings: [] },
    options: stateDir === undefined ? {} : { stateDir },
    clock: systemClock,
    logger: silentLogger,
    redactor,
    servers,
    first: [policy.stage],
  });
  return { guarded: calls.around(subject, last), close: () => calls.close() };
}

const runner = new Calls(systemClock, silentLogger, new Emitter(() => {}));

async function measure(guarded, settle) {
  const plugged = { guarded, subject };
  const before = process.cpuUsage();
  for (let call = 0; call < CALLS; call += 1) {
    await runner.run(plugged, args, {});
    // As answers from a socket would: nothing else runs as long as nobody waits for anything.
    if (call % 64 === 0) await setImmediate();
  }
  await settle();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

const directory = await mkdtemp(join(tmpdir(), "plugboard-bench-"));
const results = { none: [], withoutAudit: [], all: [] };
try {
  for (let round = 0; round < ROUNDS; round += 1) {
    results.none.push(await measure(last, async () => {}));
    const plain = await makeStages(undefined);
    results.withoutAudit.push(await measure(plain.guarded, () => plain.close()));
    const all = await makeStages(directory);
    results.all.push(await measure(all.guarded, () => all.close()));
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const none = median(results.none);
console.log(`no guard                    ${none.toFixed(2)} µs of CPU a call`);
console.log(
  `guard without the audit     ${median(results.withoutAudit).toFixed(2)} µs: +${(median(results.withoutAudit) - none).toFixed(2)}`,
);
console.log(
  `guard with the audit        ${median(results.all).toFixed(2)} µs: +${(median(results.all) - none).toFixed(2)}`,
);
