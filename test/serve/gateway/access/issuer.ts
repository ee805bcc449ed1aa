// An issuer of JWTs on this machine: its metadata, its keys, and tokens of every kind.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import { onTestFinished } from "vitest";

export const PUBLIC_URL = "https://gateway.example.com";

export interface Issuer {
  url: string;
  /** The paths that were asked for. */
  requests: string[];
  /** The public keys that it lists. */
  keys: JWK[];
  /** What it answers, by path, and what it waits for before. Tests replace it. */
  answers: Map<string, { status: number; body: unknown; after?: Promise<unknown> }>;
  /** Adds a key and lists it. */
  addKey(kid: string | undefined, algorithm?: string): Promise<void>;
  /** Claims replace those of a valid token; `undefined` removes one. */
  sign(claims?: JWTPayload, options?: SignOptions): Promise<string>;
}

interface SignOptions {
  kid?: string;
  header?: Record<string, unknown>;
}

/** Seconds since the epoch, as ManualClock begins. */
export const NOW = 1000;

export const METADATA = "/.well-known/openid-configuration";
export const KEYS = "/keys";

export async function openIssuer(path = ""): Promise<Issuer> {
  const answers: Issuer["answers"] = new Map();
  const requests: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    requests.push(url);
    const { status, body, after } = answers.get(url) ?? { status: 404, body: {} };
    void Promise.resolve(after).then(() => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `${origin}${path}`;
  const keys: JWK[] = [];
  const secrets = new Map<
    string | undefined,
    { algorithm: string; key: Parameters<SignJWT["sign"]>[0] }
  >();
  answers.set(`${path.replace(/\/$/, "")}${METADATA}`, {
    status: 200,
    body: { issuer: url, jwks_uri: `${origin}${KEYS}` },
  });
  answers.set(KEYS, { status: 200, body: { keys } });
  const issuer: Issuer = {
    url,
    requests,
    keys,
    answers,
    async addKey(kid, algorithm = "ES256") {
      const { publicKey, privateKey } = await generateKeyPair(algorithm);
      keys.push({ ...(await exportJWK(publicKey)), ...(kid !== undefined && { kid }) });
      secrets.set(kid, { algorithm, key: privateKey });
    },
    async sign(claims = {}, { kid = "one", header = {} } = {}) {
      const { algorithm, key } = secrets.get(kid) ?? { algorithm: "", key: new Uint8Array() };
      const valid: JWTPayload = { iss: url, sub: "ann", aud: `${PUBLIC_URL}/mcp`, exp: NOW + 600 };
      return new SignJWT({ ...valid, ...claims })
        .setProtectedHeader({ alg: algorithm, kid, ...header })
        .sign(key, { crit: { x: true } });
    },
  };
  await issuer.addKey("one");
  return issuer;
}
