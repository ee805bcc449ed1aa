// `mcp/message`: requests to MCP servers in the client, and what those servers notify about them.

import { isJsonObject } from "../../../core/types/json.ts";
import type {
  McpMessage,
  McpMessageHooks,
  SendMcpMessage,
} from "../../../core/types/mcp-message.ts";

export const MCP_MESSAGE = "mcp/message";

/** Sends a request to the client, as `SendMcpMessage` has it. */
export type AskClient = (
  method: typeof MCP_MESSAGE,
  params: McpMessage,
  signal: AbortSignal,
) => Promise<unknown>;

export class McpMessages {
  readonly #ask: AskClient;
  /** By the id of the request. */
  readonly #waiting = new Map<string, Pick<McpMessage, "serverId"> & McpMessageHooks>();

  constructor(ask: AskClient) {
    this.#ask = ask;
  }

  readonly send: SendMcpMessage = async (message, hooks) => {
    const { requestId, serverId } = message;
    this.#waiting.set(requestId, { serverId, ...hooks });
    try {
      return await this.#ask(MCP_MESSAGE, message, hooks.signal);
    } finally {
      this.#waiting.delete(requestId);
    }
  };

  /** Takes a message of the client. False if it is no notification about a request that was sent here. */
  receive(message: unknown): boolean {
    if (!isJsonObject(message) || message["method"] !== MCP_MESSAGE || "id" in message)
      return false;
    const { params } = message;
    if (!isJsonObject(params)) return false;
    const { serverId, requestId, method, params: inner = {} } = params;
    const waiting = typeof requestId === "string" ? this.#waiting.get(requestId) : undefined;
    if (waiting === undefined) return false;
    const isSound = typeof method === "string" && (inner === null || isJsonObject(inner));
    // A notification that is malformed, or names another server, is dropped.
    if (isSound && serverId === waiting.serverId) waiting.onNotification(method, inner ?? {});
    return true;
  }

  /**
   * The client's messages without those that `receive` takes. The SDK would hand them on later than the answer that
   * follows them.
   */
  readonly taken = <Message>(messages: ReadableStream<Message>): ReadableStream<Message> =>
    messages.pipeThrough(
      new TransformStream<Message, Message>({
        transform: (message, controller) => {
          if (!this.receive(message)) controller.enqueue(message);
        },
      }),
    );
}
