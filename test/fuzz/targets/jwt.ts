// Tokens of an identity provider that callers of the gateway bring.

import assert from "node:assert/strict";
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign as signBytes,
} from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { JwtVerifier } from "../../../src/serve/gateway/access/jwt-verifier.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import type { Target } from "../target.ts";

/** Seconds since the epoch, as the clock stands. */
const NOW = 1000;
/** Keys for this alone, and always the same, so that a seed makes the same inputs again. */
const [PRIVATE_KEY, STRANGER] = [1, 2].map(keyOf) as [KeyObject, KeyObject];

export async function jwt(): Promise<Target> {
  const publicKey = createPublicKey(PRIVATE_KEY).export({ format: "jwk" });
  const keys = [{ ...publicKey, kid: "one", alg: "EdDSA", use: "sig" }];
  const server = createServer((_request, response) => response.end(JSON.stringify({ keys })));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // The port differs from run to run, and the tokens must not.
  const issuer = "https://issuer.example";
  const verifier = new JwtVerifier({
    issuers: [{ issuer, jwksUri: `${origin}/keys`, algorithms: ["EdDSA"] }],
    networkAllow: [],
    env: {},
    clock: new ManualClock(),
    onProblem: () => {},
  });
  const valid = {
    iss: issuer,
    sub: "ann",
    aud: "https://gateway.example/mcp",
    exp: NOW + 600,
    scope: "mcp:default",
  };
  const good = [valid, { ...valid, aud: ["a", "b"], scp: ["x"] }].map((claims) =>
    signed({ alg: "EdDSA", kid: "one" }, claims),
  );
  const trusted = new Set(good.map(signedPart));
  const strangersKey = createPublicKey(STRANGER).export({ format: "jwk" });
  const bad = [
    signed({ alg: "EdDSA", kid: "one" }, { ...valid, exp: NOW - 600 }),
    signed({ alg: "EdDSA", kid: "one" }, { ...valid, iss: "https://other.example" }),
    signed({ alg: "EdDSA", kid: "two" }, valid),
    unsigned({ alg: "none" }, valid),
    byHash({ alg: "HS256", kid: "one" }, valid, JSON.stringify(publicKey)),
    signed({ alg: "EdDSA", kid: "one", crit: ["x"], x: 1 }, valid),
    signed({ alg: "EdDSA", jwk: strangersKey }, valid, STRANGER),
    signed({ alg: "EdDSA", kid: "one" }, valid, STRANGER),
  ];
  // The first one fetches the keys.
  for (const token of good) assert.equal((await verifier.verify(token)).kind, "valid");
  return {
    about: "JWTs of callers",
    covers: ["serve/gateway/access/jwt-verifier.ts", "serve/gateway/access/issuer-keys.ts"],
    seeds: () => [...good, ...bad, "", ".", "..", "a.b.c", "e30.e30."],
    words: [".", "e30", "eyJhbGciOiJub25lIn0", "="],
    async run(input) {
      const token = input.toString("latin1");
      const verdict = await verifier.verify(token);
      if (verdict.kind === "valid") {
        assert.ok(trusted.has(signedPart(token)), "only what the issuer signed is valid");
        assert.equal(verdict.claims.subject, "ann");
      } else {
        assert.equal(verdict.kind, "invalid", "no token makes the keys unavailable");
        assert.ok(!good.includes(token), "a good token is valid");
      }
    },
    async close() {
      await verifier.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The key of Ed25519 that 32 such bytes are, in PKCS #8. */
function keyOf(byte: number): KeyObject {
  const head = Buffer.from("302e020100300506032b657004220420", "hex");
  return createPrivateKey({
    key: Buffer.concat([head, Buffer.alloc(32, byte)]),
    format: "der",
    type: "pkcs8",
  });
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function unsigned(header: object, claims: object): string {
  return `${part(header)}.${part(claims)}.`;
}

function signed(header: object, claims: object, key: KeyObject = PRIVATE_KEY): string {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${signBytes(null, Buffer.from(text), key).toString("base64url")}`;
}

function byHash(header: object, claims: object, key: string): string {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`;
}

function signedPart(token: string): string {
  return token.slice(0, token.lastIndexOf("."));
}
