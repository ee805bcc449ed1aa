import { request } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SignJWT } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { gatewaySettings } from "../../../../src/core/config/gateway.ts";
import { openFileState } from "../../../../src/core/state/files/open.ts";
import { parseAgentConfig } from "../../../../src/core/config/parse.ts";
import { silentLogger } from "../../../../src/core/types/logger.ts";
import { type OpenedGateway, openGateway } from "../../../../src/serve/gateway/open-gateway.ts";
import { nameOf } from "../../../../src/serve/gateway/page/provider-sign-in.ts";
import { systemClock } from "../../../../src/util/clock.ts";
import { freePorts } from "../../../support/free-ports.ts";
import { CLIENT, openProvider, type TestProvider } from "../../../support/provider.ts";

let stateDir: string;
let gateway: OpenedGateway;
let provider: TestProvider;
let origin: string;

const RIGHTS = [
  { claim: "groups", has: "coders", agent: "default" },
  { claim: "groups", has: "admins", role: "owner" as const },
  { claim: "groups", has: "staff", role: "viewer" as const },
];

async function open(directory: string, port: number): Promise<OpenedGateway> {
  const issuers = [{ issuer: provider.url, algorithms: ["ES256" as const] }];
  return openGateway({
    settings: gatewaySettings({
      port,
      publicUrl: `http://127.0.0.1:${port}`,
      behindProxy: true,
      jwt: { issuers, rights: RIGHTS },
      ui: { clientId: CLIENT },
    }),
    agentIds: ["default"],
    readAgent: async () => parseAgentConfig({ servers: {} }),
    defaultAgent: "default",
    network: { allow: [], env: {} },
    stateDir: directory,
    cwd: directory,
    env: {},
    clock: systemClock,
    logger: silentLogger,
    pageFolder: directory,
  });
}

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "plugboard-page-"));
  await writeFile(join(stateDir, "index.html"), "<p>static</p>");
  provider = await openProvider();
  const [port = 0] = await freePorts(1);
  gateway = await open(stateDir, port);
  origin = `http://127.0.0.1:${port}`;
});

afterEach(() => {
  provider.claims = {};
  provider.metadata = {};
  delete provider.sign;
});

afterAll(async () => {
  await gateway.close();
  await provider.close();
  await rm(stateDir, { recursive: true, force: true, maxRetries: 5 });
});

interface Begun {
  cookie: string;
  code: string;
  state: string;
}

/** As a browser does it, up to the address that the provider sends it back to. */
async function begin(at = origin): Promise<Begun> {
  const first = await fetch(`${at}/ui/sign-in`, { redirect: "manual" });
  const second = await fetch(first.headers.get("location") ?? "", { redirect: "manual" });
  const back = new URL(second.headers.get("location") ?? "");
  expect(`${back.origin}${back.pathname}`).toBe(`${at}/ui/callback`);
  return {
    cookie: first.headers.getSetCookie()[0]?.split(";")[0] ?? "",
    code: back.searchParams.get("code") ?? "",
    state: back.searchParams.get("state") ?? "",
  };
}

function finish(
  { cookie, ...answer }: Begun & { iss?: string },
  at = origin,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${at}/ui/api/sign-in`, {
    method: "POST",
    headers: { "x-plugboard": "1", origin: at, cookie, ...headers },
    body: JSON.stringify(answer),
  });
}

describe("signing in through the provider", () => {
  it("opens the page in the role that the claims say", async () => {
    const email = { email: "ann@example.com", email_verified: true };
    provider.claims = { sub: "ann", groups: ["other", "staff"], ...email };
    const begun = await begin();
    const asked = provider.begun.at(-1);
    expect(Object.fromEntries(asked ?? [])).toMatchObject({
      response_type: "code",
      client_id: CLIENT,
      scope: "openid",
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    const answer = await finish(begun);
    expect(answer.status).toBe(200);
    const { role, secret } = (await answer.json()) as { role: string; secret: string };
    expect(role).toBe("viewer");
    const [visit = "", gone = ""] = answer.headers.getSetCookie();
    expect(visit).toMatch(/^plugboard-ui-\d+=[^;]+; Path=\/ui; HttpOnly; SameSite=Strict/);
    expect(gone).toMatch(/^plugboard-ui-\d+-sign-in=; .*Max-Age=0$/);
    const headers = { "x-plugboard": secret, cookie: visit.split(";")[0] ?? "" };
    const stream = await fetch(`${origin}/ui/api/events`, { headers });
    const reader = stream.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(Buffer.from(value ?? []).toString()).toContain(
      `ann@example.com (${new URL(provider.url).host})`,
    );
    // As `plugboard tokens signout` does it: what is open ends, and the cookie opens nothing more.
    const state = openFileState(stateDir);
    await state.tokens.signOut(`jwt:${provider.url}#ann`);
    await state.close();
    const ended = async (): Promise<boolean> => (await reader?.read())?.done ?? true;
    for (let isOver = false; !isOver; isOver = await ended().catch(() => true));
    expect((await fetch(`${origin}/ui/api/events`, { headers })).status).toBe(401);
  });

  it("keeps what it began in a cookie that scripts and other sites do not get", async () => {
    const { headers } = await fetch(`${origin}/ui/sign-in`, { redirect: "manual" });
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^plugboard-ui-\d+-sign-in=[\w-]+; Path=\/ui; HttpOnly; SameSite=Strict; Max-Age=600$/,
      ),
    ]);
  });

  it("works once", async () => {
    provider.claims = { groups: "admins" };
    const begun = await begin();
    const asked = provider.answers.length;
    const [one, other] = await Promise.all([finish(begun), finish(begun)]);
    expect(new Set([one.status, other.status])).toEqual(new Set([200, 403]));
    expect((await finish(begun)).status).toBe(403);
    expect(provider.answers).toHaveLength(asked + 1);
  });

  it("is counted by whom the proxy says that a request is from: who asks too often keeps nobody else out", async () => {
    provider.claims = { groups: "admins" };
    const [begun, other] = [await begin(), await begin()];
    const from = async (address: string, what: Begun): Promise<number> =>
      (await finish(what, origin, { "x-forwarded-for": address })).status;
    const statuses: number[] = [];
    while (statuses.length < 200 && statuses.at(-1) !== 429) {
      statuses.push(await from("203.0.113.1", begun));
    }
    expect(statuses.at(-1)).toBe(429);
    expect(await from("203.0.113.2", other)).toBe(200);
  });

  it.each<[string, (mine: Begun, other: Begun) => Begun & { iss?: string }]>([
    ["a state that nobody made", (mine) => ({ ...mine, state: "a".repeat(43) })],
    ["the state of another browser", (mine, other) => ({ ...mine, state: other.state })],
    ["somebody else's code and state", (mine, other) => ({ ...other, cookie: mine.cookie })],
    ["no cookie", (mine) => ({ ...mine, cookie: "" })],
    ["a cookie that is not ours", (mine) => ({ ...mine, cookie: `${mine.cookie}x` })],
    ["a code of another sign-in", (mine, other) => ({ ...mine, code: other.code })],
    ["a code that nobody gave", (mine) => ({ ...mine, code: "x" })],
    ["the name of another issuer", (mine) => ({ ...mine, iss: "https://evil.example" })],
  ])("refuses %s", async (_, forge) => {
    provider.claims = { groups: "admins" };
    const answer = await finish(forge(await begin(), await begin()));
    expect(answer.status).toBe(403);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  it("refuses an answer without the issuer's name where the provider always gives it", async () => {
    // Another gateway: what a provider says about itself is kept for a while.
    provider.metadata = { authorization_response_iss_parameter_supported: true };
    provider.claims = { groups: "admins" };
    const directory = await mkdtemp(join(tmpdir(), "plugboard-page-"));
    const [port = 0] = await freePorts(1);
    const other = await open(directory, port);
    try {
      const at = `http://127.0.0.1:${port}`;
      expect((await finish(await begin(at), at)).status).toBe(403);
      expect((await finish({ ...(await begin(at)), iss: provider.url }, at)).status).toBe(200);
      // A sign-in that was begun at one gateway is not finished at another.
      expect((await finish(await begin(at), origin)).status).toBe(403);
    } finally {
      await other.close();
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    }
  });

  it.each([
    ["of another issuer", { iss: "https://evil.example" }],
    ["for another program", { aud: "other" }],
    ["for several clients, issued to another one", { aud: [CLIENT, "other"], azp: "other" }],
    ["for several clients, without saying which it was issued to", { aud: [CLIENT, "other"] }],
    ["made for another", { azp: "other" }],
    ["of another sign-in", { nonce: "x" }],
    ["that has expired", { exp: 1000 }],
    ["without a nonce", { nonce: undefined }],
  ])("refuses an identity %s", async (_, claims) => {
    provider.claims = { groups: "admins", ...claims };
    const answer = await finish(await begin());
    expect(answer.status).toBe(403);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  it.each([
    [
      "signed with a shared secret",
      (claims: object) =>
        new SignJWT({ ...claims })
          .setProtectedHeader({ alg: "HS256", kid: "one" })
          .sign(Buffer.alloc(32, 1)),
    ],
    [
      "that nobody has signed",
      async (claims: object) =>
        `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.`,
    ],
  ])("refuses an identity %s", async (_, sign) => {
    provider.claims = { groups: "admins" };
    provider.sign = sign;
    expect((await finish(await begin())).status).toBe(403);
  });

  it.each([
    {},
    { groups: [] },
    { groups: ["others"] },
    { groups: { admins: true } },
    { group: "admins" },
    { groups: ["coders"] },
  ])("refuses whoever has no role: %j", async (claims) => {
    provider.claims = { preferred_username: "<b>eve</b>", ...claims };
    const answer = await finish(await begin());
    expect(answer.status).toBe(403);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(await answer.text()).toContain("may not see this page");
  });

  it("says so where the provider has left out the groups that decide", async () => {
    provider.claims = { _claim_names: { groups: "src1" } };
    const answer = await finish(await begin());
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []]);
    expect(await answer.text()).toContain("out of this token, as Entra does");
  });

  it("does not make an identity a token of an MCP client", async () => {
    provider.claims = { groups: "admins" };
    expect((await finish(await begin())).status).toBe(200);
    const answer = await fetch(`${origin}/mcp`, {
      method: "POST",
      headers: { authorization: `Bearer ${provider.identity}` },
      body: "{}",
    });
    expect(await answer.text()).toContain("it is no access token");
    expect(answer.status).toBe(401);
  });
});

describe("the addresses of a sign-in", () => {
  it("the callback is the same text for everybody", async () => {
    const evil = "?code=<script>alert(1)</script>&error=<b>x</b>&state=x#y";
    const [plain, asked] = await Promise.all([
      fetch(`${origin}/ui/callback`),
      fetch(`${origin}/ui/callback${evil}`),
    ]);
    expect(await asked.text()).toBe(await plain.text());
    expect(asked.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(asked.headers.get("referrer-policy")).toBe("no-referrer");
  });

  const from = (site: string, more: Record<string, string> = {}): Record<string, string> => ({
    "sec-fetch-site": site,
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
    ...more,
  });

  it.each([
    ["/ui/callback?code=x", from("cross-site"), 200],
    ["/ui/", from("cross-site"), 200],
    ["/ui/", from("cross-site", { "sec-fetch-dest": "iframe" }), 403],
    ["/ui/", from("cross-site", { "sec-fetch-mode": "no-cors" }), 403],
    ["/ui/callback", from("cross-site", { host: "evil.example" }), 403],
    ["/ui/sign-in", from("cross-site"), 403],
    ["/ui/api/events", from("cross-site"), 403],
    ["/mcp", from("cross-site"), 403],
    ["/ui/sign-in", from("same-origin"), 302],
  ])("%s, reached with %j, is answered with %i", async (path, headers, status) => {
    const answered = await new Promise<number>((resolve, reject) => {
      const sent = request(`${origin}${path}`, { headers, agent: false }, (reply) => {
        reply.resume();
        resolve(reply.statusCode ?? 0);
      });
      sent.on("error", reject).end();
    });
    expect(answered).toBe(status);
  });
});

it.each([
  [{ sub: "7" }, "7"],
  [{ sub: "7", email: "ann@example.com", email_verified: true }, "ann@example.com"],
  [{ sub: "7", email: "ann@example.com" }, "ann@example.com [7]"],
  [{ sub: "7", email: "ann@example.com", email_verified: "true" }, "ann@example.com [7]"],
  [{ sub: "7", preferred_username: "ann@example.com" }, "ann@example.com [7]"],
  [{ sub: "7", preferred_username: "a".repeat(70) }, `${"a".repeat(59)}… [7]`],
  [{ sub: "7", preferred_username: "x\u202E\ny" }, "x y [7]"],
])("nobody is called what somebody else is: %j", (claims, name) => {
  expect(nameOf(claims)).toBe(name);
});
