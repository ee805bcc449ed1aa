// Boards over fixture servers, all closed at the end of each test, with nothing left running.

import { fileURLToPath } from "node:url";
import { afterEach } from "vitest";
import { openBoard } from "../../src/core/board/board.ts";
import type { AgentConfig, BoardConfig } from "../../src/core/types/agent-config.ts";
import type { ServerConfig } from "../../src/core/types/server-config.ts";
import type { Board } from "../../src/core/types/board.ts";
import type { BoardOptions } from "../../src/core/types/board-options.ts";
import type { ServerStatus } from "../../src/core/types/server-status.ts";
import type { CallOutcome } from "../../src/core/types/tool.ts";
import { expectNoProcesses } from "./processes.ts";

const opened: Board[] = [];

/** To be called once at the top of a suite. */
export function closeBoards(): void {
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((board) => board.close()));
    expectNoProcesses();
  });
}

export function fixture(name: string, ...args: string[]): ServerConfig {
  const path = fileURLToPath(new URL(`../fixtures/servers/${name}.mjs`, import.meta.url));
  return { command: process.execPath, args: [path, ...args] };
}

/** The same configuration, from a file that nobody has trusted. */
export function asUntrusted({ servers }: AgentConfig): Pick<AgentConfig, "servers" | "untrusted"> {
  return { servers: [], untrusted: [{ file: "", remedy: "run: plugboard trust", servers }] };
}

export function open(
  servers: Record<string, ServerConfig>,
  options: BoardOptions = {},
): Promise<Board> {
  return openWith({ servers }, options);
}

export async function openWith(
  config: BoardConfig | AgentConfig,
  options: BoardOptions = {},
): Promise<Board> {
  const board = await openBoard(config, options);
  opened.push(board);
  return board;
}

export function statusOf(board: Board, server: string): ServerStatus {
  const status = board.status().find(({ name }) => name === server);
  if (status === undefined) throw new Error(`no server ${server}`);
  return status;
}

export function textOf(outcome: Pick<CallOutcome, "content">): string {
  return outcome.content
    .map((block) => (block.type === "text" ? block.text : block.type))
    .join("\n");
}

/** Resolves with the next state of the wanted kind; at once if it is there. */
export function reaches(board: Board, server: string, kind: string): Promise<ServerStatus> {
  const now = statusOf(board, server);
  if (now.state.kind === kind) return Promise.resolve(now);
  return new Promise((resolve) => {
    const off = board.on("server", (event) => {
      if (event.server !== server || event.state.kind !== kind) return;
      off();
      resolve(statusOf(board, server));
    });
  });
}
