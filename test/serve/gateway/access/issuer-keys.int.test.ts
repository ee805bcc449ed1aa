import { describe, expect, it, onTestFinished } from "vitest";
import type { JwtIssuer } from "../../../../src/core/types/gateway-settings.ts";
import { deferred } from "../../../../src/util/deferred.ts";
import { type Issuer, KEYS, METADATA, openIssuer, PUBLIC_URL } from "./issuer.ts";
import { openRig, type Rig } from "./rig.ts";

async function openGateway(issuer: Issuer, given: Partial<JwtIssuer> = {}): Promise<Rig> {
  const issuers = [{ issuer: issuer.url, algorithms: ["ES256"], ...given }];
  return openRig({ publicUrl: PUBLIC_URL, jwt: { issuers } });
}

describe("the keys of an issuer", () => {
  it("are where the configuration says", async () => {
    const issuer = await openIssuer();
    const rig = await openGateway(issuer, { jwksUri: `${issuer.url}${KEYS}` });
    expect((await rig.sendWith(await issuer.sign())).status).toBe(200);
    expect(issuer.requests).toEqual([KEYS]);
  });

  it.each([
    ["OpenID Connect", "/realm/.well-known/openid-configuration", 1],
    ["RFC 8414", "/.well-known/oauth-authorization-server/realm", 2],
  ])("are where its metadata says, by %s", async (_, place, asked) => {
    const issuer = await openIssuer("/realm");
    const metadata = issuer.answers.get(`/realm${METADATA}`);
    issuer.answers.delete(`/realm${METADATA}`);
    if (metadata !== undefined) issuer.answers.set(place, metadata);
    const rig = await openGateway(issuer);
    expect((await rig.sendWith(await issuer.sign())).status).toBe(200);
    expect(issuer.requests).toHaveLength(asked + 1);
  });

  it("are fetched again for a key that is new, at most twice a minute", async () => {
    const issuer = await openIssuer();
    const rig = await openGateway(issuer, { jwksUri: `${issuer.url}${KEYS}` });
    const unknown = await issuer.sign({}, { header: { kid: "unknown" } });
    expect((await rig.sendWith(await issuer.sign())).status).toBe(200);
    await issuer.addKey("two");
    const token = await issuer.sign({}, { kid: "two" });
    for (let round = 0; round < 5; round += 1) {
      expect((await rig.sendWith(round % 2 === 0 ? token : unknown)).status).toBe(401);
    }
    expect(issuer.requests).toHaveLength(1);
    await rig.clock.advance(30_000);
    expect((await rig.sendWith(token)).status).toBe(200);
    for (let round = 0; round < 5; round += 1) await rig.sendWith(unknown);
    expect(issuer.requests).toHaveLength(2);
  });

  it("that it has withdrawn are not accepted after ten minutes", async () => {
    const issuer = await openIssuer();
    const rig = await openGateway(issuer, { jwksUri: `${issuer.url}${KEYS}` });
    const token = await issuer.sign({ exp: 10_000 });
    expect((await rig.sendWith(token)).status).toBe(200);
    issuer.answers.set(KEYS, { status: 200, body: { keys: [] } });
    await rig.clock.advance(10 * 60_000);
    expect((await rig.sendWith(token)).status).toBe(401);
  });

  it("are used for a day while it cannot be reached", async () => {
    const issuer = await openIssuer();
    const rig = await openGateway(issuer, { jwksUri: `${issuer.url}${KEYS}` });
    const token = await issuer.sign({ exp: 1_000_000 });
    expect((await rig.sendWith(token)).status).toBe(200);
    issuer.answers.set(KEYS, { status: 500, body: "down" });
    await rig.clock.advance(23 * 60 * 60_000);
    expect((await rig.sendWith(token)).status).toBe(200);
    await rig.clock.advance(2 * 60 * 60_000);
    expect((await rig.sendWith(token)).status).toBe(503);
    issuer.answers.set(KEYS, { status: 200, body: { keys: [] } });
    await rig.clock.advance(5000);
    expect((await rig.sendWith(token)).status).toBe(401);
  });

  it("are used while it hangs: at most one caller waits for two seconds", async () => {
    const issuer = await openIssuer();
    const rig = await openGateway(issuer, { jwksUri: `${issuer.url}${KEYS}` });
    const signed = (sub: string): Promise<string> => issuer.sign({ sub, exp: 10_000 });
    expect((await rig.sendWith(await signed("ann"))).status).toBe(200);
    const hanging = deferred();
    onTestFinished(() => hanging.resolve());
    issuer.answers.set(KEYS, { status: 500, body: {}, after: hanging.promise });
    await rig.clock.advance(10 * 60_000);
    const first = rig.sendWith(await signed("bob"));
    await expect.poll(() => issuer.requests).toHaveLength(2);
    await rig.clock.advance(2000);
    expect((await first).status).toBe(200);
    expect((await rig.sendWith(await signed("cid"))).status).toBe(200);
    // Its key may be among those that are on their way.
    const unknown = await issuer.sign({ exp: 10_000 }, { header: { kid: "unknown" } });
    expect((await rig.sendWith(unknown)).status).toBe(503);
    expect(issuer.requests).toHaveLength(2);
  });

  it("that are known wait for nobody who asks for others, nor again for an issuer that did not answer", async () => {
    const issuer = await openIssuer();
    const rig = await openGateway(issuer, { jwksUri: `${issuer.url}${KEYS}` });
    const signed = (sub: string): Promise<string> => issuer.sign({ sub, exp: 10_000 });
    const unknown = await issuer.sign({ exp: 10_000 }, { header: { kid: "unknown" } });
    expect((await rig.sendWith(await signed("ann"))).status).toBe(200);
    const hanging = deferred();
    onTestFinished(() => hanging.resolve());
    const hang = { status: 500, body: {}, after: hanging.promise };
    issuer.answers.set(KEYS, hang);
    await rig.clock.advance(10 * 60_000);
    const waiting = rig.sendWith(unknown);
    await expect.poll(() => issuer.requests).toHaveLength(2);
    expect((await rig.sendWith(await signed("bob"))).status).toBe(200);
    hanging.resolve();
    expect((await waiting).status).toBe(401);
    const again = deferred();
    onTestFinished(() => again.resolve());
    issuer.answers.set(KEYS, { ...hang, after: again.promise });
    await rig.clock.advance(5000);
    expect((await rig.sendWith(await signed("cid"))).status).toBe(200);
    await expect.poll(() => issuer.requests).toHaveLength(3);
  });

  it("that are known check tokens also while a guesser at the same address has many wait for others", async () => {
    const issuer = await openIssuer();
    const rig = await openGateway(issuer, { jwksUri: `${issuer.url}${KEYS}` });
    expect((await rig.sendWith(await issuer.sign())).status).toBe(200);
    const hanging = deferred();
    onTestFinished(() => hanging.resolve());
    issuer.answers.set(KEYS, { status: 500, body: {}, after: hanging.promise });
    await rig.clock.advance(30_000);
    for (let round = 0; round < 30; round += 1) await rig.sendWith("a.b.c");
    const unknown = await issuer.sign({}, { header: { kid: "unknown" } });
    const sent = Array.from({ length: 65 }, () => rig.sendWith(unknown));
    // 64 wait.
    expect((await Promise.race(sent)).status).toBe(503);
    expect((await rig.sendWith(await issuer.sign({ sub: "bob" }))).status).toBe(200);
    await rig.clock.advance(2000);
    expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([503]));
  });

  it.each<[string, string, (issuer: Issuer) => void]>([
    [
      "answers with an error",
      "it answered with HTTP 500",
      ({ answers }) => void answers.set(KEYS, { status: 500, body: {} }),
    ],
    [
      "answers with a web page",
      "it does not list keys",
      ({ answers }) => void answers.set(KEYS, { status: 200, body: "<p>" }),
    ],
    [
      "lists no keys",
      "it does not list keys",
      ({ answers }) => void answers.set(KEYS, { status: 200, body: { keys: 5 } }),
    ],
    [
      "lists what are no keys",
      "it does not list keys",
      ({ answers }) => void answers.set(KEYS, { status: 200, body: { keys: ["x"] } }),
    ],
    [
      "answers with 1 MB",
      "",
      ({ answers }) =>
        void answers.set(KEYS, { status: 200, body: { keys: [], x: "x".repeat(1_000_000) } }),
    ],
    [
      "has no metadata",
      "it answered with HTTP 404",
      ({ answers }) => void answers.delete(METADATA),
    ],
    [
      "has metadata of another issuer",
      "the metadata of",
      ({ answers, url }) =>
        void answers.set(METADATA, {
          status: 200,
          body: { issuer: `${url}/x`, jwks_uri: `${url}${KEYS}` },
        }),
    ],
    [
      "names no place of its keys",
      "the metadata of",
      ({ answers, url }) =>
        void answers.set(METADATA, { status: 200, body: { issuer: url, jwks_uri: 5 } }),
    ],
    [
      "names a place that the network does not allow",
      "",
      ({ answers, url }) =>
        void answers.set(METADATA, {
          status: 200,
          body: { issuer: url, jwks_uri: "http://169.254.169.254/keys" },
        }),
    ],
  ])(
    "cannot be had if it %s: 503, one attempt in five seconds, and the operator is told",
    async (_, reason, spoil) => {
      const issuer = await openIssuer();
      spoil(issuer);
      const rig = await openGateway(issuer);
      const token = await issuer.sign();
      const reply = await rig.sendWith(token);
      expect(reply).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
      expect(JSON.stringify(reply.body)).not.toContain(issuer.url);
      expect(rig.problems).toEqual([
        expect.stringContaining(`the keys of ${issuer.url} cannot be fetched: ${reason}`),
      ]);
      const asked = issuer.requests.length;
      await rig.sendWith(token);
      expect(issuer.requests).toHaveLength(asked);
      await rig.clock.advance(5000);
      await rig.sendWith(token);
      expect(issuer.requests.length).toBeGreaterThan(asked);
    },
  );

  it("are never had where network.allow is wrong, and the operator is told why", async () => {
    const issuer = await openIssuer();
    const issuers = [{ issuer: issuer.url, algorithms: ["ES256"] }];
    const rig = await openRig({ publicUrl: PUBLIC_URL, jwt: { issuers } }, ["not a host"]);
    expect((await rig.sendWith(await issuer.sign())).status).toBe(503);
    expect((await rig.sendWith(await issuer.sign({ sub: "b" }))).status).toBe(503);
    expect(rig.problems).toEqual([expect.stringMatching(/^no JWT can be checked: network\.allow/)]);
  });

  it("are fetched once for many who come at the same time", async () => {
    const issuer = await openIssuer();
    const rig = await openGateway(issuer);
    const tokens = await Promise.all(["a", "b", "c", "d"].map((sub) => issuer.sign({ sub })));
    const replies = await Promise.all(tokens.map((token) => rig.sendWith(token)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(issuer.requests).toEqual([METADATA, KEYS]);
  });
});
