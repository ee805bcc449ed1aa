// What every command works with.

import type { Logger } from "../core/types/logger.ts";
import type { Clock } from "../util/clock.ts";
import type { CliIo } from "./io.ts";
import type { LogThreshold } from "./terminal/log.ts";
import type { Screen } from "./terminal/screen.ts";
import type { TypedServer } from "./typed-server.ts";

export interface GlobalOptions {
  config?: string;
  agent?: string;
  /** Every --agent, for commands that take several. `agent` is the last one. */
  agents: readonly string[];
  json: boolean;
  color: boolean;
  logLevel: LogThreshold;
  /** Tools marked `ownerOnly` may be called. */
  owner: boolean;
  exitWithStdin: boolean;
  /** The command has servers of its own, whatever gateway runs. */
  standalone: boolean;
  /** The one server that the command uses, in place of those of the configuration. */
  typed?: TypedServer;
}

/** As they were given, each under the name that the parser of the command line gives it. */
export interface GivenOptions {
  config?: string;
  agent?: readonly string[];
  json?: boolean;
  color?: boolean;
  logLevel?: LogThreshold;
  verbose?: boolean;
  owner?: boolean;
  exitWithStdin?: boolean;
  standalone?: boolean;
}

/** Details were asked for, with --verbose or --log-level. */
export function isVerbose(options: Pick<GlobalOptions, "logLevel"> | undefined): boolean {
  return options?.logLevel === "info" || options?.logLevel === "debug";
}

export function globalOptions(given: GivenOptions, typed?: TypedServer): GlobalOptions {
  const { config, agent: agents = [], logLevel, verbose } = given;
  return {
    config,
    agent: agents.at(-1),
    agents,
    json: given.json === true,
    color: given.color !== false,
    logLevel: logLevel ?? (verbose ? "info" : "warn"),
    owner: given.owner === true,
    exitWithStdin: given.exitWithStdin === true,
    standalone: given.standalone === true,
    ...(typed && { typed }),
  };
}

export interface CliContext {
  /** The name of the command, as a gateway shows it. */
  commandName: string;
  /** The words of the command line, to offer the command again. */
  argv: readonly string[];
  io: CliIo;
  options: GlobalOptions;
  screen: Screen;
  logger: Logger;
  clock: Clock;
  /** Aborted when the command must end. */
  signal: AbortSignal;
  /** Where there is no terminal, SIGHUP calls it instead of ending the command. */
  onHangup: (listener: () => unknown) => void;
}
