// The state that the gateway of this configuration uses, for commands: wherever they run, they see and change the same.

import { type ConfigSource, filesOf } from "../core/config/find.ts";
import type { GatewayConfig } from "../core/config/gateway.ts";
import { plugboardHome } from "../core/config/home.ts";
import { openSharedState } from "../core/board/shared-state.ts";
import type { PinStore, SharedState } from "../core/types/shared-state.ts";
import type { CliContext } from "./context.ts";
import { findSource } from "./find-source.ts";
import { LiveConfig } from "./live-config.ts";
import { hasErrorCode } from "../util/error-code.ts";
import { readRegularFileNow } from "../util/regular-file.ts";

/** As a gateway, or as a command that looks at what gateways share. */
export async function openGatewayState(
  live: LiveConfig,
  { settings, networkProxy }: GatewayConfig,
  { io, clock, logger }: CliContext,
  isReplica: boolean,
): Promise<SharedState> {
  const { shared } = settings;
  return openSharedState({
    shared,
    settings: shared && (await live.readAgent()).secrets,
    proxy: networkProxy,
    stateDir: plugboardHome(io.env, io.homedir),
    isReplica,
    env: io.env,
    clock,
    logger,
  });
}

/** Runs the task with the state, and closes it. */
export async function withSharedState<Result>(
  context: CliContext,
  task: (state: SharedState) => Promise<Result>,
): Promise<Result> {
  const state = await openState(context);
  try {
    return await task(state);
  } finally {
    await state.close();
  }
}

/**
 * Runs the task with every place where pins of this configuration may be. Commands keep those of servers that they start
 * themselves in files, also where gateways share them in PostgreSQL.
 */
export async function withPinStores<Result>(
  context: CliContext,
  task: (stores: readonly PinStore[]) => Promise<Result>,
): Promise<Result> {
  const files = await openFiles(context);
  try {
    return await withSharedState(context, ({ pins, health }) =>
      // Files are never away, and have no health.
      task(health === undefined ? [pins] : [pins, files.pins]),
    );
  } finally {
    await files.close();
  }
}

async function openState(context: CliContext): Promise<SharedState> {
  if (!mayShare(sourceOf(context))) return openFiles(context);
  await using live = await LiveConfig.open(context);
  return await openGatewayState(live, await live.readGateway(), context, false);
}

function openFiles({ io, clock, logger }: CliContext): Promise<SharedState> {
  const stateDir = plugboardHome(io.env, io.homedir);
  const surroundings = { env: io.env, clock, logger };
  return openSharedState({ shared: undefined, stateDir, isReplica: false, ...surroundings });
}

/** What is wrong with the configuration is for commands that cannot do without it. */
function sourceOf(context: CliContext): ConfigSource | undefined {
  try {
    return findSource(context);
  } catch {
    return undefined;
  }
}

/** Only then is the configuration read, and must be valid and trusted. */
function mayShare(source: ConfigSource | undefined): boolean {
  if (source?.kind !== "file") return false;
  return filesOf(source).some(({ path }) => {
    try {
      return /\bshared\b/.test(readRegularFileNow(path));
    } catch (error) {
      // What a shell gives as a file can be read once, and a pipe is refused by whoever reads the configuration.
      return hasErrorCode(error, "ENOTREGULAR");
    }
  });
}
