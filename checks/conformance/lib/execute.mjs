// One scenario at one version: the suite starts its server and our client, and writes down what it saw.

import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SUITE_ENTRY, SUITE_NODE } from "./suite.mjs";

const CLIENT = fileURLToPath(new URL("../client.mjs", import.meta.url));
const TIMEOUT_MS = 60_000;
/** For a suite that hangs itself: its own limit above, and time to write its results. */
const KILL_MS = TIMEOUT_MS + 15_000;

const running = new Set();

/**
 * Resolves to `{ exitCode, checks, clientErrors, log }`; `checks` is undefined without a result. A server under
 * test has a `url`; without one the suite tests the client.
 */
export async function execute({ scenario, version }, { dir, url }) {
  const output = join(dir, `${scenario.replaceAll("/", "-")}-${version}`);
  mkdirSync(output);
  const tested =
    url === undefined ? ["client", "--command", clientCommand()] : ["server", "--url", url];
  const args = [...tested, "--scenario", scenario, "-o", output, "--timeout", String(TIMEOUT_MS)];
  if (version !== "extension") args.push("--spec-version", version);
  const { exitCode, log } = await runSuite(args);
  const checks = readResult(output, "checks.json");
  return {
    exitCode,
    log,
    checks: checks === undefined ? undefined : JSON.parse(checks),
    clientErrors: readResult(output, "stderr.txt") ?? "",
  };
}

/** Ends whatever still runs; for a harness that is ended itself. */
export function endAll() {
  for (const child of running) endGroup(child);
}

/** The suite hands it to a shell with the server's URL behind it. */
function clientCommand() {
  return `"${process.execPath}" "${CLIENT}"`;
}

function runSuite(args) {
  return new Promise((resolve) => {
    // A group of its own, so that the shell and the client can be ended with it.
    const child = spawn(SUITE_NODE, [SUITE_ENTRY, ...args], {
      detached: process.platform !== "win32",
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(child);
    let log = "";
    const keep = (chunk) => {
      log += chunk;
    };
    child.stdout.setEncoding("utf8").on("data", keep);
    child.stderr.setEncoding("utf8").on("data", keep);
    const timer = setTimeout(() => endGroup(child), KILL_MS);
    const finish = (exitCode) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({ exitCode, log });
    };
    child.once("error", (error) => {
      log += error.message;
      finish(1);
    });
    child.once("close", (code) => finish(code ?? 1));
  });
}

function endGroup(child) {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

/** The suite puts its files below a directory named after scenario and time. */
function readResult(output, name) {
  const found = readdirSync(output, { recursive: true }).find((path) => path.endsWith(name));
  return found === undefined ? undefined : readFileSync(join(output, found), "utf8");
}
