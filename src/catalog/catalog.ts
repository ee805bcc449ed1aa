// What a set of servers offers now, under public names. Routing is a lookup here and nothing else.

import type { Diagnostic } from "../model/diagnostic.ts";
import type { ToolsEvent } from "../model/events.ts";
import type { ToolDefinition } from "../model/tool.ts";
import { oneLine } from "../util/text.ts";
import { publicName } from "./public-name.ts";

export interface CatalogEntry {
  publicName: string;
  server: string;
  tool: ToolDefinition;
}

export interface CatalogServer {
  name: string;
  /** Stands for the name in public names. */
  toolPrefix?: string;
}

export interface CatalogChange extends ToolsEvent {
  diagnostics: Diagnostic[];
}

export class Catalog {
  readonly #template: string;
  /** Names that are taken by the host's own tools. */
  readonly #reserved: ReadonlySet<string>;
  /** In the order of the configuration. */
  readonly #servers = new Map<string, { prefix: string; entries: CatalogEntry[] }>();
  readonly #byPublicName = new Map<string, CatalogEntry>();
  readonly #byCanonicalName = new Map<string, CatalogEntry>();

  constructor(
    template: string,
    servers: readonly CatalogServer[],
    reserved: Iterable<string> = [],
  ) {
    this.#template = template;
    this.#reserved = new Set(reserved);
    for (const each of servers) this.plug(each);
  }

  /** By public name, or by the canonical `server/tool`. */
  find(name: string): CatalogEntry | undefined {
    return this.#byPublicName.get(name) ?? this.#byCanonicalName.get(name);
  }

  entries(): CatalogEntry[] {
    return [...this.#servers.values()].flatMap((server) => server.entries);
  }

  count(server: string): number {
    return this.#servers.get(server)?.entries.length ?? 0;
  }

  /** What a server has, in its order here. */
  tools(server: string): ToolDefinition[] {
    return (this.#servers.get(server)?.entries ?? []).map(({ tool }) => tool);
  }

  has(server: string): boolean {
    return this.#servers.has(server);
  }

  /** Comes after those that are there. */
  plug({ name, toolPrefix }: CatalogServer): void {
    this.#servers.set(name, { prefix: toolPrefix ?? name, entries: [] });
  }

  /** Names of its tools that are gone with it. */
  unplug(server: string): string[] {
    const { removed } = this.set(server, []);
    this.#servers.delete(server);
    return removed;
  }

  /** Replaces a server's tools. What stays keeps its place and, if unchanged, its entry. */
  set(server: string, tools: readonly ToolDefinition[]): CatalogChange {
    const change: CatalogChange = { added: [], removed: [], changed: [], diagnostics: [] };
    const slot = this.#servers.get(server);
    if (slot === undefined) return change;
    const before = new Map(slot.entries.map((entry) => [entry.tool.name, entry]));
    const now = new Map(tools.map((tool) => [tool.name, tool]));
    for (const entry of slot.entries) this.#forget(entry);
    const kept = [...before.keys()].filter((name) => now.has(name));
    const fresh = [...now.keys()].filter((name) => !before.has(name));
    slot.entries = [];
    for (const name of [...kept, ...fresh]) {
      const tool = now.get(name);
      if (tool === undefined) continue;
      const known = before.get(name);
      const entry = this.#entry(server, slot.prefix, tool, known);
      if (this.#isTaken(entry.publicName)) {
        const message = `tool left out: its public name ${entry.publicName} is taken`;
        change.diagnostics.push({ server, subject: oneLine(name, 80), message });
        continue;
      }
      if (known === undefined) change.added.push(entry.publicName);
      else if (entry !== known) change.changed.push(entry.publicName);
      slot.entries.push(entry);
      this.#byPublicName.set(entry.publicName, entry);
      this.#byCanonicalName.set(`${server}/${name}`, entry);
    }
    for (const [name, entry] of before) if (!now.has(name)) change.removed.push(entry.publicName);
    return change;
  }

  #entry(
    server: string,
    prefix: string,
    tool: ToolDefinition,
    known: CatalogEntry | undefined,
  ): CatalogEntry {
    if (known === undefined) {
      return { publicName: publicName(this.#template, prefix, tool.name), server, tool };
    }
    if (JSON.stringify(known.tool) === JSON.stringify(tool)) return known;
    return { publicName: known.publicName, server, tool };
  }

  #isTaken(name: string): boolean {
    return this.#reserved.has(name) || this.#byPublicName.has(name);
  }

  #forget(entry: CatalogEntry): void {
    this.#byPublicName.delete(entry.publicName);
    this.#byCanonicalName.delete(`${entry.server}/${entry.tool.name}`);
  }
}
