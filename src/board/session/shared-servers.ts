// The servers of an agent's board as a session sees them: there unless one of its own has their name, with
// the tools they have now, and heard of as far as it is news to this session.

import type { Diagnostic } from "../../model/diagnostic.ts";
import type { BoardEvents, ToolsEvent } from "../../model/events.ts";
import type { ToolSubject } from "../../model/guard.ts";
import type { BoardCore } from "../core.ts";
import type { Slot } from "../slot.ts";

/** Told by its subject alone, so that it stays true when a server takes another one's place. */
export function isShared(over: BoardCore, { source, origin }: ToolSubject): boolean {
  if (source.kind !== "mcp" || origin === "session") return false;
  const slot = over.slots.get(source.server);
  return slot !== undefined && isForAll(slot);
}

/** Whether sessions share it. */
export function isForAll({ definition }: Slot): boolean {
  return definition.scope !== "session";
}

export class SharedServers {
  readonly #over: BoardCore;
  readonly #session: BoardCore;
  readonly #off: (() => void)[] = [];
  /** What of them has no place on this board. */
  readonly #diagnostics = new Map<string, Diagnostic[]>();
  /** Those that the session does without. */
  readonly #withheld = new Map<string, Slot>();

  constructor(over: BoardCore, session: BoardCore) {
    this.#over = over;
    this.#session = session;
  }

  /** To be called when the session's own are plugged in. */
  open(): void {
    for (const [name, slot] of this.#over.slots) if (isForAll(slot)) this.show(name);
    const { servers, events } = this.#over;
    this.#off.push(
      servers.onLearnt((server) => {
        if (this.#shows(server)) this.#announce(this.#mirror(server));
      }),
      ...(["server", "prompts", "resources"] as const).map((name) =>
        events.on(name, (event) => this.#hear(name, event)),
      ),
    );
  }

  /** Puts the agent's server of that name on the session's board, where nothing is in its place. */
  show(name: string): void {
    const slot = this.#over.slots.get(name);
    const { slots, tools } = this.#session;
    if (slot === undefined || !isForAll(slot) || slots.has(name)) return;
    if (this.#withheld.has(name)) return;
    slots.set(name, slot);
    if (!tools.catalog.has(name)) tools.catalog.plug(slot.definition);
    this.#announce(this.#mirror(name));
  }

  get withheld(): ReadonlyMap<string, Slot> {
    return this.#withheld;
  }

  /** Out of the session's sight until it is released, whatever else comes and goes under its name. */
  withhold(name: string): void {
    const slot = this.#over.slots.get(name);
    if (slot === undefined || !this.#shows(name)) return;
    this.hide(name);
    this.#withheld.set(name, slot);
  }

  release(name: string): void {
    if (this.#withheld.delete(name)) this.show(name);
  }

  /** A server of the session's own takes its place. */
  hide(name: string): void {
    if (!this.#shows(name)) return;
    this.#session.slots.delete(name);
    const removed = this.#session.tools.catalog.unplug(name);
    this.#announce({ added: [], removed, changed: [] });
  }

  /** Behind the session's own, which go first where a name or a URI is on both. */
  moveBehind(): void {
    const { slots } = this.#session;
    for (const [name, slot] of this.#over.slots) {
      if (this.#shows(name) && slots.delete(name)) slots.set(name, slot);
    }
  }

  /** The one of that name, where it is shown and does not run. */
  down(name: string): Slot | undefined {
    const slot = this.#session.slots.get(name);
    return slot !== undefined && this.#shows(name) && slot.supervisor.live === undefined
      ? slot
      : undefined;
  }

  /** Of the agent's server of that name, on this board. */
  diagnostics(name: string): readonly Diagnostic[] {
    return this.#shows(name) ? (this.#diagnostics.get(name) ?? []) : [];
  }

  /** None of them can be used here any more. */
  close(): void {
    for (const off of this.#off.splice(0)) off();
    const { slots, tools } = this.#session;
    for (const name of this.#over.slots.keys()) {
      if (!this.#shows(name)) continue;
      slots.delete(name);
      tools.catalog.unplug(name);
    }
  }

  #shows(name: string): boolean {
    const slot = this.#over.slots.get(name);
    return slot !== undefined && this.#session.slots.get(name) === slot;
  }

  #mirror(name: string): ToolsEvent {
    const { tools, logger } = this.#session;
    const change = tools.set(name, this.#over.tools.catalog.tools(name));
    this.#diagnostics.set(name, change.diagnostics);
    for (const { message, server, subject } of change.diagnostics) {
      logger.warn(message, { server, tool: subject });
    }
    return change;
  }

  #announce({ added, removed, changed }: ToolsEvent): void {
    if (!this.#session.servers.announces) return;
    if (added.length + removed.length + changed.length === 0) return;
    this.#session.events.emit("tools", { added, removed, changed });
  }

  #hear<Name extends "server" | "prompts" | "resources">(
    name: Name,
    event: BoardEvents[Name],
  ): void {
    if (!this.#shows(event.server)) return;
    const news = this.#newsIn(event);
    if (news !== undefined) this.#session.events.emit(name, news);
  }

  /** What another session has subscribed to is none. */
  #newsIn<Event extends BoardEvents["server" | "prompts" | "resources"]>(
    event: Event,
  ): Event | undefined {
    if (!("uris" in event) || event.change === "list") return event;
    const { resources } = this.#session;
    const uris = event.uris.filter((uri) => resources.hears(event.server, uri));
    return uris.length === 0 ? undefined : { ...event, uris };
  }
}
