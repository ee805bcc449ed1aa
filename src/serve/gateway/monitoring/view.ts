// What somebody other than the owner sees of a gateway: the servers and tools that they may use, and what they did
// themselves. Where a server runs, why it failed in its own words, and who else is there is for the owner.

import { planPrompt, summarisePlan } from "../../../core/board/prompt-plan.ts";
import type { SessionBoard } from "../../../core/types/board.ts";
import type { ToolsEvent } from "../../../core/types/events.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import { type ServerState, stateForOthers } from "../../../core/types/server-state.ts";
import type { ServerStatus } from "../../../core/types/server-status.ts";
import type { ToolSource } from "../../../core/types/tool.ts";
import type { Viewer } from "../agents.ts";
import type { GatewayStatus } from "./status.ts";
import { NATIVE } from "./tally.ts";

export class View {
  readonly #viewer: Viewer;
  readonly #agents: ReadonlyMap<string, ViewedAgent>;

  constructor(viewer: Viewer) {
    this.#viewer = viewer;
    this.#agents = new Map([...viewer.boards].map(([id, board]) => [id, new ViewedAgent(board)]));
  }

  status({ version, since, state, agents, clients, sessions }: GatewayStatus): JsonObject {
    const { caller, boards } = this.#viewer;
    const own = <Item extends { caller: string }>(list: readonly Item[]): Item[] =>
      list.filter((each) => each.caller === caller);
    const ofClients = own(clients.list);
    const ofSessions = own(sessions.list);
    return {
      version,
      since,
      state,
      agents: agents.map(({ id, isOpen }) => {
        const board = boards.get(id);
        const servers = board?.status().map(forOthers) ?? [];
        const plan = board && planPrompt(board.tools(), { toolSearch: board.toolSearch });
        return { id, isOpen, servers, toolSearch: plan && summarisePlan(plan) };
      }),
      clients: { total: ofClients.length, list: ofClients },
      sessions: { total: ofSessions.length, list: ofSessions },
    };
  }

  /** The servers that they may use something of, as `status` has them. */
  servers(): { agent: string; status: ServerStatus }[] {
    return [...this.#viewer.boards].flatMap(([agent, board]) =>
      board.status().map((status) => ({ agent, status })),
    );
  }

  hasServer(agent: string, server: string): boolean {
    return this.#agents.get(agent)?.servers.has(server) ?? false;
  }

  isCaller(label: string): boolean {
    return label === this.#viewer.caller;
  }

  /** `server` is what the tallies call it. */
  hasTool(agent: string, server: string, tool: string): boolean {
    return this.#agents.get(agent)?.tools.has(toolKey(server, tool)) ?? false;
  }

  /** An event as they get it; undefined if they may not see it. */
  event(name: string, data: object, only: string | undefined): object | undefined {
    if (only !== undefined && only !== this.#viewer.id) return undefined;
    const { agent = "" } = data as { agent?: string };
    switch (name) {
      case "callStart":
      case "call": {
        const { failure, ...call } = data as {
          source: ToolSource;
          tool: string;
          failure?: JsonObject;
        };
        const { source, tool } = call;
        const isTheirs =
          source.kind === "mcp"
            ? this.hasTool(agent, source.server, source.tool)
            : this.hasTool(agent, NATIVE, tool);
        if (!isTheirs) return undefined;
        return { ...call, ...(failure && { failure: { code: failure["code"] } }) };
      }
      case "server": {
        const { server, state, ...event } = data as { server: string; state: ServerState };
        return this.hasServer(agent, server)
          ? { ...event, server, state: stateForOthers(state) }
          : undefined;
      }
      case "tools":
        return this.#toolsEvent(agent, data as ToolsEvent);
      case "session":
        return (data as { caller: string }).caller === this.#viewer.caller ? data : undefined;
      default:
        return undefined;
    }
  }

  #toolsEvent(agent: string, { added, removed, changed }: ToolsEvent): object | undefined {
    const theirs = (names: readonly string[]): string[] =>
      names.filter((each) => this.#agents.get(agent)?.hasSeen(each));
    const event = { added: theirs(added), removed: theirs(removed), changed: theirs(changed) };
    const isEmpty = Object.values(event).every(({ length }) => length === 0);
    return isEmpty ? undefined : { agent, ...event };
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.close();
    this.#viewer.release();
  }
}

interface Known {
  servers: ReadonlySet<string>;
  tools: ReadonlySet<string>;
}

/** What there is for them on the board of one agent. Every event asks, so it is kept until the board changes. */
class ViewedAgent {
  readonly #board: SessionBoard;
  readonly #off: readonly (() => void)[];
  /** Public names of the tools that they have ever seen: one that is gone is on no list any more. */
  readonly #seen = new Set<string>();
  #known: Known | undefined;

  constructor(board: SessionBoard) {
    this.#board = board;
    const forget = (): void => {
      this.#known = undefined;
    };
    this.#off = (["tools", "appTools", "server"] as const).map((event) => board.on(event, forget));
    this.#look();
  }

  get servers(): ReadonlySet<string> {
    return this.#look().servers;
  }

  get tools(): ReadonlySet<string> {
    return this.#look().tools;
  }

  hasSeen(tool: string): boolean {
    this.#look();
    return this.#seen.has(tool);
  }

  close(): void {
    for (const off of this.#off) off();
  }

  #look(): Known {
    if (this.#known !== undefined) return this.#known;
    const tools = this.#board.tools({ all: true });
    for (const { name } of tools) this.#seen.add(name);
    const keys = tools.map(({ name, source }) =>
      source.kind === "mcp" ? toolKey(source.server, source.tool) : toolKey(NATIVE, name),
    );
    const servers = new Set(this.#board.status().map(({ name }) => name));
    this.#known = { servers, tools: new Set(keys) };
    return this.#known;
  }
}

function toolKey(server: string, tool: string): string {
  return `${server}\n${tool}`;
}

function forOthers(status: ServerStatus): JsonObject {
  const { name, origin, transport, state, tools, promptTokens, cached } = status;
  const { available, restarts, identity, calls } = status;
  const { name: title, version, protocolVersion } = identity ?? {};
  return {
    name,
    origin,
    transport,
    state: stateForOthers(state),
    tools,
    promptTokens,
    cached,
    available,
    restarts,
    ...(identity && { identity: { name: title, version, protocolVersion } }),
    calls: { ...calls },
  };
}
