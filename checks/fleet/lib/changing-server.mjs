// A server whose one tool can be renamed. It tells only one of the gateways that use it, and the others have to hear of it from that one.

import { once } from "node:events";
import { createServer } from "node:http";

export async function startChangingServer() {
  let changes = 0;
  const toolName = () => `tool${changes}`;
  /** The open streams, by the gateway that has opened it. */
  const streams = new Map();
  const answers = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion: protocolVersion === "2026-07-28" ? "2025-11-25" : protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "changing", version: "1.0.0" },
    }),
    ping: () => ({}),
    "tools/list": () => ({ tools: [{ name: toolName(), inputSchema: { type: "object" } }] }),
  };
  const server = createServer((request, response) => {
    const replica = request.headers["x-replica"];
    if (request.method === "GET") {
      response.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
      streams.set(replica, response);
      response.once("close", () => streams.get(replica) === response && streams.delete(replica));
      return;
    }
    let body = "";
    request.setEncoding("utf8").on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const { id, method, params } = body === "" ? {} : JSON.parse(body);
      if (id === undefined) return void response.writeHead(202).end();
      const known = answers[method];
      const outcome =
        known === undefined
          ? { error: { code: -32601, message: `Method not found: ${method}` } }
          : { result: known(params) };
      response
        .writeHead(200, {
          "Content-Type": "application/json",
          "Mcp-Session-Id": `of-${String(replica)}`,
        })
        .end(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    /** Those that listen. */
    listening: () => streams.size,
    /** Renames the tool, and tells the gateway with this number alone. The new name. */
    change(replica) {
      changes += 1;
      const message = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
      streams.get(String(replica)).write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
      return toolName();
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
