// The load for the gateways: MCP of either era over undici, which Node's own fetch, and so the clients of the MCP
// SDK, are made of.

import { Pool } from "undici";

const LEGACY = "2025-11-25";
const MODERN = "2026-07-28";
const META = "io.modelcontextprotocol/";
const CLIENT = { name: "bench", version: "1.0.0" };

/** More than are ever under way: an idle session's stream needs a connection of its own. */
const CONNECTIONS = 2_000;

const COMMON = {
  "Content-Type": "application/json",
  Accept: "application/json, text/event-stream",
};

/**
 * A client of the gateway at `port` and `path`: `call(tool, args)`, and `openSession()` for one more session that
 * then does nothing. `headers` go with every request.
 */
export async function connectMcp({ port, path = "/mcp", headers = {}, isModern = false }) {
  const http = openHttp({ port, path });
  const own = { ...COMMON, ...headers };
  const connect = isModern ? connectModern : connectLegacy;
  const { request } = await connect(http, own);
  const { tools } = await request("tools/list", {});
  return {
    toolNames: tools.map(({ name }) => name),
    call: (name, args) => request("tools/call", { name, arguments: args }),
    /** As a client's SDK does it: a stream for what the server has to say, where there is one. */
    async openSession() {
      const { request: ask, sessionHeaders } = await connectLegacy(http, own);
      await ask("tools/list", {});
      if (sessionHeaders["Mcp-Session-Id"] === undefined) return;
      await http.stream({ ...headers, ...sessionHeaders, Accept: "text/event-stream" });
    },
    close: () => http.close(),
  };
}

function openHttp({ port, path }) {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS, pipelining: 1 });
  return {
    async request(method, headers, body) {
      const response = await pool.request({ method, path, headers, body });
      const { statusCode: status } = response;
      return { status, headers: response.headers, body: await response.body.text() };
    },
    /** Leaves what comes on it unread. */
    async stream(headers) {
      const response = await pool.request({ method: "GET", path, headers, bodyTimeout: 0 });
      response.body.on("error", () => {});
      // A gateway that has none says so; then the connection is free again.
      if (response.statusCode !== 200) await response.body.dump();
    },
    close: () => pool.destroy(),
  };
}

async function connectLegacy(http, headers) {
  let lastId = 0;
  let sessionHeaders = {};
  const post = (message) =>
    http.request(
      "POST",
      { ...headers, ...sessionHeaders },
      JSON.stringify({ jsonrpc: "2.0", ...message }),
    );
  const send = async (method, params) => {
    lastId += 1;
    const id = lastId;
    const response = await post({ id, method, params });
    return { response, result: resultIn(response, id) };
  };
  const { response, result } = await send("initialize", {
    protocolVersion: LEGACY,
    capabilities: {},
    clientInfo: CLIENT,
  });
  const session = response.headers["mcp-session-id"];
  sessionHeaders = {
    "Mcp-Protocol-Version": result.protocolVersion,
    ...(session !== undefined && { "Mcp-Session-Id": session }),
  };
  await post({ method: "notifications/initialized" });
  const request = async (method, params) => (await send(method, params)).result;
  return { request, sessionHeaders };
}

async function connectModern(http, headers) {
  let lastId = 0;
  const _meta = {
    [`${META}protocolVersion`]: MODERN,
    [`${META}clientCapabilities`]: {},
    [`${META}clientInfo`]: CLIENT,
  };
  const request = async (method, params) => {
    lastId += 1;
    const id = lastId;
    const own = {
      ...headers,
      "Mcp-Protocol-Version": MODERN,
      "Mcp-Method": method,
      ...(params.name !== undefined && { "Mcp-Name": params.name }),
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } });
    return resultIn(await http.request("POST", own, body), id);
  };
  await request("server/discover", {});
  return { request };
}

/** Throws where the answer is an error or belongs to another request. */
export function resultIn({ status, headers, body }, id) {
  const isStream = headers["content-type"]?.startsWith("text/event-stream");
  const messages = isStream ? eventsIn(body) : [parse(body)];
  const message = messages.find((one) => one?.id === id);
  if (message?.result !== undefined) return message.result;
  throw new Error(`HTTP ${status}: ${message?.error?.message ?? body.slice(0, 200)}`);
}

function eventsIn(body) {
  return body
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => parse(line.slice("data:".length)));
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
