// Which process of the agent has which session: one for all of them, unless the agent cannot keep its sessions apart.

import type { SessionEndpoint } from "../../serve/endpoint/session-endpoint.ts";
import type { FrontAgent } from "./front-agent.ts";

/**
 * Agents that give the servers of a session to the other sessions of the same process too. Each of their sessions that are
 * open at the same time gets a process of its own.
 */
const MIXES_SESSIONS: ReadonlySet<unknown> = new Set(["OpenCode"]);

export interface FrontAgentsOptions {
  /** Each session has a process of its own, because the agent reads its servers only when it starts. */
  isPerSession: boolean;
  /** The name that the agent gives for programs. */
  name: () => unknown;
  /** The endpoint is that of a session which has the agent for itself. */
  make: (endpoint: SessionEndpoint | undefined) => FrontAgent;
}

export class FrontAgents {
  /** Answers what belongs to no session, and all sessions where they share a process. */
  readonly main: FrontAgent;
  readonly #options: FrontAgentsOptions;
  readonly #all = new Set<FrontAgent>();
  /** By a session that must be the only one of its process. */
  #isMainTaken = false;

  constructor(options: FrontAgentsOptions) {
    this.#options = options;
    this.main = this.#make(undefined);
  }

  /** The agent of a session that is opened. `endpoint` is where its board is. */
  forSession(endpoint: SessionEndpoint): FrontAgent {
    const { isPerSession, name } = this.#options;
    if (isPerSession) return this.#make(endpoint);
    if (!MIXES_SESSIONS.has(name())) return this.main;
    if (this.#isMainTaken) return this.#make(endpoint);
    this.#isMainTaken = true;
    return this.main;
  }

  /** A session does not need its agent any more. Resolves to whether the agent is gone: the main one stays. */
  async dismiss(agent: FrontAgent): Promise<boolean> {
    if (agent === this.main) {
      this.#isMainTaken = false;
      return false;
    }
    await agent.stop();
    this.#all.delete(agent);
    return true;
  }

  /** Undefined while all agents read their stdin; otherwise resolves when one of them has read on. */
  room(): Promise<void> | undefined {
    for (const { process } of this.#all) {
      const room = process?.room();
      if (room !== undefined) return room;
    }
    return undefined;
  }

  /** The agents that were not dismissed. */
  all(): Iterable<FrontAgent> {
    return this.#all.values();
  }

  /** Resolves when nothing of them is left. */
  async stop(): Promise<void> {
    await Promise.all(Array.from(this.#all, (agent) => agent.stop()));
  }

  #make(endpoint: SessionEndpoint | undefined): FrontAgent {
    const agent = this.#options.make(endpoint);
    this.#all.add(agent);
    return agent;
  }
}
