// What the operator has set: the plugin's own configuration, and how OpenClaw reaches the board.

import { isJsonObject, textsIn } from "../../core/types/json.ts";
import type { OpenClawConfig, ToolRules } from "./openclaw.ts";

/** The name of the server, as the manifest has it and `mcp.servers` may replace it. */
export const SERVER = "plugboard";

export interface PluginSettings {
  frameOtherServers: boolean;
  framing: "full" | "compact";
  leaveUnframed: ReadonlySet<string>;
  resources: boolean;
  maxResourceBytes: number;
}

export interface StdioConnection {
  kind: "stdio";
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd: string | undefined;
}

export interface HttpConnection {
  kind: "http";
  url: string;
  headers: Record<string, string>;
}

export type Connection =
  | StdioConnection
  | HttpConnection
  /** Nothing to connect to, and what the operator can do. */
  | { kind: "none"; why: string; remedy: string };

const ENTRY = `mcp.servers.${SERVER}`;

export function readSettings(config: Record<string, unknown> = {}): PluginSettings {
  const { frameOtherServers, framing, leaveUnframed, resources, maxResourceBytes } = config;
  return {
    frameOtherServers: frameOtherServers === true,
    framing: framing === "compact" ? "compact" : "full",
    leaveUnframed: new Set(textsIn(leaveUnframed)),
    resources: resources === true,
    maxResourceBytes: typeof maxResourceBytes === "number" ? maxResourceBytes : 16_384,
  };
}

/**
 * The connection that OpenClaw itself has to the server: an entry of `mcp.servers` replaces the manifest's. `rootDir` is
 * where OpenClaw starts the manifest's.
 */
export function readConnection(config: OpenClawConfig, rootDir: string | undefined): Connection {
  const entry = config.mcp?.servers?.[SERVER];
  if (!isJsonObject(entry)) {
    return { kind: "stdio", command: "plugboard", args: ["serve"], env: {}, cwd: rootDir };
  }
  if (entry["enabled"] === false) {
    const remedy = `take "enabled": false out of ${ENTRY} if every session should have it`;
    return { kind: "none", why: `${ENTRY} is disabled`, remedy };
  }
  const { command, url, cwd, workingDirectory } = entry;
  if (typeof command === "string" && command.trim() !== "") {
    const directory = [cwd, workingDirectory].find((each) => typeof each === "string");
    return {
      kind: "stdio",
      command,
      args: textsIn(entry["args"]),
      env: textsOf(entry["env"]),
      cwd: directory,
    };
  }
  if (typeof url === "string" && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) {
    return { kind: "http", url, headers: textsOf(entry["headers"]) };
  }
  const remedy = 'give it "command", or the "url" of the gateway that plugboard up starts';
  return { kind: "none", why: `${ENTRY} has neither a command nor an http URL`, remedy };
}

/** Whether the rules keep the board's tools from an agent: it gets none of its resources then, either. */
export function isDenied(config: OpenClawConfig, agentId: string | undefined): boolean {
  const { entries = {}, list = [] } = config.agents ?? {};
  const own =
    agentId === undefined ? [] : [entries[agentId], list.find(({ id }) => id === agentId)];
  return [config.tools, ...own.map((agent) => agent?.tools)].some(deniesServer);
}

/** Rules are names with `*`, in any case. `bundle-mcp` stands for all MCP servers. */
function deniesServer(rules: ToolRules | undefined): boolean {
  return textsIn(rules?.deny).some((rule) => {
    const name = rule.trim().toLowerCase();
    return ["*", "bundle-mcp", `${SERVER}__*`, `${SERVER}__resources_*`].includes(name);
  });
}

function textsOf(value: unknown): Record<string, string> {
  if (!isJsonObject(value)) return {};
  const texts = Object.entries(value).flatMap(([key, each]) =>
    ["string", "number", "boolean"].includes(typeof each) ? [[key, String(each)]] : [],
  );
  return Object.fromEntries(texts) as Record<string, string>;
}
