// A small HTTP server around Access, and clients that send exactly what they are told to.

import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { gatewaySettings } from "../../../../src/core/config/gateway.ts";
import { Access } from "../../../../src/serve/gateway/access/access.ts";
import type { GatewaySettings } from "../../../../src/core/types/gateway-settings.ts";
import { LocalLimits } from "../../../../src/core/state/local-limits.ts";
import { TokenFiles } from "../../../../src/core/state/files/token-files.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

interface Reply {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: unknown;
}

export interface Rig {
  access: Access;
  tokens: TokenFiles;
  clock: ManualClock;
  port: number;
  /** The default token. */
  token: string;
  /** What the operator was told. */
  problems: string[];
  /** Sends the lines as they are; Host is added unless they have one. */
  send: (lines: readonly string[], path?: string) => Promise<Reply>;
  /** With the token as a bearer token. */
  sendWith: (token: string, path?: string) => Promise<Reply>;
}

/** `/mcp` asks for the default agent, `/agents/x/mcp` for x, `/open` only checks, `/all` is the whole gateway. */
export async function openRig(
  given: Partial<GatewaySettings> = {},
  networkAllow: string[] = [],
): Promise<Rig> {
  const stateDir = await mkdtemp(join(tmpdir(), "plugboard-access-"));
  const clock = new ManualClock();
  const tokens = new TokenFiles({ stateDir, clock, random: randomBytes });
  const token = await tokens.ensureDefault();
  const settings = { ...gatewaySettings(), ...given };
  const problems: string[] = [];
  const access = new Access({
    settings,
    defaultAgent: "default",
    tokens,
    limits: new LocalLimits(clock),
    clock,
    network: { allow: networkAllow, env: {} },
    onProblem: (message) => problems.push(message),
  });
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    void answer(access, request).then(({ status, headers, body }) => {
      response.writeHead(status, headers).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await access.close();
    await tokens.close();
    await rm(stateDir, { recursive: true, force: true });
  });
  const send = (lines: readonly string[], path = "/mcp"): Promise<Reply> =>
    exchange(port, lines, path);
  return {
    access,
    tokens,
    clock,
    port,
    token,
    problems,
    send,
    sendWith: (text, path) => send([`Authorization: Bearer ${text}`], path),
  };
}

async function answer(access: Access, request: IncomingMessage): Promise<Reply> {
  const path = request.url ?? "";
  if (path === "/open") {
    const refused = access.check(request);
    const headers = access.cors(request) ?? {};
    return refused === undefined
      ? { status: 200, headers, body: "open" }
      : { status: refused.status, headers: refused.headers, body: refused.message };
  }
  const [, agent] = /^\/agents\/(\w+)\/mcp$/.exec(path) ?? [];
  const admission = await access.admit(request, path === "/all" ? undefined : (agent ?? "default"));
  if (!admission.isAdmitted) {
    return { status: admission.status, headers: admission.headers, body: admission.message };
  }
  const { caller, agents, policy } = admission;
  return { status: 200, headers: {}, body: { caller, agents, policy } };
}

/** Written by hand, since no client would send what a hostile one does. */
function exchange(port: number, lines: readonly string[], path: string): Promise<Reply> {
  const hasHost = lines.some((line) => /^host:/i.test(line));
  const head = [
    lines[0]?.startsWith("OPTIONS ") ? "OPTIONS /open HTTP/1.1" : `GET ${path} HTTP/1.1`,
    ...(hasHost ? [] : [`Host: 127.0.0.1:${port}`]),
    ...lines.filter((line) => !line.startsWith("OPTIONS ")),
    "Connection: close",
  ];
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.setEncoding("latin1");
    socket.on("data", (chunk) => (text += String(chunk)));
    socket.on("error", reject);
    socket.on("close", () => resolve(parse(text)));
    socket.write(Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"));
  });
}

function parse(text: string): Reply {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [status = "", ...lines] = head.split("\r\n");
  const headers = lines.map((line) => {
    const [name = "", ...value] = line.split(": ");
    return [name.toLowerCase(), value.join(": ")];
  });
  const body = /\{.*\}|".*"/s.exec(rest.join("\r\n\r\n"))?.[0];
  return {
    status: Number(status.split(" ")[1]),
    headers: Object.fromEntries(headers),
    body: body === undefined ? undefined : JSON.parse(body),
  };
}
