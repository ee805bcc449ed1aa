// A session's own servers: those that it brought, and those that the configuration starts for each session. A
// server that it brought replaces any other of the same name.

import type { Diagnostic } from "../../types/diagnostic.ts";
import { PlugboardError } from "../../types/errors.ts";
import type { ServerDefinition } from "../../types/server-definition.ts";
import type { ServerEntry } from "../server-entry.ts";
import type { ServerSet } from "../server-set.ts";

export interface SessionServersOptions {
  /** The session's set. */
  servers: ServerSet;
  /** The agent's set. */
  base: ServerSet;
  /** Definitions of the servers that the configuration starts for each session. */
  perSession: readonly ServerDefinition[];
  cwd: string;
  startupWait: number;
}

export class SessionServers {
  #options: SessionServersOptions;
  /** Names of its own servers that the session has disabled. */
  readonly #disabled = new Set<string>();

  constructor(options: SessionServersOptions) {
    this.#options = options;
  }

  /** Adds the servers, starts them, and waits for them up to `startupWait`. */
  async open(definitions: readonly ServerDefinition[]): Promise<void> {
    const { servers, cwd, startupWait } = this.#options;
    await servers.open(definitions, cwd);
    await servers.start("eager", startupWait);
  }

  /** The configuration starts other servers for each session from now on. */
  reconfigure(given: Pick<SessionServersOptions, "perSession">): void {
    this.#options = { ...this.#options, ...given };
  }

  /** What the session has disabled stays so, whatever the configuration says. */
  asChosen(definition: ServerDefinition): ServerDefinition {
    return this.#disabled.has(definition.name) ? { ...definition, enabled: false } : definition;
  }

  /** The names of the servers that the session brought. */
  get brought(): string[] {
    return this.#definitions.flatMap(({ name, origin }) => (origin === "session" ? [name] : []));
  }

  /** How many of the servers are programs. */
  get programs(): number {
    return this.#definitions.filter(({ target, enabled }) => target.kind === "stdio" && enabled)
      .length;
  }

  /** Throws UNKNOWN_SERVER, and UNSUPPORTED for a shared server. */
  named(name: string): ServerEntry {
    const { servers } = this.#options;
    const entry = servers.namedOrWithheld(name);
    if (servers.isOwn(entry)) return entry;
    throw new PlugboardError("UNSUPPORTED", `server '${name}' is shared by all sessions`, {
      server: name,
      hint: "do this on the agent's board",
    });
  }

  /** Starts servers that were stopped for being idle. A lazy server starts with its next call. */
  wake(): void {
    for (const { definition, supervisor } of this.#options.servers.own()) {
      const { kind } = supervisor.state;
      if (!definition.lazy && (kind === "idle" || kind === "stopping")) void supervisor.start();
    }
  }

  /** Adds a server, which replaces one of the same name. Resolves when it is ready, has failed or is late. */
  async add(definition: ServerDefinition): Promise<ServerEntry> {
    const { servers, cwd, startupWait } = this.#options;
    const { entry, replaced } = await servers.add(definition, cwd);
    await Promise.all([replaced, servers.startOne(entry, "eager", startupWait)]);
    return entry;
  }

  /** Resolves when no process of the server is left and the server that it had replaced is back. */
  async remove(name: string): Promise<void> {
    const { servers, perSession } = this.#options;
    this.#disabled.delete(name);
    const given = perSession.find((each) => each.name === name);
    const gone = servers.remove(name);
    await Promise.all([gone, given && this.add(given)]);
  }

  /**
   * Resolves when a disabled server has stopped, or an enabled one is ready, has failed or is late. A shared server
   * keeps running for others. Throws UNKNOWN_SERVER, and UNSUPPORTED if the configuration disables the server.
   */
  async setEnabled(name: string, enabled: boolean): Promise<ServerEntry> {
    const { servers, base } = this.#options;
    const entry = servers.namedOrWithheld(name);
    const { definition, supervisor } = entry;
    const isEnabled = definition.enabled && !servers.isWithheld(entry);
    if (isEnabled === enabled) return entry;
    if (definition.origin !== "session" && base.get(name)?.definition.enabled === false) {
      throw new PlugboardError("UNSUPPORTED", `server '${name}' is disabled in the configuration`, {
        server: name,
        hint: "enable it in the configuration",
      });
    }
    if (servers.isOwn(entry)) {
      const previous = supervisor.state;
      if (enabled) this.#disabled.delete(name);
      else this.#disabled.add(name);
      const added = this.add({ ...definition, enabled });
      const now = servers.named(name);
      if (!enabled) {
        servers.events.emit("state", { entry: now, state: { kind: "disabled" }, previous });
      }
      return added;
    }
    if (enabled) servers.release(name);
    else servers.withhold(name);
    return entry;
  }

  /** Reports that the server replaces one of the agent's. */
  replacing({ name, origin }: ServerDefinition): Diagnostic[] {
    const isReplaced = this.#options.base.get(name) !== undefined;
    if (origin !== "session" || !isReplaced) return [];
    const message = `the session's server '${name}' replaces the agent's server of that name`;
    return [{ server: name, message }];
  }

  get warnings(): string[] {
    return this.#definitions.flatMap((each) => this.replacing(each).map(({ message }) => message));
  }

  get #definitions(): ServerDefinition[] {
    return this.#options.servers.own().map(({ definition }) => definition);
  }
}
