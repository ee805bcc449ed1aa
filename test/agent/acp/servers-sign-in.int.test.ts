// Session servers that need a login: reported once with the remedy, never signed in to automatically, and given the
// stored login of a configured server with the same name and URL.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { McpServer } from "@agentclientprotocol/sdk";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import { closeAll } from "../../fixtures/http/client.ts";
import { header } from "../../fixtures/http/recorded.ts";
import type { OAuthFixture } from "../../fixtures/oauth/oauth.ts";
import { agree, protect } from "../../core/auth/support.ts";
import { useDesk } from "./harness.ts";
import { useScripted } from "./scripted.ts";

const desk = useDesk();
const scripted = useScripted();
afterEach(closeAll);

const remote = (url: string, rest: Partial<McpServer> = {}): McpServer => ({
  type: "http",
  name: "docs",
  url,
  headers: [],
  ...rest,
});

/** Does what `plugboard login` does. */
async function login(oauth: OAuthFixture, config: ServerConfig = {}): Promise<void> {
  const board = await openBoard(
    { servers: { docs: { url: oauth.url, ...config } } },
    { stateDir: desk.directory, onAuthorization: agree(oauth) },
  );
  await board.close();
}

/** An agent that has the server in its configuration. */
function openWith(oauth: OAuthFixture, config: ServerConfig = {}) {
  return desk.open({
    servers: { docs: { url: oauth.url, lazy: true, ...config } },
    board: { stateDir: desk.directory, start: "none" },
  });
}

function tokensAt(oauth: OAuthFixture): (string | undefined)[] {
  return oauth.resourceRequests
    .filter(({ path }) => path === "/mcp")
    .map((request) => header(request, "authorization"));
}

describe("a session's server that answers 401", () => {
  it.each<[string, ServerConfig | undefined, Partial<McpServer>, string]>([
    [
      "and is not configured",
      undefined,
      {},
      ", or configure a server with its name and URL for the agent and run: plugboard login docs",
    ],
    ["and is configured", {}, {}, ", or run: plugboard login docs"],
    [
      "to the headers it was brought with",
      {},
      { headers: [{ name: "Authorization", value: "Bearer stale" }] },
      "",
    ],
  ])("%s is reported once, and no browser opens", async (_, config, rest, remedy) => {
    const oauth = await protect();
    const editor =
      config === undefined
        ? await desk.open({ board: { stateDir: desk.directory } })
        : await openWith(oauth, config);
    const sessionId = await editor.newSession([remote(oauth.url, rest)]);
    const told = (): string => /docs: (?!server)[^\n]*/.exec(editor.said(sessionId))?.[0] ?? "";
    await editor.failure(sessionId, "Hello");
    expect(told()).toMatch(
      /^docs: .*; give it fresh headers where you configure the session's servers/,
    );
    expect(told().split("the session's servers")[1]).toBe(remedy);
    await editor.failure(sessionId, "Hello");
    expect(editor.said(sessionId).match(/give it fresh headers/g)).toHaveLength(1);
    expect(oauth.count("authorize") + oauth.count("register")).toBe(0);
  });
});

describe("a stored login", () => {
  it("is used for a session's server that is the configured one, and renewed in the store", async () => {
    const oauth = await protect();
    await login(oauth);
    oauth.expireTokens();
    const editor = await openWith(oauth);
    const sessionId = await editor.newSession([remote(oauth.url)]);
    expect(await editor.call(sessionId, "docs/echo", { text: "hi" })).toBe("hi");
    expect([oauth.count("authorize"), oauth.count("refresh")]).toEqual([1, 1]);
    // What was renewed for the session is what the agent's own server goes on with.
    expect((await editor.board.call("docs/echo", { text: "hi" })).failure).toBeUndefined();
    expect([oauth.count("authorize"), oauth.count("refresh")]).toEqual([1, 1]);
  });

  it("that was made later is found by a reconnect", async () => {
    const oauth = await protect();
    const editor = await openWith(oauth);
    const sessionId = await editor.newSession([remote(oauth.url)]);
    expect(await editor.ask(sessionId, "/mcp")).toContain("give it fresh headers");
    await login(oauth);
    expect(await editor.ask(sessionId, "/mcp reconnect docs")).toMatch(/^- docs: ready, /);
    expect(await editor.call(sessionId, "docs/echo", { text: "hi" })).toBe("hi");
  });

  it.each(["a session's server", "the agent's own"])(
    "that comes later brings up %s with the next prompt",
    async (whose) => {
      const oauth = await protect();
      const isOwn = whose === "a session's server";
      const newResponder = await scripted.script([{ text: "one" }, { text: "two" }]);
      const editor = await desk.open({
        newResponder,
        servers: { docs: { url: oauth.url, lazy: isOwn } },
        board: { stateDir: desk.directory, start: isOwn ? "none" : "eager" },
      });
      const sessionId = await editor.newSession(isOwn ? [remote(oauth.url)] : []);
      await editor.until(() => editor.said(sessionId).includes("plugboard login docs"));
      const refused = tokensAt(oauth).length;
      expect(await editor.ask(sessionId, "Hello")).toBe("one");
      // Nobody has signed in: the server is left alone.
      expect(tokensAt(oauth)).toHaveLength(refused);
      await login(oauth);
      expect(await editor.ask(sessionId, "Hello")).toBe("two");
      expect(scripted.requests.map(({ tools }) => tools.length > 0)).toEqual([false, true]);
    },
  );

  it("that is refused is tried once and reported once", async () => {
    const oauth = await protect();
    const editor = await openWith(oauth);
    const sessionId = await editor.newSession([remote(oauth.url)]);
    await editor.until(() => editor.said(sessionId).includes("give it fresh headers"));
    await login(oauth);
    oauth.revokeAll();
    const before = tokensAt(oauth).length;
    await editor.prompt(sessionId, "/tools");
    const tried = tokensAt(oauth).length;
    await editor.prompt(sessionId, "/tools");
    expect([tried > before, tokensAt(oauth).length - tried]).toEqual([true, 0]);
    expect(editor.said(sessionId).match(/give it fresh headers/g)).toHaveLength(1);
    expect(await editor.ask(sessionId, "/mcp")).toMatch(/^- docs: .* \[needs-auth\]$/);
  });

  it.each<[string, ServerConfig, Partial<McpServer>]>([
    ["under another name", {}, { name: "mine" }],
    ["with headers of its own", {}, { headers: [{ name: "X-Tenant", value: "me" }] }],
    ["where the configured one is disabled", { enabled: false }, {}],
    ["where the configured one is not signed in to", { oauth: false }, {}],
  ])("is not given to a server %s", async (_, config, rest) => {
    const oauth = await protect();
    await login(oauth);
    oauth.resourceRequests.length = 0;
    const editor = await openWith(oauth, config);
    const sessionId = await editor.newSession([remote(oauth.url, rest)]);
    await editor.until(() => editor.said(sessionId).includes("give it fresh headers"));
    expect(tokensAt(oauth).every((token) => token === undefined)).toBe(true);
    expect(tokensAt(oauth).length).toBeGreaterThan(0);
  });

  it("is not given to a server of the same name at another URL, nor to where it redirects", async () => {
    const oauth = await protect();
    await login(oauth);
    const heard: (string | undefined)[] = [];
    const elsewhere = createServer((request, response) => {
      heard.push(request.headers.authorization);
      response.writeHead(307, { location: oauth.url }).end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void elsewhere.close());
    oauth.resourceRequests.length = 0;
    const editor = await openWith(oauth);
    const { port } = elsewhere.address() as AddressInfo;
    const sessionId = await editor.newSession([remote(`http://127.0.0.1:${port}/mcp`)]);
    await editor.until(() => /docs: .*has moved/.test(editor.said(sessionId)));
    expect(heard.length).toBeGreaterThan(0);
    expect([...heard, ...tokensAt(oauth)].every((token) => token === undefined)).toBe(true);
  });

  it("comes with the configured server's rules", async () => {
    const oauth = await protect();
    await login(oauth);
    const editor = await openWith(oauth, { tools: { allow: ["echo"] } });
    const sessionId = await editor.newSession([remote(oauth.url)]);
    expect(await editor.ask(sessionId, "/tools")).toMatch(/docs\/echo: [^\n]*$/);
    expect(await editor.call(sessionId, "docs/count")).toContain("docs/count is refused");
  });
});
