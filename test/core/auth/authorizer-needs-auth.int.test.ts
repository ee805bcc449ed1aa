// What a board does when nobody can sign in or no sign-in is needed, what it stores, and signing out.

import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { OnAuthorization } from "../../../src/core/types/authorization.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import { closeAll, closers, serve } from "../../fixtures/http/client.ts";
import { startSse } from "../../fixtures/http/sse.ts";
import type { OAuthFixture } from "../../fixtures/oauth/oauth.ts";
import { closeBoards, fixture, open, reaches, statusOf } from "../../support/boards.ts";
import { recordingLogger } from "../../support/logger.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import {
  agree,
  callAtOnce,
  connect,
  connectAs,
  documentPath,
  protect,
  readDocument,
} from "./support.ts";

afterEach(closeAll);
// Last, so that it is done first.
closeBoards();

describe("without onAuthorization", () => {
  it("the server is needs-auth, and its status and calls say what to run", async () => {
    const oauth = await protect();
    const board = await connect(oauth);
    expect(statusOf(board, "docs").state).toEqual({
      kind: "needs-auth",
      remedy: "sign-in required; run: plugboard login docs",
    });
    const outcome = await board.call("docs/echo", { text: "x" });
    expect(outcome.failure).toEqual({
      code: "NEEDS_AUTH",
      message: expect.stringContaining("run: plugboard login docs"),
    });
    expect(oauth.count("register")).toBe(0);
  });

  it("a name with blanks is quoted in the command to run", async () => {
    const oauth = await protect();
    const board = await open({ "my docs": { url: oauth.url } });
    expect(statusOf(board, "my docs").state).toMatchObject({
      remedy: expect.stringContaining('plugboard login "my docs"'),
    });
  });

  it("a server without metadata suggests a token in headers", async () => {
    const server = await serve({ auth: { token: "t0ken" } });
    const board = await open({ docs: { url: server.url } });
    const { state } = statusOf(board, "docs");
    expect(state.kind).toBe("needs-auth");
    expect(state).toMatchObject({
      remedy: expect.stringContaining("give it a token in headers"),
    });
  });

  it("signing in fails because nobody can be asked", async () => {
    const board = await connect(await protect());
    await expect(board.signIn("docs")).rejects.toMatchObject({
      code: "NEEDS_AUTH",
      message: "sign-in required",
    });
  });
});

describe("a server that needs no sign-in", () => {
  it.each<[string, ServerConfig, string]>([
    ["oauth: false", { oauth: false }, '"oauth" is false'],
    [
      "a header of its own",
      { headers: { authorization: "Bearer mine" } },
      "its headers have credentials",
    ],
    [
      "a configured token",
      { auth: { type: "bearer", token: "mine" } },
      "its headers have credentials",
    ],
  ])("because of %s is not asked for a challenge", async (_, config, why) => {
    const oauth = await protect();
    const board = await connect(oauth, { onAuthorization: agree(oauth) }, config);
    expect(statusOf(board, "docs").state.kind).toBe("needs-auth");
    expect(oauth.requests).toEqual([]);
    expect(oauth.count("resource-metadata")).toBe(0);
    for (const attempt of [board.signIn("docs"), board.signOut("docs")]) {
      await expect(attempt).rejects.toMatchObject({
        code: "UNSUPPORTED",
        message: `you cannot sign in to 'docs': ${why}`,
        hint: "change its configuration first",
      });
    }
  });

  it("because it does not ask for one", async () => {
    const server = await serve({ era: "modern" });
    const board = await open({ docs: { url: server.url } }, { onAuthorization: () => {} });
    expect(statusOf(board, "docs").state.kind).toBe("ready");
    await expect(board.signIn("docs")).rejects.toMatchObject({
      code: "UNSUPPORTED",
      message: "'docs' does not require a sign-in",
    });
    expect(await board.signOut("docs")).toBe("none");
  });

  it("because it has the older transport and does not ask for one", async () => {
    const server = await startSse({});
    closers.push(() => server.close());
    const board = await open({ docs: { url: server.url, transport: "sse" } });
    await expect(board.signIn("docs")).rejects.toMatchObject({ code: "UNSUPPORTED" });
  });

  it("because it is a program", async () => {
    const board = await open({ echo: fixture("echo") });
    await expect(board.signIn("echo")).rejects.toMatchObject({
      code: "UNSUPPORTED",
      message: "'echo' is a program, so there is nothing to sign in to",
    });
    await expect(board.signOut("nobody")).rejects.toMatchObject({ code: "UNKNOWN_SERVER" });
  });
});

describe("a sign-in", () => {
  it("uses the server's current URL, and never sends it tokens for the old one", async () => {
    const stateDir = temporaryDirectory();
    const [one, other] = [await protect(), await protect()];
    const env = { ADDRESS: one.url };
    const onAuthorization: OnAuthorization = (request) =>
      agree(request.url.startsWith(one.issuer) ? one : other)(request);
    const board = await open({ docs: { url: "${ADDRESS}" } }, { stateDir, env, onAuthorization });
    expect(await callAtOnce(board, 1)).toEqual([]);
    env.ADDRESS = other.url;
    await board.restart("docs");
    expect(await callAtOnce(board, 1)).toEqual([]);
    expect([one.count("authorize"), other.count("authorize")]).toEqual([1, 1]);
    expect(other.resourceRequests.length).toBeGreaterThan(0);
    const given = other.resourceRequests.map(({ headers }) => headers.authorization ?? "");
    expect(one.tokens.filter(({ token }) => given.some((each) => each.includes(token)))).toEqual(
      [],
    );
  });

  it("without the certificates that it needs fails with the reason, every time", async () => {
    const oauth = await protect();
    const board = await open(
      { docs: { url: oauth.url, tls: { ca: "/nowhere/ca.pem" } } },
      { start: "none" },
    );
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(board.signIn("docs")).rejects.toMatchObject({ code: "UNRESOLVED_VALUE" });
    }
  });
});

describe("the state on disk", () => {
  it("is readable only by its owner", async () => {
    const stateDir = join(temporaryDirectory(), "state");
    const oauth = await protect();
    const board = await connectAs(oauth, undefined, { stateDir });
    oauth.expireTokens();
    expect(await callAtOnce(board, 1)).toEqual([]);
    const directory = join(stateDir, "auth");
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    const names = await readdir(directory);
    expect(names.map((name) => name.replace(/-[0-9a-f]{32}/, "")).toSorted()).toEqual([
      "client.json",
      "grant.json",
      "server.json",
    ]);
    for (const name of names) {
      expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
    }
  });

  it("does not exist without a state directory; the sign-in lasts as long as the board", async () => {
    const oauth = await protect();
    const home = temporaryDirectory();
    const board = await connectAs(oauth, undefined, { env: { HOME: home, PLUGBOARD_HOME: home } });
    oauth.expireTokens();
    expect(await callAtOnce(board, 3)).toEqual([]);
    await board.restart("docs");
    expect(await callAtOnce(board, 1)).toEqual([]);
    expect(oauth.count("authorize")).toBe(1);
    expect(await board.signOut("docs")).toBe("revoked");
    expect(await readdir(home)).toEqual([]);
    const next = await connect(oauth);
    expect(statusOf(next, "docs").state.kind).toBe("needs-auth");
  });

  it.each([
    ["broken off", '{"tokens": {"acc'],
    ["of another program", '{"hello": "world"}'],
    ["no object", "[1, 2]"],
    ["of another shape", '{"tokens": "x", "discovery": "x", "client": "x"}'],
  ])("counts as missing if it is %s", async (_, content) => {
    const stateDir = temporaryDirectory();
    const oauth = await protect();
    const first = await connectAs(oauth, undefined, { stateDir });
    await first.close();
    for (const kind of ["server", "client", "grant"] as const) {
      await writeFile(await documentPath(stateDir, kind), content);
    }
    const board = await connectAs(oauth, undefined, { stateDir });
    await reaches(board, "docs", "ready");
    expect(await callAtOnce(board, 1)).toEqual([]);
    expect(oauth.count("authorize")).toBe(2);
    expect(oauth.count("register")).toBe(2);
  });

  it("that cannot be written keeps the server from starting", async () => {
    const stateDir = temporaryDirectory();
    await writeFile(join(stateDir, "auth"), "in the way");
    const oauth = await protect();
    const board = await connectAs(oauth, undefined, { stateDir });
    expect(statusOf(board, "docs").state.kind).not.toBe("ready");
    expect(statusOf(board, "docs").lastError).toContain("auth");
  });

  it("never gets into a log or an error", async () => {
    const stateDir = temporaryDirectory();
    const logger = recordingLogger();
    const clients = [{ client_id: "app", client_secret: "s3cret-value" }];
    const oauth = await protect({ clients, toolScopes: { count: "write" } });
    const settings = { clientId: "app", clientSecret: "s3cret-value" };
    const said: unknown[] = [];
    const board = await connectAs(oauth, settings, { stateDir, logger });
    board.on("server", ({ state }) => said.push(state));
    said.push(await board.call("docs/count", { key: "x" }));
    oauth.expireTokens();
    said.push(await board.call("docs/echo", { text: "x" }));
    oauth.revokeAll();
    said.push(await board.call("docs/echo", { text: "x" }));
    await board.close();
    const alone = await connect(oauth, { stateDir, logger }, { oauth: settings });
    await reaches(alone, "docs", "ready");
    oauth.revokeAll();
    said.push(await alone.call("docs/echo", { text: "x" }), alone.status());
    said.push(await alone.signIn("docs").catch((error: unknown) => error));
    said.push(await alone.signOut("docs"));
    const everything = JSON.stringify([logger.lines, said]) + said.map(String).join("\n");
    const secrets = [...oauth.tokens.map(({ token }) => token), ...codesOf(oauth), "s3cret-value"];
    expect(secrets.length).toBeGreaterThan(6);
    expect(secrets.filter((secret) => everything.includes(secret))).toEqual([]);
  });
});

function codesOf(oauth: OAuthFixture): string[] {
  return oauth.requests.flatMap(({ params }) => [
    ...(params["code"] === undefined ? [] : [params["code"]]),
    ...(params["code_verifier"] === undefined ? [] : [params["code_verifier"]]),
  ]);
}

describe("signing out", () => {
  it("revokes the tokens there and forgets them here", async () => {
    const stateDir = temporaryDirectory();
    const oauth = await protect();
    const board = await connectAs(oauth, undefined, { stateDir });
    await board.close();
    const other = await connect(oauth, { stateDir });
    await reaches(other, "docs", "ready");
    expect(await other.signOut("docs")).toBe("revoked");
    expect(oauth.count("revoke")).toBe(2);
    expect(oauth.tokens.every(({ state }) => state === "revoked")).toBe(true);
    const names = await readdir(join(stateDir, "auth"));
    expect(names.filter((name) => name.startsWith("grant-"))).toEqual([]);
    expect(await other.signOut("docs")).toBe("none");
    expect(statusOf(other, "docs").state.kind).toBe("needs-auth");
    expect((await other.call("docs/echo", { text: "x" })).isError).toBe(true);
  });

  it("revokes tokens that another process was granted", async () => {
    const stateDir = temporaryDirectory();
    const oauth = await protect();
    const board = await connect(oauth, { stateDir });
    const other = await connectAs(oauth, undefined, { stateDir });
    await other.close();
    expect(await board.signOut("docs")).toBe("revoked");
    expect(oauth.tokens.every(({ state }) => state === "revoked")).toBe(true);
  });

  it.each([["client_secret_basic"], ["client_secret_post"]])(
    "proves who it is by %s",
    async (method) => {
      const methods = {
        token_endpoint_auth_methods_supported: [method],
        revocation_endpoint_auth_methods_supported: [method],
      };
      const oauth = await protect({ metadata: methods });
      const board = await connectAs(oauth, undefined);
      expect(await board.signOut("docs")).toBe("revoked");
    },
  );

  it("authenticates with a key", async () => {
    const { generateKeyPairSync } = await import("node:crypto");
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const public_key_pem = publicKey.export({ type: "spki", format: "pem" }).toString();
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    const oauth = await protect({ clients: [{ client_id: "app", public_key_pem }] });
    const settings = { grant: "client_credentials", clientId: "app", privateKey: pem } as const;
    const board = await connect(oauth, {}, { oauth: settings });
    expect(await board.signOut("docs")).toBe("revoked");
    expect(oauth.count("revoke")).toBe(1);
  });

  it.each([
    ["knows no revocation", { revocation_endpoint: undefined }],
    ["refuses it", { revocation_endpoint: "http://127.0.0.1:1/revoke" }],
  ])("only forgets the tokens if the server %s", async (_, metadata) => {
    const stateDir = temporaryDirectory();
    const oauth = await protect({ metadata });
    const board = await connectAs(oauth, undefined, { stateDir });
    expect(await readDocument(stateDir, "grant")).toHaveProperty("tokens");
    expect(await board.signOut("docs")).toBe("forgotten");
    expect(await board.signOut("docs")).toBe("none");
    expect(await readFile(await documentPath(stateDir, "client"), "utf8")).toContain("client_id");
  });

  it("says that it only forgot the tokens if the server answers with an error", async () => {
    const other = await protect();
    const oauth = await protect({ metadata: { revocation_endpoint: `${other.issuer}/revoke` } });
    const board = await connectAs(oauth, undefined);
    expect(await board.signOut("docs")).toBe("forgotten");
    expect(other.count("revoke")).toBe(2);
  });

  it("asks nobody to sign in again until somebody chooses to", async () => {
    const oauth = await protect();
    const board = await connectAs(oauth, undefined);
    expect(await board.signOut("docs")).toBe("revoked");
    expect(statusOf(board, "docs").state.kind).toBe("needs-auth");
    expect(await callAtOnce(board, 1)).toHaveLength(1);
    expect(oauth.count("authorize")).toBe(1);
    expect((await board.signIn("docs")).state.kind).toBe("ready");
    oauth.revokeAll();
    expect(await callAtOnce(board, 1)).toEqual([]);
    expect(oauth.count("authorize")).toBe(3);
  });
});
