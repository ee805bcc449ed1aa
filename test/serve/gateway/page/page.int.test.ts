import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type IncomingHttpHeaders, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gatewaySettings } from "../../../../src/core/config/gateway.ts";
import { parseAgentConfig } from "../../../../src/core/config/parse.ts";
import { silentLogger } from "../../../../src/core/types/logger.ts";
import { type OpenedGateway, openGateway } from "../../../../src/serve/gateway/open-gateway.ts";
import { systemClock } from "../../../../src/util/clock.ts";

let stateDir: string;
let gateway: OpenedGateway;
let origin: string;

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
    clock: systemClock,
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

async function cookieOf(role: "owner" | "viewer"): Promise<string> {
  const { headers } = await enter(keyOf(role));
  return headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
}

describe("the way in", () => {
  it("leads from / to the page", async () => {
    expect(await send("/")).toMatchObject({ status: 302, headers: { location: "/ui/" } });
  });

  it("is a key that works once", async () => {
    const key = keyOf("owner");
    expect(await enter(key)).toMatchObject({ status: 200, body: '{"role":"owner"}' });
    expect(await enter(key)).toMatchObject({
      status: 401,
      body: expect.stringContaining("has been used, or is older than a minute"),
    });
  });

  it("ends with signing out", async () => {
    const headers = own({ cookie: await cookieOf("owner") });
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

  it.each(["/ui/../package.json", "/ui/..%2fpackage.json", "/ui/gateway/token", "/ui/.token"])(
    "%s is no file of the page",
    async (path) => {
      expect(await send(path)).toMatchObject({ status: 404 });
    },
  );
});

describe("a request is refused", () => {
  const POST = { method: "POST", body: '{"agent":"default","server":"x"}' };

  it.each<[string, number, (cookie: string) => Parameters<typeof send>[1]]>([
    ["without a cookie", 401, () => ({ ...POST, headers: own() })],
    ["without the header of the page", 403, (cookie) => ({ ...POST, headers: { cookie, origin } })],
    [
      "of another site",
      403,
      (cookie) => ({ ...POST, headers: own({ cookie, "sec-fetch-site": "cross-site" }) }),
    ],
    [
      "of another port of this host",
      403,
      (cookie) => ({ ...POST, headers: own({ cookie, "sec-fetch-site": "same-site" }) }),
    ],
    [
      "of another origin",
      403,
      (cookie) => ({ ...POST, headers: own({ cookie, origin: "http://127.0.0.1:1" }) }),
    ],
    ["of no origin", 403, (cookie) => ({ ...POST, headers: { cookie, "x-plugboard": "1" } })],
    [
      "under another name (DNS rebinding)",
      403,
      (cookie) => ({ ...POST, headers: own({ cookie, host: "evil.example" }) }),
    ],
    ["that reads", 400, (cookie) => ({ headers: own({ cookie }) })],
    ["that is not JSON", 400, (cookie) => ({ ...POST, body: "{", headers: own({ cookie }) })],
    ["that is a list", 400, (cookie) => ({ ...POST, body: "[]", headers: own({ cookie }) })],
    [
      "with more than it takes",
      400,
      (cookie) => ({
        ...POST,
        body: '{"agent":"default","server":"x","y":1}',
        headers: own({ cookie }),
      }),
    ],
    [
      "of the owner for a server that is not there",
      404,
      (cookie) => ({ ...POST, headers: own({ cookie }) }),
    ],
  ])("%s", async (_, status, make) => {
    const answer = await send("/ui/api/servers/restart", make(await cookieOf("owner")));
    expect(answer).toMatchObject({ status });
  });

  it("of a viewer that changes something", async () => {
    const headers = own({ cookie: await cookieOf("viewer") });
    expect(await send("/ui/api/servers/restart", { ...POST, headers })).toMatchObject({
      status: 403,
      body: expect.stringContaining("a viewer changes nothing"),
    });
  });
});

describe("the page's cookie and the tokens of MCP clients", () => {
  it("do not open each other's doors", async () => {
    const cookie = await cookieOf("owner");
    const message = { method: "POST", body: "{}", headers: own({ cookie }) };
    expect(await send("/mcp", message)).toMatchObject({ status: 401 });
    expect(await send("/api/status", { headers: own({ cookie }) })).toMatchObject({ status: 401 });
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
    const headers = own({ cookie: await cookieOf(role) });
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
