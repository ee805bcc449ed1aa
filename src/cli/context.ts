// What every command works with.

import type { Logger } from "../core/types/logger.ts";
import type { Clock } from "../util/clock.ts";
import type { CliIo } from "./io.ts";
import type { GivenOptions, Option } from "./option.ts";
import { LOG_LEVELS, type LogThreshold } from "./terminal/log.ts";
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
  /** With --log-level or --verbose. */
  isLogLevelGiven: boolean;
  /** Tools marked `ownerOnly` may be called. */
  owner: boolean;
  exitWithStdin: boolean;
  /** The command has servers of its own, whatever gateway runs. */
  standalone: boolean;
  /** The one server that the command uses, in place of those of the configuration. */
  typed?: TypedServer;
}

/** Every command has it. */
export const HELP = {
  kind: "flag",
  name: "--help",
  short: "-h",
  about: "show help",
} as const satisfies Option;

/** Options of every command, before or after its name. */
export const GLOBAL_OPTIONS = {
  config: {
    kind: "value",
    name: "--config",
    value: "file",
    about: "use this configuration file, or another application's",
    offers: "file",
  },
  agent: {
    kind: "list",
    name: "--agent",
    value: "id",
    about: "use this agent from the configuration",
    offers: "agent",
  },
  json: { kind: "flag", name: "--json", about: "print JSON on stdout" },
  logLevel: {
    kind: "value",
    name: "--log-level",
    value: "level",
    about: "what to log on stderr, by default warn",
    choices: LOG_LEVELS,
  },
  verbose: {
    kind: "flag",
    name: "--verbose",
    about: "show causes, starts, stops, and what servers write",
  },
  color: { kind: "denial", name: "--no-color", about: "print without colours" },
  owner: { kind: "flag", name: "--owner", about: "allow tools marked ownerOnly" },
  standalone: {
    kind: "flag",
    name: "--standalone",
    about: "start servers of its own, even if a gateway runs",
  },
  exitWithStdin: {
    kind: "flag",
    name: "--exit-with-stdin",
    about: "stop when stdin closes, for programs that run plugboard",
  },
  version: { kind: "flag", name: "--version", short: "-v", also: "-V", about: "print the version" },
  help: HELP,
} as const satisfies Record<string, Option>;

/** As they were given. A generated command line has only some of them. */
type Given = Partial<GivenOptions<typeof GLOBAL_OPTIONS>>;

/** Details were asked for, with --verbose or --log-level. */
export function isVerbose(options: Pick<GlobalOptions, "logLevel"> | undefined): boolean {
  return options?.logLevel === "info" || options?.logLevel === "debug";
}

export function globalOptions(given: Given, typed?: TypedServer): GlobalOptions {
  const { config, agent: agents = [], logLevel, verbose } = given;
  return {
    config,
    agent: agents.at(-1),
    agents,
    json: given.json === true,
    color: given.color !== false,
    logLevel: logLevel ?? (verbose ? "info" : "warn"),
    isLogLevelGiven: logLevel !== undefined || verbose === true,
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
  /** A person says so when asked about a call: from now on, what the server says about its tools counts. */
  believeLabels: (server: string) => Promise<void>;
}
