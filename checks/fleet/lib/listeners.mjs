// Clients that wait to hear that the list of tools is another: one with a session of 2025-11-25, one of 2026-07-28.

import { request } from "node:http";
import { MODERN_META, openSession } from "../../soak/lib/client.mjs";

const CHANGED = '"notifications/tools/list_changed"';
const OPEN_MS = 30_000;

/** `next()` resolves to when it next hears of a change, as `performance.now()` says; `tools()` to the names that it gets. */
export async function listenWithSession(gateway, token) {
  const { headers } = await openSession({ ...gateway, token });
  const stream = await openStream(gateway, { method: "GET", headers });
  return { ...stream, tools: () => namesOf(gateway, headers) };
}

export async function listenWithout(gateway, token) {
  const headers = (method) => ({
    Authorization: `Bearer ${token}`,
    "Mcp-Protocol-Version": MODERN_META["io.modelcontextprotocol/protocolVersion"],
    "Mcp-Method": method,
  });
  const listen = "subscriptions/listen";
  const stream = await openStream(
    gateway,
    { method: "POST", headers: headers(listen) },
    { method: listen, params: { notifications: { toolsListChanged: true }, _meta: MODERN_META } },
  );
  const params = { _meta: MODERN_META };
  return { ...stream, tools: () => namesOf(gateway, headers("tools/list"), params) };
}

async function openStream({ host, port }, { method, headers }, message) {
  let hear;
  let text = "";
  const onText = (chunk) => {
    text += chunk;
    const at = text.lastIndexOf("\n\n");
    if (at === -1) return;
    const isTold = text.slice(0, at).includes(CHANGED);
    text = text.slice(at);
    if (isTold) hear?.(performance.now());
  };
  const sent = request({
    host,
    port,
    path: "/mcp",
    method,
    agent: false,
    headers: { ...JSON_HEADERS, ...headers },
  });
  const opened = new Promise((resolve, reject) => {
    sent.setTimeout(OPEN_MS, () => sent.destroy(new Error("a stream did not open")));
    sent.once("error", reject);
    sent.once("response", (response) => {
      response.setEncoding("utf8").on("data", onText);
      response.on("error", () => {});
      // The first bytes say that it is there.
      response.once("data", resolve);
      if (response.statusCode !== 200) reject(new Error(`a stream: HTTP ${response.statusCode}`));
    });
  });
  sent.end(message && JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }));
  await opened;
  sent.setTimeout(0);
  sent.on("error", () => {});
  return {
    next: () =>
      new Promise((resolve) => {
        hear = resolve;
      }),
    close: () => sent.destroy(),
  };
}

async function namesOf({ host, port }, headers, params = {}) {
  const response = await fetch(`http://${host}:${port}/mcp`, {
    method: "POST",
    headers: { ...JSON_HEADERS, ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params }),
  });
  const { result, error } = await response.json();
  return result?.tools.map(({ name }) => name) ?? [`error: ${error.message}`];
}

const JSON_HEADERS = {
  "Content-Type": "application/json",
  Accept: "application/json, text/event-stream",
};
