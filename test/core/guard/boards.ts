// Configurations with a guard, and calls as a model makes them.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadConfig } from "../../../src/core/config/load.ts";
import type { AgentConfig } from "../../../src/core/types/agent-config.ts";
import type { Board } from "../../../src/core/types/board.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import type { ToolResult, ModelDetails } from "../../../src/core/types/tool.ts";
import { temporaryDirectory } from "../../support/directory.ts";

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
