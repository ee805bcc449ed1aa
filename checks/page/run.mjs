// The figures that the page of the gateway must hold: what a reader of its events costs a call, how soon it can be used
// with many servers, and what a long day of calls leaves in its memory. See README.md.

import { mkdtempSync, rmSync } from "node:fs";
import { readFileSync } from "node:fs";
import { execFile } from "node:child_process";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { BIN, runGateway } from "../lib/run-gateway.mjs";

const SERVER = fileURLToPath(new URL("./server.mjs", import.meta.url));
const PARTS = ["cpu", "paint", "memory"];
const IN_FLIGHT = 16;
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

const wanted = process.argv.slice(2).filter((each) => !each.startsWith("-"));
const isQuick = process.argv.includes("--quick");
const home = mkdtempSync(join(tmpdir(), "plugboard-page-check-"));
try {
  for (const part of wanted.length > 0 ? wanted : PARTS) {
    const measure = { cpu: measureCpu, paint: measurePaint, memory: measureMemory }[part];
    if (measure === undefined) throw new Error(`there is no part '${part}': ${PARTS.join(", ")}`);
    await measure(join(home, part));
  }
} finally {
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}

/** Rounds with and without a reader take turns, so that both see the same machine. */
async function measureCpu(place) {
  const gateway = await open(place, { servers: { one: server(1) } });
  try {
    const load = await connect(gateway);
    const [rounds, calls] = isQuick ? [4, 5000] : [6, 40_000];
    await load.run(2 * calls);
    const without = [];
    const withReader = [];
    for (let round = 0; round < rounds; round += 1) {
      without.push(await cpuOf(gateway, load, calls));
      const reader = await read(gateway);
      // What a reader has compiled and loaded once is no cost of a call.
      await load.run(calls);
      withReader.push(await cpuOf(gateway, load, calls));
      reader.close();
      // The gateway watches calls for a minute longer, for a page that is loaded again: a new process begins anew.
      await gateway.stop();
      await gateway.start();
      await load.reconnect();
      await load.run(2 * calls);
    }
    const [plain, read1] = [median(without), median(withReader)];
    say("CPU of the gateway for a call, nobody looks", `${plain.toFixed(1)} µs`);
    say("the same with a reader on the stream", `${read1.toFixed(1)} µs`);
    say("so much more (at most 3 %)", `${(100 * (read1 / plain - 1)).toFixed(1)} %`);
    load.close();
  } finally {
    await gateway.stop();
  }
}

async function measurePaint(place) {
  const names = Array.from({ length: 50 }, (_, at) => [`server-${at}`, server(60)]);
  const gateway = await open(place, { servers: Object.fromEntries(names) });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  try {
    await untilReady(gateway, 50);
    const times = [];
    for (let round = 0; round < (isQuick ? 2 : 7); round += 1) {
      const page = await browser.newPage();
      await page.goto(await link(gateway));
      const usable = await page.waitForFunction(
        () => document.querySelectorAll(".tiles li").length >= 50 && performance.now(),
        undefined,
        { polling: "raf" },
      );
      const paint = await page.evaluate(
        () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
      );
      const before = await page.evaluate(() => performance.now());
      await page.getByRole("navigation").getByRole("link", { name: "Tools" }).click();
      const listed = await page.waitForFunction(
        () => document.querySelectorAll("tbody tr").length >= 200 && performance.now(),
        undefined,
        { polling: "raf" },
      );
      times.push({
        paint,
        usable: await usable.jsonValue(),
        tools: (await listed.jsonValue()) - before,
      });
      await page.context().close();
    }
    const of = (name) => `${Math.round(median(times.map((each) => each[name])))} ms`;
    say("50 servers, 3 000 tools: first paint", of("paint"));
    say("until all servers are shown and links work (at most 1 000 ms)", of("usable"));
    say("from a click on Tools to the first 200 of them", of("tools"));
  } finally {
    await browser.close();
    await gateway.stop();
  }
}

async function measureMemory(place) {
  const gateway = await open(place, { servers: { one: server(1) } });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Performance.enable");
    await page.goto(await link(gateway));
    await page.getByRole("navigation").getByRole("link", { name: "Activity" }).click();
    const load = await connect(gateway);
    const heap = async () => {
      await delay(1500);
      await cdp.send("HeapProfiler.collectGarbage");
      const { metrics } = await cdp.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "JSHeapUsedSize").value / 2 ** 20;
    };
    await load.run(2000);
    const first = await heap();
    const calls = isQuick ? 10_000 : 100_000;
    await load.run(calls);
    const last = await heap();
    say(`heap of the page after 2 000 calls`, `${first.toFixed(1)} MB`);
    say(`and after ${calls.toLocaleString("en")} more`, `${last.toFixed(1)} MB`);
    load.close();
  } finally {
    await browser.close();
    await gateway.stop();
  }
}

function server(tools) {
  return { command: process.execPath, args: [SERVER, String(tools)] };
}

async function open(place, { servers }) {
  const gateway = await runGateway({ home: place, agent: { mcp: { servers } } });
  return Object.assign(gateway, { home: place });
}

/** A link to its page, as a person gets it. */
async function link(gateway) {
  const args = [BIN, "--config", join(gateway.home, "plugboard.json"), "ui", "--print"];
  const env = { PATH: process.env.PATH, HOME: gateway.home, PLUGBOARD_HOME: gateway.home };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return stdout.trim();
}

/** Reads the events as the page does, without a browser that would take the same cores. */
async function read(gateway) {
  const url = new URL(await link(gateway));
  const key = url.hash.slice("#k=".length);
  const common = { "x-plugboard": "1", origin: url.origin, "content-type": "application/json" };
  const entered = await fetch(`${url.origin}/ui/api/enter`, {
    method: "POST",
    headers: common,
    body: JSON.stringify({ key }),
  });
  const { secret } = await entered.json();
  const [cookie] = entered.headers.getSetCookie()[0].split(";");
  const stream = request(`${url.origin}/ui/api/events`, {
    headers: { "x-plugboard": secret, cookie },
  });
  stream.end();
  await new Promise((resolve, reject) => {
    stream.once("response", (reply) => {
      reply.resume();
      if (reply.statusCode === 200) resolve();
      else reject(new Error(`the stream was answered with ${reply.statusCode}`));
    });
    stream.once("error", reject);
  });
  stream.on("error", () => {});
  return { close: () => stream.destroy() };
}

async function connect(gateway) {
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
  let session;
  const post = (message) =>
    new Promise((resolve, reject) => {
      const sent = request(
        gateway.url,
        {
          method: "POST",
          agent,
          headers: {
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            authorization: `Bearer ${gateway.token}`,
            ...(session && { "mcp-session-id": session }),
          },
        },
        (reply) => {
          const chunks = [];
          reply.on("data", (chunk) => chunks.push(chunk));
          reply.on("end", () => {
            session ??= reply.headers["mcp-session-id"];
            if (reply.statusCode >= 300) reject(new Error(`answered with ${reply.statusCode}`));
            else resolve(Buffer.concat(chunks).toString());
          });
        },
      );
      sent.on("error", reject);
      sent.end(JSON.stringify({ jsonrpc: "2.0", ...message }));
    });
  const reconnect = async () => {
    session = undefined;
    const clientInfo = { name: "check", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    await post({ id: 0, method: "initialize", params });
    await post({ method: "notifications/initialized" });
  };
  await reconnect();
  return {
    reconnect,
    async run(calls) {
      let next = 0;
      const lane = async () => {
        while (next < calls) {
          next += 1;
          const params = { name: "one__tool_0", arguments: { text: `call ${next}` } };
          const answer = await post({ id: next, method: "tools/call", params });
          if (!answer.includes("call ")) throw new Error(`a call failed: ${answer.slice(0, 200)}`);
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
    },
    close: () => agent.destroy(),
  };
}

async function cpuOf(gateway, load, calls) {
  const before = cpuMicros(gateway.pid());
  await load.run(calls);
  return (cpuMicros(gateway.pid()) - before) / calls;
}

function cpuMicros(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1].split(" ");
  // utime and stime, in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

async function untilReady(gateway, count) {
  const headers = { authorization: `Bearer ${gateway.token}` };
  for (let round = 0; round < 600; round += 1) {
    const reply = await fetch(new URL("/api/status", gateway.url), { headers });
    const { agents } = await reply.json();
    const servers = agents.flatMap((agent) => agent.servers);
    if (servers.filter(({ state }) => state.kind === "ready").length >= count) return;
    await delay(200);
  }
  throw new Error("the servers are not ready");
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function say(what, figure) {
  process.stdout.write(`${what}: ${figure}\n`);
}
