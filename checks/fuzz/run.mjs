// `npm run fuzz -- [target …]`: gives each reader of foreign bytes inputs that are made of known ones, keeps those that reach code
// that nothing has reached before, and writes what goes wrong as a case that the tests replay.

import { fork } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import "../../scripts/sources.mjs";
import { gatherFacts, lastRun, readEvidence, table, writeEvidence } from "../lib/evidence.mjs";
import { minimise } from "./lib/minimise.mjs";

const USAGE = `usage: npm run fuzz -- [target …] [options]

  --seconds <n>      processor time that each target has; default 600
  --executions <n>   so many inputs for each target instead
  --seed <n>         makes the same inputs again; default: another one each time
  --jobs <n>         how many targets at a time; default 1
  --files            shows how much of each file of a target ran
  --list             shows the targets
  --write            writes the results into docs/evidence.md
  --help`;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const WORKER = fileURLToPath(new URL("worker.mjs", import.meta.url));
const TARGETS = new URL("../../test/fuzz/targets.ts", import.meta.url).href;
const CASES = join(ROOT, "test", "fuzz", "cases");
/** An input may take so long, and loading the code before the first one: the machine may have other things to do meanwhile. */
const HANG_MS = 60_000;
const START_MS = 300_000;
const WATCH_MS = 500;
/** A second of processor time, as Linux tells it. */
const TICKS = 100;
const HEAP_MIB = 512;
/** A target that ends its process again and again is left at that. */
const MOST_CRASHES = 3;
/** Each costs a process. */
const CRASH_TRIES = 60;

const options = readOptions();
if (options !== undefined) process.exitCode = await main(options);

/** Resolves to the exit code. */
async function main({
  names,
  seed,
  seconds,
  executions,
  jobs,
  withFiles,
  isListed,
  isWritten,
  targets = TARGETS,
  cases = CASES,
}) {
  const { TARGET_NAMES, openTarget } = await import(targets);
  if (isListed) {
    for (const name of TARGET_NAMES) {
      const { about, close } = await openTarget(name);
      process.stdout.write(`${name.padEnd(18)}${about}\n`);
      await close?.();
    }
    return 0;
  }
  const unknown = names.find((name) => !TARGET_NAMES.includes(name));
  if (unknown !== undefined) {
    process.stderr.write(
      `fuzz: there is no target '${unknown}'; expected ${TARGET_NAMES.join(", ")}\n`,
    );
    return 2;
  }
  const directory = mkdtempSync(join(tmpdir(), "plugboard-fuzz-"));
  try {
    const wanted = names.length > 0 ? names : TARGET_NAMES;
    const results = [];
    const waiting = [...wanted.entries()];
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [at, name] = next;
        results[at] = await fuzz({ name, targets, cases, seed, seconds, executions, directory });
        if (withFiles) tellFiles(results[at]);
      }
    };
    await Promise.all(Array.from({ length: jobs }, work));
    if (isWritten) writeEvidence("fuzz", report(results, seed, TARGET_NAMES));
    return results.some(({ faults }) => faults.length > 0) ? 1 : 0;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function fuzz({ name, targets, cases, seed, seconds, executions, directory }) {
  const result = {
    name,
    executions: 0,
    seconds: 0,
    corpus: 0,
    coverage: { ran: 0, all: 0 },
    faults: [],
  };
  const keep = (input, what) => {
    const hash = createHash("sha256").update(input).digest("hex").slice(0, 12);
    mkdirSync(join(cases, name), { recursive: true });
    writeFileSync(join(cases, name, hash), input);
    result.faults.push(what);
    process.stdout.write(
      `${name}: ${what}\n  case ${hash}: ${JSON.stringify(input.toString("latin1").slice(0, 300))}\n`,
    );
  };
  let spent = 0;
  process.stdout.write(`${name}: seed ${seed}\n`);
  for (let crashes = 0; crashes < MOST_CRASHES; crashes += 1) {
    const common = { name, targets, executions, current: join(directory, `${name}.current`) };
    const end = await watch(
      { ...common, seed: seed + crashes, seconds: seconds - spent },
      (message) => {
        if (message.kind === "found")
          keep(Buffer.from(message.input, "base64"), message.fault.text);
        if (message.kind === "grown") {
          result.faults.push(
            `memory grew from ${message.from} to ${message.to} bytes within ${message.after} inputs`,
          );
          process.stdout.write(`${name}: ${result.faults.at(-1)}\n`);
        }
        if (message.kind === "seeded")
          process.stdout.write(
            `${name}: ${message.seeds} seeds reach ${percent(message.coverage)}\n`,
          );
        if (message.kind === "done")
          Object.assign(result, message, {
            executions: result.executions + message.executions,
            seconds: spent + message.seconds,
          });
      },
    );
    if (end.kind === "done") break;
    // What it takes to make an input small is not a part of its time.
    spent += end.seconds;
    result.executions += end.count;
    const again = async (input) => {
      const replay = join(directory, `${name}.replay`);
      writeFileSync(replay, input);
      const ended = await watch({ ...common, replay }, () => {});
      return ended.kind === end.kind;
    };
    if (!(await again(end.input))) {
      process.stdout.write(`${name}: ${end.kind} once, but not again with the same input\n`);
      continue;
    }
    keep(await minimise(end.input, again, CRASH_TRIES), end.kind);
  }
  process.stdout.write(
    `${name}: ${result.executions} inputs in ${Math.round(result.seconds)} s, ${result.corpus} kept, ` +
      `${percent(result.coverage)} of ${result.coverage.all} characters ran, ${result.faults.length} faults, digest ${result.digest}\n`,
  );
  return result;
}

function tellFiles({ files = [] }) {
  for (const { path, ...ran } of files)
    process.stdout.write(`  ${percent(ran).padStart(5)}  ${path}\n`);
}

/** Resolves when the worker is done, has hung, or has ended otherwise: then with the input that it had. */
function watch(task, onMessage) {
  return new Promise((resolve) => {
    const child = fork(WORKER, [JSON.stringify(task)], {
      execArgv: [`--max-old-space-size=${HEAP_MIB}`, "--expose-gc"],
      // What V8 says when it runs out of memory is of no use.
      stdio: ["ignore", "inherit", "ignore", "ipc"],
    });
    let isDone = false;
    let [last, since] = [-1, performance.now()];
    let hung = false;
    const watching = setInterval(() => {
      const { count, seconds } = readCurrent(task.current);
      if (count !== last) [last, since] = [count, performance.now()];
      else if (performance.now() - since > (count === 0 ? START_MS : HANG_MS)) {
        if (isStarved(child.pid, seconds)) return;
        hung = true;
        child.kill("SIGKILL");
      }
    }, WATCH_MS);
    child.on("message", (message) => {
      if (message.kind === "done" || message.kind === "replayed") isDone = true;
      onMessage(message);
    });
    child.on("close", (code, signal) => {
      clearInterval(watching);
      if (isDone && !hung) return resolve({ kind: "done" });
      resolve({
        kind: hung ? "hangs" : `ends its process (${signal ?? code})`,
        ...readCurrent(task.current),
      });
    });
  });
}

/**
 * Whether it has only not had its turn, since other programs had theirs: it is stopped, or wants to run and has had little processor
 * time since `seconds` of it. Known on Linux; elsewhere nothing is.
 */
function isStarved(pid, seconds) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, ...numbers] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(numbers[10]) + Number(numbers[11]);
    return state === "T" || (state === "R" && ticks / TICKS - seconds < HANG_MS / 4000);
  } catch {
    return false;
  }
}

/** What the worker is about to run: the number of the input, the processor time that it has used, the input. */
function readCurrent(path) {
  try {
    const bytes = readFileSync(path);
    const [count, length, ms] = [0, 4, 8].map((at) => bytes.readUInt32LE(at));
    return { count, seconds: ms / 1000, input: bytes.subarray(12, 12 + length) };
  } catch {
    return { count: 0, seconds: 0, input: Buffer.alloc(0) };
  }
}

function percent({ ran, all }) {
  return all === 0 ? "0 %" : `${Math.round((100 * ran) / all)} %`;
}

/** With the rows that are there of targets that have not run now. */
function report(results, seed, names) {
  const kept = readEvidence("fuzz")
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) =>
      line
        .slice(2, -2)
        .split("|")
        .map((cell) => cell.trim()),
    );
  const now = results.map(({ name, executions, seconds, corpus, coverage, faults }) => [
    `\`${name}\``,
    executions.toLocaleString("en-US"),
    `${Math.round(seconds)} s`,
    String(corpus),
    percent(coverage),
    String(faults.length),
    String(seed),
  ]);
  const rows = names.flatMap((name) => {
    const isOfIt = ([first]) => first === `\`${name}\``;
    const row = now.find(isOfIt) ?? kept.find(isOfIt);
    return row === undefined ? [] : [row];
  });
  const header = ["target", "inputs", "time", "kept", "of its code ran", "faults", "seed"];
  return `${lastRun(`targets ${results.length} of ${names.length}`, gatherFacts())}\n\n${table(header, rows)}`;
}

/** Undefined where there is nothing to do but what it has said. */
function readOptions() {
  try {
    const { values, positionals: names } = parseArgs({
      allowPositionals: true,
      options: {
        seconds: { type: "string", default: "600" },
        executions: { type: "string" },
        seed: { type: "string", default: String(Date.now() % 2 ** 31) },
        jobs: { type: "string", default: "1" },
        files: { type: "boolean", default: false },
        list: { type: "boolean", default: false },
        write: { type: "boolean", default: false },
        targets: { type: "string" },
        cases: { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) {
      process.stdout.write(`${USAGE}\n`);
      return undefined;
    }
    return {
      names,
      seed: wholeNumber("seed", values.seed),
      seconds: wholeNumber("seconds", values.seconds),
      executions: values.executions && wholeNumber("executions", values.executions),
      jobs: wholeNumber("jobs", values.jobs),
      withFiles: values.files,
      isListed: values.list,
      isWritten: values.write,
      // For the test of the harness.
      targets: values.targets,
      cases: values.cases,
    };
  } catch (error) {
    process.stderr.write(`fuzz: ${error.message}\n${USAGE}\n`);
    process.exitCode = 2;
    return undefined;
  }
}

function wholeNumber(option, text) {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new Error(`--${option} takes a number from 1 on`);
  return number;
}
