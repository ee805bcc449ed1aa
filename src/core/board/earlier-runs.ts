// What earlier runs left about a board's servers in the state directory: their tools, how they were reached, and
// starts that failed a few minutes ago.

import {
  type CachedTools,
  CatalogCache,
  definitionHash,
  type Reached,
} from "../catalog/catalog-cache.ts";
import type { BoardOptions } from "../types/board-options.ts";
import type { PlugboardError } from "../types/errors.ts";
import type { JsonObject } from "../types/json.ts";
import type { Logger } from "../types/logger.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import type { ServerState } from "../types/server-state.ts";
import type { ToolDefinition } from "../types/tool.ts";
import { toolWithoutSecrets } from "../types/without-secrets.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { Clock } from "../../util/clock.ts";
import { reasonOf } from "../../util/system-problem.ts";
import { failureKey, RecentFailures } from "./recent-failures.ts";

export interface RememberedServer {
  tools?: CachedTools;
  /** What it has listed for other capabilities, if it was never asked with those that it would be told now. */
  listedElsewhere?: CachedTools;
  reached?: Reached;
  /** Why its last start failed, a few minutes ago. */
  failed?: PlugboardError;
}

export interface EarlierRunsOptions {
  options: BoardOptions;
  clock: Clock;
  logger: Logger;
  redactor: Redactor;
}

export class EarlierRuns {
  readonly #options: EarlierRunsOptions;
  readonly #cache: CatalogCache;
  readonly #failures: RecentFailures;
  readonly #warned = new Set<string>();

  constructor(stateDir: string, options: EarlierRunsOptions) {
    this.#options = options;
    this.#cache = new CatalogCache(stateDir);
    this.#failures = new RecentFailures(stateDir, options.clock);
  }

  /** `capabilities` is what the host would advertise to the server now. */
  async read(
    definition: ServerDefinition,
    cwd: string,
    capabilities: JsonObject,
  ): Promise<RememberedServer> {
    const [known, failed] = await Promise.all([
      this.#readCache(definitionHash(definition, cwd), capabilities),
      this.#readFailure(definition, cwd),
    ]);
    return { ...known, failed };
  }

  /** Does not reject: without the cache, only the next start takes longer. */
  async saveTools(hash: string, tools: Omit<CachedTools, "savedAt">): Promise<void> {
    const { clock } = this.#options;
    try {
      await this.#cache.write(hash, { savedAt: clock.now(), ...tools });
    } catch (error) {
      this.#warnOnce("lists of tools cannot be saved for the next run", error);
    }
  }

  /**
   * Records whether a start has failed. An error that comes at once and stays (a missing command) is not recorded,
   * since nobody waits for it; nor is a secret that could not be had, which you may have unlocked since. Does not
   * reject.
   */
  async saveStart(definition: ServerDefinition, cwd: string, state: ServerState): Promise<void> {
    const { redactor } = this.#options;
    const failure = "error" in state ? state.error : undefined;
    const isPassing = failure?.permanent === false && failure.code !== "SECRET_UNAVAILABLE";
    const error = isPassing ? failure : undefined;
    if (error === undefined && state.kind !== "ready") return;
    const key = this.#failureKey(definition, cwd);
    if (key === undefined) return;
    try {
      if (error === undefined) return await this.#failures.forget(key);
      await this.#failures.record(key, {
        code: error.code,
        message: redactor.text(error.message),
        hint: error.hint && redactor.text(error.hint),
        quote: error.quote && redactor.text(error.quote),
        isHintQuoted: error.isHintQuoted,
      });
    } catch (reason) {
      this.#warnOnce("failed starts cannot be recorded for the next run", reason);
    }
  }

  /** What keeps one server's file from being written most likely keeps all of them. */
  #warnOnce(message: string, error: unknown): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#options.logger.warn(message, { reason: reasonOf(error) });
  }

  async #readCache(hash: string, capabilities: JsonObject): Promise<RememberedServer> {
    const cached = await this.#cache.read(hash, capabilities);
    const elsewhere = cached ?? (await this.#cache.readAny(hash));
    if (elsewhere === undefined) return {};
    const listed = this.#withoutSecrets(elsewhere);
    const reached = listed.identity;
    return cached === undefined ? { listedElsewhere: listed, reached } : { tools: listed, reached };
  }

  /** What was not known as a secret when the list was saved may be one now. */
  #withoutSecrets({ tools, identity, ...rest }: CachedTools): CachedTools {
    const { redactor } = this.#options;
    const redact = (text: string): string => redactor.text(text);
    return {
      ...rest,
      identity: redactor.value(identity),
      tools: tools.flatMap((tool) => {
        const clean = toolWithoutSecrets(tool, redact);
        return typeof clean === "string" ? [] : clean;
      }),
    };
  }

  async #readFailure(
    definition: ServerDefinition,
    cwd: string,
  ): Promise<PlugboardError | undefined> {
    const key = this.#failureKey(definition, cwd);
    return key === undefined ? undefined : this.#failures.read(key);
  }

  #failureKey(definition: ServerDefinition, cwd: string): string | undefined {
    return failureKey(definition, cwd, this.#options.options.env ?? process.env);
  }
}

/**
 * The tools that servers had in earlier runs, by the name of the server, for whoever must not start anything: names for a
 * shell to complete. One that never ran, or whose definition has changed since, is not there.
 */
export async function knownTools(
  servers: readonly ServerDefinition[],
  stateDir: string,
): Promise<Map<string, readonly ToolDefinition[]>> {
  const origins = servers.map((each) => definitionHash(each, ""));
  const lists = await new CatalogCache(stateDir).newest(origins);
  return new Map(
    servers.flatMap(({ name }, index) => {
      const list = lists.get(origins[index] ?? "");
      return list === undefined ? [] : [[name, list.tools]];
    }),
  );
}
