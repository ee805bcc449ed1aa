// What must not grow: the CPU time of a call with the number of tools, servers and secrets, beside the hand-written loop;
// `status()` and the lists with more than the number of servers; the opening of a session with more than the number of
// tools; redaction with the number of secrets; commands and reading with a very large file. All figures are CPU time, the best of
// several rounds, and memory. Run `npm run build` first. `node checks/bench/growth.mjs calls` runs one part of it: `calls`, `lists`,
// `redaction` or `files`.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { openBoard } from "../../dist/index.js";
import { BIN } from "../lib/run-gateway.mjs";
import { importSource } from "../../scripts/sources.mjs";
import { open as openHandWritten } from "./clients/hand-written.mjs";
import { warnOfOldBuild } from "./lib/prepare.mjs";
import { run } from "./lib/processes.mjs";

const SELF = fileURLToPath(import.meta.url);
const SERVER = fileURLToPath(new URL("server.mjs", import.meta.url));
const TINY_SERVER = fileURLToPath(new URL("tiny-server.sh", import.meta.url));
const MEGABYTE = 1_000_000;

const USUAL = { tools: 10, servers: 1, secrets: 1, bytes: 100, calls: 3_000, inFlight: 100 };
const TEN_KILOBYTES = { bytes: 10_000, calls: 1_000 };
const CASES = {
  "10 tools, 1 server, 1 secret, 100 bytes": {},
  "3 000 tools": { tools: 3_000 },
  "50 servers": { servers: 50 },
  "500 secrets": { secrets: 500 },
  "results of 10 KB": TEN_KILOBYTES,
  "results of 1 MB": { bytes: MEGABYTE, calls: 20, inFlight: 4 },
  "results of 1 MB, 500 secrets": { bytes: MEGABYTE, calls: 20, inFlight: 4, secrets: 500 },
  "all of it, results of 10 KB": { tools: 3_000, servers: 50, secrets: 500, ...TEN_KILOBYTES },
};
/** Servers, and tools of each. */
const LISTS = [
  [25, 60],
  [50, 60],
  [100, 60],
  [200, 60],
  [50, 600],
];
const WARM_UP_ROUNDS = 5;
const ROUNDS = 15;

/** In one configuration file, all of them disabled. */
const SERVERS_IN_FILE = 20_000;
/** Of a pinned server. */
const PINNED_TOOLS = 10_000;

const PARTS = { calls, lists, redaction, files };
const [part, only] = process.argv.slice(2);
if (part !== "case") warnOfOldBuild();
if (part === "case") console.log(JSON.stringify(await measureCase({ ...USUAL, ...CASES[only] })));
else if (part === undefined) for (const each of Object.values(PARTS)) await each();
else if (Object.hasOwn(PARTS, part)) await PARTS[part]();
else {
  console.error(`usage: node checks/bench/growth.mjs [${Object.keys(PARTS).join("|")}]`);
  process.exitCode = 2;
}

/** Each case in a process of its own, so that none profits from what another has warmed up. */
async function calls() {
  console.log("\nCPU time of a call, in microseconds");
  row(["", "loop", "Plugboard", "to the loop", "to the usual"]);
  let usual;
  for (const name of Object.keys(CASES)) {
    const { code, stdout, stderr } = await run(process.execPath, [SELF, "case", name], {
      timeLimit: 300,
    });
    if (code !== 0) throw new Error(`${name}: ${stderr}`);
    const { loop, plugboard } = JSON.parse(stdout);
    usual ??= plugboard;
    const cells = [loop.toFixed(1), plugboard.toFixed(1), ratio(plugboard, loop)];
    row([name, ...cells, ratio(plugboard, usual)]);
  }
}

async function measureCase({ tools, servers, secrets, bytes, calls: count, inFlight }) {
  const args = [SERVER, `--tools=${tools}`, `--big=${bytes}`];
  const loop = await openHandWritten(process.execPath, args);
  const { board, close } = await openWith({ args, servers, secrets });
  const contenders = {
    loop: async () => loop.text(await loop.call("big", { bytes })),
    plugboard: async () => (await board.call("mcp__server0__big", { bytes })).content[0].text,
  };
  const least = { loop: Infinity, plugboard: Infinity };
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
    for (const [name, call] of Object.entries(contenders)) {
      const before = cpuMs();
      await keepInFlight(call, { count, inFlight, bytes });
      const each = ((cpuMs() - before) * 1_000) / count;
      if (round >= WARM_UP_ROUNDS) least[name] = Math.min(least[name], each);
    }
  }
  await Promise.all([loop.close(), close()]);
  return least;
}

/** With rules, limits and the audit on disk. The first server answers the calls, the others are only there. */
async function openWith({ args, servers, secrets }) {
  const stateDir = await mkdtemp(join(tmpdir(), "plugboard-bench-"));
  const tokens = Array.from({ length: secrets }, (_, at) => [`BENCH_TOKEN_${at}`, secret(at)]);
  const limits = { rateLimit: 1_000_000, concurrency: 10_000 };
  const definition = (at) =>
    at === 0
      ? { command: process.execPath, args, env: Object.fromEntries(tokens), ...limits }
      : { command: "sh", args: [TINY_SERVER] };
  const entries = Array.from({ length: servers }, (_, at) => [`server${at}`, definition(at)]);
  const config = { servers: Object.fromEntries(entries), tools: { deny: ["*/delete_*"] } };
  const board = await openBoard(config, { stateDir });
  const failed = board.status().filter(({ state }) => state.kind !== "ready");
  if (failed.length > 0) throw new Error(`not ready: ${JSON.stringify(failed[0])}`);
  const close = async () => {
    await board.close();
    await rm(stateDir, { recursive: true, force: true });
  };
  return { board, close };
}

async function keepInFlight(call, { count, inFlight, bytes }) {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      next += 1;
      const told = await call();
      if (told.length !== bytes) throw new Error(`expected ${bytes} bytes: ${told}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

async function lists() {
  console.log("\nLists, in microseconds for each server");
  const names = ["status", "tools", "session's status", "session's tools", "open a session"];
  row(["servers x tools", ...names]);
  await measureLists(...LISTS[0]); // The first board is slower: nothing is compiled yet.
  let first;
  for (const [servers, tools] of LISTS) {
    const figures = await measureLists(servers, tools);
    row([`${servers} x ${tools}`, ...figures.map((one) => one.toFixed(2))]);
    if (first) row(["to the first", ...figures.map((one, at) => ratio(one, first[at]))]);
    first ??= figures;
  }
}

/** This process answers for all servers, so that none has to be started. */
async function measureLists(servers, tools) {
  const http = createServer((request, reply) => void answer(request, reply, tools));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const url = `http://127.0.0.1:${http.address().port}/`;
  const entries = Array.from({ length: servers }, (_, at) => [`server${at}`, { url: url + at }]);
  const board = await openBoard({ servers: Object.fromEntries(entries) });
  let session = await board.openSession({ cwd: process.cwd() });
  const listed = session.tools().length;
  if (listed !== servers * tools) throw new Error(`${listed} tools, not ${servers * tools}`);
  const figures = [board, session].flatMap((each) => [
    best(() => each.status()),
    best(() => each.tools()),
  ]);
  let opening = Infinity;
  for (let round = 0; round < 10; round += 1) {
    await session.close();
    const before = cpuMs();
    session = await board.openSession({ cwd: process.cwd() });
    opening = Math.min(opening, cpuMs() - before);
  }
  await board.close();
  http.close();
  http.closeAllConnections();
  return [...figures, opening].map((one) => (one * 1_000) / servers);
}

async function answer(request, reply, count) {
  const { id, method } = JSON.parse((await readAll(request)) || "{}");
  if (id === undefined) return void reply.writeHead(request.method === "POST" ? 202 : 405).end();
  const results = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "bench", version: "1.0.0" },
    },
    "tools/list": {
      tools: Array.from({ length: count }, (_, at) => ({
        name: `tool_${at}`,
        description: `Finds the documents that mention the word number ${at}. `.repeat(3),
        inputSchema: { type: "object", properties: { query: { type: "string" } } },
      })),
    },
  };
  const result = results[method];
  const error = { code: -32601, message: "Method not found" };
  reply.writeHead(200, { "content-type": "application/json" });
  reply.end(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }));
}

/** The time to learn secrets, to learn one more, and to search a megabyte that has none of them. */
async function redaction() {
  const { Redactor } = await importSource("core/redaction/redactor.ts");
  const bytes = Buffer.concat(Array.from({ length: MEGABYTE / 32 }, (_, at) => random(`${at}`)));
  const base64 = bytes.toString("base64").slice(0, MEGABYTE);
  const prose = await readFile(new URL("../../docs/architecture.md", import.meta.url), "utf8");
  const texts = Object.entries({
    base64,
    "base64 in lines": base64.replace(/.{76}/g, "$&\n"),
    hex: bytes.toString("hex").slice(0, MEGABYTE),
    prose: prose.repeat(MEGABYTE / prose.length + 1).slice(0, MEGABYTE),
    // Through a buffer, so that it is one piece, as what a server sends.
  }).map(([name, text]) => [name, Buffer.from(text).toString()]);
  console.log("\nRedaction, in milliseconds");
  row(["secrets", "learn", "one more", ...texts.map(([name]) => name)]);
  for (const count of [1, 50, 500, 5_000]) {
    const secrets = Array.from({ length: count }, (_, at) => secret(at));
    let redactor;
    const learn = best(() => {
      redactor = new Redactor();
      for (const each of secrets) redactor.add(each);
      redactor.text("the first text");
    });
    const searched = texts.map(([, text]) => best(() => redactor.text(text)));
    // Last, since it learns many: the search would no longer be for `count` secrets.
    let more = count;
    const oneMore = best(() => {
      redactor.add(secret((more += 1)));
      redactor.text("the next text");
    });
    row([count, ...[learn, oneMore, ...searched].map((one) => one.toFixed(2))]);
  }
}

async function files() {
  const home = await mkdtemp(join(tmpdir(), "plugboard-growth-"));
  try {
    const usage = join(home, "usage.cjs");
    const told = join(home, "usage.json");
    await writeFile(
      usage,
      `process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(told)}, JSON.stringify(process.resourceUsage())));`,
    );
    const config = join(home, "plugboard.json");
    const servers = Object.fromEntries(
      Array.from({ length: SERVERS_IN_FILE }, (_, at) => [
        `s${at}`,
        { command: "node", args: ["server.js", String(at)], env: { A: "b" }, enabled: false },
      ]),
    );
    await writeFile(config, JSON.stringify({ agents: { defaults: { mcp: { servers } } } }));
    row([`${SERVERS_IN_FILE} disabled servers in a file`, "CPU s", "memory MB"]);
    for (const command of ["list", "status", "tools", "doctor"]) {
      const args = ["--require", usage, BIN, "--config", config, command];
      const env = { PATH: process.env.PATH, HOME: home, PLUGBOARD_HOME: home };
      execFileSync(process.execPath, args, { env, stdio: "ignore", cwd: home });
      const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(await readFile(told, "utf8"));
      const seconds = (userCPUTime + systemCPUTime) / 1e6;
      row([`plugboard ${command}`, seconds.toFixed(1), (maxRSS / 1_000).toFixed(0)]);
    }
    await pinsOf(home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function pinsOf(home) {
  const { PinFiles } = await importSource("core/state/files/pin-files.ts");
  const pins = new PinFiles({ stateDir: join(home, "state") });
  const id = { server: "s", key: "k" };
  const pinned = (value) => ({
    kind: "pinned",
    firstSeen: 1,
    approved: { hash: "h", value, seen: 1 },
  });
  const description = "x".repeat(3_900);
  const definition = (name) => ({ name, description, inputSchema: { type: "object" } });
  const names = Array.from({ length: PINNED_TOOLS }, (_, at) => `tool${at}`);
  const tools = new Map(names.map((name) => [name, pinned(definition(name))]));
  await pins.update(id, () => ({ ...id, seenWith: [], instructions: pinned(""), tools }));
  const before = cpuMs();
  const { kind } = await pins.read(id);
  const seconds = (cpuMs() - before) / 1_000;
  row([`${PINNED_TOOLS} pins of 4 KB: ${kind}`, seconds.toFixed(1), ""]);
}

function random(seed) {
  return createHash("sha256").update(seed).digest();
}

function secret(at) {
  return random(`secret ${at}`).toString("base64url").slice(0, 40);
}

/** Milliseconds of the best of several rounds. What takes little is done several times in a round. */
function best(task) {
  const measure = (times) => {
    const before = cpuMs();
    for (let time = 0; time < times; time += 1) task();
    return (cpuMs() - before) / times;
  };
  const times = Math.max(1, Math.ceil(20 / (measure(1) + 0.01)));
  return Math.min(...Array.from({ length: 10 }, () => measure(times)));
}

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function ratio(figure, other) {
  return `${(figure / other).toFixed(2)} x`;
}

function row([first, ...cells]) {
  console.log(String(first).padEnd(42) + cells.map((cell) => String(cell).padStart(18)).join(""));
}
