import type { JWTPayload } from "jose";
import { describe, expect, it } from "vitest";
import { gatewaySettings } from "../../../../src/core/config/gateway.ts";
import type { GatewayBlock } from "../../../../src/core/config/schema/gateway-schema.ts";
import { fittingRights, roleIn } from "../../../../src/serve/gateway/access/rights.ts";
import { type Issuer, NOW, openIssuer, PUBLIC_URL } from "./issuer.ts";
import { openRig, type Rig } from "./rig.ts";

type JwtBlock = NonNullable<GatewayBlock["jwt"]>;
type Right = NonNullable<JwtBlock["rights"]>[number];

/** A gateway that believes these issuers, as its configuration says. */
function openGateway(issuers: JwtBlock["issuers"], rights: Right[]): Promise<Rig> {
  const { jwt } = gatewaySettings({ publicUrl: PUBLIC_URL, jwt: { issuers, rights } });
  return openRig({ publicUrl: PUBLIC_URL, jwt });
}

async function setUp(...rights: Right[]): Promise<{ issuer: Issuer; rig: Rig }> {
  const issuer = await openIssuer();
  const rig = await openGateway([{ issuer: issuer.url, algorithms: ["ES256"] }], rights);
  return { issuer, rig };
}

interface Recipe {
  provider: string;
  /** The path of its issuer. */
  path: string;
  audience: string;
  rights: Right[];
  header: Record<string, unknown>;
  /** Everything but `iss`, as its documentation shows the token of a person. */
  claims: JWTPayload;
  /** Claims of a person who is in no group. */
  without: JWTPayload;
}

const TENANT = "8f6a4f0c-2b0e-4a57-9d51-1c3c0f9a7e11";
const API = "0d6e2a3b-7c55-4f0e-8b1d-5a9c4f2e6b70";
const GROUP = "b7d1c9de-52f3-4f6c-9f07-6d2f1f6f3a55";
const TIMES = { iat: NOW - 10, nbf: NOW - 10, exp: NOW + 3600 };
const MORE_GROUPS = ["4d0c2f6e-9a1b-4c83-b7e5-2f8d6a1c3b90"];

/** The forms of access tokens that the providers' own references show. The recipes of docs/gateway.md are for these. */
const RECIPES: Recipe[] = [
  {
    provider: "Entra, v2.0",
    path: `/${TENANT}/v2.0`,
    audience: API,
    rights: [{ claim: "groups", has: GROUP, agent: "default", allow: ["@readOnly"] }],
    header: { typ: "JWT", alg: "RS256" },
    claims: {
      aud: API,
      ...TIMES,
      aio: "AWQAm/8ZAAAA",
      azp: "c1b2a3d4-0f9e-4d8c-9b7a-6f5e4d3c2b1a",
      azpacr: "0",
      groups: [...MORE_GROUPS, GROUP],
      name: "Ann Example",
      oid: "2f4c6a8e-1b3d-4f5a-8c7e-9d0b1a2c3e4f",
      preferred_username: "ann@example.com",
      rh: "0.AXwA.",
      scp: "access_as_user",
      sub: "HZpfaWadeYitljrKffTm222X5rrV3xDqfKQoO",
      tid: TENANT,
      uti: "fqiBqXLPj0eQa82S-IYFAA",
      ver: "2.0",
    },
    without: { groups: MORE_GROUPS },
  },
  {
    provider: "Entra, v1.0, by an app role",
    path: `/${TENANT}/`,
    audience: "api://plugboard",
    rights: [{ claim: "roles", has: "Board.Code", agent: "default", allow: ["@readOnly"] }],
    header: { typ: "JWT", alg: "RS256", x5t: "i6lGk3FZzxRcUb2C3nEQ7syHJlY" },
    claims: {
      aud: "api://plugboard",
      ...TIMES,
      acr: "1",
      aio: "AXQAi/8IAAAA",
      amr: ["pwd", "mfa"],
      appid: "c1b2a3d4-0f9e-4d8c-9b7a-6f5e4d3c2b1a",
      appidacr: "0",
      family_name: "Example",
      given_name: "Ann",
      ipaddr: "203.0.113.7",
      name: "Ann Example",
      oid: "2f4c6a8e-1b3d-4f5a-8c7e-9d0b1a2c3e4f",
      rh: "0.AXwA.",
      roles: ["Board.Code"],
      scp: "access_as_user",
      sub: "l3_roISQU222bULS9yi2k0XpqpOiMz5H3ZACo1GeXA",
      tid: TENANT,
      unique_name: "ann@example.com",
      uti: "nXBnP4f9rE2aXYPCpWGKAA",
      ver: "1.0",
    },
    without: { roles: undefined },
  },
  {
    provider: "Okta, a custom authorization server",
    path: "/oauth2/default",
    audience: "api://default",
    rights: [{ claim: "groups", has: "Developers", agent: "default", allow: ["@readOnly"] }],
    header: { alg: "RS256" },
    claims: {
      ver: 1,
      jti: "AT.BYBJNkCefidrwo0VtGLHIZCYfSAeOyB0tVPTB6eqFss",
      aud: "api://default",
      iat: NOW - 10,
      exp: NOW + 3600,
      cid: "0oaipnnzumvqt5tiu1d6",
      uid: "00uzrjisTQK1SlAMB1d5",
      scp: ["openid", "offline_access"],
      auth_time: NOW - 20,
      sub: "ann@example.com",
      groups: ["Everyone", "Developers"],
    },
    without: { groups: ["Everyone"] },
  },
  {
    provider: "Keycloak, by a role of the realm",
    path: "/realms/work",
    audience: "plugboard",
    rights: [
      { claim: "realm_access.roles", has: "developer", agent: "default", allow: ["@readOnly"] },
    ],
    header: { typ: "JWT", alg: "RS256" },
    claims: {
      iat: NOW - 10,
      exp: NOW + 300,
      auth_time: NOW - 20,
      jti: "onrtac:2f1a9b7c-3d5e-4f60-8a71-9b2c3d4e5f60",
      aud: ["plugboard", "account"],
      sub: "5132c417-d772-420e-b5db-401ea633dca1",
      typ: "Bearer",
      azp: "claude-code",
      sid: "84e6a759-e54d-4fd7-9fcf-bb51131aab89",
      acr: "1",
      "allowed-origins": ["http://localhost:33418"],
      realm_access: { roles: ["default-roles-work", "developer", "uma_authorization"] },
      resource_access: { account: { roles: ["manage-account", "view-profile"] } },
      scope: "openid email profile",
      email_verified: true,
      name: "Ann Example",
      preferred_username: "ann",
      given_name: "Ann",
      family_name: "Example",
      email: "ann@example.com",
    },
    without: { realm_access: { roles: ["default-roles-work", "uma_authorization"] } },
  },
  {
    provider: "Keycloak, by a role of a client with dots, and by a group",
    path: "/realms/work",
    audience: "https://gateway.example.com/mcp",
    rights: [
      { claim: "groups", has: "/admins", role: "owner" },
      {
        claim: ["resource_access", "gateway.example.com", "roles"],
        has: "coder",
        agent: "default",
        allow: ["@readOnly"],
      },
    ],
    header: { typ: "JWT", alg: "RS256" },
    claims: {
      iat: NOW - 10,
      exp: NOW + 300,
      jti: "onrtac:2f1a9b7c-3d5e-4f60-8a71-9b2c3d4e5f60",
      aud: ["https://gateway.example.com/mcp", "gateway.example.com"],
      sub: "5132c417-d772-420e-b5db-401ea633dca1",
      typ: "Bearer",
      azp: "claude-code",
      acr: "1",
      resource_access: { "gateway.example.com": { roles: ["coder"] } },
      scope: "openid",
      groups: ["/staff/admins", "/staff"],
    },
    without: { resource_access: { gateway: { example: { com: { roles: ["coder"] } } } } },
  },
  {
    provider: "Auth0, by a permission",
    path: "/",
    audience: "https://gateway.example.com/mcp",
    rights: [{ claim: "permissions", has: "code", agent: "default", allow: ["@readOnly"] }],
    header: { typ: "JWT", alg: "RS256" },
    claims: {
      sub: "auth0|6553da60a54af58e29493993",
      aud: ["https://gateway.example.com/mcp", "https://example.eu.auth0.com/userinfo"],
      iat: NOW - 10,
      exp: NOW + 86_400,
      scope: "openid profile offline_access",
      azp: "K1AUPhZq8mRi0Q0pjhkfu1D7y6KjDQja",
      permissions: ["code", "read:notes"],
    },
    without: { permissions: [] },
  },
  {
    provider: "Auth0, RFC 9068, by a claim of an Action",
    path: "/",
    audience: "https://gateway.example.com/mcp",
    rights: [
      {
        claim: "https://example.com/roles",
        has: "developer",
        agent: "default",
        allow: ["@readOnly"],
      },
    ],
    header: { typ: "at+jwt", alg: "RS256" },
    claims: {
      sub: "auth0|6553da60a54af58e29493993",
      aud: ["https://gateway.example.com/mcp", "https://example.eu.auth0.com/userinfo"],
      iat: NOW - 10,
      exp: NOW + 86_400,
      jti: "73WakrfVbNJBaAmhQtEeDv",
      client_id: "K1AUPhZq8mRi0Q0pjhkfu1D7y6KjDQja",
      scope: "openid profile",
      "https://example.com/roles": ["developer"],
    },
    without: { "https://example": { "com/roles": ["developer"] }, "https://example.com/roles": [] },
  },
];

describe.each(RECIPES)("a token of $provider", ({ path, audience, rights, header, ...token }) => {
  it("gives what the first entry that fits says; without its group, nothing", async () => {
    const issuer = await openIssuer(path);
    await issuer.addKey("rsa", "RS256");
    const rig = await openGateway(
      [{ issuer: issuer.url, algorithms: ["RS256"], audience }],
      rights,
    );
    const send = async (claims: JWTPayload, at?: string): ReturnType<Rig["sendWith"]> =>
      rig.sendWith(await issuer.sign(claims, { kid: "rsa", header }), at);
    expect(await send(token.claims)).toMatchObject({
      status: 200,
      body: {
        caller: { id: `jwt:${issuer.url}#${token.claims.sub}` },
        agents: ["default"],
        policy: { tools: { allow: ["@readOnly"] } },
      },
    });
    expect((await send(token.claims, "/agents/coder/mcp")).status).toBe(403);
    expect((await send({ ...token.claims, ...token.without })).status).toBe(403);
    expect((await send({ ...token.claims, aud: "another" })).status).toBe(401);
  });
});

const STAFF: Right = { claim: "groups", has: "staff" };

describe("a claim", () => {
  it.each<[string, Partial<Right>, object]>([
    ["a list with it", {}, { groups: ["x", "staff"] }],
    ["a text that is it", {}, { groups: "staff" }],
    ["one of several values", { has: ["a", "staff"] }, { groups: ["staff"] }],
    ["a scope among words", { claim: "scope", has: "b" }, { scope: "a b c" }],
    ["a scope in a list", { claim: "scp", has: "b" }, { scp: ["a", "b"] }],
    ["a way into objects", { claim: "a.b.c", has: "x" }, { a: { b: { c: ["x"] } } }],
    [
      "a name that is a URL",
      { claim: "https://x.example/g", has: "x" },
      { "https://x.example/g": "x" },
    ],
    ["a name with a colon", { claim: "cognito:groups.x", has: "x" }, { "cognito:groups.x": ["x"] }],
    ["names with dots, as a list", { claim: ["a.b", "c"], has: "x" }, { "a.b": { c: "x" } }],
    [
      "an address that was verified",
      { claim: "email", has: "a@b" },
      { email: "a@b", email_verified: true },
    ],
    ["its issuer, for everybody", { claim: "azp", has: "app" }, { azp: "app" }],
  ])("fits: %s", async (_, right, claims) => {
    const { issuer, rig } = await setUp({ ...STAFF, ...right });
    const token = await issuer.sign({ aud: PUBLIC_URL, ...claims });
    expect((await rig.sendWith(token)).status).toBe(200);
  });

  it.each<[string, Partial<Right>, object]>([
    ["it is missing", {}, {}],
    ["a list of others", {}, { groups: ["x"] }],
    ["an empty list", {}, { groups: [] }],
    ["a value that begins with it", {}, { groups: ["staff-guests"] }],
    ["a value that ends in it", {}, { groups: ["not-staff"] }],
    ["a text with it among words", {}, { groups: "x staff" }],
    ["a text with it among commas", {}, { groups: "x,staff" }],
    ["a list in one text", {}, { groups: '["staff"]' }],
    ["other letters", {}, { groups: ["Staff"] }],
    ["spaces around it", {}, { groups: [" staff "] }],
    ["a list in a list", {}, { groups: [["staff"]] }],
    ["an object with it as a name", {}, { groups: { staff: true } }],
    ["an object with numbers for names", {}, { groups: { 0: "staff", length: 1 } }],
    ["a number", { has: "5" }, { groups: 5 }],
    ["numbers in a list", { has: "5" }, { groups: [5] }],
    ["true", { has: "true" }, { groups: true }],
    ["null", { has: "null" }, { groups: null }],
    ["words in a list of scopes", { claim: "scp", has: "b" }, { scp: ["a b"] }],
    ["words of a scope deeper down", { claim: "x.scope", has: "b" }, { x: { scope: "a b" } }],
    ["what every text has", { claim: "groups.length", has: "5" }, { groups: "staff" }],
    ["a way into a list", { claim: "groups.0" }, { groups: ["staff"] }],
    ["a name with dots in place of a way", { claim: "a.b" }, { "a.b": "staff" }],
    ["a way in place of a URL", { claim: "https://x.y/g" }, { "https://x": { "y/g": "staff" } }],
    ["what every object has", { claim: "constructor.name", has: "Object" }, {}],
    ["what every object inherits from", { claim: "__proto__.groups" }, { groups: "staff" }],
    ["an address that nobody verified", { claim: "email", has: "a@b" }, { email: "a@b" }],
    [
      "an address verified in words",
      { claim: "email", has: "a@b" },
      { email: "a@b", email_verified: "true" },
    ],
  ])("does not fit: %s", async (_, right, claims) => {
    const { issuer, rig } = await setUp({ ...STAFF, ...right });
    const token = await issuer.sign({ aud: PUBLIC_URL, ...claims });
    const reply = await rig.sendWith(token);
    expect(reply).toMatchObject({
      status: 403,
      body: "this token gives no right to the agent 'default': no entry of gateway.jwt.rights fits it; ask whoever runs this gateway",
    });
    expect(reply.headers["www-authenticate"]).toContain('error="insufficient_scope"');
  });

  it("called __proto__ is one like any other, and gives no other claim", async () => {
    const { issuer, rig } = await setUp(STAFF, { claim: "__proto__", has: "x", agent: "coder" });
    const evil = JSON.parse('{"__proto__": {"groups": ["staff"]}}') as JWTPayload;
    const send = async (claims: JWTPayload, path: string): Promise<number> => {
      const token = await issuer.sign(claims);
      return (await rig.sendWith(token, path)).status;
    };
    Object.defineProperty(evil, "aud", { value: PUBLIC_URL, enumerable: true });
    expect(await send(evil, "/mcp")).toBe(403);
    expect(({} as Record<string, unknown>)["groups"]).toBeUndefined();
  });

  it("of one issuer gives no right that is another's, although both have the same audience", async () => {
    const [strong, weak] = [await openIssuer(), await openIssuer()];
    const issuers = [strong, weak].map(({ url }) => {
      return { issuer: url, algorithms: ["ES256" as const], audience: "api://plugboard" };
    });
    const rig = await openGateway(issuers, [
      { ...STAFF, issuer: strong.url },
      { claim: "groups", has: "guests", issuer: weak.url, allow: ["docs/*"] },
    ]);
    const send = async (issuer: Issuer, groups: string[]): Promise<unknown> => {
      const claims = { aud: "api://plugboard", groups };
      const { status, body } = await rig.sendWith(await issuer.sign(claims));
      return status === 200 ? (body as { policy?: unknown }).policy : status;
    };
    expect(await send(strong, ["staff"])).toBeUndefined();
    expect(await send(weak, ["staff"])).toBe(403);
    expect(await send(weak, ["staff", "guests"])).toEqual({ tools: { allow: ["docs/*"] } });
    expect(await send(strong, ["guests"])).toBe(403);
  });
});

describe("of several entries that fit", () => {
  it("the first one for the agent decides, and nothing is added up", async () => {
    const { issuer, rig } = await setUp(
      { claim: "groups", has: "interns", agent: ["default", "docs"], allow: ["@readOnly"] },
      { claim: "groups", has: "staff", agent: "default", quotas: { callsPerDay: 10 } },
      { claim: "groups", has: "staff", agent: "coder", quotas: { callsPerDay: 20 } },
      { claim: "groups", has: "admins", role: "owner" },
    );
    const send = async (groups: string[], path: string): Promise<unknown> => {
      const { status, body } = await rig.sendWith(
        await issuer.sign({ aud: PUBLIC_URL, groups }),
        path,
      );
      return status === 200 ? (body as { policy?: unknown }).policy : status;
    };
    const readOnly = { tools: { allow: ["@readOnly"] } };
    expect(await send(["interns", "staff", "admins"], "/mcp")).toEqual(readOnly);
    expect(await send(["interns", "staff"], "/agents/docs/mcp")).toEqual(readOnly);
    expect(await send(["interns", "staff"], "/agents/coder/mcp")).toEqual({
      quota: { callsPerDay: 20 },
      quotaOf: "coder",
    });
    expect(await send(["interns"], "/agents/coder/mcp")).toBe(403);
    expect(await send(["interns", "admins"], "/agents/coder/mcp")).toEqual({ owner: true });
    // The gateway as a whole takes a right for every agent.
    expect(await send(["interns", "staff"], "/all")).toBe(403);
    expect(await send(["admins"], "/all")).toEqual({ owner: true });
  });

  it("one for a viewer lets nobody call anything, unless it says what", async () => {
    const { issuer, rig } = await setUp(
      { claim: "groups", has: "staff", role: "viewer" },
      { claim: "groups", has: "support", role: "viewer", allow: ["docs/*"] },
    );
    const send = async (groups: string[]): Promise<number> =>
      (await rig.sendWith(await issuer.sign({ aud: PUBLIC_URL, groups }))).status;
    expect([await send(["staff"]), await send(["support"])]).toEqual([403, 200]);
  });

  it("does not widen what the audience is for", async () => {
    const { issuer, rig } = await setUp(STAFF);
    const token = await issuer.sign({ groups: ["staff"] });
    expect((await rig.sendWith(token)).status).toBe(200);
    expect((await rig.sendWith(token, "/agents/coder/mcp")).status).toBe(401);
    expect((await rig.sendWith(token, "/all")).status).toBe(401);
  });

  const OVERAGE = {
    _claim_names: { groups: "src1" },
    _claim_sources: {
      src1: { endpoint: `https://graph.windows.net/${TENANT}/users/2f4c6a8e/getMemberObjects` },
    },
  };

  it.each<[string, object]>([
    ["as Entra says it", OVERAGE],
    ["as Entra says it in the implicit flow", { hasgroups: true }],
    ["while there are some", { ...OVERAGE, groups: ["src1"] }],
  ])("none counts after one whose groups are not in the token, %s", async (_, claims) => {
    const { issuer, rig } = await setUp(
      { claim: "roles", has: "Operator", agent: "coder" },
      // Whoever joins many groups must not lose the one that restricts.
      { claim: "groups", has: "interns", allow: ["@readOnly"] },
      { claim: "scp", has: "access_as_user" },
    );
    const send = async (more: object, path = "/mcp"): ReturnType<Rig["sendWith"]> =>
      rig.sendWith(await issuer.sign({ aud: PUBLIC_URL, scp: "access_as_user", ...more }), path);
    expect((await send({})).status).toBe(200);
    const reply = await send(claims);
    expect(reply).toMatchObject({
      status: 403,
      body: expect.stringContaining('the provider has left "groups" out of this token, as Entra'),
    });
    expect((await send({ ...claims, roles: ["Operator"] }, "/agents/coder/mcp")).status).toBe(200);
  });
});

describe("a role on the page", () => {
  const issuer = "https://login.example.com";
  const [both, owners]: Right[][] = [
    [
      { claim: "groups", has: "staff", agent: "default" },
      { claim: "groups", has: "staff", role: "viewer" },
      { claim: "groups", has: "admins", role: "owner" },
    ],
    [{ claim: "email", has: "ann@example.com", role: "owner" }],
  ];

  it.each<[Right[] | undefined, JWTPayload, string | undefined]>([
    [both, { groups: ["staff"] }, "viewer"],
    [both, { groups: ["admins"] }, "owner"],
    [both, { groups: ["admins", "staff"] }, "viewer"],
    [both, { groups: ["others"] }, undefined],
    [owners, { email: "ann@example.com", email_verified: true }, "owner"],
    [owners, { email: "ann@example.com" }, undefined],
  ])("is that of the first entry with one: %j %j", (rights = [], claims, role) => {
    const issuers = [{ issuer, algorithms: ["RS256" as const] }];
    const { jwt } = gatewaySettings({ jwt: { issuers, rights } });
    const found = roleIn(fittingRights(claims, issuer, jwt?.rights ?? []));
    expect(found.kind === "found" ? found.right.role : undefined).toBe(role);
  });
});

describe("signing out", () => {
  it("ends what was issued before, of one person or of all, and nothing that is issued later", async () => {
    const { issuer, rig } = await setUp(STAFF);
    const at = (seconds: number): number => rig.clock.now() / 1000 + seconds;
    const sign = (sub: string, iat: number | undefined): Promise<string> =>
      issuer.sign({ sub, iat, exp: at(3600), aud: PUBLIC_URL, groups: ["staff"] });
    const send = async (token: string): Promise<number> => (await rig.sendWith(token)).status;
    const [ann, bob, timeless] = [
      await sign("ann", at(-60)),
      await sign("bob", at(-60)),
      await sign("ann", undefined),
    ];
    expect([await send(ann), await send(bob), await send(timeless)]).toEqual([200, 200, 200]);
    await rig.tokens.signOut(`jwt:${issuer.url}#ann`);
    await rig.clock.advance(1000);
    const reply = await rig.sendWith(ann);
    expect(reply).toMatchObject({ status: 401, body: expect.stringContaining("signed out") });
    expect(reply.headers["www-authenticate"]).toContain('error="invalid_token"');
    // Clocks differ: one from within half a minute may be older than it says.
    expect([await send(timeless), await send(await sign("ann", at(5)))]).toEqual([401, 401]);
    expect([await send(bob), await send(await sign("ann", at(60)))]).toEqual([200, 200]);
    // A token of the gateway is no JWT.
    await rig.tokens.signOut();
    await rig.clock.advance(1000);
    expect([await send(bob), await send(rig.token)]).toEqual([401, 200]);
    expect(await send(await sign("bob", at(60)))).toBe(200);
  });
});
