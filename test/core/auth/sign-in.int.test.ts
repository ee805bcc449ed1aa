// A person signs in through `onAuthorization`: how it succeeds, and what makes it fail.

import { createServer } from "node:http";
import { afterEach, describe, expect, it, vi } from "vitest";
import type {
  AuthorizationRequest,
  OnAuthorization,
} from "../../../src/core/types/authorization.ts";
import type { Board } from "../../../src/core/types/board.ts";
import { closeAll } from "../../fixtures/http/client.ts";
import type { OAuthFixture, OAuthFixtureOptions } from "../../fixtures/oauth/oauth.ts";
import { listen } from "../net/servers.ts";
import { closeBoards, open, statusOf, textOf } from "../../support/boards.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { agree, connect, protect } from "./support.ts";

afterEach(closeAll);
// Last, so that it is done first.
closeBoards();

async function expectSignedIn(board: Board): Promise<void> {
  expect(statusOf(board, "docs").state.kind).toBe("ready");
  expect(textOf(await board.call("docs/echo", { text: "hi" }))).toBe("hi");
}

/** The board's last word on a sign-in that did not come about. */
async function refusal(
  oauth: OAuthFixture,
  onAuthorization: OnAuthorization,
): Promise<string | undefined> {
  const board = await connect(oauth, { onAuthorization });
  const { state, lastError } = statusOf(board, "docs");
  expect(state).toMatchObject({
    kind: "needs-auth",
    remedy: expect.stringContaining("run: plugboard login docs"),
  });
  expect(oauth.tokens).toEqual([]);
  return lastError;
}

describe("a sign-in", () => {
  it.each<[string, OAuthFixtureOptions]>([
    ["a legacy server", {}],
    ["a server of 2026-07-28", { mcp: { era: "modern" } }],
    ["a server that is its own authorization server", { withoutResourceMetadata: true }],
    ["a server that leaves the scopes open", { scopes: [] }],
    ["an authorization server without `iss`", { iss: "absent" }],
  ])("is asked for once, as the board opens: %s", async (_, options) => {
    const oauth = await protect(options);
    const requests: AuthorizationRequest[] = [];
    const board = await connect(oauth, {
      onAuthorization: (request) => {
        requests.push(request);
        return agree(oauth)(request);
      },
    });
    await expectSignedIn(board);
    expect(requests).toEqual([
      {
        server: "docs",
        url: expect.stringContaining(`${oauth.issuer}/authorize?`),
        redirectUri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
        ...(options.scopes === undefined && { scope: "mcp" }),
        signal: expect.any(AbortSignal),
      },
    ]);
    expect(requests[0]?.signal.aborted).toBe(true);
    expect(oauth.violations).toEqual([]);
  });

  it("ends when the callback returns the URL that the browser was redirected to", async () => {
    const oauth = await protect();
    const board = await connect(oauth, { onAuthorization: ({ url }) => oauth.approve(url) });
    await expectSignedIn(board);
  });

  it("can redirect to another host, whose URL the callback returns", async () => {
    const redirectUri = "https://app.example.com/signed-in";
    const clients = [{ client_id: "app", redirect_uris: [redirectUri] }];
    const oauth = await protect({ clients });
    const config = { oauth: { clientId: "app", redirectUri } };
    const onAuthorization = ({ url }: AuthorizationRequest) => oauth.approve(url);
    await expectSignedIn(await connect(oauth, { onAuthorization }, config));
    const silent = await connect(oauth, { onAuthorization: () => {} }, config);
    expect(statusOf(silent, "docs").lastError).toContain(
      "the address that the browser was redirected to is missing",
    );
  });

  it("ignores a redirect with a foreign state", async () => {
    const oauth = await protect();
    const onAuthorization: OnAuthorization = async (request) => {
      for (const query of ["?code=x&state=guess", "?error=x", "", "/other?code=x"]) {
        await (await fetch(`${request.redirectUri}${query}`)).text();
      }
      await agree(oauth)(request);
    };
    await expectSignedIn(await connect(oauth, { onAuthorization }));
  });

  it("is asked for at the first call of a lazy server", async () => {
    const oauth = await protect();
    const onAuthorization = vi.fn<OnAuthorization>(agree(oauth));
    const board = await open(
      { docs: { url: oauth.url, lazy: true } },
      { onAuthorization, start: "none" },
    );
    expect(onAuthorization).not.toHaveBeenCalled();
    expect(textOf(await board.call("docs/echo", { text: "hi" }))).toBe("hi");
    expect(onAuthorization).toHaveBeenCalledTimes(1);
  });

  it("can be started beforehand, and again", async () => {
    const oauth = await protect();
    const onAuthorization = vi.fn<OnAuthorization>(agree(oauth));
    const board = await open({ docs: { url: oauth.url } }, { onAuthorization, start: "none" });
    expect((await board.signIn("docs")).state.kind).toBe("ready");
    expect((await board.signIn("docs")).state.kind).toBe("ready");
    expect(onAuthorization).toHaveBeenCalledTimes(2);
    await expectSignedIn(board);
  });

  it("that is started twice at the same time uses one connection to the authorization server", async () => {
    const oauth = await protect();
    const board = await open(
      { docs: { url: oauth.url } },
      { onAuthorization: agree(oauth), start: "none" },
    );
    await Promise.all([board.signIn("docs"), board.signIn("docs")]);
    await expectSignedIn(board);
  });
});

describe("a sign-in that is refused", () => {
  it("by the person", async () => {
    const oauth = await protect();
    const why = await refusal(
      oauth,
      async ({ url }) => void (await oauth.approve(url, { visit: true, deny: true })),
    );
    expect(why).toBe(
      "cannot sign in to 'docs': the authorization server refused: the person said no (access_denied)",
    );
  });

  it("by the callback", async () => {
    const oauth = await protect();
    const why = await refusal(oauth, () => Promise.reject(new Error("not today")));
    expect(why).toBe("cannot sign in to 'docs': it was refused here: not today");
  });

  it.each<[string, (location: URL) => void, string]>([
    [
      "another sign-in's state",
      ({ searchParams }) => searchParams.set("state", "other"),
      "the answer belongs to another sign-in",
    ],
    ["no state", ({ searchParams }) => searchParams.delete("state"), "to another sign-in"],
    [
      "another issuer",
      ({ searchParams }) => searchParams.set("iss", "https://evil.example"),
      "the answer comes from another authorization server",
    ],
    [
      "no issuer, where one is promised",
      ({ searchParams }) => searchParams.delete("iss"),
      "the answer comes from another authorization server",
    ],
    ["no code", ({ searchParams }) => searchParams.delete("code"), "the answer has no code"],
    [
      "a code that was never given",
      ({ searchParams }) => searchParams.set("code", "made-up"),
      "gave no token: no such code was given to this client (invalid_grant)",
    ],
    [
      "an error of few words",
      ({ searchParams }) => searchParams.set("error", "server_error"),
      "the authorization server refused: server_error",
    ],
  ])("for an answer with %s", async (_, change, reason) => {
    const oauth = await protect();
    const why = await refusal(oauth, async ({ url }) => {
      const location = new URL(await oauth.approve(url));
      change(location);
      return location.href;
    });
    expect(why).toContain(reason);
  });

  it("for an answer that is not a URL", async () => {
    const why = await refusal(await protect(), () => "code=123");
    expect(why).toContain("the address that the browser was redirected to is not a URL");
  });

  it("for an issuer that contradicts the metadata", async () => {
    const oauth = await protect({ iss: "wrong" });
    const why = await refusal(oauth, agree(oauth));
    expect(why).toContain("the answer comes from another authorization server");
    expect(oauth.count("token")).toBe(0);
  });

  it("because nobody signs in within five minutes", async () => {
    const oauth = await protect();
    const clock = {
      ...systemClock,
      after: (ms: number, task: () => void) => systemClock.after(ms === 300_000 ? 20 : ms, task),
    };
    const board = await connect(oauth, { clock, onAuthorization: () => {} });
    expect(statusOf(board, "docs").lastError).toContain("nobody signed in within five minutes");
  });

  it("because the board closes", async () => {
    const oauth = await protect();
    let signal: AbortSignal | undefined;
    let shown: () => void = () => {};
    const asked = new Promise<void>((resolve) => (shown = resolve));
    const onAuthorization: OnAuthorization = (request) => {
      ({ signal } = request);
      shown();
      return new Promise(() => {});
    };
    const board = await open({ docs: { url: oauth.url } }, { onAuthorization, start: "none" });
    const signingIn = board.signIn("docs").catch((error: unknown) => error);
    await asked;
    await board.close();
    expect(await signingIn).toMatchObject({ code: "CANCELLED" });
    expect(signal?.aborted).toBe(true);
  });

  it.each([
    ["with", ["authorization_code", "refresh_token"]],
    ["without", ["authorization_code"]],
  ])(
    "for tokens that the server does not take is not asked for again (%s a refresh token)",
    async (_, grant_types) => {
      const client_id = "https://example.com/client.json";
      const redirect_uris = ["http://127.0.0.1/callback"];
      const oauth = await protect({
        clientMetadataDocuments: { [client_id]: { client_id, redirect_uris, grant_types } },
        mcp: { status: [{ code: 401, times: 1000 }] },
      });
      const onAuthorization = vi.fn<OnAuthorization>(agree(oauth));
      const config = { oauth: { clientMetadataUrl: client_id } };
      const board = await connect(oauth, { onAuthorization }, config);
      expect(statusOf(board, "docs").lastError).toMatch(
        /refuses every token it is given|refuses the token of the sign-in just now/,
      );
      expect(statusOf(board, "docs").state.kind).toBe("needs-auth");
      expect(onAuthorization).toHaveBeenCalledTimes(1);
    },
  );
});

describe("an authorization page", () => {
  it.each([
    "javascript:alert(1)",
    "file:///etc/passwd",
    "data:text/html,x",
    "http://example.com/authorize",
    "https://user:password@example.com/authorize",
    "https://10.0.0.1/authorize",
    "http://169.254.169.254/latest/meta-data",
  ])("is not opened at %s", async (authorization_endpoint) => {
    const oauth = await protect({ metadata: { authorization_endpoint } });
    const onAuthorization = vi.fn<OnAuthorization>();
    await refusal(oauth, onAuthorization);
    expect(onAuthorization).not.toHaveBeenCalled();
  });
});

describe("metadata", () => {
  it.each<[string, OAuthFixtureOptions, string]>([
    [
      "an authorization server in a private network",
      { resourceMetadata: { authorization_servers: ["https://10.1.2.3"] } },
      "10.1.2.3 is a private address",
    ],
    [
      "a token endpoint in a private network",
      { metadata: { token_endpoint: "https://192.168.0.1/token" } },
      "192.168.0.1 is a private address",
    ],
    [
      "registration over plain http elsewhere",
      { metadata: { registration_endpoint: "http://example.com/register" } },
      "is plain http, which is only allowed to this machine",
    ],
  ])("with %s is not followed", async (_, options, reason) => {
    const oauth = await protect(options);
    const board = await connect(oauth, { onAuthorization: agree(oauth) });
    const { lastError, state } = statusOf(board, "docs");
    expect(lastError).toContain(reason);
    expect(["failed", "needs-auth"]).toContain(state.kind);
  });

  it("of another server is not believed", async () => {
    const oauth = await protect({ resourceMetadata: { resource: "https://example.com/mcp" } });
    const why = await refusal(oauth, agree(oauth));
    expect(why).toBe(
      "cannot sign in to 'docs': it describes itself as https://example.com/mcp, which is another server",
    );
  });

  it("of another issuer is not believed", async () => {
    const oauth = await protect({ metadata: { issuer: "https://evil.example" } });
    expect(await refusal(oauth, agree(oauth))).toContain("its authorization server cannot be used");
  });

  it("names an issuer that is not the configured one", async () => {
    const oauth = await protect();
    const issuer = "https://login.example.com";
    const board = await connect(oauth, { onAuthorization: agree(oauth) }, { oauth: { issuer } });
    expect(statusOf(board, "docs").lastError).toContain(
      `oauth.issuer is ${issuer}, but the server names ${oauth.issuer}`,
    );
    expect(oauth.count("authorize")).toBe(0);
  });

  it("names several issuers, of which the configured one is taken", async () => {
    const other = await protect();
    const origin = new URL(other.issuer).origin;
    const front: OAuthFixtureOptions = {
      resourceMetadata: { authorization_servers: ["https://first.example.com", `${origin}/`] },
    };
    const oauth = await protect(front);
    const onAuthorization = vi.fn<OnAuthorization>(() => Promise.reject(new Error("enough")));
    await connect(oauth, { onAuthorization }, { oauth: { issuer: origin } });
    expect(onAuthorization.mock.calls[0]?.[0].url).toContain(`${origin}/authorize`);
  });

  it("is looked for at its well-known place if the challenge does not name it", async () => {
    const server = createServer((_, response) => {
      response.writeHead(401, { "www-authenticate": 'Bearer resource_metadata="not a url"' }).end();
    });
    const url = `http://127.0.0.1:${await listen(server)}/mcp`;
    const board = await open({ docs: { url } }, { onAuthorization: () => {} });
    expect(statusOf(board, "docs").lastError).toContain("the address of its metadata is not a URL");
  });
});
