// The load for the gateways: HTTP/1.1 by hand on keep-alive sockets, with nothing in it but what an MCP server
// on loopback sends. It has to be cheap, since it runs on the same machine as what it measures.

import { connect } from "node:net";

const END_OF_HEAD = Buffer.from("\r\n\r\n");
const NOTHING = Buffer.alloc(0);
/** Servers close a connection that was idle for some seconds: one that could be closed by now is not used again. */
const IDLE_MS = 2_000;

/**
 * `request` resolves to `{ status, headers, body }`. As many sockets are open as requests were ever under way at
 * once. `stream` resolves to the status when the head is there, and leaves its socket open until `close()`.
 */
export function httpClient({ host = "127.0.0.1", port, path }) {
  const idle = [];
  const all = new Set();

  const open = () => {
    const socket = openSocket({ host, port });
    all.add(socket);
    return socket;
  };
  const write = (method, headers, body) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const length = body === undefined ? "" : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
    const head = `${method} ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n`;
    return `${head}${lines.join("")}${length}\r\n${body ?? ""}`;
  };
  return {
    async request(method, headers, body) {
      const socket = idle.pop()?.ifFresh() ?? open();
      const response = await socket.exchange(write(method, headers, body));
      if (response.isReusable) idle.push(socket);
      else socket.destroy();
      return response;
    },
    async stream(headers) {
      const socket = open();
      const { status } = await socket.exchange(write("GET", headers), { headOnly: true });
      return status;
    },
    close() {
      for (const socket of all) socket.destroy();
    },
  };
}

function openSocket(address) {
  const socket = connect({ ...address, noDelay: true });
  let usedAt = performance.now();
  let waiting;
  let received = NOTHING;

  const fail = (error) => {
    waiting?.reject(error);
    waiting = undefined;
  };
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("the connection was closed before the answer")));
  socket.on("data", (chunk) => {
    if (waiting === undefined) return;
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    let response;
    try {
      response = parseResponse(received, waiting);
    } catch (error) {
      fail(error);
      return;
    }
    if (response === undefined) return;
    received = NOTHING;
    const { resolve } = waiting;
    waiting = undefined;
    usedAt = performance.now();
    resolve(response);
  });
  return {
    /** Undefined, and closed, where it was idle for too long. */
    ifFresh() {
      if (performance.now() - usedAt < IDLE_MS) return this;
      socket.destroy();
      return undefined;
    },
    exchange: (request, { headOnly = false } = {}) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) {
          reject(new Error("the connection was closed between two requests"));
          return;
        }
        waiting = { resolve, reject, headOnly };
        socket.write(request);
      }),
    destroy: () => socket.destroy(),
  };
}

/** Undefined until the response is whole. */
export function parseResponse(bytes, { headOnly = false } = {}) {
  const end = bytes.indexOf(END_OF_HEAD);
  if (end === -1) return undefined;
  const [first, ...lines] = bytes.latin1Slice(0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const status = Number(first.split(" ", 2)[1]);
  const rest = bytes.subarray(end + END_OF_HEAD.length);
  const isReusable = headers.connection?.toLowerCase() !== "close";
  const whole = (body) => body && { status, headers, body: body.toString(), isReusable };
  if (headOnly) return whole(NOTHING);
  if (headers["transfer-encoding"] === "chunked") return whole(readChunks(rest));
  if (headers["content-length"] !== undefined) {
    const length = Number(headers["content-length"]);
    return whole(rest.length < length ? undefined : rest.subarray(0, length));
  }
  if (status === 204 || status === 304) return whole(NOTHING);
  throw new Error(`a response of unknown length: ${first}`);
}

function readChunks(bytes) {
  const parts = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf("\r\n", at);
    if (end === -1) return undefined;
    const length = Number.parseInt(bytes.latin1Slice(at, end), 16);
    const next = end + 2 + length + 2;
    if (bytes.length < next) return undefined;
    if (length === 0) return Buffer.concat(parts);
    parts.push(bytes.subarray(end + 2, end + 2 + length));
    at = next;
  }
}
