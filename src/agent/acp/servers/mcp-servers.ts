// Reads the servers that a client sends with a session: as configurations for its board, and as targets whose
// credentials the history leaves out.

import { escapeReferences, parseClientServer } from "../../../core/config/client-server.ts";
import { isOwnServer } from "../../../core/config/own-server.ts";
import type { SessionServerConfig } from "../../../core/types/server-config.ts";
import type { ServerTarget } from "../../../core/types/server-definition.ts";
import { oneLine } from "../../../util/text.ts";
import { invalidParams, type McpServerParams } from "../wire/params.ts";

export interface AcceptedServers {
  servers: Record<string, SessionServerConfig>;
  /** Why a server was left out: a sentence each, for the user. */
  skipped: string[];
}

/**
 * Throws −32602 for an invalid entry. A name that ACP allows and we do not leaves out only that server, with a notice:
 * the rest of the session still works.
 */
export function readMcpServers(
  entries: readonly McpServerParams[],
  {
    overAcp = false,
  }: { /** Whether servers in the client can be reached. */ overAcp?: boolean } = {},
): AcceptedServers {
  const servers: Record<string, SessionServerConfig> = Object.create(null);
  const skipped: string[] = [];
  entries.forEach((entry, index) => {
    const at = `mcpServers[${index}]`;
    const { name } = entry;
    if (Object.hasOwn(servers, name)) {
      throw invalidParams(`${at}.name`, `there are two servers named "${oneLine(name, 64)}"`);
    }
    const path = ["mcpServers", index];
    const server = parseClientServer(name, toConfig(entry, at, overAcp), entry["_meta"], path);
    switch (server.kind) {
      case "invalid":
        throw invalidParams(server.path, server.message);
      case "bad-name":
        skipped.push(`the server "${oneLine(name, 80)}" was left out: it ${server.problem}`);
        break;
      case "valid":
        // An editor that the board is connected to sends it along, to the agent that has its servers anyway.
        if (isBoard(server.config)) break;
        servers[name] = server.config;
    }
  });
  return { servers, skipped };
}

function isBoard(server: SessionServerConfig): boolean {
  return server.transport !== "acp" && isOwnServer(server.command, server.args);
}

/** ACP has no `type` for stdio, but some clients send "stdio". */
function toConfig(entry: McpServerParams, at: string, overAcp: boolean): SessionServerConfig {
  switch (entry.type) {
    case undefined:
    case "stdio":
      return {
        transport: "stdio",
        command: literal(required(entry.command, `${at}.command`), `${at}.command`),
        args: required(entry.args, `${at}.args`).map((arg, n) => literal(arg, `${at}.args[${n}]`)),
        env: literalRecord(entry.env, `${at}.env`),
      };
    case "http":
    case "sse":
      return {
        transport: entry.type,
        url: literal(required(entry.url, `${at}.url`), `${at}.url`),
        headers: literalRecord(entry.headers, `${at}.headers`),
      };
    case "acp":
      if (!overAcp) throw invalidParams(`${at}.type`, NOT_OVER_ACP);
      return { transport: "acp", serverId: serverIdOf(entry, `${at}.serverId`) };
    default: {
      const known = overAcp ? "stdio, http, sse or acp" : "stdio, http or sse";
      throw invalidParams(
        `${at}.type`,
        `unknown transport "${oneLine(entry.type, 64)}"; expected ${known}`,
      );
    }
  }
}

const NOT_OVER_ACP =
  "servers in the editor (MCP over ACP) are experimental and switched off; start the agent with plugboard acp --mcp-over-acp, or send the server as stdio, http or sse";

function serverIdOf(entry: McpServerParams, path: string): string {
  const id = required(entry["serverId"], path);
  if (typeof id === "string" && id !== "") return id;
  throw invalidParams(path, "expected a text that is not empty");
}

function required<Value>(value: Value | undefined, path: string): Value {
  if (value === undefined) throw invalidParams(path, "is missing");
  return value;
}

type SentServer = Pick<McpServerParams, "type" | "command" | "args" | "env" | "url" | "headers">;

/** With the values as the client sent them. */
export function toTarget(server: SentServer): ServerTarget {
  const { command = "", args = [], env = [], url, headers = [] } = server;
  // Nothing in it is a credential.
  if (server.type === "acp") return { kind: "acp", serverId: "" };
  if (url === undefined) return { kind: "stdio", command, args, env: toRecord(env) };
  const flags = { allowInsecure: false, allowPrivate: false };
  return { kind: "http", url, headers: toRecord(headers), ...flags };
}

function toRecord(
  pairs: readonly { name: string; value: string }[],
  read: (value: string, index: number) => string = (value) => value,
): Record<string, string> {
  const record: Record<string, string> = Object.create(null);
  pairs.forEach(({ name, value }, index) => {
    record[name] = read(value, index);
  });
  return record;
}

function literalRecord(pairs: McpServerParams["env"], path: string): Record<string, string> {
  return toRecord(required(pairs, path), (value, n) => literal(value, `${path}[${n}].value`));
}

function literal(value: string, path: string): string {
  const escaped = escapeReferences(value);
  if (escaped !== undefined) return escaped;
  throw invalidParams(path, "secret:// is allowed only in the agent's own configuration");
}
