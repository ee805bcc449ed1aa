// The clients of the gateway, or of a balancer before several: each lane makes one call at a time over its own keep-alive connection and says what
// came of it. Nothing is ever sent twice. It costs little, since it shares the machine with what it measures.

import { Client } from "undici";

const HOST = "127.0.0.1";
const LEGACY = "2025-11-25";
const MODERN = "2026-07-28";
const META = "io.modelcontextprotocol/";
const INFO = { name: "soak", version: "1.0.0" };
/** What every request of a client of 2026-07-28 carries. */
export const MODERN_META = {
  [`${META}protocolVersion`]: MODERN,
  [`${META}clientCapabilities`]: {},
  [`${META}clientInfo`]: INFO,
};
/** A call that was not answered by then never will be. */
const ANSWER_MS = 60_000;

/** A legacy session, made once. Resolves to the headers of all further requests, and the tools that count. */
export async function openSession({ host = HOST, port, token }) {
  const connection = openConnection(host, port);
  const headers = { Authorization: `Bearer ${token}` };
  const message = {
    id: 1,
    method: "initialize",
    params: { protocolVersion: LEGACY, capabilities: {}, clientInfo: INFO },
  };
  const first = await post(connection, headers, message);
  if (first.status !== 200) throw new Error(`initialize: HTTP ${first.status} ${first.body}`);
  const session = {
    ...headers,
    "Mcp-Protocol-Version": LEGACY,
    "Mcp-Session-Id": first.headers["mcp-session-id"],
  };
  await post(connection, session, { method: "notifications/initialized" });
  const listed = await post(connection, session, { id: 2, method: "tools/list", params: {} });
  await connection.destroy();
  const { tools } = answerIn(listed, 2).result;
  const names = tools.map(({ name }) => name).filter((name) => name.endsWith("count"));
  return { headers: session, tools: names };
}

/** One lane. `session` is undefined for a client of 2026-07-28, which has none. */
export function openLane({ host = HOST, port, token, session, tool }) {
  const connection = openConnection(host, port);
  const headers = session ?? {
    Authorization: `Bearer ${token}`,
    "Mcp-Protocol-Version": MODERN,
    "Mcp-Method": "tools/call",
    "Mcp-Name": tool,
  };
  const meta = session === undefined && { _meta: MODERN_META };
  return {
    /**
     * `counted`; `error` with what it says; `unsent` where nobody listened; `broken` where the connection ended
     * before the answer; `wrong` for anything else.
     */
    async call(number) {
      const params = { name: tool, arguments: { number }, ...meta };
      try {
        const message = { id: number, method: "tools/call", params };
        return judge(await post(connection, headers, message), number);
      } catch (error) {
        if (error.code === "ECONNREFUSED") return { kind: "unsent" };
        return { kind: "broken", text: error.message };
      }
    },
    close: () => void connection.destroy(),
  };
}

export function judge(response, number) {
  const answer = answerIn(response, number);
  if (answer?.result?.content?.[0]?.text === `counted ${number}`) return { kind: "counted" };
  const text = errorIn(answer) ?? refusalIn(response);
  if (text !== undefined) return { kind: "error", text };
  return { kind: "wrong", text: `HTTP ${response.status}: ${response.body.slice(0, 300)}` };
}

function errorIn(answer) {
  const { error, result } = answer ?? {};
  const text = error?.message ?? (result?.isError ? result.content?.[0]?.text : undefined);
  return typeof text === "string" && text.trim() !== "" ? text : undefined;
}

/** A gateway that stops may refuse in words. A session that is gone is none of that. */
function refusalIn({ status, body }) {
  return status === 503 && body.trim() !== "" ? `HTTP 503: ${body.trim()}` : undefined;
}

/** The one answer to that request; undefined where there is none or more than one. */
function answerIn({ headers, body }, id) {
  const isStream = headers["content-type"]?.startsWith("text/event-stream");
  const texts = isStream
    ? body.split(/\r?\n/).flatMap((line) => (line.startsWith("data:") ? [line.slice(5)] : []))
    : [body];
  const messages = texts.flatMap((text) => {
    try {
      return [JSON.parse(text)];
    } catch {
      return [];
    }
  });
  const own = messages.filter((message) => message.id === id);
  return own.length === 1 ? own[0] : undefined;
}

function openConnection(host, port) {
  return new Client(`http://${host}:${port}`, {
    pipelining: 1,
    headersTimeout: ANSWER_MS,
    bodyTimeout: ANSWER_MS,
    keepAliveTimeout: ANSWER_MS,
    keepAliveMaxTimeout: ANSWER_MS,
  });
}

async function post(connection, headers, message) {
  const answer = await connection.request({
    path: "/mcp",
    method: "POST",
    headers: {
      ...headers,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    body: await answer.body.text(),
  };
}
