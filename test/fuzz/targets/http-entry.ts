// What a client sends to the gateway: a request of HTTP with a message of MCP in it.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { duplexPair } from "node:stream";
import { openBoard } from "../../../src/core/board/board.ts";
import { isJsonObject, tryParseJson } from "../../../src/core/types/json.ts";
import { silentLogger } from "../../../src/core/types/logger.ts";
import { Endpoint } from "../../../src/serve/endpoint/endpoint.ts";
import { McpEntry } from "../../../src/serve/endpoint/http/entry.ts";
import { Sessions } from "../../../src/serve/endpoint/http/sessions.ts";
import { Sealer } from "../../../src/serve/endpoint/sealed.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { ECHO, type Target } from "../target.ts";

/** Stands for the id of a session that is there. */
const SESSION = "$SESSION";
const MOST_BYTES = 3000;
const STATUSES = new Set([200, 202, 204, 400, 404, 405, 406, 413, 415, 431]);
const MODERN =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}';
const JSON_HEADERS = "content-type: application/json\naccept: application/json, text/event-stream";

export async function httpEntry(): Promise<Target> {
  const board = await openBoard(
    { servers: {} },
    {
      native: [ECHO],
    },
  );
  let made = 0;
  const common = { newId: () => `id-${(made += 1)}`, clock: systemClock, logger: silentLogger };
  const sealer = Sealer.withOwnKey((bytes) =>
    createHash("sha512").update("fuzz").digest().subarray(0, bytes),
  );
  const store = {
    isRevoked: () => false,
    revoke: async () => {},
    get: () => undefined,
    set: async () => {},
    close: async () => {},
  };
  const endpoint = new Endpoint({ board, sealer, ...common });
  const sessions = new Sessions({ sealer, store, ...common, idleMs: 60_000, most: 100 });
  const entry = new McpEntry({ sessions, maxBodyBytes: MOST_BYTES });
  const lease = { endpoint, release: () => {} };
  const failures: unknown[] = [];
  const sender = {
    caller: { id: "token:a", label: "a" },
    agent: "default",
    endpointFor: () => lease,
  };
  const { id: session } = await sessions.begin(sender, {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {}, sampling: {} },
  });
  const server = createServer((request, reply) => {
    entry.handle(request, reply, sender).catch((error: unknown) => {
      failures.push(error);
      reply.destroy();
    });
  });
  const seeds = [
    `POST\n${JSON_HEADERS}\n\n{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`,
    `POST\n${JSON_HEADERS}\n\n{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{}}`,
    `POST\n${JSON_HEADERS}\n\n{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`,
    `POST\n${JSON_HEADERS}\n\n[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]`,
    `POST\n${JSON_HEADERS}\nmcp-protocol-version: 2026-07-28\nmcp-method: tools/call\nmcp-name: echo\n\n{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"},${MODERN}}}`,
    `POST\n${JSON_HEADERS}\nmcp-protocol-version: 2026-07-28\nmcp-method: server/discover\n\n{"jsonrpc":"2.0","id":4,"method":"server/discover","params":{${MODERN}}}`,
    `POST\n${JSON_HEADERS}\nmcp-session-id: ${SESSION}\n\n{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"file:///a"}}`,
    `POST\n${JSON_HEADERS}\n\n{"jsonrpc":"2.0","id":6,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"b"}}}`,
    `POST\n${JSON_HEADERS}\n\n{"jsonrpc":"2.0","id":7,"result":{}}`,
    `POST\n${JSON_HEADERS}\n\n${"[".repeat(1000)}${"]".repeat(1000)}`,
    `POST\n${JSON_HEADERS}\n\n{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"echo","arguments":${'{"a":'.repeat(300)}1${"}".repeat(300)}}}`,
    ...[
      '"resources/read","params":{"uri":"plugboard://status"}',
      '"resources/read","params":{"uri":"plugboard://context?maxBytes=100"}',
      '"resources/subscribe","params":{"uri":"file:///a"}',
      '"resources/list","params":{"cursor":"x"}',
      '"resources/templates/list","params":{}',
      '"prompts/list","params":{}',
      '"prompts/get","params":{"name":"p","arguments":{"a":"b"}}',
      '"logging/setLevel","params":{"level":"error"}',
      '"completion/complete","params":{"ref":{"type":"ref/resource","uri":"file:///{a}"},"argument":{"name":"a","value":"b"}}',
    ].map(
      (request) =>
        `POST\n${JSON_HEADERS}\nmcp-session-id: ${SESSION}\n\n{"jsonrpc":"2.0","id":9,"method":${request}}`,
    ),
    `GET\naccept: text/event-stream\nmcp-session-id: ${SESSION}\n\n`,
    `DELETE\nmcp-session-id: ${SESSION}\n\n`,
    "PUT\n\n\n",
  ];
  return {
    about: "requests to the gateway's MCP entry",
    covers: [
      "serve/endpoint/http/",
      "serve/endpoint/message.ts",
      "serve/endpoint/protocol.ts",
      "serve/endpoint/methods/",
      "serve/endpoint/sealed.ts",
    ],
    seeds: () => seeds,
    words: [
      "resources/list",
      "resources/templates/list",
      "resources/subscribe",
      "prompts/list",
      "prompts/get",
      "logging/setLevel",
      "subscriptions/listen",
      "cursor",
      "_meta",
      "progressToken",
      "traceparent",
    ],
    async run(input) {
      const { method, headers, body } = requestIn(withSession(input, session));
      const answer = await exchange(
        server,
        [
          `${method} /mcp HTTP/1.1`,
          "host: 127.0.0.1",
          ...headers,
          `content-length: ${body.length}`,
          "connection: close",
          "",
          "",
        ].join("\r\n"),
        body,
      );
      const [failure] = failures.splice(0);
      if (failure !== undefined) throw failure;
      assert.ok(STATUSES.has(answer.status), `the status is ${answer.status}`);
      const isJson = answer.headers["content-type"] === "application/json";
      const value = tryParseJson(answer.body);
      if (isJson) assert.notEqual(value, undefined, "an answer of JSON is JSON");
      const asked = tryParseJson(body.toString("utf8"));
      if (!isJson || !isJsonObject(value)) return;
      assert.equal(value["jsonrpc"], "2.0");
      assert.ok("result" in value !== "error" in value, "an answer has a result or an error");
      const isRead = answer.status === 200 && isJsonObject(asked);
      if (isRead)
        assert.equal(
          JSON.stringify(value["id"]),
          JSON.stringify(asked["id"]),
          "an answer has the id of its request",
        );
    },
    async close() {
      endpoint.close();
      sessions.close();
      server.close();
      await board.close();
    },
  };
}

/** The input with the id of a real session. */
function withSession(input: Buffer, id: string): Buffer {
  return Buffer.from(input.toString("latin1").replaceAll(SESSION, id), "latin1");
}

/** The method, the headers, an empty line and the body; what cannot be sent as a header is left out. */
function requestIn(input: Buffer): { method: string; headers: string[]; body: Buffer } {
  const end = input.indexOf("\n\n");
  const head = input.subarray(0, end === -1 ? input.length : end).toString("latin1");
  const [first = "", ...rest] = head.split("\n");
  const method = ["POST", "GET", "DELETE", "PUT"].find((each) => first.startsWith(each)) ?? "POST";
  const headers = rest.filter(
    (line) =>
      /^[\w-]+: [\t\x20-\x7e\x80-\xff]*$/.test(line) &&
      !/^(?:content-length|transfer-encoding|connection|host|expect|upgrade)/i.test(line),
  );
  return {
    method,
    headers,
    body: method === "GET" ? Buffer.alloc(0) : input.subarray(end === -1 ? input.length : end + 2),
  };
}

interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Over a connection in memory. A stream is left once it has begun. */
function exchange(
  server: ReturnType<typeof createServer>,
  head: string,
  body: Buffer,
): Promise<HttpAnswer> {
  const [client, socket] = duplexPair();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const finish = (): void => {
      client.destroy();
      socket.destroy();
      resolve(readAnswer(Buffer.concat(chunks)));
    };
    client.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (
        /^content-type: text\/event-stream/im.test(chunk.toString("latin1")) &&
        head.startsWith("GET")
      )
        finish();
    });
    client.on("end", finish);
    client.on("error", finish);
    // Node refuses headers that are too long by itself.
    socket.on("close", finish);
    server.emit("connection", socket);
    client.write(head);
    client.write(body);
  });
}

function readAnswer(bytes: Buffer): HttpAnswer {
  const end = bytes.indexOf("\r\n\r\n");
  const [first = "", ...lines] = bytes
    .subarray(0, Math.max(0, end))
    .toString("latin1")
    .split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(":")).toLowerCase(),
      line.slice(line.indexOf(":") + 2),
    ]),
  );
  const raw = bytes.subarray(end + 4).toString("utf8");
  const body = headers["transfer-encoding"] === "chunked" ? unchunked(raw) : raw;
  return { status: Number(first.split(" ")[1]), headers, body };
}

function unchunked(raw: string): string {
  return raw
    .split("\r\n")
    .filter((_, at) => at % 2 === 1)
    .join("");
}
