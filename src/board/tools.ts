// Every tool on the board, the host's own and those of servers, each with its way through the guard.

import type { Execute } from "../bridge/tool.ts";
import { Catalog, type CatalogChange, type CatalogEntry } from "../catalog/catalog.ts";
import type { AgentConfig } from "../model/agent-config.ts";
import type { Next } from "../model/guard.ts";
import type { NativeTool, Tool, ToolDefinition } from "../model/tool.ts";
import type { Calls } from "./calls.ts";
import type { BoardGuard } from "./guard.ts";
import { plugEntry, type PluggedTool, plugNative } from "./plugged-tool.ts";
import { type Slot, slotNamed } from "./slot.ts";

export interface BoardToolsOptions {
  agent: AgentConfig;
  native: ReadonlyMap<string, NativeTool>;
  slots: ReadonlyMap<string, Slot>;
  calls: Calls;
  guard: BoardGuard;
  execute: Execute;
}

export class BoardTools {
  readonly catalog: Catalog;
  readonly #options: BoardToolsOptions;
  readonly #native = new Map<string, PluggedTool>();
  readonly #plugged = new WeakMap<CatalogEntry, PluggedTool>();

  constructor(options: BoardToolsOptions) {
    const { agent, native, calls, guard, execute } = options;
    this.#options = options;
    this.catalog = new Catalog(agent.toolNames, agent.servers, native.keys());
    for (const tool of native.values()) {
      const last: Next = (call) => calls.native(tool, call);
      this.#native.set(tool.name, plugNative(tool, guard, last, execute));
    }
  }

  list(): Tool[] {
    const native = [...this.#native.values()].filter(({ isListed }) => isListed);
    return [...native, ...this.#listed()].map(({ tool }) => tool);
  }

  /** Of those that are listed. */
  count(server: string): number {
    return this.#listed().filter(
      ({ subject: { source } }) => source.kind === "mcp" && source.server === server,
    ).length;
  }

  /** Those that the rules hide included. */
  all(): PluggedTool[] {
    return [...this.#native.values(), ...this.catalog.entries().map((entry) => this.at(entry))];
  }

  /** By public name, `server/tool` or `native/tool`, listed or not. */
  find(name: string): PluggedTool | undefined {
    const entry = this.catalog.find(name);
    if (entry !== undefined) return this.at(entry);
    return this.#native.get(name.startsWith("native/") ? name.slice(7) : name);
  }

  at(entry: CatalogEntry): PluggedTool {
    const known = this.#plugged.get(entry);
    if (known !== undefined) return known;
    const { slots, calls, guard, execute } = this.#options;
    const slot = slotNamed(entry.server, slots);
    const isCurrent = (): boolean => this.catalog.find(entry.publicName) === entry;
    const last: Next = (call) =>
      calls.server(slot.supervisor, entry.tool.name, call, () => guard.recheck(call, isCurrent()));
    const plugged = plugEntry(entry, slot, guard, last, execute);
    this.#plugged.set(entry, plugged);
    return plugged;
  }

  /** Replaces a server's tools; what is not listed is no news. */
  set(server: string, tools: readonly ToolDefinition[]): CatalogChange {
    const hidden = new Set(this.#hidden());
    const change = this.catalog.set(server, tools);
    for (const name of this.#hidden()) hidden.add(name);
    if (hidden.size === 0) return change;
    const shown = (names: string[]): string[] => names.filter((name) => !hidden.has(name));
    const { added, removed, changed, diagnostics } = change;
    return {
      added: shown(added),
      removed: shown(removed),
      changed: shown(changed),
      diagnostics,
    };
  }

  #listed(): PluggedTool[] {
    return this.catalog.entries().flatMap((entry) => {
      const plugged = this.at(entry);
      return plugged.isListed ? [plugged] : [];
    });
  }

  #hidden(): string[] {
    return this.catalog
      .entries()
      .flatMap((entry) => (this.at(entry).isListed ? [] : [entry.publicName]));
  }
}
