// A tool that requires another scope: it is asked for once, in addition to the granted scopes.

import { afterEach, describe, expect, it, vi } from "vitest";
import type { OnAuthorization } from "../../../src/core/types/authorization.ts";
import { closeAll } from "../../fixtures/http/client.ts";
import { closeBoards, statusOf, textOf } from "../../support/boards.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import {
  agree,
  callAtOnce,
  connect,
  connectAs,
  protect,
  readDocument,
  scopesAsked,
} from "./support.ts";

afterEach(closeAll);
// Last, so that it is done first.
closeBoards();

const toolScopes = { count: "write", echo: "read" };

describe("a tool that requires another scope", () => {
  it.each(["legacy", "modern"] as const)(
    "gets it by one sign-in with the union, and the call is repeated (%s)",
    async (era) => {
      const oauth = await protect({ toolScopes, mcp: { era } });
      const board = await connectAs(oauth, undefined);
      expect(await callAtOnce(board, 1)).toEqual([]);
      expect(scopesAsked(oauth)).toEqual(["mcp", "mcp write"]);
      expect(oauth.calls.get("call 0")).toBe(1);
      expect(textOf(await board.call("docs/echo", { text: "hi" }))).toBe("hi");
      expect(scopesAsked(oauth)).toEqual(["mcp", "mcp write", "mcp write read"]);
      expect(statusOf(board, "docs").restarts).toBe(0);
    },
  );

  it("is asked for once by many calls", async () => {
    const oauth = await protect({ toolScopes });
    const board = await connectAs(oauth, undefined);
    expect(await callAtOnce(board, 10)).toEqual([]);
    expect(scopesAsked(oauth)).toEqual(["mcp", "mcp write"]);
  });

  it("asks for the configured scope too", async () => {
    const oauth = await protect({ toolScopes });
    const board = await connectAs(oauth, { scope: "read" });
    expect(await callAtOnce(board, 1)).toEqual([]);
    expect(scopesAsked(oauth)).toEqual(["read mcp", "read mcp write"]);
  });

  it("asks for offline access if the server supports it", async () => {
    const oauth = await protect({ metadata: { scopes_supported: ["mcp", "offline_access"] } });
    const asked = vi.fn<OnAuthorization>(() => Promise.reject(new Error("enough")));
    await connect(oauth, { onAuthorization: asked });
    expect(asked.mock.calls[0]?.[0].scope).toBe("mcp offline_access");
  });

  it("fails only the call if nobody can be asked; a later login asks for the scope", async () => {
    const stateDir = temporaryDirectory();
    const oauth = await protect({ toolScopes });
    const person = await connectAs(oauth, undefined, { stateDir });
    await person.close();
    const board = await connect(oauth, { stateDir });
    const outcome = await board.call("docs/count", { key: "x" });
    expect(outcome.failure).toEqual({
      code: "NEEDS_AUTH",
      message: "server 'docs': it requires another scope (write); run: plugboard login docs",
      hint: "run: plugboard login docs",
    });
    expect(statusOf(board, "docs").state.kind).toBe("ready");
    // An expired token meanwhile does not make it forget what was wanted.
    oauth.expireTokens();
    expect((await board.call("docs/fail")).failure).toBeUndefined();
    expect(await readDocument(stateDir, "server")).toHaveProperty("wantedScope", "mcp write");

    const login = await connect(oauth, { stateDir, onAuthorization: agree(oauth) });
    await login.signIn("docs");
    expect(scopesAsked(oauth).at(-1)).toBe("mcp write");
    expect(await readDocument(stateDir, "server")).not.toHaveProperty("wantedScope");
    // The board that was refused finds it.
    expect(await callAtOnce(board, 1)).toEqual([]);
    expect(scopesAsked(oauth)).toHaveLength(2);
  });

  it("that the token already has, or that is not named, does not ask again", async () => {
    for (const scope of ["mcp", ""]) {
      const challenge = `Bearer error="insufficient_scope"${scope && `, scope="${scope}"`}`;
      const headers = { "www-authenticate": challenge };
      const oauth = await protect({
        mcp: { status: [{ tool: "count", code: 403, times: 100, headers }] },
      });
      const board = await connectAs(oauth, undefined);
      const [failure] = await callAtOnce(board, 1);
      expect(failure).toContain(
        "the token was refused for its scope, and the server asks for no other scope",
      );
      expect(oauth.count("authorize")).toBe(1);
      expect(statusOf(board, "docs").state.kind).toBe("ready");
    }
  });

  it("that was asked for and not granted does not ask again", async () => {
    const headers = { "www-authenticate": 'Bearer error="insufficient_scope", scope="read"' };
    const oauth = await protect({
      toolScopes,
      mcp: { status: [{ tool: "count", code: 403, times: 100, headers }] },
    });
    const onAuthorization = vi.fn<OnAuthorization>(async (request) => {
      // The person takes back what they were asked for.
      const url = new URL(request.url);
      url.searchParams.set("scope", "mcp write");
      await oauth.approve(url.href, { visit: true });
    });
    const board = await connect(oauth, { onAuthorization });
    const [failure] = await callAtOnce(board, 1);
    expect(failure).toContain("the scope it requires (read) was asked for and not granted");
    expect(onAuthorization).toHaveBeenCalledTimes(2);
    expect(await callAtOnce(board, 1)).toHaveLength(1);
    expect(onAuthorization).toHaveBeenCalledTimes(2);
  });

  it("does not ask for a sign-in on a 403 of another kind", async () => {
    const oauth = await protect({ mcp: { status: [{ tool: "count", code: 403, times: 100 }] } });
    const board = await connectAs(oauth, undefined);
    const outcome = await board.call("docs/count", { key: "x" });
    expect(outcome.failure?.code).toBe("NEEDS_AUTH");
    expect(oauth.count("authorize")).toBe(1);
  });
});
