// Tokens that expire under load: one renewal for all callers, within a process and among several.

import { afterEach, describe, expect, it } from "vitest";
import { closeAll } from "../../fixtures/http/client.ts";
import type { OAuthFixture } from "../../fixtures/oauth/oauth.ts";
import { openFileState } from "../../../src/core/state/files/open.ts";
import { GrantFiles } from "../../../src/core/state/files/grant-files.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { closeBoards, open, reaches, statusOf } from "../../support/boards.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import {
  agree,
  callAtOnce,
  changeDocument,
  connect,
  connectAs,
  protect,
  readDocument,
  refreshesOf,
} from "./support.ts";

afterEach(closeAll);
// Last, so that it is done first.
closeBoards();

/** Every refresh token that was sent was live then, and each was sent once. */
function expectNoReuse(oauth: OAuthFixture): void {
  const used = refreshesOf(oauth);
  expect(new Set(used).size).toBe(used.length);
  expect(oauth.tokens.some(({ state }) => state === "revoked")).toBe(false);
}

describe.each([10, 50])("%i calls with an expired token", (count) => {
  it.each([
    ["legacy", "legacy"],
    ["modern", "2026-07-28"],
  ] as const)("renew it once if its expiry is known (%s)", async (era, protocol) => {
    // The fixture and the board share it. Only the time of day moves, so that no timer is due.
    let ahead = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + ahead };
    const oauth = await protect({ clock, tokenDelay: 30, mcp: { era } });
    const onAuthorization = agree(oauth);
    const board = await connect(oauth, { onAuthorization, clock }, { protocol });
    ahead = 3600_000;
    expect(await callAtOnce(board, count)).toEqual([]);
    expect(oauth.count("refresh")).toBe(1);
    expectNoReuse(oauth);
    // None was sent with the token that was known to be useless.
    expect(oauth.requests.filter(({ path }) => path === "/authorize")).toHaveLength(1);
    expect(oauth.calls.get("call 0")).toBe(1);
  });

  it.each([true, false])(
    "renew it once where only the refusal tells (rotate: %s)",
    async (rotate) => {
      const oauth = await protect({ rotate, tokenDelay: 30 });
      const board = await connectAs(oauth, undefined);
      oauth.expireTokens();
      expect(await callAtOnce(board, count)).toEqual([]);
      expect(oauth.count("refresh")).toBe(1);
      expect([...oauth.calls.values()].every((times) => times === 1)).toBe(true);
      oauth.expireTokens();
      expect(await callAtOnce(board, count)).toEqual([]);
      expect(oauth.count("refresh")).toBe(2);
      if (rotate) expectNoReuse(oauth);
      expect(oauth.count("authorize")).toBe(1);
    },
  );
});

describe("a renewal", () => {
  it("stores the new tokens for the next run", async () => {
    const stateDir = temporaryDirectory();
    const oauth = await protect();
    const first = await connectAs(oauth, undefined, { stateDir });
    oauth.expireTokens();
    expect(await callAtOnce(first, 1)).toEqual([]);
    await first.close();
    const second = await connect(oauth, { stateDir });
    expect(await callAtOnce(second, 1)).toEqual([]);
    expect(oauth.count("refresh")).toBe(1);
    expect(oauth.count("authorize")).toBe(1);
  });

  it("keeps the refresh token if it gets no new one", async () => {
    const stateDir = temporaryDirectory();
    const oauth = await protect({ rotate: false });
    const board = await connectAs(oauth, undefined, { stateDir });
    const before = await readDocument(stateDir, "grant");
    oauth.expireTokens();
    expect(await callAtOnce(board, 1)).toEqual([]);
    const after = await readDocument(stateDir, "grant");
    const refreshToken = (before["tokens"] as { refresh_token: string }).refresh_token;
    expect(after).toMatchObject({ scope: "mcp", tokens: { refresh_token: refreshToken } });
  });

  it("by another board is taken over, whether or not the expiry was known", async () => {
    const stateDir = temporaryDirectory();
    const oauth = await protect();
    const one = await connectAs(oauth, undefined, { stateDir });
    const other = await connect(oauth, { stateDir });
    oauth.expireTokens();
    expect(await callAtOnce(one, 1)).toEqual([]);
    expect(await callAtOnce(other, 5)).toEqual([]);
    expect(oauth.count("refresh")).toBe(1);
    expectNoReuse(oauth);
  });

  it("of two boards at the same moment happens once", async () => {
    const stateDir = temporaryDirectory();
    const oauth = await protect({ tokenDelay: 50 });
    const one = await connectAs(oauth, undefined, { stateDir });
    const other = await connect(oauth, { stateDir });
    oauth.expireTokens();
    const failures = await Promise.all([callAtOnce(one, 10), callAtOnce(other, 10)]);
    expect(failures).toEqual([[], []]);
    expect(oauth.count("refresh")).toBe(1);
    expectNoReuse(oauth);
  });

  it.each([
    ["succeeds", (oauth: OAuthFixture) => oauth.expireTokens()],
    ["fails", (oauth: OAuthFixture) => oauth.revokeAll()],
  ])("that %s after its lease has ended leaves what its successor got", async (_, end) => {
    const stateDir = temporaryDirectory();
    const oauth = await protect();
    await (await connectAs(oauth, undefined, { stateDir })).close();
    const state = openFileState(stateDir);
    let successor: unknown;
    // The successor is done between the answer to the renewal and its end.
    const late = new (class extends GrantFiles {
      override async replace(...args: Parameters<GrantFiles["replace"]>): Promise<boolean> {
        const grant = { tokens: { ...oauth.issue() }, scope: "mcp" };
        successor = grant;
        await this.write("grant", args[1], grant);
        return super.replace(...args);
      }
    })(stateDir, systemClock);
    const board = await connect(oauth, { state: { ...state, grants: late } });
    await reaches(board, "docs", "ready");
    end(oauth);
    expect(await callAtOnce(board, 1)).toEqual([]);
    expect(oauth.count("refresh")).toBe(1);
    expect(await readDocument(stateDir, "grant")).toEqual(successor);
  });

  it("that the authorization server refuses leads to needs-auth; other servers continue", async () => {
    const stateDir = temporaryDirectory();
    const [oauth, other] = [await protect(), await protect()];
    const first = await connectAs(oauth, undefined, { stateDir });
    await first.close();
    const board = await open(
      { docs: { url: oauth.url }, other: { url: other.url } },
      { stateDir, onAuthorization: agree(other) },
    );
    expect(await callAtOnce(board, 1)).toEqual([]);
    await board.close();

    const alone = await open({ docs: { url: oauth.url }, other: { url: other.url } }, { stateDir });
    await reaches(alone, "docs", "ready");
    oauth.revokeAll();
    const [failure] = await callAtOnce(alone, 1);
    expect(failure).toBe("server 'docs': sign-in required; run: plugboard login docs");
    expect(statusOf(alone, "docs").state).toEqual({
      kind: "needs-auth",
      remedy: "sign-in required; run: plugboard login docs",
    });
    expect(statusOf(alone, "other").state.kind).toBe("ready");
    expect((await alone.call("other/count", { key: "x" })).isError).toBeUndefined();
  });

  it("that fails for another reason keeps the refresh token", async () => {
    const stateDir = temporaryDirectory();
    const oauth = await protect({ metadata: { token_endpoint: "http://127.0.0.1:1/token" } });
    const board = await connect(oauth, { stateDir });
    expect(statusOf(board, "docs").state.kind).toBe("needs-auth");
    // As if from better days.
    const { discovery } = await readDocument(stateDir, "server");
    const { authStore, grantKey } = await import("../../../src/core/auth/store.ts");
    const key = grantKey(discovery as Parameters<typeof grantKey>[0], oauth.url, "public");
    const store = authStore(new GrantFiles(stateDir, systemClock));
    await store.write("grant", key, { tokens: oauth.issue() });
    oauth.expireTokens();
    const again = await connect(oauth, { stateDir }, { oauth: { clientId: "public" } });
    expect(statusOf(again, "docs").lastError).toContain("127.0.0.1");
    expect(statusOf(again, "docs").state.kind).toBe("backoff");
    expect(await readDocument(stateDir, "grant")).toHaveProperty("tokens.refresh_token");
  });

  it("with a client that the server no longer knows registers another", async () => {
    const stateDir = temporaryDirectory();
    const oauth = await protect();
    const board = await connectAs(oauth, undefined, { stateDir });
    const { client } = await readDocument(stateDir, "client");
    await changeDocument(stateDir, "client", {
      client: { ...(client as object), client_id: "forgotten" },
    });
    oauth.expireTokens();
    expect(await callAtOnce(board, 3)).toEqual([]);
    expect(oauth.count("register")).toBe(2);
    expect(oauth.count("authorize")).toBe(2);
  });
});
