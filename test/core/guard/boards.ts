// Boards with a guard that is configured, closed after each test.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import { loadConfig } from "../../../src/core/config/load.ts";
import type { BoardConfig } from "../../../src/core/types/agent-config.ts";
import type { AgentConfig } from "../../../src/core/types/agent-config.ts";
import type { Board } from "../../../src/core/types/board.ts";
import type { BoardOptions } from "../../../src/core/types/board-options.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import type { ToolResult, ModelDetails } from "../../../src/core/types/tool.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { expectNoProcesses } from "../../support/processes.ts";

const opened: Board[] = [];

/** To be called once at the top of a suite. */
export function cleanUp(): void {
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((board) => board.close()));
    expectNoProcesses();
  });
}

export async function openWith(
  config: BoardConfig | AgentConfig,
  options: BoardOptions = {},
): Promise<Board> {
  const board = await openBoard(config, options);
  opened.push(board);
  return board;
}

/** A configuration as a file, for one of its agents. */
export async function load(content: object, agentId?: string): Promise<AgentConfig> {
  const path = join(temporaryDirectory(), "plugboard.json");
  await writeFile(path, JSON.stringify(content));
  return loadConfig(path, agentId);
}

/** Calls a tool as a model does. */
export async function execute(
  board: Board,
  name: string,
  args: JsonObject = {},
): Promise<ToolResult<ModelDetails>> {
  const tool = board.tools().find((each) => each.name === name);
  if (tool === undefined) throw new Error(`${name} is not listed`);
  return (await tool.execute("call-1", args)) as ToolResult<ModelDetails>;
}

export function namesOf(board: Board): string[] {
  return board.tools().map(({ name }) => name);
}
