// Stops the containers of servers that are a `docker run` or `podman run`, by the cookie on their label.

import type { Logger } from "../../model/logger.ts";
import { silentLogger } from "../../model/logger.ts";
import type { Clock } from "../../util/clock.ts";
import { systemClock } from "../../util/clock.ts";
import { COOKIE_LABEL, parseContainerRun } from "./container-run.ts";
import type { HostIdentity } from "./cookie.ts";
import { currentHost, makeCookie } from "./cookie.ts";
import type { Engine } from "./engine.ts";
import { idsIn, runEngine } from "./engine.ts";
import type { Environment } from "./environment.ts";
import { baseEnvironment, childEnvironment } from "./environment.ts";
import { commonTable } from "./open-table.ts";
import { orphanedCookies } from "./orphan.ts";
import type { ProcessTable } from "./table.ts";

export interface ContainerServer {
  command: string;
  args: readonly string[];
  /** Configured variables, laid over the baseline. */
  env: Environment;
  cwd?: string | undefined;
}

/** The engine behind a configured server, called as that server calls it; `undefined` if there is none. */
export function containerEngine(
  { command, args, env, cwd }: ContainerServer,
  ambient: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): Engine | undefined {
  const run = parseContainerRun(command, args);
  if (!run) return undefined;
  const base = baseEnvironment(ambient, platform);
  const cookie = makeCookie(currentHost());
  return { command, globals: run.globals, env: childEnvironment(base, env, cookie, platform), cwd };
}

export interface ContainerTools {
  clock?: Clock;
  logger?: Logger;
  /** Seconds that the engine gives a container between SIGTERM and SIGKILL. */
  grace?: number;
}

/** Milliseconds for the engine to answer, on top of what it was told to wait. */
const PATIENCE = 5000;

/** Stops what carries exactly this cookie. Bounded in time, never rejects; failures are logged. */
export async function stopContainers(
  engine: Engine,
  cookie: string,
  tools: ContainerTools = {},
): Promise<void> {
  const list = ["ps", "-q", "--no-trunc", "--filter", `label=${COOKIE_LABEL}=${cookie}`];
  const { stdout } = await runEngine(engine, list, PATIENCE, tools.clock ?? systemClock);
  await stopAll(engine, idsIn(stdout), tools);
}

export interface ContainerReapOptions extends ContainerTools {
  platform?: NodeJS.Platform;
  table?: ProcessTable | undefined;
  host?: HostIdentity;
}

/** Stops the containers whose host is dead; resolves to their ids. Bounded in time, never rejects. */
export async function reapContainers(
  engine: Engine,
  options: ContainerReapOptions = {},
): Promise<string[]> {
  const { clock = systemClock, logger = silentLogger, platform = process.platform } = options;
  const table = options.table ?? commonTable(platform);
  if (!table) return [];
  const list = ["ps", "-q", "--no-trunc", "--filter", `label=${COOKIE_LABEL}`];
  const ids = idsIn((await runEngine(engine, list, PATIENCE, clock)).stdout);
  if (ids.length === 0) return [];
  const format = `{{.Id}} {{index .Config.Labels "${COOKIE_LABEL}"}}`;
  const inspected = await runEngine(
    engine,
    ["inspect", "--format", format, ...ids],
    PATIENCE,
    clock,
  );
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
    logger.warn("cannot tell whose containers are left behind", { error });
    return [];
  }
}

async function stopAll(
  engine: Engine,
  ids: readonly string[],
  { clock = systemClock, logger = silentLogger, grace = 5 }: ContainerTools,
): Promise<void> {
  if (ids.length === 0) return;
  const stop = ["stop", "-t", String(grace), ...ids];
  if ((await runEngine(engine, stop, grace * 1000 + PATIENCE, clock)).ok) return;
  if ((await runEngine(engine, ["kill", ...ids], PATIENCE, clock)).ok) return;
  // One that ended by itself in between is no failure, but makes both commands report one.
  const running = idsIn(
    (await runEngine(engine, ["ps", "-q", "--no-trunc"], PATIENCE, clock)).stdout,
  );
  const left = ids.filter((id) => running.includes(id));
  if (left.length > 0) logger.warn("containers of a server cannot be stopped", { ids: left });
}
