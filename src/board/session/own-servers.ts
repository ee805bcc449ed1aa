// The servers that a session has for itself: what it brought, and those that the configuration gives to
// every session. One that it brought takes the place of any other of its name.

import type { Diagnostic } from "../../model/diagnostic.ts";
import { PlugboardError } from "../../model/errors.ts";
import type { ServerDefinition } from "../../model/server-definition.ts";
import type { BoardCore } from "../core.ts";
import { type Slot, slotNamed } from "../slot.ts";
import type { SharedServers } from "./shared-servers.ts";

export interface OwnServersOptions {
  over: BoardCore;
  session: BoardCore;
  shared: SharedServers;
  /** Those there are, kept up to date: to begin with, those to be opened. */
  definitions: Map<string, ServerDefinition>;
  cwd: string;
  startupWait: number;
}

export class OwnServers {
  readonly #options: OwnServersOptions;

  constructor(options: OwnServersOptions) {
    this.#options = options;
  }

  /** Plugs them in and waits for them, within limits. */
  async open(): Promise<void> {
    const { session, shared, definitions, cwd, startupWait } = this.#options;
    for (const each of definitions.values()) session.servers.plug(each, cwd);
    shared.open();
    await session.guard.open(session.servers.own.values());
    await session.servers.start("eager", startupWait);
  }

  /** Names of those that the session brought. */
  get brought(): string[] {
    return this.#definitions.flatMap(({ name, origin }) => (origin === "session" ? [name] : []));
  }

  /** How many programs of this machine they are. */
  get programs(): number {
    return this.#definitions.filter(({ endpoint, enabled }) => endpoint.kind === "stdio" && enabled)
      .length;
  }

  /** Throws UNKNOWN_SERVER, and UNSUPPORTED for one that is shared. */
  named(name: string): Slot {
    const { session, shared } = this.#options;
    const { slots, servers } = session;
    const slot = slotNamed(name, new Map([...shared.withheld, ...slots]));
    if (servers.own.get(name) === slot) return slot;
    throw new PlugboardError("UNSUPPORTED", `server '${name}' is shared by all sessions`, {
      server: name,
      hint: "that is for the board it belongs to",
    });
  }

  /** Starts again what idled away. One that is lazy waits for its call. */
  wake(): void {
    for (const { definition, supervisor } of this.#options.session.servers.own.values()) {
      const { kind } = supervisor.state;
      if (!definition.lazy && (kind === "idle" || kind === "stopping")) void supervisor.start();
    }
  }

  /** What is there by that name gives way; resolves when the other is ready, has failed or is late. */
  async plug(definition: ServerDefinition): Promise<Slot> {
    const { session, shared, cwd, startupWait } = this.#options;
    const { servers, tools, guard } = session;
    const { name } = definition;
    shared.hide(name);
    const before = servers.own.has(name) ? this.#unplug(name) : undefined;
    tools.catalog.plug(definition);
    const slot = servers.plug(definition, cwd);
    this.#options.definitions.set(name, definition);
    shared.moveBehind();
    await guard.open([slot]);
    await Promise.all([before, servers.startOne(slot, "eager", startupWait)]);
    return slot;
  }

  /** Resolves when nothing of it is left and whose place it took is back. */
  async unplug(name: string): Promise<void> {
    const { over, shared } = this.#options;
    const ended = this.#unplug(name);
    const given = perSession(over).find((each) => each.name === name);
    if (given === undefined) shared.show(name);
    await Promise.all([ended, given && this.plug(given)]);
  }

  shadowing({ name, origin }: ServerDefinition): Diagnostic[] {
    if (origin !== "session" || !this.#options.over.slots.has(name)) return [];
    const message = `server '${name}' of the session takes the place of the agent's server of that name`;
    return [{ server: name, message }];
  }

  get warnings(): string[] {
    return this.#definitions.flatMap((each) => this.shadowing(each).map(({ message }) => message));
  }

  get #definitions(): ServerDefinition[] {
    return [...this.#options.definitions.values()];
  }

  async #unplug(name: string): Promise<void> {
    const { servers, tools, events } = this.#options.session;
    const ended = servers.unplug(name);
    this.#options.definitions.delete(name);
    const removed = tools.catalog.unplug(name);
    if (removed.length > 0) events.emit("tools", { added: [], removed, changed: [] });
    await ended;
  }
}

/** Those that each session has its own of; to the session they are like any other. */
export function perSession({ agent }: BoardCore): ServerDefinition[] {
  return agent.servers.flatMap(({ scope, ...definition }) =>
    scope === "session" ? [definition] : [],
  );
}
