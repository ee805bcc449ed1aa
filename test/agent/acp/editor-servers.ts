// MCP servers that run in an editor, served over its ACP connection by the ACP SDK's own provider.

import type { ClientApp, ClientConnection } from "@agentclientprotocol/sdk";
import {
  fromMcpServer,
  type McpServerAdapter,
} from "@agentclientprotocol/sdk/experimental/mcp-server";
import {
  type McpMessageRequestContext,
  McpOverAcpProvider,
  type McpRequestHandler,
  type McpServerRegistration,
} from "@agentclientprotocol/sdk/unstable";
import { inputRequired, McpServer as SdkServer } from "@modelcontextprotocol/server";
import { z } from "zod";

/** The servers of one editor. */
export class EditorServers {
  readonly #provider = new McpOverAcpProvider();

  /** Serves `mcp/message`. */
  readonly equip = (app: ClientApp): void => {
    app.onRequest(
      "mcp/message",
      // oxlint-disable-next-line no-unsafe-type-assertion -- what comes is compared with the servers
      (params) => params as McpMessageRequestContext["params"],
      // oxlint-disable-next-line no-unsafe-type-assertion -- the unstable context is the stable one
      (context) => this.#provider.handleRequest(context as unknown as McpMessageRequestContext),
    );
  };

  register(
    connection: ClientConnection,
    name: string,
    handler: McpRequestHandler,
    options: { serverId?: string; maxActiveRequests?: number } = {},
  ): McpServerRegistration {
    return this.#provider.registerServer(connection.agent, { name, handler, ...options });
  }
}

export interface Workshop extends McpServerAdapter {
  /** The calls of `wait` that were cancelled, and those that run. */
  readonly cancelled: string[];
  readonly waiting: string[];
  /** Offers one more tool, and tells whoever listens. */
  addTool(name: string): void;
}

/** A server of the MCP SDK, with a tool for each thing that a call can do. */
export function workshop(): Workshop {
  const cancelled: string[] = [];
  const waiting: string[] = [];
  const added: string[] = [];
  const adapter = fromMcpServer(() => {
    const server = new SdkServer(
      { name: "workshop", version: "1.0.0" },
      { capabilities: { tools: { listChanged: true } }, instructions: "Use the workshop." },
    );
    server.registerTool(
      "shout",
      { description: "Says it louder.", inputSchema: z.object({ text: z.string() }) },
      ({ text }) => ({ content: [{ type: "text", text: text.toUpperCase() }] }),
    );
    server.registerTool("count", { description: "Counts to three." }, async (context) => {
      const progressToken = context.mcpReq._meta?.progressToken ?? "none";
      for (const progress of [1, 2, 3]) {
        const params = { progressToken, progress, total: 3, message: `number ${progress}` };
        await context.mcpReq.notify({ method: "notifications/progress", params });
      }
      return { content: [{ type: "text", text: "counted" }] };
    });
    server.registerTool("break", { description: "Throws." }, () => {
      throw new Error("the saw is blunt");
    });
    server.registerTool(
      "wait",
      { description: "Waits until it is cancelled.", inputSchema: z.object({ id: z.string() }) },
      ({ id }, { mcpReq: { signal } }) =>
        new Promise((resolve) => {
          waiting.push(id);
          signal.addEventListener("abort", () => {
            cancelled.push(id);
            resolve({ content: [] });
          });
        }),
    );
    server.registerTool("form", { description: "Asks for a colour." }, (context) => {
      const colour = context.mcpReq.inputResponses?.["colour"];
      if (colour === undefined) {
        return inputRequired({
          inputRequests: {
            colour: inputRequired.elicit({
              message: "Which colour?",
              requestedSchema: { type: "object", properties: { colour: { type: "string" } } },
            }),
          },
        });
      }
      return { content: [{ type: "text", text: JSON.stringify(colour) }] };
    });
    for (const name of added) {
      server.registerTool(name, { description: "Came later." }, () => ({
        content: [{ type: "text", text: `this is ${name}` }],
      }));
    }
    server.registerResource("plan", "workshop://plan", {}, () => ({
      contents: [{ uri: "workshop://plan", text: "first measure, then cut" }],
    }));
    server.registerPrompt("greet", { description: "Greets." }, () => ({
      messages: [{ role: "user", content: { type: "text", text: "Hello, workshop" } }],
    }));
    return server;
  });
  return {
    ...adapter,
    cancelled,
    waiting,
    addTool(name) {
      added.push(name);
      adapter.notify.toolsChanged();
    },
  };
}
