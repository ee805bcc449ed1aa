// Several processes with one state directory: a token of one serves all, and one process renews it.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { closeAll } from "../../fixtures/http/client.ts";
import type { OAuthFixture } from "../../fixtures/oauth/oauth.ts";
import { closeBoards, statusOf } from "../../support/boards.ts";
import { type Compiled, compile } from "../../support/compile.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { callAtOnce, changeDocument, connect, connectAs, protect, refreshesOf } from "./support.ts";
import { Worker } from "./worker.ts";

afterEach(closeAll);
// Last, so that it is done first.
closeBoards();

const CALLER = new URL("../../fixtures/oauth/caller.mjs", import.meta.url);
const PROCESSES = 4;
const CALLS = 5;

let compiled: Compiled;
beforeAll(async () => {
  compiled = await compile("core/board/board");
});
afterAll(() => compiled.remove());

async function startCallers(
  oauth: OAuthFixture,
  stateDir: string,
  start: "eager" | "none",
): Promise<Worker[]> {
  const given = JSON.stringify({ url: oauth.url, stateDir, start, calls: CALLS });
  const callers = Array.from(
    { length: PROCESSES },
    () => new Worker(CALLER, compiled.modules, given),
  );
  for (const caller of callers) expect(await caller.next()).toBe("ready");
  return callers;
}

/** All at once; resolves to what failed. */
async function go(callers: readonly Worker[]): Promise<unknown[]> {
  for (const caller of callers) caller.tell("go");
  const failures = await Promise.all(callers.map((caller) => caller.next()));
  await Promise.all(callers.map((caller) => caller.end()));
  return failures.flat();
}

async function signedIn(oauth: OAuthFixture): Promise<string> {
  const stateDir = temporaryDirectory();
  const board = await connectAs(oauth, undefined, { stateDir });
  await board.close();
  return stateDir;
}

function expectOneRenewal(oauth: OAuthFixture): void {
  expect(refreshesOf(oauth)).toHaveLength(1);
  expect(oauth.count("authorize")).toBe(1);
  expect(oauth.tokens.some(({ state }) => state === "revoked")).toBe(false);
  const calls = [...oauth.calls.values()];
  expect(calls).toHaveLength(PROCESSES * CALLS);
  expect(calls.every((times) => times === 1)).toBe(true);
}

describe(`${PROCESSES} processes with an expired token`, () => {
  it("renew it once if its expiry is known", async () => {
    const oauth = await protect({ tokenDelay: 100 });
    const stateDir = await signedIn(oauth);
    await changeDocument(stateDir, "grant", { expiresAt: Date.now() - 1000 });
    oauth.expireTokens();
    const callers = await startCallers(oauth, stateDir, "none");
    expect(await go(callers)).toEqual([]);
    expectOneRenewal(oauth);
  });

  it("renew it once if only a refusal in the middle of the session shows that it has expired", async () => {
    const oauth = await protect({ tokenDelay: 100 });
    const stateDir = await signedIn(oauth);
    const callers = await startCallers(oauth, stateDir, "eager");
    oauth.expireTokens();
    expect(await go(callers)).toEqual([]);
    expectOneRenewal(oauth);
  });
});

describe("a sign-in in another process", () => {
  it("is used by a board without a token from its next call", async () => {
    const oauth = await protect();
    const stateDir = temporaryDirectory();
    const board = await connect(oauth, { stateDir });
    expect(statusOf(board, "docs").state).toMatchObject({
      kind: "needs-auth",
      remedy: expect.stringContaining("plugboard login docs"),
    });
    const [failure] = await callAtOnce(board, 1);
    expect(failure).toContain("plugboard login docs");
    const other = await connectAs(oauth, undefined, { stateDir });
    await other.close();
    expect(await callAtOnce(board, 3)).toEqual([]);
    expect(oauth.count("authorize")).toBe(1);
  });
});

describe("a sign-out in another process", () => {
  const storedGrants = async (stateDir: string): Promise<string[]> => {
    const names = await readdir(join(stateDir, "auth"));
    return names.filter((name) => name.startsWith("grant-"));
  };

  it("holds, also where nobody revokes the token that renews", async () => {
    const oauth = await protect({ metadata: { revocation_endpoint: undefined } });
    const stateDir = await signedIn(oauth);
    const board = await connect(oauth, { stateDir });
    expect(await callAtOnce(board, 1)).toEqual([]);
    const other = await connect(oauth, { stateDir });
    expect(await other.signOut("docs")).toBe("forgotten");
    oauth.expireTokens();
    const [failure] = await callAtOnce(board, 1);
    expect(String(failure)).toContain("plugboard login docs");
    expect(refreshesOf(oauth)).toEqual([]);
    expect(await storedGrants(stateDir)).toEqual([]);
  });

  it("waits for a renewal that is under way, which would undo it", async () => {
    const metadata = { revocation_endpoint: undefined };
    const oauth = await protect({ tokenDelay: 500, metadata });
    const stateDir = await signedIn(oauth);
    const board = await connect(oauth, { stateDir });
    const other = await connect(oauth, { stateDir });
    oauth.expireTokens();
    const calling = callAtOnce(board, 1);
    await vi.waitFor(() => expect(refreshesOf(oauth)).toHaveLength(1), { timeout: 20_000 });
    expect(await other.signOut("docs")).toBe("forgotten");
    await calling;
    expect(await storedGrants(stateDir)).toEqual([]);
  });
});
