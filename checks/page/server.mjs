// A server with so many tools, which repeat what they are given.

import { createInterface } from "node:readline";

const count = Number(process.argv[2] ?? 1);
const tools = Array.from({ length: count }, (_, at) => ({
  name: `tool_${at}`,
  description: `Repeats what it is given, as the tool with the number ${at} of this server.`,
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
  annotations: { readOnlyHint: true },
}));

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "many", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ arguments: args }) => ({
    content: [{ type: "text", text: String(args?.text) }],
  }),
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = ANSWERS[method];
  const body =
    answer === undefined
      ? { error: { code: -32601, message: "unknown method" } }
      : { result: answer(params ?? {}) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
}
