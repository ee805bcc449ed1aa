// The tools of a set of servers, by public name. A call finds its server by a lookup here; nothing parses names.

import type { Diagnostic } from "../types/diagnostic.ts";
import type { ToolsEvent } from "../types/events.ts";
import type { CatalogEntry, ToolDefinition } from "../types/tool.ts";
import { oneLine } from "../../util/text.ts";
import { fullName, type Naming, usableOwnName, publicName } from "./public-name.ts";

export interface CatalogServer {
  name: string;
  /** Replaces the server's name in public names. */
  toolPrefix?: string;
}

export interface CatalogChange extends ToolsEvent {
  diagnostics: Diagnostic[];
}

export class Catalog {
  #naming: Naming;
  /** Names of native tools. */
  #reserved: ReadonlySet<string>;
  readonly #servers = new Map<string, { prefix: string; entries: CatalogEntry[] }>();
  readonly #byPublicName = new Map<string, CatalogEntry>();
  readonly #byCanonicalName = new Map<string, CatalogEntry>();
  /** The earlier entries, while all tools are named anew. */
  #retired = new Map<string, CatalogEntry>();

  constructor(naming: Naming, reserved: Iterable<string> = []) {
    this.#naming = naming;
    this.#reserved = new Set(reserved);
  }

  /**
   * Other names apply from now on. `refill` adds the servers again, with their tools; the others are gone. A tool that
   * is the same, and has the same name, keeps its entry.
   */
  rename(naming: Naming, reserved: Iterable<string>, refill: () => void): void {
    this.#naming = naming;
    this.#reserved = new Set(reserved);
    this.#retired = new Map(this.#byCanonicalName);
    for (const held of [this.#servers, this.#byPublicName, this.#byCanonicalName]) held.clear();
    refill();
    this.#retired.clear();
  }

  /** Finds a tool by its public name or its canonical name `server/tool`. */
  find(name: string): CatalogEntry | undefined {
    return this.#byPublicName.get(name) ?? this.#byCanonicalName.get(name);
  }

  /** The tools of one server: the same array until they are set again. */
  entriesOf(server: string): readonly CatalogEntry[] {
    return this.#servers.get(server)?.entries ?? [];
  }

  /** Adds a server without tools. A server that is already there keeps its tools. */
  add({ name, toolPrefix }: CatalogServer): void {
    if (this.#servers.has(name)) return;
    this.#servers.set(name, { prefix: toolPrefix ?? name, entries: [] });
  }

  /** Returns the public names of the tools that are removed with the server. */
  remove(server: string): string[] {
    const { removed } = this.set(server, []);
    this.#servers.delete(server);
    return removed;
  }

  /** Replaces a server's tools. A tool that stays keeps its place and, if it is unchanged, its entry. */
  set(server: string, tools: readonly ToolDefinition[]): CatalogChange {
    const change: CatalogChange = { added: [], removed: [], changed: [], diagnostics: [] };
    const listed = this.#servers.get(server);
    if (listed === undefined) return change;
    const before = new Map(listed.entries.map((entry) => [entry.tool.name, entry]));
    const now = new Map(tools.map((tool) => [tool.name, tool]));
    for (const entry of listed.entries) this.#forget(entry);
    const kept = [...before.keys()].filter((name) => now.has(name));
    const fresh = [...now.keys()].filter((name) => !before.has(name));
    listed.entries = [];
    for (const name of [...kept, ...fresh]) {
      const tool = now.get(name);
      if (tool === undefined) continue;
      const known = before.get(name);
      const entry = this.#entry(server, listed.prefix, tool, known);
      if (this.#isTaken(entry.publicName)) {
        const message = `tool left out: its public name ${entry.publicName} is taken`;
        const subject = oneLine(name, 80);
        change.diagnostics.push({ server, subject, message, kind: "left-out" });
        continue;
      }
      if (known === undefined) change.added.push(entry.publicName);
      else if (entry !== known) change.changed.push(entry.publicName);
      listed.entries.push(entry);
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
      const name = this.#publicName(server, prefix, tool.name);
      const full = fullName(this.#naming.template, prefix, tool.name);
      const entry = { publicName: name, ...(full !== name && { fullName: full }), server, tool };
      const retired = this.#retired.get(`${server}/${tool.name}`);
      return retired && JSON.stringify(retired) === JSON.stringify(entry) ? retired : entry;
    }
    if (JSON.stringify(known.tool) === JSON.stringify(tool)) return known;
    return { ...known, tool };
  }

  #publicName(server: string, prefix: string, tool: string): string {
    const { template, maxLength, ownNamesOf } = this.#naming;
    return server === ownNamesOf
      ? usableOwnName(server, tool, maxLength, (name) => this.#isTaken(name))
      : publicName(template, prefix, tool, maxLength);
  }

  #isTaken(name: string): boolean {
    return this.#reserved.has(name) || this.#byPublicName.has(name);
  }

  #forget(entry: CatalogEntry): void {
    this.#byPublicName.delete(entry.publicName);
    this.#byCanonicalName.delete(`${entry.server}/${entry.tool.name}`);
  }
}
