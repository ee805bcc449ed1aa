// An MCP server over HTTP that does almost nothing, in the protocol of 2025-11-25. Prints its URL, and ends with its stdin.

import { createServer } from "node:http";

const RESULTS = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "tiny", version: "1.0.0" },
  },
  "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
  ping: {},
};

const server = createServer((request, response) => {
  if (request.method === "POST") void answer(request, response);
  else response.writeHead(405).end();
});

async function answer(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { id, method } = JSON.parse(Buffer.concat(chunks).toString());
  if (id === undefined) return response.writeHead(202).end();
  const result = RESULTS[method];
  const outcome = result ? { result } : { error: { code: -32601, message: "Method not found" } };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }));
}

server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
process.stdin.resume().once("end", () => process.exit());
