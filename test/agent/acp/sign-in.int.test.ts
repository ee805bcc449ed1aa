// `authenticate` and `logout`: sign in to the agent's own servers that ask for it, and out of them. They say what they
// did, and no session requires them.

import { methods } from "@agentclientprotocol/sdk";
import { afterEach, describe, expect, it } from "vitest";
import type { OnAuthorization } from "../../../src/core/types/authorization.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import { agree, protect } from "../../core/auth/support.ts";
import { closeAll } from "../../fixtures/http/client.ts";
import { fixture } from "../../support/boards.ts";
import { eventually } from "../../support/processes.ts";
import { useDesk } from "./harness.ts";

const desk = useDesk();
afterEach(closeAll);

function openWith(servers: Record<string, ServerConfig>, onAuthorization: OnAuthorization) {
  // As `plugboard acp` has it: the servers are still starting when the editor asks.
  const config = { startupWait: 0 };
  return desk.open({ servers, config, board: { stateDir: desk.directory }, onAuthorization });
}

const refuse: OnAuthorization = () => Promise.reject(new Error("not now"));
const authenticate = { methodId: "sign-in" };

describe("the offered methods", () => {
  it.each([
    ["a client without a terminal", {}, ["sign-in", "model-key"]],
    ["a client that denies having one", { auth: { terminal: false } }, ["sign-in", "model-key"]],
    [
      "a client with a terminal",
      { auth: { terminal: true } },
      ["sign-in", "sign-in-terminal", "model-key-terminal"],
    ],
  ])("for %s", async (_, capabilities, ids) => {
    const editor = await desk.open({ raw: true, onAuthorization: refuse });
    const { authMethods = [] } = await editor.initialize(capabilities);
    expect(authMethods.map(({ id }) => id)).toEqual(ids);
  });

  it.each(["sign-in-terminal", "model-key-terminal", "made-up"])(
    "`%s` is not for authenticate",
    async (methodId) => {
      const editor = await openWith({}, refuse);
      await expect(
        editor.agent.request(methods.agent.authenticate, { methodId }),
      ).rejects.toMatchObject({ code: -32602, data: { path: "methodId" } });
    },
  );
});

describe("authenticate", () => {
  it("signs in to what asks for it, once, and a session that is open gets the tools", async () => {
    const oauth = await protect();
    const servers = { docs: { url: oauth.url }, echo: fixture("echo") };
    const editor = await openWith(servers, agree(oauth));
    const sessionId = await editor.newSession();
    await eventually(() => editor.board.status()[0]?.state.kind === "needs-auth");
    expect(oauth.count("authorize")).toBe(0);
    expect(await editor.agent.request(methods.agent.authenticate, authenticate)).toMatchObject({
      _meta: { plugboard: { message: "signed in to docs", servers: [{ server: "docs" }] } },
    });
    expect(await editor.call(sessionId, "docs/echo", { text: "hi" })).toBe("hi");
    expect(await editor.agent.request(methods.agent.authenticate, authenticate)).toMatchObject({
      _meta: { plugboard: { message: "no server asks for a sign-in", servers: [] } },
    });
    expect(oauth.count("authorize")).toBe(1);
  });

  it("says to which server it could not sign in, and goes on with the next", async () => {
    const [first, second] = [await protect(), await protect()];
    const editor = await openWith({ no: { url: first.url }, yes: { url: second.url } }, (request) =>
      request.server === "no" ? refuse(request) : agree(second)(request),
    );
    await expect(
      editor.agent.request(methods.agent.authenticate, authenticate),
    ).rejects.toMatchObject({
      message: expect.stringMatching(/no: .*not now[^\n]*\nsigned in to yes$/),
      data: { servers: [{ server: "no", problem: expect.any(String) }, { server: "yes" }] },
    });
  });

  it("ends with a cancelled request, and can be asked for again", async () => {
    const oauth = await protect();
    let isShown = (): void => {};
    const shown = new Promise<void>((resolve) => (isShown = resolve));
    let person: OnAuthorization = () => isShown();
    const editor = await openWith({ docs: { url: oauth.url } }, (request) => person(request));
    const given = new AbortController();
    const asked = editor.agent.request(methods.agent.authenticate, authenticate, {
      cancellationSignal: given.signal,
    });
    await shown;
    given.abort();
    await expect(asked).rejects.toMatchObject({ code: -32800 });
    person = agree(oauth);
    expect(await editor.agent.request(methods.agent.authenticate, authenticate)).toMatchObject({
      _meta: { plugboard: { message: "signed in to docs" } },
    });
  });
});

describe("the key for a model", () => {
  const asked = (editor: Awaited<ReturnType<typeof openWith>>) =>
    editor.agent.request(methods.agent.authenticate, { methodId: "model-key" });

  it("is not asked for in a form: a person is told what to run in a terminal", async () => {
    const capabilities = { elicitation: { form: {} } };
    const editor = await desk.open({ capabilities, onAuthorization: refuse });
    await expect(asked(editor)).rejects.toMatchObject({
      message: expect.stringMatching(/run: plugboard acp --sign-in model$/),
      data: { command: "plugboard acp --sign-in model" },
    });
    expect(editor.elicitations).toEqual([]);
  });

  it("is no question where a model has its key", async () => {
    const models = { canAnswer: async () => true, forgetKeys: async () => [] };
    const editor = await desk.open({ models, onAuthorization: refuse });
    expect(await asked(editor)).toMatchObject({
      _meta: { plugboard: { message: "there is a model" } },
    });
  });

  it.each<[string, () => Promise<string[]>, object]>([
    [
      "is forgotten by logout",
      async () => ["openai"],
      { _meta: { plugboard: { message: "the key for openai is deleted", modelKeys: ["openai"] } } },
    ],
    [
      "fails a logout that cannot forget it",
      () => Promise.reject(new Error("the disk is gone")),
      { message: expect.stringMatching(/the keys for models: the disk is gone$/) },
    ],
  ])("%s", async (_, forgetKeys, expected) => {
    const models = { canAnswer: async () => true, forgetKeys };
    const editor = await desk.open({ models, onAuthorization: refuse });
    const answer = editor.agent.request(methods.agent.logout, {});
    expect(await answer.catch((error: unknown) => error)).toMatchObject(expected);
  });
});

describe("logout", () => {
  const logout = (editor: Awaited<ReturnType<typeof openWith>>) =>
    editor.agent.request(methods.agent.logout, {});

  it.each([
    ["offered with the authentication", true, {}],
    ["not offered without it", false, undefined],
  ])("is %s", async (_, signsIn, expected) => {
    const editor = await desk.open({ raw: true, ...(signsIn && { onAuthorization: refuse }) });
    const { agentCapabilities } = await editor.initialize();
    expect(agentCapabilities?.auth?.logout).toEqual(expected);
    if (!signsIn) await expect(logout(editor)).rejects.toMatchObject({ code: -32601 });
  });

  it("forgets the logins, and a session that is open goes on without them", async () => {
    const [docs, wiki] = [await protect(), await protect()];
    const keyed = { url: docs.url, headers: { Authorization: "Bearer of-the-configuration" } };
    const servers = {
      docs: { url: docs.url },
      wiki: { url: wiki.url },
      echo: fixture("echo"),
      keyed,
    };
    const editor = await openWith(servers, (request) =>
      request.server === "docs" ? agree(docs)(request) : refuse(request),
    );
    const sessionId = await editor.newSession();
    await editor.agent.request(methods.agent.authenticate, authenticate).catch(() => {});
    expect(await editor.call(sessionId, "docs/echo", { text: "hi" })).toBe("hi");
    expect(await logout(editor)).toEqual({
      _meta: {
        plugboard: {
          message: "signed out of docs: its tokens are revoked and deleted",
          servers: [{ server: "docs", outcome: "revoked" }],
          modelKeys: [],
        },
      },
    });
    expect(editor.board.status()[0]?.state.kind).toBe("needs-auth");
    expect(await editor.call(sessionId, "echo/echo", { text: "still here" })).toBe("still here");
    expect(await logout(editor)).toMatchObject({
      _meta: { plugboard: { message: "you are not signed in to anything", servers: [] } },
    });
    await editor.agent.request(methods.agent.authenticate, authenticate).catch(() => {});
    expect(await editor.call(sessionId, "docs/echo", { text: "again" })).toBe("again");
  });

  it("says which login it could not forget, and forgets the others", async () => {
    const oauth = await protect();
    const servers = { docs: { url: oauth.url }, unset: { url: "https://${UNSET_HOST}/mcp" } };
    const editor = await openWith(servers, agree(oauth));
    await editor.agent.request(methods.agent.authenticate, authenticate);
    await expect(logout(editor)).rejects.toMatchObject({
      message: expect.stringMatching(/signed out of docs: [^\n]*\nunset: .*UNSET_HOST/),
      data: {
        servers: [
          { server: "docs", outcome: "revoked" },
          { server: "unset", problem: expect.any(String) },
        ],
      },
    });
  });
});
