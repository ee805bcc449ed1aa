// Fuzzes one target in a process of its own, which may hang or run out of memory. What it is about to run is in a file by then, so that
// whoever started it knows which input that was. `node worker.mjs <options as JSON>`, with an IPC channel.

import { createHash } from "node:crypto";
import { openSync, readFileSync, writeSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import "../../scripts/sources.mjs";
import { Coverage } from "./lib/coverage.mjs";
import { minimise } from "./lib/minimise.mjs";
import { mutate, wordsIn } from "./lib/mutate.mjs";
import { Random } from "./lib/random.mjs";

/** Inputs between two looks at the coverage, which take a few milliseconds each. */
const BATCH = 32;
const LONGEST = 4096;
/** Of processor time. An input of a few kilobytes takes about a millisecond. */
const SLOW_MS = 1_000;
/** Memory is looked at after so many inputs, and may grow by so much beyond what is there after the first ones. */
const MEMORY_EVERY = 5_000;
const MOST_GROWTH = 64 * 2 ** 20;

const { name, targets, seed, seconds, executions, current, replay } = JSON.parse(process.argv[2]);
const file = openSync(current, "w");
const coverage = new Coverage(isWatched);
const { openTarget } = await import(targets);
const target = await openTarget(name);
const longest = target.longest ?? LONGEST;
const digest = createHash("sha256");
let count = 0;
/** Errors that nobody caught, of what has run. */
const strays = [];
for (const event of ["unhandledRejection", "uncaughtException"])
  process.on(event, (error) => strays.push(error));

await (replay === undefined
  ? fuzz()
  : runAlone(readFileSync(replay)).then((fault) => process.send({ kind: "replayed", fault })));
await target.close?.();
process.disconnect();

async function fuzz() {
  const random = new Random(seed);
  const seeds = (await target.seeds()).map((each) => Buffer.from(each).subarray(0, longest));
  const corpus = [Buffer.alloc(0)];
  const words = [...(target.words ?? []), ...wordsIn(seeds)];
  const known = new Set();
  const began = process.cpuUsage();
  let baseline;

  const tell = async (input, fault) => {
    if (fault === undefined || known.has(fault.key)) return;
    known.add(fault.key);
    const isStill = async (each) => (await runAlone(each))?.key === fault.key;
    const smallest = await minimise(input, isStill);
    const last = (await runAlone(smallest)) ?? fault;
    process.send({ kind: "found", fault: last, input: smallest.toString("base64") });
  };

  const look = async (inputs) => {
    for (const input of inputs) await tell(input, await run(input));
    await nextTurn();
    // Whose they are is seen when each has a turn of its own.
    if (strays.splice(0).length > 0) {
      for (const input of inputs) await tell(input, await runAlone(input));
    }
    const news = coverage.take();
    if (news.size === 0) return;
    if (inputs.length === 1) {
      corpus.push(inputs[0]);
    } else {
      const middle = inputs.length >> 1;
      await look(inputs.slice(0, middle));
      await look(inputs.slice(middle));
    }
    // Also where none of them does it again.
    coverage.keep(news);
  };

  coverage.keep(coverage.take());
  for (const input of seeds) await look([input]);
  process.send({ kind: "seeded", seeds: seeds.length, coverage: covered() });
  const isOver =
    executions === undefined ? () => cpuMs(began) > seconds * 1000 : () => count >= executions;
  let looked = 0;
  while (!isOver()) {
    const inputs = Array.from({ length: BATCH }, () => mutate(random, { corpus, words, longest }));
    for (const input of inputs) digest.update(input).update("\n");
    await look(inputs);
    if (count - looked < MEMORY_EVERY) continue;
    looked = count;
    globalThis.gc();
    const used = process.memoryUsage().heapUsed;
    baseline ??= used;
    if (used - baseline < MOST_GROWTH) continue;
    process.send({ kind: "grown", from: baseline, to: used, after: count });
    break;
  }
  process.send({
    kind: "done",
    executions: count,
    seconds: cpuMs(began) / 1000,
    corpus: corpus.length,
    coverage: covered(),
    files: coveredFiles(),
    digest: digest.digest("hex").slice(0, 16),
  });
}

/** What is wrong with how the input was treated: in words, and as a key that is the same for the same fault. */
async function run(input) {
  count += 1;
  const began = performance.now();
  const before = process.cpuUsage();
  const head = Buffer.alloc(12);
  head.writeUInt32LE(count, 0);
  head.writeUInt32LE(input.length, 4);
  head.writeUInt32LE(Math.round((before.user + before.system) / 1000), 8);
  writeSync(file, Buffer.concat([head, input]), 0, 12 + input.length, 0);
  try {
    await target.run(input);
  } catch (error) {
    return faultOf(error);
  }
  if (performance.now() - began > SLOW_MS) {
    const spent = cpuMs(before);
    if (spent > SLOW_MS)
      return { key: "slow", text: `took ${Math.round(spent)} ms for ${input.length} bytes` };
  }
  return undefined;
}

/** Milliseconds of processor time since then: a busy machine takes nothing away from a target. */
function cpuMs(before) {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The same, with the errors that nobody caught. Node tells of them when a turn of its event loop ends. */
async function runAlone(input) {
  const fault = await run(input);
  await nextTurn();
  const [stray] = strays.splice(0);
  return fault ?? (stray === undefined ? undefined : faultOf(stray));
}

function faultOf(error) {
  const [message, ...lines] = (error?.stack ?? String(error)).split("\n");
  const place =
    lines.find((line) => /\/src\//.test(line)) ??
    lines.find((line) => /\/test\/fuzz\//.test(line)) ??
    "";
  const what = String(error?.message ?? error).split("\n", 1)[0];
  return {
    key: `${what.replace(/'[^']*'|"[^"]*"|\d+/g, "…").slice(0, 80)} ${/[\w.-]+\.ts:\d+/.exec(place)?.[0] ?? ""}`,
    text: `${error instanceof Error ? message : `thrown: ${String(error)}`}\n${lines.slice(0, 6).join("\n")}`,
  };
}

/** Ours, the parsers that we leave it to, and what the target makes of an input and of what was read. */
function isWatched(url) {
  const parsers =
    /\/node_modules\/(?:@humanwhocodes\/momoa|smol-toml|yauzl|jose|eventsource-parser|re2js)\//;
  const beside = new URL(".", targets).href;
  return url.includes("/src/") || url.startsWith(beside) || parsers.test(url);
}

/** Of what the target is about. */
function covered() {
  return coverage.of(isCovered);
}

/** The same for each file of it. */
function coveredFiles() {
  return coverage.urls
    .filter(isCovered)
    .toSorted((a, b) => a.localeCompare(b))
    .map((url) => ({
      path: url.slice(url.indexOf("/src/") + 1),
      ...coverage.of((each) => each === url),
    }));
}

function isCovered(url) {
  return target.covers.some((path) => url.includes(`/src/${path}`));
}
