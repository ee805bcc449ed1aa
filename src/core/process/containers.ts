// Servers that run as `docker run` or `podman run`. The process we start is only a client, and the container
// survives it. So the container gets the cookie as a label, and we stop it by that label.

import { execFile } from "node:child_process";
import { posix, win32 } from "node:path";
import { type Logger, silentLogger } from "../types/logger.ts";
import type { StdioTarget } from "../types/server-definition.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { makeCookie } from "./cookie.ts";
import { type ChildEnvironment, baseEnvironment, childEnvironment } from "./environment.ts";
import { currentHost } from "./host-identity.ts";
import { sharedProcessTable } from "./open-process-table.ts";
import { orphanedCookies, type ReapOptions } from "./reap-orphans.ts";

const COOKIE_LABEL = "plugboard.cookie";

/** A configured `run`, split where options of `run` can be inserted. */
export interface ContainerRun {
  /** The options between the engine's name and `run`; they may select another daemon. */
  globals: string[];
  /** Up to and including `run`. */
  head: string[];
  tail: string[];
}

/** The options of docker and podman themselves that are followed by a value. */
const VALUED = new Set(
  (
    "-c -H -l --config --context --host --log-level --tlscacert --tlscert --tlskey " +
    "--cdi-spec-dir --cgroup-manager --conmon --connection --events-backend --hooks-dir " +
    "--identity --imagestore --module --network-cmd-path --network-config-dir --out --root " +
    "--runroot --runtime --runtime-flag --ssh --storage-driver --storage-opt --tmpdir --url " +
    "--volumepath"
  ).split(" "),
);

/** `undefined` for everything that is not a container run by docker or podman. */
export function parseContainerRun(
  command: string,
  args: readonly string[],
): ContainerRun | undefined {
  const name = (command.includes("\\") ? win32 : posix).basename(command).toLowerCase();
  if (!/^(docker|podman)(\.exe)?$/.test(name)) return undefined;
  let at = 0;
  while (args[at]?.startsWith("-")) at += VALUED.has(args[at] ?? "") ? 2 : 1;
  const globals = args.slice(0, at);
  if (args[at] === "container") at += 1;
  if (args[at] !== "run") return undefined;
  return { globals, head: args.slice(0, at + 1), tail: args.slice(at + 1) };
}

export function labelledArgs({ head, tail }: ContainerRun, cookie: string): string[] {
  return [...head, "--label", `${COOKIE_LABEL}=${cookie}`, ...tail];
}

/** docker or podman as its server calls it: options and environment may select another daemon. */
export interface ContainerEngine {
  command: string;
  globals: readonly string[];
  env: ChildEnvironment;
  cwd?: string;
}

/** The engine behind a configured server; `undefined` if the server is not a container. */
export function containerEngine(
  { command, args, env, cwd }: Pick<StdioTarget, "command" | "args" | "env" | "cwd">,
  ambient: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): ContainerEngine | undefined {
  const run = parseContainerRun(command, args);
  if (!run) return undefined;
  const base = baseEnvironment(ambient, platform);
  const cookie = makeCookie(currentHost());
  return { command, globals: run.globals, env: childEnvironment(base, env, cookie, platform), cwd };
}

export interface StopContainersOptions {
  clock?: Clock;
  logger?: Logger;
  /** Seconds that the engine gives a container between SIGTERM and SIGKILL. */
  grace?: number;
}

/** Milliseconds for the engine to answer, on top of what it was told to wait. */
const PATIENCE = 5000;

/** Stops the containers with exactly this cookie. Bounded in time, never rejects; failures are logged. */
export async function stopContainers(
  engine: ContainerEngine,
  cookie: string,
  options: StopContainersOptions = {},
): Promise<void> {
  const clock = options.clock ?? systemClock;
  await stopAll(engine, await listIds(engine, clock, `${COOKIE_LABEL}=${cookie}`), options);
}

/** Stops the containers whose host is dead; resolves to their ids. Bounded in time, never rejects. */
export async function reapContainers(
  engine: ContainerEngine,
  options: StopContainersOptions & Pick<ReapOptions, "platform" | "table" | "host"> = {},
): Promise<string[]> {
  const { clock = systemClock, logger = silentLogger, platform = process.platform } = options;
  const table = options.table ?? sharedProcessTable(platform);
  if (!table) return [];
  const ids = await listIds(engine, clock, COOKIE_LABEL);
  if (ids.length === 0) return [];
  const format = `{{.Id}} {{index .Config.Labels "${COOKIE_LABEL}"}}`;
  const inspect = ["inspect", "--format", format, ...ids];
  const inspected = await runEngine(engine, inspect, PATIENCE, clock);
  const cookies = new Map<string, string>();
  for (const line of inspected.stdout.split("\n")) {
    const [id = "", cookie = ""] = line.trim().split(" ");
    if (ids.includes(id)) cookies.set(id, cookie);
  }
  try {
    const orphaned = await orphanedCookies(cookies.values(), options.host ?? currentHost(), table);
    const orphans = [...cookies.keys()].filter((id) => orphaned.has(cookies.get(id) ?? ""));
    await stopAll(engine, orphans, options);
    return orphans;
  } catch (error) {
    logger.warn("cannot tell which containers an earlier run left behind", { error });
    return [];
  }
}

async function stopAll(
  engine: ContainerEngine,
  ids: readonly string[],
  { clock = systemClock, logger = silentLogger, grace = 5 }: StopContainersOptions,
): Promise<void> {
  if (ids.length === 0) return;
  const stop = ["stop", "-t", String(grace), ...ids];
  if ((await runEngine(engine, stop, grace * 1000 + PATIENCE, clock)).ok) return;
  if ((await runEngine(engine, ["kill", ...ids], PATIENCE, clock)).ok) return;
  // Both commands also fail for a container that ended by itself in between, which does not matter.
  const running = await listIds(engine, clock);
  const left = ids.filter((id) => running.includes(id));
  if (left.length > 0) logger.warn("containers of a server cannot be stopped", { ids: left });
}

/** The ids of running containers, by default of all. */
async function listIds(engine: ContainerEngine, clock: Clock, label?: string): Promise<string[]> {
  const filter = label === undefined ? [] : ["--filter", `label=${label}`];
  const args = ["ps", "-q", "--no-trunc", ...filter];
  const lines = (await runEngine(engine, args, PATIENCE, clock)).stdout.split("\n");
  // There may be warnings between the ids.
  return lines.map((line) => line.trim()).filter((line) => /^[0-9a-f]{12,64}$/.test(line));
}

interface EngineAnswer {
  ok: boolean;
  stdout: string;
}

/** Runs one command of the engine. Never rejects, and takes hardly longer than `ms`. */
function runEngine(
  { command, globals, env, cwd }: ContainerEngine,
  args: readonly string[],
  ms: number,
  clock: Clock,
): Promise<EngineAnswer> {
  const failed: EngineAnswer = { ok: false, stdout: "" };
  const answer = new Promise<EngineAnswer>((resolve) => {
    const options = { env, windowsHide: true, cwd };
    const child = execFile(command, [...globals, ...args], options, (error, stdout) => {
      timer.cancel();
      resolve({ ok: error === null, stdout });
    });
    const timer = clock.after(ms, () => {
      child.kill("SIGKILL");
      // A process below it may hold the pipes open, and then the callback would never come.
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve(failed);
    });
  });
  return answer.catch(() => failed);
}
