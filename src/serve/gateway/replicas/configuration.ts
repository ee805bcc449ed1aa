// What a gateway runs with, as a text that is the same on every machine with the same configuration, and what is to be said
// about gateways that run with another one.

import { dirname } from "node:path";
import type { AgentConfig } from "../../../core/types/agent-config.ts";
import type { GatewaySettings } from "../../../core/types/gateway-settings.ts";
import type { Logger } from "../../../core/types/logger.ts";
import type { Replica, Replicas } from "../../../core/types/shared-state.ts";
import { canonicalJson } from "../../../util/canonical-json.ts";
import type { Clock, Timer } from "../../../util/clock.ts";
import { duration } from "../../../util/text.ts";

/** Machines get an edit at different moments, so a difference counts only if it lasts. */
const LASTING_MS = 3000;

export interface Places {
  configFile?: string | undefined;
  stateDir: string;
  cwd: string;
}

/** Without what is each machine's own: where it listens, its certificate, and where its files are. */
export function configurationText(
  settings: GatewaySettings,
  agents: readonly AgentConfig[],
  { configFile, stateDir, cwd }: Places,
): string {
  const places = [
    [stateDir, "<home>"],
    ...(configFile === undefined ? [] : [[dirname(configFile), "<configuration>"]]),
    [cwd, "<directory>"],
  ] as const;
  const { shared } = settings;
  const own = { host: undefined, port: undefined, tls: undefined };
  const common = { ...settings, ...own, shared: { ...shared, replica: undefined } };
  const text = JSON.stringify(
    [common, agents.map((agent) => ({ ...agent, file: undefined }))],
    (_key, value: unknown) => {
      if (typeof value !== "string") return value;
      const [place = "", name = ""] = places.find(([each = ""]) => value.startsWith(each)) ?? [];
      return `${name}${value.slice(place.length)}`;
    },
  );
  return canonicalJson(JSON.parse(text));
}

/** What is wrong with a fleet, in sentences. */
export function fleetProblems(replicas: readonly Replica[]): string[] {
  return [...differing(replicas), ...sharedUrls(replicas)];
}

/** What is wrong with the clock of this machine, in a sentence. */
export function clockProblem({ clockAhead }: Replicas): string | undefined {
  if (clockAhead === 0) return undefined;
  const by = `${duration(Math.abs(clockAhead))} ${clockAhead > 0 ? "ahead of" : "behind"}`;
  return `the clock of this machine is ${by} PostgreSQL's: gateways whose clocks differ by half a minute do not take each other's requests`;
}

function differing(replicas: readonly Replica[]): string[] {
  const byHash = new Map<string, string[]>();
  for (const { name, configuration } of replicas) {
    if (configuration === undefined) continue;
    byHash.set(configuration, [...(byHash.get(configuration) ?? []), name]);
  }
  if (byHash.size < 2) return [];
  const groups = [...byHash].map(([hash, names]) => `${names.join(", ")} (${hash})`);
  return [
    `gateways that share a state run with different configurations, or versions: ${groups.join("; ")}`,
  ];
}

/** With the same URL, a request for one of them reaches the other. */
function sharedUrls(replicas: readonly Replica[]): string[] {
  const urls = replicas.flatMap(({ url }) => url ?? []);
  const twice = new Set(urls.filter((url, at) => urls.indexOf(url) !== at));
  return [...twice].map(
    (url) =>
      `several gateways have the same gateway.shared.replica.url, unless one was killed a moment ago: ${url}`,
  );
}

export interface FleetWatchOptions {
  replicas: Replicas;
  clock: Clock;
  logger: Logger;
}

/** Logs what is wrong with the fleet once it has lasted for a while, and logs when it is over. */
export class FleetWatch {
  readonly #options: FleetWatchOptions;
  readonly #off: () => void;
  #timer: Timer | undefined;
  #said = "";

  constructor(options: FleetWatchOptions) {
    this.#options = options;
    this.#off = options.replicas.onChange(() => this.#lookLater());
    this.#lookLater();
  }

  problems(): string[] {
    const { replicas } = this.#options;
    const clock = clockProblem(replicas);
    return [...fleetProblems(replicas.list()), ...(clock === undefined ? [] : [clock])];
  }

  close(): void {
    this.#off();
    this.#timer?.cancel();
  }

  #lookLater(): void {
    this.#timer ??= this.#options.clock.later(LASTING_MS, () => {
      this.#timer = undefined;
      const { logger } = this.#options;
      const problems = this.problems();
      const text = problems.join("; ");
      if (text === this.#said) return;
      this.#said = text;
      for (const each of problems) logger.warn(each);
      if (problems.length === 0) logger.info("the gateways that share a state fit together again");
    });
  }
}
