// The native tools of a board: those that its host brings, and the board's own, with which a model reads resources and
// saved results.

import { collectNative } from "../tools/native.ts";
import type { AgentConfig } from "../types/agent-config.ts";
import type { BoardOptions } from "../types/board-options.ts";
import type { NativeToolFactory } from "../types/tool.ts";
import { resourceTools } from "./content/resource-tools.ts";
import type { Resources } from "./content/resources.ts";
import { type SavedResults, savedResultTool } from "./saved-results.ts";
import type { OwnTool } from "./tools.ts";

export type HostTools = NonNullable<BoardOptions["native"]>;

export interface NativeToolsOptions {
  agent: AgentConfig;
  options: BoardOptions;
  /** What the host brings. */
  given: HostTools;
  resources: () => Resources;
  saved: () => SavedResults;
}

/** The tools under another configuration. Nothing has changed yet. */
export interface PreparedTools {
  given: HostTools;
  all: ReadonlyMap<string, OwnTool>;
}

export class NativeTools {
  readonly #options: NativeToolsOptions;
  /** With it a model reads what was saved of a long result. */
  readonly #reader: OwnTool;
  #agent: AgentConfig;
  #now: PreparedTools;

  /** Throws CONFIG_INVALID. */
  constructor(options: NativeToolsOptions) {
    this.#options = options;
    this.#agent = options.agent;
    this.#reader = savedResultTool(options.saved);
    this.#now = this.#collect(options.agent, options.given);
  }

  /** What the host brings. */
  get given(): HostTools {
    return this.#now.given;
  }

  get all(): ReadonlyMap<string, OwnTool> {
    return this.#now.all;
  }

  /** The name of the tool that reads saved results, unless the host has a tool of that name. */
  get readerName(): string | undefined {
    const { name } = this.#reader;
    return this.#now.all.get(name) === this.#reader ? name : undefined;
  }

  /** Throws CONFIG_INVALID. */
  prepare(agent: AgentConfig, given: HostTools): PreparedTools {
    const isSame =
      given === this.#now.given &&
      agent.resourceTools === this.#agent.resourceTools &&
      agent.workspace === this.#agent.workspace;
    return isSame ? this.#now : this.#collect(agent, given);
  }

  replace(agent: AgentConfig, next: PreparedTools): void {
    this.#agent = agent;
    this.#now = next;
  }

  #collect(agent: AgentConfig, given: HostTools): PreparedTools {
    const { stateDir, workspaceDir = agent.workspace } = this.#options.options;
    const own = [
      ...given,
      ...this.#forResources(agent),
      ...(stateDir === undefined ? [] : [unlessTaken(this.#reader)]),
    ];
    return { given, all: collectNative(own, workspaceDir ? { workspaceDir } : {}) };
  }

  #forResources({ resourceTools: configured }: AgentConfig): OwnTool[] {
    const { options, resources } = this.#options;
    const { resourceTools: given = configured ?? false } = options;
    const wanted = given === "auto" ? (configured ?? given) : given;
    if (wanted === false) return [];
    const tools = resourceTools(resources);
    return wanted === true
      ? tools
      : tools.map((tool) => ({ ...tool, isOffered: () => resources().hasAny }));
  }
}

/** Leaves the tool out if there is another one of its name. */
function unlessTaken(tool: OwnTool): NativeToolFactory {
  return ({ has }) => (has(tool.name) ? undefined : tool);
}
