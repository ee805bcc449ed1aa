// A small OpenID provider on this machine: signs everybody in at once, checks PKCE, and gives each code once. Tests change
// what it says.

import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

export const CLIENT = "plugboard-page";

export interface TestProvider {
  url: string;
  /** Replaces claims of the ID tokens from then on; `undefined` removes one. */
  claims: JWTPayload;
  /** Makes the ID token in another way. */
  sign?: (claims: JWTPayload) => Promise<string>;
  /** What it says about itself, besides its endpoints. */
  metadata: Record<string, unknown>;
  /** The parameters of sign-ins that were begun. */
  begun: URLSearchParams[];
  /** The last ID token that it gave. */
  identity: string;
  /** An access token with these claims. */
  token: (claims: JWTPayload) => Promise<string>;
  /** What its token endpoint answered. */
  answers: number[];
  close(): Promise<void>;
}

export async function openProvider(): Promise<TestProvider> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const codes = new Map<string, URLSearchParams>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", provider.url);
    const json = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    const answer = async (): Promise<void> => {
      if (pathname === "/.well-known/openid-configuration") {
        return json(200, {
          issuer: provider.url,
          jwks_uri: `${provider.url}/keys`,
          authorization_endpoint: `${provider.url}/authorize`,
          token_endpoint: `${provider.url}/token`,
          ...provider.metadata,
        });
      }
      if (pathname === "/keys") {
        return json(200, { keys: [{ ...(await exportJWK(publicKey)), kid: "one" }] });
      }
      if (pathname === "/authorize") {
        provider.begun.push(searchParams);
        const code = randomBytes(16).toString("base64url");
        codes.set(code, searchParams);
        const back = new URL(searchParams.get("redirect_uri") ?? "");
        back.searchParams.set("code", code);
        back.searchParams.set("state", searchParams.get("state") ?? "");
        return void response.writeHead(302, { location: back.href }).end();
      }
      let body = "";
      for await (const chunk of request) body += String(chunk);
      const given = new URLSearchParams(body);
      const code = given.get("code") ?? "";
      const begun = codes.get(code);
      codes.delete(code);
      const challenge = createHash("sha256")
        .update(given.get("code_verifier") ?? "")
        .digest("base64url");
      const isRight =
        pathname === "/token" &&
        begun?.get("code_challenge") === challenge &&
        begun.get("client_id") === given.get("client_id") &&
        begun.get("redirect_uri") === given.get("redirect_uri");
      provider.answers.push(isRight ? 200 : 400);
      if (!isRight) return json(400, { error: "invalid_grant" });
      const now = Math.floor(Date.now() / 1000);
      const claims = {
        iss: provider.url,
        sub: "1",
        aud: CLIENT,
        iat: now,
        exp: now + 300,
        nonce: begun?.get("nonce") ?? "",
        ...provider.claims,
      };
      provider.identity = await (provider.sign ?? provider.token)(claims);
      json(200, { token_type: "Bearer", access_token: "x", id_token: provider.identity });
    };
    void answer();
  });
  const provider: TestProvider = {
    url: "",
    claims: {},
    metadata: {},
    begun: [],
    identity: "",
    token: (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "one" }).sign(privateKey),
    answers: [],
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  provider.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return provider;
}
