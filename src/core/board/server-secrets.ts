// Knows the credentials of a board's servers: resolves their targets, has the credentials redacted, and tells which
// ones cannot be.

import {
  type NeededSecret,
  resolveTarget,
  type SecretOf,
  secretsNeeded,
} from "../config/resolve.ts";
import type { Diagnostic } from "../types/diagnostic.ts";
import { PlugboardError, toPlugboardError } from "../types/errors.ts";
import { type Logger, loggerFor } from "../types/logger.ts";
import type { ResolvedTarget, ServerDefinition, ServerTarget } from "../types/server-definition.ts";
import type { ServerState } from "../types/server-state.ts";
import type { ServerStatus } from "../types/server-status.ts";
import { UNKNOWN_SECRET } from "../redaction/collect.ts";
import { protect } from "../redaction/protect.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { Environment } from "../../util/environment.ts";
import { type AgentSecrets, isShort, SHORT_SECRET } from "./agent-secrets.ts";

export interface ServerSecretsOptions {
  env: Environment;
  redactor: Redactor;
  logger: Logger;
  secrets: AgentSecrets;
}

interface KnownSecret extends NeededSecret {
  value: string;
}

export class ServerSecrets {
  readonly #options: ServerSecretsOptions;
  /** By server: the places of the credentials that are not searched for, each with what is said about it. */
  readonly #unprotected = new Map<string, Map<string, string>>();

  constructor(options: ServerSecretsOptions) {
    this.#options = options;
  }

  /**
   * Resolves the target. Its credentials are redacted from now on. Rejects with UNRESOLVED_VALUE, CONFIG_INVALID or
   * SECRET_UNAVAILABLE.
   */
  async resolve(definition: ServerDefinition, signal?: AbortSignal): Promise<ResolvedTarget> {
    const needed = secretsNeeded(definition, this.#options.env);
    if (needed.length === 0) return { target: this.#fill(definition, []) };
    if (definition.origin === "session") throw notForSessions(definition.name, needed);
    const known = await this.#values(definition, needed, signal);
    for (const { key, value } of known) {
      if (isShort(value)) this.#report(definition.name, key, SHORT_SECRET);
    }
    return {
      target: this.#fill(definition, known),
      renew: async () => {
        const { secrets } = this.#options;
        const { baseDir } = definition.target;
        await Promise.all(
          known.map(({ reference, value }) => secrets.forget(reference, baseDir, value)),
        );
        return this.resolve(definition);
      },
    };
  }

  /** `resolve` for a start after the first: a secret may have been replaced since, so none comes from memory. */
  async resolveAnew(definition: ServerDefinition, signal?: AbortSignal): Promise<ResolvedTarget> {
    const { env, secrets } = this.#options;
    const needed = secretsNeeded(definition, env);
    const { baseDir } = definition.target;
    await Promise.all(needed.map(({ reference }) => secrets.forget(reference, baseDir)));
    return this.resolve(definition, signal);
  }

  /**
   * Redacts the credentials of servers that have not started. A call can be refused before its server starts, and
   * its arguments may contain the server's credentials. Secrets are not known before somebody needs them.
   */
  learn(servers: readonly ServerDefinition[]): void {
    this.#options.redactor.addNames(servers.map(({ name }) => name));
    for (const definition of servers) {
      try {
        this.#fill(definition, undefined);
      } catch {
        // A value is missing. The server's start reports it.
      }
    }
  }

  /** Without `known`, the secrets stay unknown, and so do the credentials that they are a part of. */
  #fill(definition: ServerDefinition, known: readonly KnownSecret[] | undefined): ServerTarget {
    const { env, redactor } = this.#options;
    const { name, target } = definition;
    const values = new Map(known?.map(({ reference, value }) => [reference.text, value]));
    const secretOf: SecretOf = ({ text }) => values.get(text) ?? UNKNOWN_SECRET;
    const resolved = resolveTarget(definition, env, undefined, secretOf);
    redactor.addNames([name]);
    for (const { place } of protect(redactor, target, resolved, env, `server ${name}`)) {
      this.#report(name, place, UNPROTECTED);
    }
    return resolved;
  }

  /** All at once. If several fail, a permanent failure is reported first: trying again does not help then. */
  async #values(
    { name: server, target }: ServerDefinition,
    needed: readonly NeededSecret[],
    signal: AbortSignal | undefined,
  ): Promise<KnownSecret[]> {
    const { secrets } = this.#options;
    const { baseDir } = target;
    const outcomes = await Promise.allSettled(
      needed.map(async (each) => ({
        ...each,
        value: await secrets.resolve({ ...each, server, baseDir, signal }),
      })),
    );
    const failures = outcomes.flatMap((each) =>
      each.status === "rejected" ? [toPlugboardError(each.reason, "SECRET_UNAVAILABLE")] : [],
    );
    const failure = failures.find(({ permanent }) => permanent) ?? failures[0];
    if (failure !== undefined) throw failure;
    return outcomes.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  }

  diagnostics(server: string): Diagnostic[] {
    const places = this.#unprotected.get(server)?.values() ?? [];
    return Array.from(places, (message) => ({ server, message }));
  }

  /** Only what others wrote is redacted: the names, states and numbers are our own. */
  withoutSecrets(status: ServerStatus): ServerStatus {
    const { target, lastError, identity, diagnostics, stderr } = status;
    const foreign = { target, lastError, identity, stderr };
    const told = this.#options.redactor.value(foreign);
    const state = this.stateWithoutSecrets(status.state);
    return {
      ...status,
      ...(told !== foreign && withoutUndefined(told)),
      state,
      diagnostics: diagnostics.map((each) => {
        const { server } = each;
        return { ...this.#options.redactor.value(each), server };
      }),
    };
  }

  stateWithoutSecrets(state: ServerState): ServerState {
    if (!("error" in state) && !("remedy" in state)) return state;
    const told = this.#options.redactor.value(state);
    // oxlint-disable-next-line no-unsafe-type-assertion -- the same state with its own kind
    return told === state ? state : ({ ...told, kind: state.kind } as ServerState);
  }

  #report(server: string, place: string, why: string): void {
    const places = this.#unprotected.get(server) ?? new Map<string, string>();
    this.#unprotected.set(server, places);
    if (places.has(place)) return;
    const message = `the credential in ${place} ${why}: results that contain it are not redacted`;
    places.set(place, message);
    loggerFor(server, this.#options.logger).warn(message);
  }
}

const UNPROTECTED = "is too short or too common to protect";

function notForSessions(server: string, [first]: readonly NeededSecret[]): PlugboardError {
  const message = `${first?.key} refers to a secret, which servers of a session do not get`;
  const hint = "put the server into the configuration, or send the value itself";
  return new PlugboardError("CONFIG_INVALID", message, { server, permanent: true, hint });
}

/** Keys without a value are left out of a status: people print it as JSON and compare it. */
function withoutUndefined<T extends object>(value: T): Partial<T> {
  // oxlint-disable-next-line no-unsafe-type-assertion -- a part of the same object
  return Object.fromEntries(
    Object.entries(value).filter(([, each]) => each !== undefined),
  ) as Partial<T>;
}
