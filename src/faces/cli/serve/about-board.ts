// What MCP clients are told about a board as a whole. A client cannot see why a board is empty, so it is told, and what
// to do about it.

import { join } from "node:path";
import { plugboardHome } from "../../../config/home.ts";
import type { EndpointOptions } from "../../../endpoint/context.ts";
import type { AgentConfig } from "../../../model/agent-config.ts";
import type { CliIo } from "../io.ts";

export function aboutBoard(
  agent: AgentConfig,
  io: Pick<CliIo, "env" | "homedir">,
): Pick<EndpointOptions, "about" | "keepsApps"> {
  const { servers, toolNames } = agent;
  const about = emptyBecause(agent, plugboardHome(io.env, io.homedir));
  const isTransparent = toolNames === "{tool}" && servers.length === 1;
  return { ...(about !== undefined && { about }), ...(isTransparent && { keepsApps: true }) };
}

function emptyBecause(agent: AgentConfig, home: string): string | undefined {
  const { untrusted, file, servers, nativeModules = [] } = agent;
  if (untrusted !== undefined) {
    return `Plugboard offers no tools, because ${untrusted.remedy}. Then restart Plugboard. Tell the user.`;
  }
  if (nativeModules.length > 0 || servers.some(({ enabled }) => enabled)) return undefined;
  const where = file ?? join(home, "plugboard.json");
  const why =
    servers.length > 0
      ? `every MCP server in ${where} is disabled`
      : file === undefined
        ? "there is no configuration"
        : `${where} has no MCP servers`;
  const remedy =
    servers.length > 0
      ? 'To use one, remove its "enabled": false'
      : `To add servers, list them in agents.defaults.mcp.servers of ${where}`;
  return `Plugboard offers no tools, because ${why}. ${remedy}, then restart Plugboard. Tell the user.`;
}
