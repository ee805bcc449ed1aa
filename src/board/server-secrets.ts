// Knows the credentials of a board's servers: resolves their targets, has the credentials redacted, and tells which
// ones cannot be.

import { resolveTarget } from "../config/resolve.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { type Logger, loggerFor } from "../model/logger.ts";
import type { ServerTarget, ServerDefinition } from "../model/server-definition.ts";
import type { ServerState } from "../model/server-state.ts";
import type { ServerStatus } from "../model/server-status.ts";
import { protect } from "../redaction/protect.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { Environment } from "../util/environment.ts";

export class ServerSecrets {
  readonly #env: Environment;
  readonly #redactor: Redactor;
  readonly #logger: Logger;
  /** By server: the places of the credentials that are not searched for. */
  readonly #unprotected = new Map<string, Set<string>>();

  constructor(env: Environment, redactor: Redactor, logger: Logger) {
    this.#env = env;
    this.#redactor = redactor;
    this.#logger = logger;
  }

  /** Resolves the target. Its credentials are redacted from now on. */
  resolve(definition: ServerDefinition): ServerTarget {
    const resolved = resolveTarget(definition, this.#env);
    this.#redactor.addNames([definition.name]);
    for (const { place } of protect(this.#redactor, definition.target, resolved, this.#env)) {
      this.#report(definition.name, place);
    }
    return resolved;
  }

  /**
   * Redacts the credentials of servers that have not started. A call can be refused before its server starts, and
   * its arguments may contain the server's credentials.
   */
  learn(servers: readonly ServerDefinition[]): void {
    this.#redactor.addNames(servers.map(({ name }) => name));
    for (const definition of servers) {
      try {
        this.resolve(definition);
      } catch {
        // A value is missing. The server's start reports it.
      }
    }
  }

  diagnostics(server: string): Diagnostic[] {
    const places = this.#unprotected.get(server) ?? [];
    return Array.from(places, (place) => ({ server, message: unprotected(place) }));
  }

  /** Only what others wrote is redacted: the names, states and numbers are our own. */
  withoutSecrets(status: ServerStatus): ServerStatus {
    const { target, lastError, identity, diagnostics, stderr } = status;
    const foreign = { target, lastError, identity, stderr };
    const told = this.#redactor.value(foreign);
    const state = this.stateWithoutSecrets(status.state);
    return {
      ...status,
      ...(told !== foreign && withoutUndefined(told)),
      state,
      diagnostics: diagnostics.map((each) => {
        const { server } = each;
        return { ...this.#redactor.value(each), server };
      }),
    };
  }

  stateWithoutSecrets(state: ServerState): ServerState {
    if (!("error" in state) && !("remedy" in state)) return state;
    const told = this.#redactor.value(state);
    // oxlint-disable-next-line no-unsafe-type-assertion -- the same state with its own kind
    return told === state ? state : ({ ...told, kind: state.kind } as ServerState);
  }

  #report(server: string, place: string): void {
    const places = this.#unprotected.get(server) ?? new Set();
    this.#unprotected.set(server, places);
    if (places.has(place)) return;
    places.add(place);
    loggerFor(server, this.#logger).warn(unprotected(place));
  }
}

function unprotected(place: string): string {
  return `the credential in ${place} is too short or too common to protect: results that contain it are not redacted`;
}

/** Keys without a value are left out of a status: people print it as JSON and compare it. */
function withoutUndefined<T extends object>(value: T): Partial<T> {
  // oxlint-disable-next-line no-unsafe-type-assertion -- a part of the same object
  return Object.fromEntries(
    Object.entries(value).filter(([, each]) => each !== undefined),
  ) as Partial<T>;
}
