// The clients of the gateway, or of a balancer before several: each lane makes one call at a time over its own keep-alive connection and says what
// came of it. Nothing is ever sent twice. It costs little, since it shares the machine with what it measures.

import { connect } from "node:net";

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
  const at = `${host}:${port}`;
  const message = {
    id: 1,
    method: "initialize",
    params: { protocolVersion: LEGACY, capabilities: {}, clientInfo: INFO },
  };
  const first = await post(connection, headOf(at, headers), message);
  if (first.status !== 200) throw new Error(`initialize: HTTP ${first.status} ${first.body}`);
  const session = {
    ...headers,
    "Mcp-Protocol-Version": LEGACY,
    "Mcp-Session-Id": first.headers["mcp-session-id"],
  };
  const head = headOf(at, session);
  await post(connection, head, { method: "notifications/initialized" });
  const listed = await post(connection, head, { id: 2, method: "tools/list", params: {} });
  connection.destroy();
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
  const head = headOf(`${host}:${port}`, headers);
  return {
    /**
     * `counted`; `error` with what it says; `unsent` where nobody listened; `broken` where the connection ended
     * before the answer; `wrong` for anything else.
     */
    async call(number) {
      const params = { name: tool, arguments: { number }, ...meta };
      try {
        const message = { id: number, method: "tools/call", params };
        return judge(await post(connection, head, message), number);
      } catch (error) {
        if (error.code === "ECONNREFUSED") return { kind: "unsent" };
        return { kind: "broken", text: error.message };
      }
    },
    close: () => connection.destroy(),
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

/**
 * One request at a time over one connection, which is made again when it has ended: HTTP/1.1 over a plain socket, which takes a
 * quarter of the time of an HTTP client. Rejects with ECONNREFUSED if nobody listens.
 */
function openConnection(host, port) {
  let socket;
  let waiting;
  let received = "";
  const settle = (error, response) => {
    const { resolve, reject } = waiting;
    waiting = undefined;
    received = "";
    if (error === undefined) resolve(response);
    else reject(error);
  };
  const open = () => {
    const opened = connect({ host, port, noDelay: true });
    const lost = (error) => {
      if (socket !== opened) return;
      socket = undefined;
      opened.destroy();
      if (waiting !== undefined) settle(error);
    };
    opened.setEncoding("latin1").setTimeout(ANSWER_MS);
    opened.on("timeout", () => lost(new Error("no answer")));
    opened.on("error", lost);
    opened.on("close", () => lost(new Error("other side closed")));
    opened.on("data", (chunk) => {
      received += chunk;
      const response = responseIn(received);
      if (response === undefined || waiting === undefined) return;
      if (/^close$/i.test(response.headers.connection ?? "")) {
        socket = undefined;
        opened.destroy();
      }
      settle(undefined, response);
    });
    return opened;
  };
  return {
    request(text) {
      socket ??= open();
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(text, "latin1");
      });
    },
    destroy() {
      const old = socket;
      socket = undefined;
      old?.destroy();
    },
  };
}

/** Undefined until all of it is there. `text` has a character for each byte. */
function responseIn(text) {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const headers = {};
  const [first, ...lines] = text.slice(0, end).split("\r\n");
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const rest = text.slice(end + 4);
  const body = headers["transfer-encoding"]
    ? chunksIn(rest)
    : wholeOf(rest, Number(headers["content-length"] ?? 0));
  if (body === undefined) return undefined;
  return { status: Number(first.split(" ")[1]), headers, body: utf8(body) };
}

function wholeOf(text, length) {
  return text.length < length ? undefined : text.slice(0, length);
}

function chunksIn(text) {
  let body = "";
  for (let at = 0; ;) {
    const end = text.indexOf("\r\n", at);
    if (end === -1) return undefined;
    const length = Number.parseInt(text.slice(at, end), 16);
    const next = end + 2 + length;
    if (text.length < next + 2) return undefined;
    if (length === 0) return body;
    body += text.slice(end + 2, next);
    at = next + 2;
  }
}

function utf8(bytes) {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** The beginning of every request with these headers. */
function headOf(host, headers) {
  const all = {
    Host: host,
    ...headers,
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /mcp HTTP/1.1\r\n${lines.join("")}`;
}

function post(connection, head, message) {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  const bytes = Buffer.from(body, "utf8").toString("latin1");
  return connection.request(`${head}Content-Length: ${bytes.length}\r\n\r\n${bytes}`);
}
