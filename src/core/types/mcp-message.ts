// The way of one MCP request to a server inside an ACP client, such as an editor: `mcp/message` of the Agent Client
// Protocol. The port between the transport, which knows MCP, and the code that has the connection.

import type { JsonObject } from "./json.ts";

export interface McpMessage {
  /** The client's id of the server. */
  serverId: string;
  /** Ours, unique among the requests of the connection. */
  requestId: string;
  method: string;
  params: JsonObject;
}

export interface McpMessageHooks {
  /** Cancels the request. */
  signal: AbortSignal;
  /** Gets what the server notifies about this request, until it is answered. */
  onNotification: (method: string, params: JsonObject) => void;
}

/**
 * Resolves to the client's answer, unchecked: `{ result }` or `{ error }` of the server is in it. Rejects with an error
 * that has a JSON-RPC `code` if the client itself refuses the request, with any other error if the connection is gone,
 * and at once when the signal aborts.
 */
export type SendMcpMessage = (message: McpMessage, hooks: McpMessageHooks) => Promise<unknown>;
