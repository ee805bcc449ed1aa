// The MCP server every contender talks to: hand-written and cheap, so that what differs between two
// measurements is the client. Tools: `echo {text}` and `big {bytes}`.
//
//   --start-delay=<ms>   does not read its input before
//   --big=<bytes>        the size `big` answers with; built before the first message is read
//   --tools=<count>      how many tools it lists; those beyond the two are only listed

import { parseArgs } from "node:util";
import { lineReader } from "./lib/lines.mjs";

const KNOWN_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const { values } = parseArgs({
  options: {
    "start-delay": { type: "string", default: "0" },
    big: { type: "string", default: "0" },
    tools: { type: "string", default: "2" },
  },
});

const TOOLS = [
  tool("echo", "Answers with the text it was given", "text", "string"),
  tool("big", "Answers with a text of that many bytes", "bytes", "integer"),
  ...Array.from({ length: Number(values.tools) - 2 }, (_, at) =>
    tool(`other_${at}`, `Is the tool number ${at} that nobody calls`, "text", "string"),
  ),
];

// Bytes, not a string: the server then only copies them, whatever the size.
const bigSize = Number(values.big);
const bigText = Buffer.alloc(bigSize, "All work and no play makes a dull benchmark. ");

let answers = "";
const readLines = lineReader((line) => {
  const message = JSON.parse(line);
  if (message.id !== undefined && message.method !== undefined) answer(message);
});

// Whoever started the server may be gone; then there is nobody to tell.
process.stdout.on("error", () => process.exit());
setTimeout(serve, Number(values["start-delay"]));

function serve() {
  process.stdin.on("data", (chunk) => {
    readLines(chunk);
    flush();
  });
  process.stdin.on("end", () => process.exit());
}

function answer({ id, method, params }) {
  switch (method) {
    case "tools/call":
      call(id, params);
      return;
    case "tools/list":
      reply(id, { tools: TOOLS });
      return;
    case "initialize":
      reply(id, {
        protocolVersion: KNOWN_VERSIONS.includes(params.protocolVersion)
          ? params.protocolVersion
          : KNOWN_VERSIONS[0],
        capabilities: { tools: {} },
        serverInfo: { name: "bench-echo", version: "1.0.0" },
      });
      return;
    case "ping":
      reply(id, {});
      return;
    default:
      refuse(id, -32601, `Method not found: ${method}`);
  }
}

function call(id, { name, arguments: args }) {
  if (name === "echo") reply(id, { content: [{ type: "text", text: args.text }] });
  else if (name === "big" && args.bytes === bigSize) replyBig(id);
  else refuse(id, -32602, `No tool ${name} with these arguments`);
}

function reply(id, result) {
  answers += `${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`;
}

function refuse(id, code, message) {
  answers += `${JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } })}\n`;
}

function replyBig(id) {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`;
  answers += head;
  flush();
  process.stdout.write(bigText);
  answers += '"}]}}\n';
}

/** All answers to what one chunk asked leave in one write. */
function flush() {
  if (answers === "") return;
  process.stdout.write(answers);
  answers = "";
}

function tool(name, description, argument, type) {
  return {
    name,
    description,
    inputSchema: { type: "object", properties: { [argument]: { type } }, required: [argument] },
  };
}
