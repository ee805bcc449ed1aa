// The refusal of an HTTP request: its status, headers and message.

import type { ServerResponse } from "node:http";

export interface Refusal {
  isAdmitted: false;
  status: number;
  headers: Record<string, string>;
  message: string;
  /** Who made the request, if that is known. For the log. */
  caller?: string;
}

/** Too much is under way for a request to be answered now. */
export type Busy = Pick<Refusal, "status" | "message">;

export function refusal(
  status: number,
  message: string,
  headers: Record<string, string> = {},
): Refusal {
  return { isAdmitted: false, status, headers, message };
}

/** MCP clients show the message of a JSON-RPC error. */
export function sendRefusal(
  reply: ServerResponse,
  { status, headers, message }: Pick<Refusal, "status" | "headers" | "message">,
): void {
  const error = { code: -32_000, message };
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error });
  reply.writeHead(status, { ...headers, "Content-Type": "application/json" }).end(body);
}
