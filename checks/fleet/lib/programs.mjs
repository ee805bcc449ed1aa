// The programs of the rig: which Debian packages have them, and how they are started so that each ends with the rig.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { step } from "../../lib/own-packages.mjs";

const READY_MS = 60_000;
const POSTGRES = "/usr/lib/postgresql";
const PATH = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];

/** Which packages have what the rig starts. Valkey is not in every suite of Debian; Redis is. */
const NEEDED = [
  { package: "postgresql", isThere: () => postgresBin() !== undefined },
  { package: "redis-server", isThere: () => find("valkey-server", "redis-server") !== undefined },
  {
    package: "redis-sentinel",
    isThere: () => find("valkey-sentinel", "redis-sentinel") !== undefined,
  },
  { package: "haproxy", isThere: () => find("haproxy") !== undefined },
  { package: "nginx-light", isThere: () => find("nginx") !== undefined },
  { package: "iproute2", isThere: () => find("ip") !== undefined },
];

/** Installs what is missing. Throws where that cannot be done. */
export function installPrograms() {
  const missing = NEEDED.filter(({ isThere }) => !isThere()).map((each) => each.package);
  if (missing.length === 0) return;
  if (process.getuid() !== 0) {
    throw new Error(`not installed: ${missing.join(", ")}; install them, or run this as root`);
  }
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const task = { who: "fleet", what: `installing ${missing.join(", ")}`, cwd: "/" };
  step(task, "apt-get", ["install", "-y", "-q", "--no-install-recommends", ...missing], { env });
}

/** The first of these names that is installed, as a path. */
export function find(...names) {
  return names
    .flatMap((name) => PATH.map((directory) => join(directory, name)))
    .find((path) => existsSync(path));
}

export function postgresBin() {
  if (!existsSync(POSTGRES)) return undefined;
  return readdirSync(POSTGRES)
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(POSTGRES, version, "bin"))
    .find((directory) => existsSync(join(directory, "initdb")));
}

/** What the programs are and which version they have, in words. */
export function versions() {
  const said = (program, ...args) => {
    const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
    return /\d+\.\d+(?:\.\d+)?/.exec(stdout + stderr)?.[0] ?? "?";
  };
  const valkey = find("valkey-server", "redis-server");
  const engine = valkey.endsWith("valkey-server") ? "Valkey" : "Redis";
  return [
    `PostgreSQL ${said(join(postgresBin(), "postgres"), "--version")}`,
    `${engine} ${said(valkey, "--version")} with Sentinel`,
    `HAProxy ${said(find("haproxy"), "-v")}`,
    `nginx ${said(find("nginx"), "-v")}`,
  ].join(", ");
}

/** Runs a program to its end. Throws with what it said where it fails. */
export function run(program, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: "utf8",
    maxBuffer: 256 << 20,
    ...options,
  });
  if (status === 0) return stdout.trim();
  throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? (stderr || stdout).trim()}`);
}

/** Of programs that run. Redis writes over its environment, so that the marker does not find it. */
const running = new Set();

export function endPrograms() {
  for (const child of running) child.kill("SIGKILL");
}

/** A program that runs until it is ended; `start()` starts it again with what it had stored. */
export class Program {
  #words;
  #options;
  #isReady;
  #child;
  output = "";

  /** `isReady()` resolves to whether it answers. */
  constructor(words, options, isReady) {
    this.#words = words;
    this.#options = options;
    this.#isReady = isReady;
  }

  get pid() {
    return this.#child.pid;
  }

  get isRunning() {
    const { exitCode, signalCode } = this.#child ?? {};
    return this.#child !== undefined && exitCode === null && signalCode === null;
  }

  async start() {
    const [program, ...args] = this.#words;
    this.output = "";
    this.#child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...this.#options });
    const child = this.#child;
    running.add(child);
    child.once("exit", () => running.delete(child));
    const { onOutput = () => {} } = this.#options;
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk) => {
        this.output = (this.output + chunk).slice(-4_000);
        onOutput(chunk);
      });
    }
    const deadline = performance.now() + READY_MS;
    while (!(await this.#isReady())) {
      if (!this.isRunning || performance.now() > deadline) {
        throw new Error(`${program} did not start:\n${this.output}`);
      }
      await delay(20);
    }
  }

  signal(signal) {
    this.#child.kill(signal);
  }

  async end(signal) {
    if (!this.isRunning) return;
    const gone = once(this.#child, "exit");
    this.#child.kill(signal);
    await gone;
  }
}

/** Whether somebody takes connections there. */
export function takesConnections(host, port) {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (isTaken) => {
      socket.destroy();
      resolve(isTaken);
    };
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });
}
