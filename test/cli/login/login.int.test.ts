// `plugboard login` and `plugboard logout` against a real authorization server, with a browser that is a
// program of its own.

import { chmodSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { closeAll, serve } from "../../fixtures/http/client.ts";
import { owned } from "../../fixtures/http/client.ts";
import {
  type OAuthFixture,
  type OAuthFixtureOptions,
  startOAuth,
} from "../../fixtures/oauth/oauth.ts";
import { fixture } from "../../support/boards.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();
afterEach(closeAll);

const CONSENT = new URL("../../fixtures/oauth/consent.mjs", import.meta.url).href;

let browser = "";
beforeEach(() => {
  const program = `#!${process.execPath}\nimport(${JSON.stringify(CONSENT)});\n`;
  browser = scratch.file("browser.mjs", program);
  chmodSync(browser, 0o755);
});

async function protect(options: OAuthFixtureOptions = {}): Promise<OAuthFixture> {
  const oauth = owned(await startOAuth(options));
  scratch.servers({ docs: { url: oauth.url }, echo: fixture("echo") });
  return oauth;
}

/** The address that a person is told to open. */
function addressIn(text: string): string {
  const [address] = /^ {2}(http\S+)$/mu.exec(text)?.slice(1) ?? [];
  if (address === undefined) throw new Error(`no address in ${text}`);
  return address;
}

/** The address of a web server that answers there with this status and body, and with 404 elsewhere. */
async function answering(path: string, status: number, body: string): Promise<string> {
  const server = createServer(({ url }, response) => {
    response.writeHead(url === path ? status : 404);
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  owned({
    async close() {
      server.closeAllConnections();
      server.close();
    },
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}${path}`;
}

describe("plugboard login", () => {
  it("and logout reach the gateway that runs", async () => {
    const oauth = await protect();
    await scratch.up();
    const state = async (): Promise<string> => {
      const { stdout } = await scratch.run(["status", "docs", "--json"]);
      return JSON.parse(stdout).servers[0].state.kind;
    };
    expect((await scratch.run(["call", "docs/echo", "text=hi"])).stderr).toContain(
      "plugboard login docs",
    );
    expect(await state()).toBe("needs-auth");
    const signedIn = await scratch.run(["login", "docs"], { env: { BROWSER: browser } });
    expect([signedIn.code, signedIn.stdout]).toEqual([0, "signed in to docs: 8 tools\n"]);
    expect(await state()).toBe("ready");
    const called = await scratch.run(["call", "docs/echo", "text=hi"]);
    expect(called).toMatchObject({ code: 0, stdout: "hi\n", stderr: "" });
    const removed = await scratch.run(["remove", "docs", "--yes"]);
    expect(removed.stderr).toContain(
      "you stay signed in to docs; to sign out:\n  plugboard undo && plugboard logout docs\n",
    );
    expect((await scratch.run(["remove", "echo", "--yes"])).stderr).not.toContain("signed in");
    await scratch.run(["undo"]);
    await scratch.run(["undo"]);
    await scratch.run(["reload", "--yes"]);
    const signedOut = await scratch.run(["logout", "docs"]);
    expect([signedOut.code, signedOut.stdout]).toEqual([
      0,
      "signed out of docs: its tokens are revoked and deleted\n",
    ]);
    expect(await state()).toBe("needs-auth");
    expect(oauth.count("authorize")).toBe(1);
  });

  it("opens the browser, and calls work once the person has signed in", async () => {
    const oauth = await protect();
    expect((await scratch.run(["call", "docs/echo", "text=hi"])).stderr).toContain(
      "plugboard login docs",
    );
    const { code, stdout, stderr } = await scratch.run(["login", "docs"], {
      env: { BROWSER: browser },
    });
    expect(code).toBe(0);
    expect(stdout).toBe("signed in to docs: 8 tools\n");
    expect(stderr).toContain(
      "Opening a browser to sign in to docs (scope: mcp). If none opens, go to:",
    );
    expect(addressIn(stderr)).toContain(`${oauth.issuer}/authorize?`);
    const called = await scratch.run(["call", "docs/echo", "text=hi"]);
    expect(called).toMatchObject({ code: 0, stdout: "hi\n" });
    expect(oauth.count("authorize")).toBe(1);
  });

  it("prints JSON with --json", async () => {
    await protect();
    const { code, stdout } = await scratch.run(["login", "docs", "--json"], {
      env: { BROWSER: browser },
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      server: "docs",
      signedIn: true,
      state: { kind: "ready" },
    });
  });

  it.each([
    ["--no-browser is given", ["login", "docs", "--no-browser"], true],
    ["there is no browser", ["login", "docs"], false],
  ])("prints the address on stderr where %s", async (_, argv, hasBrowser) => {
    const oauth = await protect();
    const { done, stderr } = scratch.start(argv, hasBrowser ? { env: { BROWSER: browser } } : {});
    await stderr.until("\n  http");
    expect(stderr.text).toContain("To sign in to docs (scope: mcp), go to:");
    await oauth.approve(addressIn(stderr.text), { visit: true });
    expect(await done).toMatchObject({ code: 0, stdout: "signed in to docs: 8 tools\n" });
  });

  it("takes the address that the browser ended on, pasted into the terminal", async () => {
    const oauth = await protect();
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const { done, stderr } = scratch.start(["login", "docs", "--no-browser"], { stdin });
    await stderr.until("paste its address here:");
    stdin.write("\n");
    stdin.write(`  ${await oauth.approve(addressIn(stderr.text))}  \n`);
    expect(await done).toMatchObject({ code: 0, stdout: "signed in to docs: 8 tools\n" });
  });

  it("stops reading the terminal when the browser comes back by itself", async () => {
    const oauth = await protect();
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const { done, stderr } = scratch.start(["login", "docs", "--no-browser"], { stdin });
    await stderr.until("paste its address here:");
    await oauth.approve(addressIn(stderr.text), { visit: true });
    expect((await done).code).toBe(0);
    expect(stdin.isPaused()).toBe(true);
  });

  it("refuses a line that is not an address", async () => {
    const oauth = await protect();
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const { done, stderr } = scratch.start(["login", "docs", "--no-browser"], { stdin });
    await stderr.until("paste its address here:");
    stdin.write("what?\n");
    expect((await done).code).toBe(2);
    expect(stderr.text).toContain("plugboard: what you pasted is not an address");
    expect(oauth.count("token")).toBe(0);
  });

  it("reports that the person refused", async () => {
    await protect();
    const env = { BROWSER: browser, DECISION: "deny" };
    const { code, stderr, stdout } = await scratch.run(["login", "docs"], { env });
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toContain(
      "plugboard: cannot sign in to 'docs': the authorization server refused: the person said no (access_denied)\nhint: run:\n  plugboard login docs\n",
    );
  });

  it("ends with Ctrl-C", async () => {
    const oauth = await protect();
    const { done, stderr, events } = scratch.start(["login", "docs", "--no-browser"]);
    await stderr.until("\n  http");
    events.emit("SIGINT", "SIGINT");
    expect((await done).code).toBe(130);
    expect(oauth.count("token")).toBe(0);
  });

  it("says that signing in did not help", async () => {
    const oauth = await protect({ mcp: { status: [{ code: 500, times: 1000 }] } });
    const { code, stdout } = await scratch.run(["login", "docs"], { env: { BROWSER: browser } });
    expect(code).toBe(3);
    expect(stdout).toBe("signed in to docs, but the server is failed\n");
    expect(oauth.count("authorization_code")).toBe(1);
  });

  it.each([
    [
      ["login", "doc"],
      2,
      "plugboard: there is no server named 'doc'\nhint: did you mean 'docs'?\n",
    ],
    [
      ["login", "echo"],
      2,
      "plugboard: 'echo' is a program, so there is nothing to sign in to\nhint: pass its credentials in env\n",
    ],
    [["login"], 2, "plugboard: missing required argument 'server'"],
    [["logout", "doc"], 2, "plugboard: there is no server named 'doc'"],
    [["logout", "echo"], 2, "plugboard: 'echo' is a program, so there is nothing to sign in to"],
  ])("%j fails", async (argv, code, message) => {
    await protect();
    const result = await scratch.run(argv);
    expect(result).toMatchObject({ code, stdout: "" });
    expect(result.stderr).toContain(message);
  });

  it.each<[string, number, string]>([
    [
      "/token",
      401,
      "plugboard: 'docs' has no sign-in (OAuth)\nhint: give it a token in headers, such as { Authorization: \"Bearer ${TOKEN}\" }\nmore: plugboard help NEEDS_AUTH\n",
    ],
    [
      "/nope",
      404,
      'plugboard: there is no MCP server at {url} (HTTP 404)\nhint: check the path in "url"\nmore: plugboard help HTTP_STATUS\n',
    ],
    [
      "/down",
      503,
      "plugboard: 'docs' answers with HTTP 503, and does not say how to sign in\nhint: the server has a fault; try again later\nmore: plugboard help HTTP_STATUS\n",
    ],
  ])("says why there is no sign-in at %s, which answers %i", async (path, status, message) => {
    const url = await answering(path, status, "<html></html>");
    scratch.servers({ docs: { url } });
    const result = await scratch.run(["login", "docs"], { env: { BROWSER: browser } });
    expect(result).toEqual({ code: 3, stdout: "", stderr: message.replace("{url}", url) });
  });

  it.each<[string, object]>([
    ['"headers" (Authorization)', { headers: { Authorization: "Bearer abcdefghijk" } }],
    ['"auth"', { auth: { type: "bearer", token: "abcdefghijk" } }],
  ])(
    "is no remedy for a wrong token in %s: the server's own words are shown",
    async (place, settings) => {
      const url = await answering("/mcp", 401, '{"message":"no such key: abcdefghijk"}');
      scratch.servers({ docs: { url, ...settings } });
      const { stdout } = await scratch.run(["status"]);
      expect(stdout).toContain(
        "the server refuses the configured credentials (HTTP 401): no such key: [REDACTED]; check the value",
      );
      expect(stdout.replace(/\s+/g, " ")).toContain(`check the value in ${place}: it may be wrong`);
      expect(stdout).not.toContain('"auth" or "headers"');
      expect(stdout).not.toContain("abcdefghijk");
    },
  );

  it("refuses a server that does not require a sign-in", async () => {
    const server = await serve({ era: "modern" });
    scratch.servers({ open: { url: server.url }, off: { url: server.url, oauth: false } });
    const asked = await scratch.run(["login", "open"]);
    expect(asked).toMatchObject({
      code: 3,
      stderr:
        "plugboard: 'open' does not require a sign-in\nhint: use it as it is\nmore: plugboard help UNSUPPORTED\n",
    });
    const off = await scratch.run(["login", "off"]);
    expect(off.stderr).toBe(
      "plugboard: you cannot sign in to 'off': \"oauth\" is false\nhint: change its configuration first\nmore: plugboard help UNSUPPORTED\n",
    );
  });
});

describe("plugboard logout", () => {
  it("revokes and deletes the tokens, once", async () => {
    const oauth = await protect();
    await scratch.run(["login", "docs"], { env: { BROWSER: browser } });
    expect(await scratch.run(["logout", "docs"])).toMatchObject({
      code: 0,
      stdout: "signed out of docs: its tokens are revoked and deleted\n",
    });
    expect(oauth.tokens.every(({ state }) => state === "revoked")).toBe(true);
    expect((await scratch.run(["logout", "docs"])).stdout).toBe("you are not signed in to docs\n");
    expect((await scratch.run(["call", "docs/echo", "text=x"])).code).toBe(3);
  });

  it("says that it could only delete them, also in JSON", async () => {
    await protect({ metadata: { revocation_endpoint: undefined } });
    const env = { BROWSER: browser };
    await scratch.run(["login", "docs"], { env });
    expect((await scratch.run(["logout", "docs"])).stdout).toBe(
      "signed out of docs: its tokens are deleted here, but could not be revoked at the authorization server\n",
    );
    const { stdout } = await scratch.run(["logout", "docs", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ server: "docs", outcome: "none" });
  });
});

it("a login asks for the scope that a call was refused for", async () => {
  const oauth = await protect({ toolScopes: { count: "write" } });
  const env = { BROWSER: browser };
  await scratch.run(["login", "docs"], { env });
  const refused = await scratch.run(["call", "docs/count", "key=x"]);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain(
    "it requires another scope (write)\nhint: run:\n  plugboard login docs\nmore: plugboard help NEEDS_AUTH\n",
  );
  const { stderr } = await scratch.run(["login", "docs"], { env });
  expect(stderr).toContain("(scope: mcp write)");
  expect((await scratch.run(["call", "docs/count", "key=x"])).code).toBe(0);
  expect(oauth.count("authorize")).toBe(2);
});

it("no output contains a token", async () => {
  const oauth = await protect();
  const stderr = new Sink();
  const env = { BROWSER: browser };
  await scratch.run(["login", "docs", "--log-level", "debug"], { env, stderr });
  await scratch.run(["call", "docs/echo", "text=x", "--log-level", "debug"], { stderr });
  await scratch.run(["logout", "docs", "--log-level", "debug"], { stderr });
  expect(oauth.tokens.length).toBeGreaterThan(1);
  expect(oauth.tokens.filter(({ token }) => stderr.text.includes(token))).toEqual([]);
});
