// Tells the users of a board what changes on it: tools, states of servers, log messages. While the configuration is
// replaced it holds back what it has to tell, so that nobody sees one half of each.

import type { ReloadReport } from "../types/board.ts";
import type { BoardEvents, ToolsEvent } from "../types/events.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { Emitter } from "../../util/emitter.ts";
import type { Calls } from "./calls.ts";
import type { BoardContent } from "./content/content.ts";
import type { BoardRules } from "./rules.ts";
import type { ServerEntry } from "./server-entry.ts";
import type { ServerSecrets } from "./server-secrets.ts";
import type { ReplacedServers, ServerSet, ServerSetEvents } from "./server-set.ts";
import type { BoardTools } from "./tools.ts";

export interface BoardChangesOptions {
  events: Emitter<BoardEvents>;
  servers: ServerSet;
  tools: BoardTools;
  content: BoardContent;
  rules: BoardRules | undefined;
  calls: Calls;
  redactor: Redactor;
  secrets: ServerSecrets;
}

/** What a new configuration has changed. */
export interface ReplacedConfiguration {
  servers: ReplacedServers;
  tools: ToolsEvent | undefined;
  /** Whether other resources and prompts of any server may be listed. */
  isListedAnew: boolean;
}

export class BoardChanges {
  readonly #options: BoardChangesOptions;
  /** Servers that are new since the board opened: its users hear what they have once they are ready. */
  readonly #joining = new WeakSet<ServerEntry>();
  #isOpen = false;
  /** While the configuration is replaced: what is told when all of it is. */
  #untold: (() => void)[] | undefined;

  constructor(options: BoardChangesOptions) {
    this.#options = options;
    const { servers } = options;
    servers.events.on("tools", (event) => this.#listed(event));
    servers.events.on("log", ({ board, data, ...message }) => {
      const { calls, events, redactor } = this.#options;
      // What is about a call is for the board that made it.
      if (board !== undefined && board !== calls) return;
      events.emit("log", { ...message, data: redactor.value(data) });
    });
    servers.events.on("state", (event) => {
      if (this.#untold === undefined) this.#tellState(event);
      else this.#untold.push(() => this.#tellState(event));
    });
  }

  /** Call this when the board is open. Changed tools are reported only from then on. */
  opened(): void {
    this.#isOpen = true;
    this.#options.tools.offeredChange();
    this.#options.rules?.opened();
  }

  /** Models get some tools in another way than before. */
  toolsChanged(change: ToolsEvent | undefined): void {
    if (this.#isOpen && change !== undefined) this.#options.events.emit("tools", change);
  }

  /** Reports the board's own tools that have joined or left the list. */
  reportOffered(): void {
    if (!this.#isOpen || this.#untold !== undefined) return;
    this.toolsChanged(this.#options.tools.offeredChange());
  }

  /** From now on nothing is told, until the function is called that `release` returns. */
  hold(): void {
    this.#untold = [];
  }

  /** `shared` is what has become of the agent's servers, for a session's board. */
  release(replaced: ReplacedConfiguration): (shared?: ReloadReport) => void {
    const { tools } = this.#options;
    for (const { entry } of replaced.servers.toStart) this.#joining.add(entry);
    tools.offeredChange();
    const forApps = tools.appChange();
    return (shared) => {
      const { events, servers, content } = this.#options;
      const untold = this.#untold ?? [];
      this.#untold = undefined;
      for (const each of untold) each();
      this.toolsChanged(replaced.tools);
      this.#appToolsChanged(forApps);
      const { added, changed, removed } = replaced.servers;
      const gone = (shared?.removed ?? []).filter((name) => servers.isTold(name));
      for (const server of gone) {
        const state = { kind: "stopped" } as const;
        events.emit("server", { server, state, previous: state });
      }
      const others = [...added, ...changed, ...removed, ...(shared?.changed ?? []), ...gone];
      const all = replaced.isListedAnew ? servers.all().map(({ name }) => name) : [];
      for (const server of new Set([...others, ...all])) content.tellOf(server);
    };
  }

  #appToolsChanged(change: ToolsEvent | undefined): void {
    if (this.#isOpen && change !== undefined) this.#options.events.emit("appTools", change);
  }

  #listed(event: ToolsEvent & { server: string }): void {
    // How the whole list has changed is told at the end.
    if (this.#untold !== undefined) return;
    const { rules, tools } = this.#options;
    rules?.changed();
    this.toolsChanged(tools.listedChange(event));
    this.#appToolsChanged(tools.appChange([event.server]));
  }

  #tellState({ entry, state, previous }: ServerSetEvents["state"]): void {
    const { events, secrets, content } = this.#options;
    events.emit("server", {
      server: entry.name,
      state: secrets.stateWithoutSecrets(state),
      previous: secrets.stateWithoutSecrets(previous),
    });
    this.reportOffered();
    if (state.kind === "ready" && this.#joining.delete(entry)) content.tellOf(entry.name);
  }
}
