// Plugboard as a client: registered by itself, described by a document, or registered beforehand, with a secret, a
// key or neither.

import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { mkdir, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { loadConfig } from "../../../src/core/config/load.ts";
import { openBoard } from "../../../src/core/board/board.ts";
import { closeAll } from "../../fixtures/http/client.ts";
import type { OAuthFixture } from "../../fixtures/oauth/oauth.ts";
import { closeBoards, statusOf } from "../../support/boards.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { agree, callAtOnce, connect, connectAs, protect, readDocument } from "./support.ts";

afterEach(closeAll);
// Last, so that it is done first.
closeBoards();

function keyPair() {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    public_key_pem: publicKey.export({ type: "spki", format: "pem" }).toString(),
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

/** Occupies a port on loopback until the test is over. */
async function occupy(port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}

/** How the client proved who it is, request by request. */
function proofs(oauth: OAuthFixture): string[] {
  return oauth.requests
    .filter(({ path }) => path === "/token")
    .map(({ headers, params }) => {
      if (headers.authorization?.startsWith("Basic ")) return "basic";
      if (params["client_secret"] !== undefined) return "post";
      return params["client_assertion"] === undefined ? "none" : "assertion";
    });
}

function clientIds(oauth: OAuthFixture): unknown[] {
  return oauth.requests
    .filter(({ path }) => path === "/authorize")
    .map(({ params }) => params["client_id"]);
}

describe("a client that registers itself", () => {
  it("describes itself", async () => {
    const oauth = await protect();
    await connectAs(oauth, undefined);
    const registration = oauth.requests.find(({ path }) => path === "/register");
    expect(registration?.body).toEqual({
      client_name: "Plugboard",
      redirect_uris: [expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      application_type: "native",
    });
  });

  it.each([
    [["client_secret_basic"], "basic"],
    [["client_secret_post"], "post"],
    [undefined, "none"],
  ])("authenticates with a method that the server supports: %j", async (supported, proof) => {
    const oauth = await protect({
      metadata: { token_endpoint_auth_methods_supported: supported },
    });
    const board = await connectAs(oauth, undefined);
    oauth.expireTokens();
    expect(await callAtOnce(board, 1)).toEqual([]);
    expect(proofs(oauth)).toEqual([proof, proof]);
  });

  it("registers once: the next sign-in uses the same port", async () => {
    const stateDir = temporaryDirectory();
    const oauth = await protect({ strictRedirects: true });
    const board = await connectAs(oauth, undefined, { stateDir });
    await board.signIn("docs");
    await board.close();
    const later = await connectAs(oauth, undefined, { stateDir });
    await later.signIn("docs");
    expect(oauth.count("register")).toBe(1);
    expect(new Set(clientIds(oauth)).size).toBe(1);
    expect(clientIds(oauth)).toHaveLength(3);
  });

  it("registers again if that port is taken", async () => {
    const stateDir = temporaryDirectory();
    const oauth = await protect({ strictRedirects: true });
    const board = await connectAs(oauth, undefined, { stateDir });
    const { redirectUri } = await readDocument(stateDir, "client");
    await occupy(Number(new URL(String(redirectUri)).port));
    expect((await board.signIn("docs")).state.kind).toBe("ready");
    expect(oauth.count("register")).toBe(2);
    expect((await readDocument(stateDir, "client"))["redirectUri"]).not.toBe(redirectUri);
  });

  it("says what to do if the server does not register clients", async () => {
    const oauth = await protect({ registration: false });
    const board = await connectAs(oauth, undefined);
    expect(statusOf(board, "docs").lastError).toBe(
      `cannot sign in to 'docs': ${oauth.issuer} does not register clients automatically; register one there with ` +
        "the redirect URI http://127.0.0.1/callback and set oauth.clientId",
    );
  });

  it("says why it was refused", async () => {
    const other = await protect();
    const oauth = await protect({ metadata: { registration_endpoint: `${other.issuer}/revoke` } });
    const board = await connectAs(oauth, undefined);
    expect(statusOf(board, "docs").lastError).toContain(
      `${oauth.issuer} did not register Plugboard`,
    );
    await expect(board.signIn("docs")).rejects.toMatchObject({
      hint: "register a client there with the redirect URI http://127.0.0.1/callback, set oauth.clientId, then run: plugboard login docs",
    });
  });
});

describe("a client with a document", () => {
  const clientMetadataUrl = "https://example.com/plugboard.json";
  const document = {
    client_id: clientMetadataUrl,
    redirect_uris: ["http://127.0.0.1/callback"],
    grant_types: ["authorization_code", "refresh_token"],
  };

  it("uses the document if the server supports such documents", async () => {
    const oauth = await protect({ clientMetadataDocuments: { [clientMetadataUrl]: document } });
    const board = await connectAs(oauth, { clientMetadataUrl });
    oauth.expireTokens();
    expect(await callAtOnce(board, 2)).toEqual([]);
    expect(clientIds(oauth)).toEqual([clientMetadataUrl]);
    expect(oauth.count("register")).toBe(0);
    expect(oauth.count("refresh")).toBe(1);
  });

  it("registers itself if it does not", async () => {
    const oauth = await protect();
    await connectAs(oauth, { clientMetadataUrl });
    expect(oauth.count("register")).toBe(1);
  });
});

describe("a client that was registered beforehand", () => {
  it.each([
    ["no secret", {}, ["none"], "none"],
    ["a secret", { client_secret: "s3cret" }, ["client_secret_basic"], "basic"],
    ["a secret for the form", { client_secret: "s3cret" }, ["client_secret_post"], "post"],
    ["a secret, of the two", { client_secret: "s3cret" }, undefined, "basic"],
  ])("has %s", async (_, secret, supported, proof) => {
    const oauth = await protect({
      registration: false,
      clients: [{ client_id: "app", ...secret }],
      ...(supported && { metadata: { token_endpoint_auth_methods_supported: supported } }),
    });
    const clientSecret = "client_secret" in secret ? { clientSecret: "${SECRET}" } : {};
    const env = { SECRET: "s3cret" };
    const board = await connectAs(oauth, { clientId: "app", ...clientSecret }, { env });
    oauth.expireTokens();
    expect(await callAtOnce(board, 2)).toEqual([]);
    expect(clientIds(oauth)).toEqual(["app"]);
    expect(proofs(oauth)).toEqual([proof, proof]);
  });

  it("has a key, also when a person signs in", async () => {
    const { public_key_pem, privateKey } = keyPair();
    const oauth = await protect({ clients: [{ client_id: "app", public_key_pem }] });
    const board = await connectAs(oauth, { clientId: "app", privateKey });
    oauth.expireTokens();
    expect(await callAtOnce(board, 1)).toEqual([]);
    expect(proofs(oauth)).toEqual(["assertion", "assertion"]);
  });

  it("uses the configured redirect URI, whose port must be free", async () => {
    const port = await freePort();
    const redirectUri = `http://127.0.0.1:${port}/cb`;
    const clients = [{ client_id: "app", redirect_uris: [redirectUri] }];
    const oauth = await protect({ clients, strictRedirects: true });
    const settings = { clientId: "app", redirectUri };
    const board = await connectAs(oauth, settings);
    expect(await callAtOnce(board, 1)).toEqual([]);
    await occupy(port);
    await expect(board.signIn("docs")).rejects.toMatchObject({
      code: "NETWORK",
      message: `port ${port} for the sign-in's redirect is not free`,
      hint: "stop the program that listens there, or set another oauth.redirectUri",
    });
  });
});

describe("client credentials", () => {
  it("with a secret ask nobody", async () => {
    const oauth = await protect({ clients: [{ client_id: "app", client_secret: "s3cret" }] });
    const settings = {
      grant: "client_credentials",
      clientId: "app",
      clientSecret: "s3cret",
    } as const;
    const board = await connect(oauth, {}, { oauth: settings });
    expect(await callAtOnce(board, 2)).toEqual([]);
    oauth.expireTokens();
    expect(await callAtOnce(board, 10)).toEqual([]);
    expect(oauth.count("client_credentials")).toBe(2);
    expect(oauth.count("authorize")).toBe(0);
    expect((await board.signIn("docs")).state.kind).toBe("ready");
    expect(oauth.count("client_credentials")).toBe(3);
  });

  it.each(["client_credentials", "authorization_code"] as const)(
    "with a secret that is rotated go on with the new one, by %s",
    async (grant) => {
      const client = { client_id: "app", client_secret: "first-secret" };
      const oauth = await protect({ clients: [client] });
      const env: Record<string, string> = { CLIENT_SECRET: "first-secret" };
      const settings = { grant, clientId: "app", clientSecret: "secret://env/CLIENT_SECRET" };
      const board = await connectAs(oauth, settings, { env });
      expect(await callAtOnce(board, 2)).toEqual([]);
      client.client_secret = "second-secret";
      env["CLIENT_SECRET"] = "second-secret";
      oauth.expireTokens();
      expect(await callAtOnce(board, 2)).toEqual([]);
      // Nobody had to sign in again.
      expect(oauth.count("authorize")).toBe(grant === "client_credentials" ? 0 : 1);
    },
  );

  it("get another scope if a tool requires it", async () => {
    const clients = [{ client_id: "app", client_secret: "s3cret" }];
    const oauth = await protect({ clients, toolScopes: { count: "write" } });
    const settings = {
      grant: "client_credentials",
      clientId: "app",
      clientSecret: "s3cret",
    } as const;
    const board = await connect(oauth, {}, { oauth: settings });
    expect(await callAtOnce(board, 1)).toEqual([]);
  });

  it.each(["in the configuration", "in a file beside it"])("can be a key %s", async (where) => {
    const { public_key_pem, privateKey } = keyPair();
    const oauth = await protect({ clients: [{ client_id: "app", public_key_pem }] });
    const directory = temporaryDirectory();
    await mkdir(join(directory, "keys"));
    await writeFile(join(directory, "keys", "app.pem"), privateKey);
    const isFile = where === "in a file beside it";
    const settings = {
      grant: "client_credentials",
      clientId: "app",
      privateKey: isFile ? "keys/${NAME}.pem" : "${KEY}",
    };
    const servers = { docs: { url: oauth.url, oauth: settings } };
    const file = join(directory, "plugboard.json");
    await writeFile(file, JSON.stringify({ agents: { defaults: { mcp: { servers } } } }));
    const env = { NAME: "app", KEY: privateKey };
    await using board = await openBoard(await loadConfig(file), { env });
    expect(await callAtOnce(board, 1)).toEqual([]);
    expect(proofs(oauth)).toEqual(["assertion"]);
  });

  it("with a key that cannot be read fail with the reason", async () => {
    const oauth = await protect();
    const settings = {
      grant: "client_credentials",
      clientId: "app",
      privateKey: "/nowhere/key.pem",
    } as const;
    const board = await connect(oauth, {}, { oauth: settings });
    const { state, lastError } = statusOf(board, "docs");
    expect(state.kind).toBe("failed");
    expect(lastError).toBe("the file of oauth.privateKey cannot be read (ENOENT)");
  });

  it.each([
    [{ clientId: "app", clientSecret: "wrong" }, "gave no token: the secret is wrong"],
    [{}, "client credentials need oauth.clientId and a secret or a key"],
  ])("that are not valid lead to needs-auth: %j", async (given, reason) => {
    const oauth = await protect({ clients: [{ client_id: "app", client_secret: "s3cret" }] });
    const settings = { grant: "client_credentials", ...given } as const;
    const board = await connect(oauth, {}, { oauth: settings });
    expect(statusOf(board, "docs").state.kind).toBe("needs-auth");
    expect(statusOf(board, "docs").lastError).toContain(reason);
  });
});

it("a client of one issuer is not used with another", async () => {
  const stateDir = temporaryDirectory();
  const [one, other] = [await protect(), await protect()];
  await connectAs(one, undefined, { stateDir });
  await connect(other, { stateDir, onAuthorization: agree(other) });
  const [first] = clientIds(one);
  expect(clientIds(other)).not.toContain(first);
  expect(other.count("register")).toBe(1);
});
