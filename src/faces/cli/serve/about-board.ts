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
  const why = whyEmpty(agent, io);
  const isTransparent = toolNames === "{tool}" && servers.length === 1;
  return {
    ...(why !== undefined && { about: `${why} Tell the user.` }),
    ...(isTransparent && { keepsApps: true }),
  };
}

/** Why a board has no tools, and what to do about it. Undefined if it has some. */
export function whyEmpty(
  agent: AgentConfig,
  { env, homedir }: Pick<CliIo, "env" | "homedir">,
): string | undefined {
  const { untrusted, file, servers, nativeModules = [] } = agent;
  if (untrusted !== undefined) {
    return `Plugboard offers no tools, because ${untrusted.remedy}. Then restart Plugboard.`;
  }
  if (nativeModules.length > 0 || servers.some(({ enabled }) => enabled)) return undefined;
  const where = file ?? join(plugboardHome(env, homedir), "plugboard.json");
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
  return `Plugboard offers no tools, because ${why}. ${remedy}, then restart Plugboard.`;
}
