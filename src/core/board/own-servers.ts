// A board's own servers, as its user changes them while it runs. Those of a session's board are what the session brought and
// what the configuration starts for each session; one that it brought replaces any other of the same name.

import type { Diagnostic } from "../types/diagnostic.ts";
import { PlugboardError } from "../types/errors.ts";
import type { ServerDefinition } from "../types/server-definition.ts";
import { deferred } from "../../util/deferred.ts";
import type { BoardCore } from "./core.ts";
import type { ServerEntry } from "./server-entry.ts";
import type { ServerSet } from "./server-set.ts";

export interface OwnServersOptions {
  core: Pick<BoardCore, "servers" | "configuration">;
  /** For a session's board: the servers of the agent's. */
  base: ServerSet | undefined;
  /** What the configuration starts for each session under a name. It comes back when the session's server goes. */
  configured: (name: string) => ServerDefinition | undefined;
}

export class OwnServers {
  readonly #options: OwnServersOptions;
  /** Names of those that the user has disabled. */
  readonly #disabled = new Set<string>();
  #held: Promise<void> | undefined;

  constructor(options: OwnServersOptions) {
    this.#options = options;
  }

  /** Nothing is changed until the returned function is called: another configuration is prepared. */
  hold(): () => void {
    const { promise, resolve } = deferred();
    this.#held = promise;
    return () => {
      this.#held = undefined;
      resolve();
    };
  }

  /** Resolves when they may be changed. */
  async free(): Promise<void> {
    await this.#held;
  }

  /** What the user has disabled stays so, whatever the configuration says. */
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
    const { servers } = this.#options.core;
    const entry = servers.toldOrWithheld(name);
    if (servers.isOwn(entry)) return entry;
    throw new PlugboardError("UNSUPPORTED", `server '${name}' is shared by all sessions`, {
      server: name,
      hint: "do this on the agent's board",
    });
  }

  /** Starts servers that were stopped for being idle. A lazy server starts with its next call. */
  wake(): void {
    for (const { definition, supervisor } of this.#options.core.servers.own()) {
      const { kind } = supervisor.state;
      if (!definition.lazy && (kind === "idle" || kind === "stopping")) void supervisor.start();
    }
  }

  /** Adds a server, which replaces one of the same name. Resolves when it is ready, has failed or is late. */
  async add(definition: ServerDefinition): Promise<ServerEntry> {
    const { servers, configuration } = this.#options.core;
    const { cwd, agent } = configuration;
    const { entry, replaced } = await servers.add(definition, cwd);
    await Promise.all([replaced, servers.startOne(entry, "eager", agent.startupWait)]);
    return entry;
  }

  /** Resolves when no process of the server is left and the server that it had replaced is back. */
  async remove(name: string): Promise<void> {
    const { core, configured } = this.#options;
    this.#disabled.delete(name);
    const before = configured(name);
    const gone = core.servers.remove(name);
    await Promise.all([gone, before && this.add(before)]);
  }

  /**
   * Resolves when a disabled server has stopped, or an enabled one is ready, has failed or is late. A shared server
   * keeps running for others. Throws UNKNOWN_SERVER, and UNSUPPORTED if the configuration disables the server.
   */
  async setEnabled(name: string, enabled: boolean): Promise<ServerEntry> {
    const { base } = this.#options;
    const { servers } = this.#options.core;
    const entry = servers.toldOrWithheld(name);
    const { definition, supervisor } = entry;
    const isEnabled = definition.enabled && !servers.isWithheld(entry);
    if (isEnabled === enabled) return entry;
    const isDisabledByConfiguration =
      base === undefined
        ? enabled && !this.#disabled.has(name)
        : base.get(name)?.definition.enabled === false;
    if (definition.origin !== "session" && isDisabledByConfiguration) {
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
    const isReplaced = this.#options.base?.get(name) !== undefined;
    if (origin !== "session" || !isReplaced) return [];
    const message = `the session's server '${name}' replaces the agent's server of that name`;
    return [{ server: name, message }];
  }

  get warnings(): string[] {
    return this.#definitions.flatMap((each) => this.replacing(each).map(({ message }) => message));
  }

  get #definitions(): ServerDefinition[] {
    return this.#options.core.servers.own().map(({ definition }) => definition);
  }
}
