// Which configured server matches a session's server, and that its login is only used for the same URL.

import { afterEach, describe, expect, it } from "vitest";
import { withMatchingServer } from "../../../src/core/board/matching-server.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import { parseSessionServers } from "../../../src/core/config/session.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { agree, protect } from "../auth/support.ts";
import { closeAll } from "../../fixtures/http/client.ts";
import { asUntrusted, closeBoards, open, textOf } from "../../support/boards.ts";
import { cwd, reached, statusIn } from "./session/sessions.ts";

afterEach(closeAll);
// Registered last, so that it runs first.
closeBoards();

const url = "https://docs.example.com/mcp";
const env = { HOST: "docs.example.com" };

function withMatch(mine: ServerConfig, theirs: ServerConfig, isUntrusted = false) {
  const agent = parseAgentConfig({ servers: { docs: theirs } });
  const { definitions } = parseSessionServers({ docs: mine }, undefined, cwd);
  const [definition] = definitions;
  if (definition === undefined) throw new Error("no definition");
  return withMatchingServer(definition, { ...agent, ...(isUntrusted && asUntrusted(agent)) }, env);
}

describe("a configured server matches", () => {
  it.each<[string, ServerConfig, ServerConfig]>([
    ["with the same URL", { url }, { url }],
    ["with another transport", { url, transport: "sse" }, { url, transport: "http" }],
    ["with variables that resolve to the same URL", { url }, { url: "https://${HOST}/mcp" }],
    ["with another spelling of the same URL", { url: "https://DOCS.example.com:443/mcp" }, { url }],
    ["with headers that are not credentials", { url }, { url, headers: { "X-A": "1" } }],
    ["with a registered client", { url }, { url, oauth: { clientId: "me" } }],
  ])("%s", (_, mine, theirs) => {
    expect(withMatch(mine, theirs).matchingServer?.name).toBe("docs");
    expect(withMatch(mine, theirs, true).matchingServer).toBeUndefined();
  });

  it.each<[string, ServerConfig, ServerConfig]>([
    ["with another path", { url: `${url}/other` }, { url }],
    ["with another port", { url: "https://docs.example.com:444/mcp" }, { url }],
    ["with a variable that is not set", { url }, { url: "https://${NOBODY}/mcp" }],
    ["if it is a program", { url }, { command: "docs" }],
    ["if the session's server is a program", { command: "docs" }, { url }],
    ["if the session's server has headers", { url, headers: { "X-Key": "1" } }, { url }],
    ["if the session's server has oauth disabled", { url, oauth: false }, { url }],
    ["if the session's server has a certificate", { url, tls: { ca: "ca.pem" } }, { url }],
    ["if the session's server may reach more networks", { url, allowPrivate: true }, { url }],
    ["if it is disabled", { url }, { url, enabled: false }],
    ["if it has oauth disabled", { url }, { url, oauth: false }],
    ["if it has a token", { url }, { url, auth: { type: "bearer", token: "t" } }],
    ["if it has a certificate", { url }, { url, tls: { cert: "c.pem", key: "k.pem" } }],
    [
      "if its login is the agent's own",
      { url },
      { url, oauth: { grant: "client_credentials", clientId: "a", clientSecret: "b" } },
    ],
  ])("not %s", (_, mine, theirs) => {
    expect(withMatch(mine, theirs).matchingServer).toBeUndefined();
  });

  it("with its rules, tool prefix and resource settings", () => {
    const theirs: ServerConfig = {
      tools: { deny: ["rm"] },
      include: "manual",
      toolPrefix: "d",
      resourceFilter: ["a:*"],
    };
    expect(withMatch({ url }, { url, ...theirs })).toMatchObject({
      guard: { rules: [{ deny: ["rm"] }] },
      include: { default: "manual" },
      toolPrefix: "d",
      resources: { enabled: true, filter: ["a:*"] },
    });
    expect(withMatch({ url, resources: false }, { url, ...theirs }).resources?.enabled).toBe(false);
  });
});

describe("the login of a matching server", () => {
  it("is only used for the same URL, and nobody is asked to sign in", async () => {
    const [oauth, other] = [await protect(), await protect()];
    const asked: string[] = [];
    const variables: Record<string, string> = { ...process.env, ADDRESS: oauth.url };
    const board = await open(
      { docs: { url: "${ADDRESS}" } },
      {
        stateDir: temporaryDirectory(),
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
