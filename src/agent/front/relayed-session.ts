// One session behind the front: which agent has it, what it was opened with, and its board.

import type { JsonObject } from "../../core/types/json.ts";
import type { McpServerParams } from "../acp/wire/params.ts";
import type { AgentProcess } from "./agent-process.ts";
import type { FrontAgent } from "./front-agent.ts";
import type { FrontSession } from "./front-session.ts";
import type { Prepared } from "./hand-over.ts";

/** What a client opens a session with, checked. */
export interface SessionSetup {
  cwd: string;
  additionalDirectories: readonly string[];
  mcpServers: readonly McpServerParams[];
  /** As the client sent them, without `mcpServers`. */
  params: JsonObject;
}

export interface OpenBoard {
  frontSession: FrontSession;
  prepared: Prepared;
  /** The parameters of the request that it was prepared for. */
  params: JsonObject;
}

export class RelayedSession {
  /** As the client knows it. */
  readonly id: string;
  /** As the agent knows it: another one if two processes gave the same. */
  readonly agentId: string;
  readonly setup: SessionSetup;
  agent: FrontAgent;
  board: OpenBoard;
  /** The agent could not use its board for long: the board is closed, and opened anew with the next request. */
  isAsleep = false;
  /** The process that has it open. After a restart the agent has another one. */
  process: AgentProcess;
  /** Why it cannot go on, if it cannot. */
  lost: string | undefined;

  constructor(
    ids: { id: string; agentId: string },
    at: { agent: FrontAgent; process: AgentProcess },
    setup: SessionSetup,
    board: OpenBoard,
  ) {
    this.id = ids.id;
    this.agentId = ids.agentId;
    this.agent = at.agent;
    this.process = at.process;
    this.setup = setup;
    this.board = board;
  }

  /** Idempotent; never rejects. */
  async close(): Promise<void> {
    this.board.frontSession.promptsEnd();
    await closeBoard(this.board);
  }
}

/** Idempotent; never rejects. */
export async function closeBoard({ frontSession, prepared }: OpenBoard): Promise<void> {
  await Promise.allSettled([frontSession.close(), prepared.release()]);
}
