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

/** What is wrong with how this process knows of the fleet, in sentences. */
export function listProblems(replicas: Replicas): string[] {
  const all = [clockProblem(replicas), unsealedProblem(replicas), keysProblem(replicas)];
  return all.filter((each) => each !== undefined);
}

/** What is not forwarded because nobody knows who has said where the gateways are, in a sentence. */
function keysProblem(replicas: Replicas): string | undefined {
  const hasUrls = replicas.list().some(({ url }) => url !== undefined);
  return hasUrls && !replicas.areAuthentic
    ? "gateway.shared has no keys, so no request of the page and no answer to a question is forwarded: whoever can write to PostgreSQL could have it sent anywhere"
    : undefined;
}

/** What somebody else seems to have written about gateways, in a sentence. */
export function unsealedProblem({ hasUnsealed }: Replicas): string | undefined {
  return hasUnsealed
    ? "rows of plugboard_replicas are ignored, and nothing is sent where they say: nobody has sealed them with these gateway.shared.keys in the last minute. A gateway has other keys or a wrong clock, or somebody else writes to PostgreSQL"
    : undefined;
}

/** What is wrong with the clock of this machine, in a sentence. */
export function clockProblem({ clockAhead }: Replicas): string | undefined {
  if (clockAhead === 0) return undefined;
  const by = `${duration(Math.abs(clockAhead))} ${clockAhead > 0 ? "ahead of" : "behind"}`;
  return `the clock of this machine is ${by} PostgreSQL's: gateways whose clocks differ by half a minute do not take each other's requests`;
}

/**
 * Whether this gateway runs with another configuration than most of those that share its state, or has not said with which.
 * Of two groups of the same size nobody can tell which is right, so that neither differs: somebody has to be ready.
 */
export function differsFromMost(replicas: Pick<Replicas, "own" | "list">): boolean {
  const { own } = replicas;
  if (own === undefined) return false;
  if (own.configuration === undefined) return true;
  const counts = new Map<string, number>();
  for (const { configuration } of replicas.list()) {
    if (configuration !== undefined)
      counts.set(configuration, (counts.get(configuration) ?? 0) + 1);
  }
  return Math.max(...counts.values()) > (counts.get(own.configuration) ?? 0);
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
  #said: readonly string[] = [];

  constructor(options: FleetWatchOptions) {
    this.#options = options;
    this.#off = options.replicas.onChange(() => this.#lookLater());
    // This does not depend on what others do.
    const withoutKeys = keysProblem(options.replicas);
    if (withoutKeys !== undefined) this.#say([withoutKeys]);
    this.#lookLater();
  }

  problems(): string[] {
    const { replicas } = this.#options;
    return [...fleetProblems(replicas.list()), ...listProblems(replicas)];
  }

  close(): void {
    this.#off();
    this.#timer?.cancel();
  }

  #lookLater(): void {
    this.#timer ??= this.#options.clock.later(LASTING_MS, () => {
      this.#timer = undefined;
      this.#say(this.problems());
    });
  }

  #say(problems: readonly string[]): void {
    const { logger } = this.#options;
    for (const each of problems) if (!this.#said.includes(each)) logger.warn(each);
    const isOver = problems.length === 0 && this.#said.length > 0;
    if (isOver) logger.info("the gateways that share a state fit together again");
    this.#said = problems;
  }
}
