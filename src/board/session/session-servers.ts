// The servers that a session has for itself: those it brought, and those that the configuration gives to every
// session. A server that it brought replaces any other of its name.

import type { Diagnostic } from "../../model/diagnostic.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { ServerDefinition } from "../../model/server-definition.ts";
import type { ServerEntry } from "../server-entry.ts";
import type { ServerSet } from "../server-set.ts";

export interface SessionServersOptions {
  /** The session's, which shares the base's. */
  servers: ServerSet;
  base: ServerSet;
  /** Servers that each session has its own of. */
  perSession: readonly ServerDefinition[];
  cwd: string;
  startupWait: number;
}

export class SessionServers {
  readonly #options: SessionServersOptions;

  constructor(options: SessionServersOptions) {
    this.#options = options;
  }

  /** Adds them and waits for them, within limits. */
  async open(definitions: readonly ServerDefinition[]): Promise<void> {
    const { servers, cwd, startupWait } = this.#options;
    await servers.open(definitions, cwd);
    await servers.start("eager", startupWait);
  }

  /** Names of those that the session brought. */
  get brought(): string[] {
    return this.#definitions.flatMap(({ name, origin }) => (origin === "session" ? [name] : []));
  }

  /** How many processes of this machine they are. */
  get programs(): number {
    return this.#definitions.filter(({ endpoint, enabled }) => endpoint.kind === "stdio" && enabled)
      .length;
  }

  /** Throws UNKNOWN_SERVER, and UNSUPPORTED for a shared server. */
  named(name: string): ServerEntry {
    const { servers } = this.#options;
    const entry = servers.named(name);
    if (servers.isOwn(entry)) return entry;
    throw new PlugboardError("UNSUPPORTED", `server '${name}' is shared by all sessions`, {
      server: name,
      hint: "that is for the board it belongs to",
    });
  }

  /** Starts what was stopped for being idle. A lazy server waits for its call. */
  wake(): void {
    for (const { definition, supervisor } of this.#options.servers.own()) {
      const { kind } = supervisor.state;
      if (!definition.lazy && (kind === "idle" || kind === "stopping")) void supervisor.start();
    }
  }

  /** Replaces what is there by that name; resolves when the new one is ready, has failed or is late. */
  async add(definition: ServerDefinition): Promise<ServerEntry> {
    const { servers, cwd, startupWait } = this.#options;
    const { entry, replaced } = await servers.add(definition, cwd);
    await Promise.all([replaced, servers.startOne(entry, "eager", startupWait)]);
    return entry;
  }

  /** Resolves when nothing of it is left and the server that it replaced is back. */
  async remove(name: string): Promise<void> {
    const { servers, perSession } = this.#options;
    const given = perSession.find((each) => each.name === name);
    const gone = servers.remove(name);
    await Promise.all([gone, given && this.add(given)]);
  }

  /**
   * Resolves when a disabled server is gone, or an enabled one is ready, has failed or is late. A shared server
   * goes on for others. Throws UNKNOWN_SERVER, and UNSUPPORTED for one that the configuration disables.
   */
  async setEnabled(name: string, enabled: boolean): Promise<ServerEntry> {
    const { servers, base } = this.#options;
    const entry = servers.named(name);
    const { definition, supervisor } = entry;
    const isEnabled = definition.enabled && !servers.isWithheld(entry);
    if (isEnabled === enabled) return entry;
    if (definition.origin !== "session" && base.get(name)?.definition.enabled === false) {
      throw new PlugboardError("UNSUPPORTED", `server '${name}' is disabled in the configuration`, {
        server: name,
        hint: "enable it there",
      });
    }
    if (servers.isOwn(entry)) {
      const previous = supervisor.state;
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

  /** Says that a server replaces one of the agent's. */
  shadowing({ name, origin }: ServerDefinition): Diagnostic[] {
    if (origin !== "session" || this.#options.base.get(name) === undefined) return [];
    const message = `server '${name}' of the session takes the place of the agent's server of that name`;
    return [{ server: name, message }];
  }

  get warnings(): string[] {
    return this.#definitions.flatMap((each) => this.shadowing(each).map(({ message }) => message));
  }

  get #definitions(): ServerDefinition[] {
    return this.#options.servers.own().map(({ definition }) => definition);
  }
}
