import { createHmac } from "node:crypto";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { describe, expect, it } from "vitest";
import { type Issuer, KEYS, METADATA, NOW, openIssuer, PUBLIC_URL } from "./issuer.ts";
import { openRig, type Rig } from "./rig.ts";

interface Setup {
  issuer: Issuer;
  rig: Rig;
}

async function setUp(): Promise<Setup> {
  const issuer = await openIssuer();
  const issuers = [{ issuer: issuer.url, algorithms: ["ES256", "RS256"] }];
  const rig = await openRig({ publicUrl: PUBLIC_URL, jwt: { issuers } });
  return { issuer, rig };
}

const METADATA_URL = `${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp`;

describe("a JWT", () => {
  it("admits its subject under a name that no token and no other issuer can have; its keys are fetched once", async () => {
    const { issuer, rig } = await setUp();
    const token = await issuer.sign();
    for (let round = 0; round < 3; round += 1) {
      expect(await rig.sendWith(token)).toMatchObject({
        status: 200,
        body: {
          caller: { id: `jwt:${issuer.url}#ann`, label: `ann (${new URL(issuer.url).host})` },
          agents: ["default"],
        },
      });
    }
    expect((await rig.sendWith(await issuer.sign({ sub: "bob" }))).status).toBe(200);
    expect(issuer.requests).toEqual([METADATA, KEYS]);
  });

  it("does not disturb the gateway's own tokens", async () => {
    const { issuer, rig } = await setUp();
    expect((await rig.sendWith(rig.token)).status).toBe(200);
    expect(issuer.requests).toEqual([]);
  });

  it("is only a wrong token where no issuer is configured", async () => {
    const issuer = await openIssuer();
    const rig = await openRig({ publicUrl: PUBLIC_URL });
    const reply = await rig.sendWith(await issuer.sign());
    expect([reply.status, issuer.requests]).toEqual([401, []]);
    expect(reply.headers["www-authenticate"]).toBe('Bearer error="invalid_token"');
  });

  it.each<[string, JWTPayload]>([
    ["several audiences", { aud: ["https://other.example", `${PUBLIC_URL}/mcp`] }],
    ["the other address of the default agent", { aud: `${PUBLIC_URL}/agents/default/mcp` }],
    ["the gateway as its audience", { aud: PUBLIC_URL }],
    ["the gateway with a slash as its audience", { aud: `${PUBLIC_URL}/` }],
    ["an end 20 s ago, since clocks differ", { exp: NOW - 20 }],
    ["a beginning in 20 s, since clocks differ", { nbf: NOW + 20 }],
  ])("is accepted with %s", async (_, claims) => {
    const { issuer, rig } = await setUp();
    expect((await rig.sendWith(await issuer.sign(claims))).status).toBe(200);
  });

  it.each<[string, JWTPayload, string]>([
    ["an end 40 s ago", { exp: NOW - 40 }, "has expired"],
    ["a beginning in 40 s", { nbf: NOW + 40 }, "is not valid yet"],
    ["no end", { exp: undefined }, "has no valid claim exp"],
    ["no subject", { sub: undefined }, "has no valid claim sub"],
    ["an empty subject", { sub: "" }, "has no subject"],
    ["a subject of 300 characters", { sub: "x".repeat(300) }, "has no subject"],
    ["a subject that cannot be stored", { sub: "a\0b" }, "has no subject"],
    ["a subject that is stored as another one", { sub: "a\ud800" }, "has no subject"],
    ["no audience", { aud: undefined }, "has no valid claim aud"],
    ["another audience", { aud: "https://other.example/mcp" }, "another audience"],
    [
      "the audience of another agent",
      { aud: `${PUBLIC_URL}/agents/coder/mcp` },
      "another audience",
    ],
    ["an audience that begins alike", { aud: `${PUBLIC_URL}/mcp/` }, "another audience"],
    ["an audience over plain http", { aud: "http://gateway.example.com/mcp" }, "another audience"],
    ["another issuer", { iss: "https://other.example" }, "not configured"],
    ["no issuer", { iss: undefined }, "not configured"],
    ["an issuer that is not a text", { iss: 5 as unknown as string }, "not configured"],
  ])("is refused with %s", async (_, claims, reason) => {
    const { issuer, rig } = await setUp();
    const reply = await rig.sendWith(await issuer.sign(claims));
    expect(reply).toMatchObject({ status: 401, body: expect.stringContaining(reason) });
    expect(reply.headers["www-authenticate"]).toBe(
      `Bearer error="invalid_token", resource_metadata="${METADATA_URL}"`,
    );
  });

  it("stops being accepted when it expires, although it was remembered", async () => {
    const { issuer, rig } = await setUp();
    const token = await issuer.sign({ exp: NOW + 10 });
    expect((await rig.sendWith(token)).status).toBe(200);
    await rig.clock.advance(41_000);
    expect((await rig.sendWith(token)).status).toBe(401);
  });

  const claims = { sub: "ann", aud: `${PUBLIC_URL}/mcp`, exp: NOW + 600 };

  it.each<[string, (issuer: Issuer) => string | Promise<string>]>([
    ["no signature", ({ url }) => new UnsecuredJWT({ ...claims, iss: url }).encode()],
    ["alg none in capitals", ({ url }) => unsigned({ alg: "NONE", kid: "one" }, url)],
    [
      "the public key as the secret of an HMAC",
      async (issuer) => {
        const text = unsigned({ alg: "HS256", kid: "one" }, issuer.url).slice(0, -1);
        const secret = JSON.stringify(issuer.keys[0]);
        return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
      },
    ],
    [
      "a key of its own in the header",
      async ({ url }) => {
        const { publicKey, privateKey } = await generateKeyPair("ES256");
        return new SignJWT({ ...claims, iss: url })
          .setProtectedHeader({ alg: "ES256", kid: "one", jwk: await exportJWK(publicKey) })
          .sign(privateKey);
      },
    ],
    [
      "an algorithm that is not configured",
      async (issuer) => {
        await issuer.addKey("other", "Ed25519");
        return issuer.sign({}, { kid: "other" });
      },
    ],
    ["a changed payload", async (issuer) => changed(await issuer.sign(), 1)],
    ["a changed signature", async (issuer) => changed(await issuer.sign(), 2)],
    [
      "a critical header that nobody knows",
      (issuer) => issuer.sign({}, { header: { crit: ["x"], x: 1 } }),
    ],
    ["three empty parts", () => ".."],
    ["parts that are not JSON", () => "AAAA.AAAA.AAAA"],
    ["a payload that is a list", () => `${part({ alg: "ES256" })}.${part([])}.AAAA`],
    ["12 KB of it", () => `${"a".repeat(4000)}.${"b".repeat(4000)}.${"c".repeat(4000)}`],
  ])("is refused with %s", async (_, make) => {
    const { issuer, rig } = await setUp();
    expect((await rig.sendWith(await make(issuer))).status).toBe(401);
  });

  it("is let in whoever guesses at the same address, and the guesser is told to wait", async () => {
    const { issuer, rig } = await setUp();
    for (let round = 0; round < 30; round += 1) await rig.sendWith("a.b.c");
    expect((await rig.sendWith("a.b.c")).status).toBe(429);
    expect((await rig.sendWith("plug_wrong")).status).toBe(429);
    expect((await rig.sendWith(await issuer.sign())).status).toBe(200);
    await rig.clock.advance(60_000);
    expect((await rig.sendWith("a.b.c")).status).toBe(401);
  });
});

describe("an audience", () => {
  it("of one endpoint does not open the gateway as a whole", async () => {
    const { issuer, rig } = await setUp();
    expect((await rig.sendWith(await issuer.sign(), "/all")).status).toBe(401);
    expect((await rig.sendWith(await issuer.sign({ aud: PUBLIC_URL }), "/all")).status).toBe(200);
  });

  const audiences = ["api://plugboard", "6e74172b-be56-4843-9ff4-e66a39bb12e3"];

  it.each([
    ["a text", audiences[0], 200],
    ["another one", audiences[1], 200],
    ["one of several", ["x", audiences[0]], 200],
    ["the URL of the endpoint, which is none of them", `${PUBLIC_URL}/mcp`, 401],
    ["the URL of the gateway, which is none of them", PUBLIC_URL, 401],
    ["the beginning of one", "api://plug", 401],
    ["one with more behind it", "api://plugboard/", 401],
    ["one in other letters", "API://PLUGBOARD", 401],
    ["several in one text", audiences.join(" "), 401],
    ["a list in a list", [audiences], 401],
    ["an object", { "api://plugboard": true }, 401],
  ])("that is configured replaces the URLs: %s", async (_, aud, status) => {
    const issuer = await openIssuer();
    const issuers = [{ issuer: issuer.url, algorithms: ["ES256"], audiences }];
    const rig = await openRig({ publicUrl: PUBLIC_URL, jwt: { issuers } });
    const token = await issuer.sign({ aud: aud as string });
    for (const path of ["/mcp", "/agents/coder/mcp", "/all"]) {
      expect((await rig.sendWith(token, path)).status, path).toBe(status);
    }
  });

  it("of one issuer is none of another's", async () => {
    const [one, other] = [await openIssuer(), await openIssuer()];
    const issuers = [
      { issuer: one.url, algorithms: ["ES256"], audiences: ["one"] },
      { issuer: other.url, algorithms: ["ES256"], audiences: ["other"] },
    ];
    const rig = await openRig({ publicUrl: PUBLIC_URL, jwt: { issuers } });
    const status = async (issuer: Issuer, claims: JWTPayload): Promise<number> =>
      (await rig.sendWith(await issuer.sign(claims))).status;
    expect(await status(one, { aud: "one" })).toBe(200);
    expect(await status(one, { aud: "other" })).toBe(401);
    // Signed with its own key, in the other's name.
    expect(await status(other, { aud: "one", iss: one.url })).toBe(401);
  });
});

describe("what is no access token", () => {
  it.each<[string, JWTPayload, Record<string, unknown>?]>([
    ["an ID token with the hash of a token", { at_hash: "x" }],
    ["an ID token with the hash of a code", { c_hash: "x" }],
    ["Entra's ID token, of the code flow", { nonce: "678910", ver: "2.0" }],
    ["Cognito's ID token", { token_use: "id" }],
    ["Keycloak's ID token", { typ: "ID" }],
    ["Keycloak's refresh token", { typ: "Refresh" }],
    ["a logout token", { events: { "http://schemas.openid.net/event/backchannel-logout": {} } }],
    ["a logout token, by its type", {}, { typ: "logout+jwt" }],
    ["a security event", {}, { typ: "secevent+jwt" }],
  ])("is refused although issuer and audience are right: %s", async (_, claims, header = {}) => {
    const { issuer, rig } = await setUp();
    const reply = await rig.sendWith(await issuer.sign(claims, { header }));
    expect(reply).toMatchObject({ status: 401, body: expect.stringContaining("no access token") });
  });

  it.each(["JWT", "at+jwt", "AT+JWT", "application/at+jwt"])("is not %s", async (typ) => {
    const { issuer, rig } = await setUp();
    const token = await issuer.sign({ typ: "Bearer", nonce: "x" }, { header: { typ } });
    expect((await rig.sendWith(token)).status).toBe(200);
  });
});

function part(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function unsigned(header: object, iss: string): string {
  const claims = { iss, sub: "ann", aud: `${PUBLIC_URL}/mcp`, exp: NOW + 600 };
  return `${part(header)}.${part(claims)}.`;
}

/** Another character in the middle of a part. */
function changed(token: string, at: number): string {
  const parts = token.split(".");
  const text = parts[at] ?? "";
  const middle = Math.floor(text.length / 2);
  parts[at] = text.slice(0, middle) + (text[middle] === "A" ? "B" : "A") + text.slice(middle + 1);
  return parts.join(".");
}
