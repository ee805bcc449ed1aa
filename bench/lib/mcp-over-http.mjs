// MCP for the load client: requests of either era, and their answers as JSON or as server-sent events.

import { httpClient } from "./http-client.mjs";

const LEGACY = "2025-11-25";
const MODERN = "2026-07-28";
const META = "io.modelcontextprotocol/";
const CLIENT = { name: "bench", version: "1.0.0" };

const COMMON = {
  "Content-Type": "application/json",
  Accept: "application/json, text/event-stream",
};

/**
 * A client of the gateway at `port` and `path`: `call(tool, args)`, and `openSession()` for one more session that
 * then does nothing. `headers` go with every request.
 */
export async function connectMcp({ port, path = "/mcp", headers = {}, isModern = false }) {
  const http = httpClient({ port, path });
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
