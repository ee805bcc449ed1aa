// The login of a configured server, for a session's server that is the same: which one that is, and that it
// stays with its address and asks nobody.

import { afterEach, describe, expect, it } from "vitest";
import { withMatchingServer } from "../../src/board/matching-server.ts";
import { parseAgentConfig } from "../../src/config/parse.ts";
import { parseSessionServers } from "../../src/config/session.ts";
import type { ServerConfig } from "../../src/model/server-config.ts";
import { agree, protect, temporaryDirectory } from "../auth/support.ts";
import { closeAll } from "../fixtures/http/client.ts";
import { closeBoards, open, textOf } from "../support/boards.ts";
import { cwd, reached, statusIn } from "./session/sessions.ts";

afterEach(closeAll);
// Last, so that it is done first.
closeBoards();

const url = "https://docs.example.com/mcp";
const env = { HOST: "docs.example.com" };

function lent(mine: ServerConfig, theirs: ServerConfig, untrusted = false) {
  const agent = parseAgentConfig({ servers: { docs: theirs } });
  const { definitions } = parseSessionServers({ docs: mine }, undefined, cwd);
  const [definition] = definitions;
  if (definition === undefined) throw new Error("no definition");
  return withMatchingServer(
    definition,
    { ...agent, ...(untrusted && { untrusted: { remedy: "" } }) },
    env,
  );
}

describe("a configured server lends its login", () => {
  it.each<[string, ServerConfig, ServerConfig]>([
    ["of the same address", { url }, { url }],
    ["whatever the transport", { url, transport: "sse" }, { url, transport: "http" }],
    ["by what its variables are", { url }, { url: "https://${HOST}/mcp" }],
    ["by what the address means", { url: "https://DOCS.example.com:443/mcp" }, { url }],
    ["with headers that say nothing of a caller", { url }, { url, headers: { "X-A": "1" } }],
    ["with a client of its own", { url }, { url, oauth: { clientId: "me" } }],
  ])("%s", (_, mine, theirs) => {
    expect(lent(mine, theirs).matchingServer?.name).toBe("docs");
    expect(lent(mine, theirs, true).matchingServer).toBeUndefined();
  });

  it.each<[string, ServerConfig, ServerConfig]>([
    ["of another path", { url: `${url}/other` }, { url }],
    ["of another port", { url: "https://docs.example.com:444/mcp" }, { url }],
    ["of a variable that is not set", { url }, { url: "https://${NOBODY}/mcp" }],
    ["that is a program", { url }, { command: "docs" }],
    ["to a program", { command: "docs" }, { url }],
    ["to one that says who is calling", { url, headers: { "X-Key": "1" } }, { url }],
    ["to one that is not signed in to", { url, oauth: false }, { url }],
    ["to one with a certificate", { url, tls: { ca: "ca.pem" } }, { url }],
    ["to one that may go where it may not", { url, allowPrivate: true }, { url }],
    ["that is disabled", { url }, { url, enabled: false }],
    ["that is not signed in to", { url }, { url, oauth: false }],
    ["that has a token", { url }, { url, auth: { type: "bearer", token: "t" } }],
    ["that has a certificate", { url }, { url, tls: { cert: "c.pem", key: "k.pem" } }],
    [
      "that is the agent's own",
      { url },
      { url, oauth: { grant: "client_credentials", clientId: "a", clientSecret: "b" } },
    ],
  ])("not %s", (_, mine, theirs) => {
    expect(lent(mine, theirs).matchingServer).toBeUndefined();
  });

  it("with its rules, the names of its tools and what it may show", () => {
    const theirs: ServerConfig = {
      tools: { deny: ["rm"] },
      include: "manual",
      toolPrefix: "d",
      resourceFilter: ["a:*"],
    };
    expect(lent({ url }, { url, ...theirs })).toMatchObject({
      guard: { rules: [{ deny: ["rm"] }] },
      include: { default: "manual" },
      toolPrefix: "d",
      resources: { enabled: true, filter: ["a:*"] },
    });
    expect(lent({ url, resources: false }, { url, ...theirs }).resources?.enabled).toBe(false);
  });
});

describe("a login that is lent", () => {
  it("stays with its address, and nobody is asked for another", async () => {
    const [oauth, other] = [await protect(), await protect()];
    const asked: string[] = [];
    const variables: Record<string, string> = { ...process.env, ADDRESS: oauth.url };
    const board = await open(
      { docs: { url: "${ADDRESS}" } },
      {
        stateDir: await temporaryDirectory(),
        env: variables,
        onAuthorization: async (request) => {
          asked.push(request.url);
          return agree(oauth)(request);
        },
      },
    );
    expect(asked).toHaveLength(1);
    const session = await board.openSession({ cwd });
    await session.add("docs", { url: oauth.url });
    expect(textOf(await session.call("docs/echo", { text: "hi" }))).toBe("hi");
    variables["ADDRESS"] = other.url;
    await session.restart("docs");
    await reached(session, "docs", "needs-auth");
    variables["ADDRESS"] = oauth.url;
    await session.restart("docs");
    expect(statusIn(session, "docs").state.kind).toBe("ready");
    oauth.revokeAll();
    await session.call("docs/echo", { text: "hi" });
    await session.restart("docs");
    await reached(session, "docs", "needs-auth");
    expect(statusIn(session, "docs").state).toMatchObject({
      remedy: expect.stringMatching(/fresh headers .*, or run: plugboard login docs$/),
    });
    expect(asked).toHaveLength(1);
    expect(other.resourceRequests).toEqual([]);
  });
});
