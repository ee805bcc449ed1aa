import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { gatewaySettings } from "../../../../src/core/config/gateway.ts";
import { parseAgentConfig } from "../../../../src/core/config/parse.ts";
import { silentLogger } from "../../../../src/core/types/logger.ts";
import { type OpenedGateway, openGateway } from "../../../../src/serve/gateway/open-gateway.ts";
import { openFileState } from "../../../../src/core/state/files/open.ts";
import type { SharedState } from "../../../../src/core/types/shared-state.ts";
import { MovableClock } from "../../../support/movable-clock.ts";

let stateDir: string;
let gateway: OpenedGateway;
let origin: string;
const clock = new MovableClock();

/** Ending a visit takes longer than the gateway needs to notice that it has ended. */
async function openSlowState(): Promise<SharedState> {
  const state = openFileState(stateDir, { clock, logger: silentLogger });
  const revoke = state.sessions.revoke.bind(state.sessions);
  state.sessions.revoke = async (...ended) => {
    await revoke(...ended);
    clock.forward(1000);
    await new Promise<void>((resolve) => clock.later(10, resolve));
  };
  return state;
}

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "plugboard-page-"));
  gateway = await openGateway({
    settings: { ...gatewaySettings({ port: 0 }), allowedHosts: ["tools.example.com"] },
    agentIds: ["default"],
    readAgent: async () => parseAgentConfig({ servers: {} }),
    defaultAgent: "default",
    network: { allow: [], env: {} },
    stateDir,
    cwd: stateDir,
    env: {},
    clock,
    openState: openSlowState,
    logger: silentLogger,
    pageFolder: stateDir,
  });
  origin = new URL(gateway.http?.url ?? "").origin;
});

afterAll(async () => {
  await gateway.close();
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
});

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Not `fetch`, which sets some of these headers itself. */
function send(
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  const { method = "GET", headers, body } = options;
  return new Promise((resolve, reject) => {
    const sent = request(`${origin}${path}`, { method, headers, agent: false }, (reply) => {
      let text = "";
      reply.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        // A stream does not end by itself.
        if (reply.headers["content-type"] === "text/event-stream") sent.destroy();
      });
      reply.on("close", () =>
        resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: text }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** What the page sends with every request. */
function own(more: Record<string, string> = {}): Record<string, string> {
  return { "x-plugboard": "1", "sec-fetch-site": "same-origin", origin, ...more };
}

function keyOf(role: "owner" | "viewer"): string {
  return gateway.http?.newPageLink(role).split("#k=")[1] ?? "";
}

function enter(key: string, headers = own()): Promise<Answer> {
  return send("/ui/api/enter", { method: "POST", headers, body: JSON.stringify({ key }) });
}

/** What a page that is signed in sends with every request, besides its origin. */
async function signedIn(
  role: "owner" | "viewer",
): Promise<{ cookie: string; "x-plugboard": string }> {
  const { headers, body } = await enter(keyOf(role));
  const { secret } = JSON.parse(body) as { secret: string };
  return { cookie: headers["set-cookie"]?.[0]?.split(";")[0] ?? "", "x-plugboard": secret };
}

describe("the way in", () => {
  it("leads from / to the page", async () => {
    expect(await send("/")).toMatchObject({ status: 302, headers: { location: "/ui/" } });
  });

  it("is a key that works once", async () => {
    const key = keyOf("owner");
    expect(await enter(key)).toMatchObject({
      status: 200,
      body: expect.stringContaining('"role":"owner"'),
    });
    expect(await enter(key)).toMatchObject({
      status: 401,
      body: expect.stringContaining("has been used, or is older than a minute"),
    });
  });

  it("ends with signing out", async () => {
    const headers = own(await signedIn("owner"));
    expect(await send("/ui/api/events", { headers })).toMatchObject({ status: 200 });
    expect(await send("/ui/api/leave", { method: "POST", headers, body: "{}" })).toMatchObject({
      status: 200,
      headers: { "set-cookie": [expect.stringContaining("Max-Age=0")] },
    });
    expect(await send("/ui/api/events", { headers })).toMatchObject({ status: 401 });
  });
});

describe("everything under /ui/", () => {
  it.each(["/ui/", "/ui/nothing.js", "/ui/api/events"])("%s has the headers", async (path) => {
    const { headers } = await send(path);
    expect(headers["content-security-policy"]).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';.*frame-ancestors 'none'; require-trusted-types-for 'script'/,
    );
    expect(headers).toMatchObject({
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
  });

  it("has its files, and nothing beside them", async () => {
    await writeFile(join(stateDir, "main.js"), "1;");
    await writeFile(join(stateDir, "..hidden.js"), "2;");
    await mkdir(join(stateDir, "folder"));
    await writeFile(join(stateDir, "folder", "other.js"), "3;");
    expect(await send("/ui/main.js")).toMatchObject({ status: 200, body: "1;" });
    for (const path of [
      "..hidden.js",
      "folder/other.js",
      "folder%2fother.js",
      "folder",
      "gateway/token",
    ]) {
      expect(await send(`/ui/${path}`), path).toMatchObject({ status: 404 });
    }
  });
});

describe("a request is refused", () => {
  const POST = { method: "POST", body: '{"agent":"default","server":"x"}' };

  it.each<[string, number, Partial<NonNullable<Parameters<typeof send>[1]>>, string[]?]>([
    ["without a cookie", 401, {}, ["cookie"]],
    ["with the cookie alone", 401, { headers: { "x-plugboard": "1" } }],
    ["without the header of the page", 403, {}, ["x-plugboard"]],
    ["of another site", 403, { headers: { "sec-fetch-site": "cross-site" } }],
    ["of another port of this host", 403, { headers: { "sec-fetch-site": "same-site" } }],
    ["of another origin", 403, { headers: { origin: "http://127.0.0.1:1" } }],
    ["of no origin", 403, {}, ["origin"]],
    ["under another name (DNS rebinding)", 403, { headers: { host: "evil.example" } }],
    ["that reads", 400, { method: "GET", body: "" }],
    ["that is not JSON", 400, { body: "{" }],
    ["that is a list", 400, { body: "[]" }],
    ["with more than it takes", 400, { body: '{"agent":"default","server":"x","y":1}' }],
    ["that is larger than anything the page sends", 413, { body: " ".repeat(5_000_000) }],
    [
      "with more values than anything the page sends",
      413,
      { body: `{"a":[${"1,".repeat(60_000)}1]}` },
    ],
    ["nested deeper than anything the page sends", 413, { body: `{"a":${"[".repeat(300)}` }],
    ["of the owner for a server that is not there", 404, {}],
  ])("%s", async (_, status, { headers, ...more }, without = []) => {
    const all: Record<string, string> = { ...own(await signedIn("owner")), ...headers };
    for (const name of without) delete all[name];
    const answer = await send("/ui/api/servers/restart", { ...POST, ...more, headers: all });
    expect(answer).toMatchObject({ status });
  });

  it.each([
    ["bytes", " ".repeat(5_000_000), "the request is larger than 4 MiB"],
    ["values", `{"a":[${"1,".repeat(60_000)}1]}`, "the request has more than 50000 values"],
    ["levels", `{"a":${"[".repeat(300)}`, "the request is nested more than 200 levels deep"],
  ])("with too many %s is told so", async (_, body, reason) => {
    const headers = own(await signedIn("owner"));
    const answer = await send("/ui/api/servers/restart", { ...POST, headers, body });
    expect(JSON.stringify(answer)).toContain(reason);
  });

  it("of somebody who is not signed in, and sends more than a key", async () => {
    const body = JSON.stringify({ key: "x".repeat(2000) });
    expect(await send("/ui/api/enter", { method: "POST", headers: own(), body })).toMatchObject({
      status: 413,
    });
  });

  it("of somebody who is not signed in, on a proxy's connection: the next one on it does not wait for what is left", async () => {
    const socket = connect(Number(new URL(origin).port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    const ask = async (path: string, headers: Record<string, string>, body: string) => {
      const all = { host: "127.0.0.1", "content-length": String(body.length), ...headers };
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
      const [answer] = (await once(socket, "data")) as [Buffer];
      return answer.toString();
    };
    // Somebody who is known has used it before.
    const token = await readFile(gateway.http?.tokenFile ?? "", "utf8");
    const ping = { authorization: `Bearer ${token.trim()}`, "content-type": "application/json" };
    const accept = { accept: "application/json, text/event-stream" };
    const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    expect(await ask("/mcp", { ...ping, ...accept }, body)).toMatch(/connection: keep-alive/i);
    const here = own({ host: new URL(origin).host });
    const refused = await ask("/ui/api/enter", here, "x".repeat(1_000_000));
    expect(refused).toMatch(/^HTTP\/1.1 413 /);
    expect(await ask("/mcp", { ...ping, ...accept }, body)).toMatch(/^HTTP\/1.1 200 /);
  });

  it("of a viewer that changes something", async () => {
    const headers = own(await signedIn("viewer"));
    expect(await send("/ui/api/servers/restart", { ...POST, headers })).toMatchObject({
      status: 403,
      body: expect.stringContaining("a viewer changes nothing"),
    });
  });
});

describe("the page's cookie and the tokens of MCP clients", () => {
  it("do not open each other's doors", async () => {
    const headers = own(await signedIn("owner"));
    const message = { method: "POST", body: "{}", headers };
    expect(await send("/mcp", message)).toMatchObject({ status: 401 });
    expect(await send("/api/status", { headers })).toMatchObject({ status: 401 });
    const { tokenFile = "" } = gateway.http ?? {};
    const authorization = `Bearer ${(await readFile(tokenFile, "utf8")).trim()}`;
    expect(await send("/api/status", { headers: { authorization } })).toMatchObject({
      status: 200,
    });
    expect(await send("/ui/api/events", { headers: own({ authorization }) })).toMatchObject({
      status: 401,
    });
  });
});

describe("the stream", () => {
  it.each(["owner", "viewer"] as const)("begins with everything that %s sees", async (role) => {
    const headers = own(await signedIn(role));
    const { status, body } = await send("/ui/api/events", { headers });
    expect(status).toBe(200);
    const [, data = "{}"] = /^event: snapshot\ndata: (.*)$/m.exec(body) ?? [];
    expect(JSON.parse(data)).toMatchObject({
      you: { role },
      gateway: { state: "serving", url: `${origin}/mcp` },
      servers: [],
      waiting: [],
    });
  });
});
