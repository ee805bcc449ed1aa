// Tokens that cannot be stored when they come, or not be read: with files, and with a PostgreSQL that is killed at that moment.

import { afterAll, afterEach, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { closeAll } from "../../fixtures/http/client.ts";
import type { OAuthFixture } from "../../fixtures/oauth/oauth.ts";
import type { GrantStore, SharedState } from "../../../src/core/types/shared-state.ts";
import type { JsonObject } from "../../../src/core/types/json.ts";
import { openEngineState } from "../../../src/core/state/engines/open.ts";
import { openFileState } from "../../../src/core/state/files/open.ts";
import { closeBoards, reaches } from "../../support/boards.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { type Engines, missingEngines, startEngines } from "../../support/engines.ts";
import { recordingLogger } from "../../support/logger.ts";
import { agree, callAtOnce, connect, protect, refreshesOf } from "./support.ts";

const SOON = { timeout: 20_000, interval: 20 };

afterEach(closeAll);
// Last, so that it is done first.
closeBoards();

interface Store {
  /** What this process uses. */
  state: SharedState;
  /** What another process reads and writes. */
  elsewhere: GrantStore;
  leave(): Promise<void>;
  return(): Promise<void>;
}

async function withFiles(): Promise<Store> {
  const stateDir = temporaryDirectory();
  const [state, other] = [openFileState(stateDir), openFileState(stateDir)];
  onTestFinished(async () => {
    await Promise.all([state.close(), other.close()]);
  });
  let isAway = false;
  const unlessAway =
    <Args extends unknown[], Result>(task: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (isAway) throw new Error("no space left on device");
      return task(...args);
    };
  const { grants } = state;
  const unreliable: GrantStore = {
    read: unlessAway((kind, key) => grants.read(kind, key)),
    write: unlessAway((kind, key, value) => grants.write(kind, key, value)),
    remove: unlessAway((kind, key) => grants.remove(kind, key)),
    replace: unlessAway((kind, key, before, after) => grants.replace(kind, key, before, after)),
    withLease: (key, task) => unlessAway(() => grants.withLease(key, task))(),
  };
  return {
    state: { ...state, grants: unreliable },
    elsewhere: other.grants,
    leave: async () => void (isAway = true),
    return: async () => void (isAway = false),
  };
}

async function withEngines(): Promise<Store> {
  const settings = await engines.newSettings();
  const openOne = async (): Promise<SharedState> => {
    const state = await openEngineState({
      settings,
      stateDir: temporaryDirectory(),
      isReplica: true,
    });
    onTestFinished(() => state.close());
    return state;
  };
  const [state, other] = [await openOne(), await openOne()];
  return {
    state,
    elsewhere: other.grants,
    leave: () => engines.postgres.kill(),
    return: async () => {
      await engines.postgres.start();
      await vi.waitFor(() => expect(other.health?.().away).toEqual([]), SOON);
    },
  };
}

const missing = missingEngines();
let engines: Engines;

beforeAll(async () => {
  if (missing === undefined) engines = await startEngines();
});
afterAll(() => engines?.stop());

/** The store goes away when the tokens are there, and before they are stored. */
async function renewUnstored(store: Store) {
  let key = "";
  const { grants } = store.state;
  const late: GrantStore = {
    read: (...args) => grants.read(...args),
    write: (...args) => grants.write(...args),
    remove: (...args) => grants.remove(...args),
    withLease: (...args) => grants.withLease(...args),
    async replace(...args) {
      if (refreshesOf(oauth).length === 1) await (isLeft ??= store.leave());
      key = args[1];
      return grants.replace(...args);
    },
  };
  let isLeft: Promise<void> | undefined;
  const oauth = await protect();
  const logger = recordingLogger();
  const { state } = store;
  await (await connect(oauth, { state, onAuthorization: agree(oauth) })).close();
  const board = await connect(oauth, { state: { ...state, grants: late }, logger });
  await reaches(board, "docs", "ready");
  oauth.expireTokens();
  expect(await callAtOnce(board, 3)).toEqual([]);
  expect(await callAtOnce(board, 1)).toEqual([]);
  expect(oauth.count("refresh")).toBe(1);
  const said = logger.lines.filter(({ message }) => message.includes("cannot be stored"));
  expect(said).toMatchObject([
    { level: "warn", message: "the tokens cannot be stored; they hold here meanwhile" },
  ]);
  return { board, oauth, key };
}

function expectNoReuse(oauth: OAuthFixture): void {
  const used = refreshesOf(oauth);
  expect(new Set(used).size).toBe(used.length);
  expect(oauth.tokens.some(({ state }) => state === "revoked")).toBe(false);
}

async function refreshTokenIn(store: Store, key: string): Promise<unknown> {
  const grant = await store.elsewhere.read("grant", key);
  return (grant?.["tokens"] as JsonObject | undefined)?.["refresh_token"];
}

const where = missing === undefined ? "" : `, skipped: ${missing}`;

it("tokens that a disk does not take are used, and stored later", async () => {
  await expectStoredLater(await withFiles());
});

it.skipIf(missing)(
  `tokens that PostgreSQL does not take are used, and stored later${where}`,
  async () => expectStoredLater(await withEngines()),
);

async function expectStoredLater(store: Store): Promise<void> {
  const { board, oauth, key } = await renewUnstored(store);
  const [first] = refreshesOf(oauth);
  await store.return();
  await vi.waitFor(async () => expect(await refreshTokenIn(store, key)).not.toBe(first), SOON);
  oauth.expireTokens();
  // Where the lease could not be given back, it lasts for some seconds more.
  expect(await callAtOnce(board, 3)).toEqual([]);
  expect(oauth.count("refresh")).toBe(2);
  expectNoReuse(oauth);
}

it("a renewal that comes before they are stored uses them too", async () => {
  const store = await withFiles();
  const { board, oauth } = await renewUnstored(store);
  oauth.expireTokens();
  await store.return();
  expect(await callAtOnce(board, 3)).toEqual([]);
  expect(oauth.count("refresh")).toBe(2);
  expectNoReuse(oauth);
});

it("what another process has stored meanwhile counts: a sign-out", async () => {
  const store = await withFiles();
  const { board, oauth, key } = await renewUnstored(store);
  await store.elsewhere.remove("grant", key);
  await store.return();
  await vi.waitFor(async () => {
    oauth.expireTokens();
    expect(await callAtOnce(board, 1)).toEqual([expect.stringContaining("sign-in required")]);
  }, SOON);
  expect(await store.elsewhere.read("grant", key)).toBeUndefined();
});

it("what another process has stored meanwhile counts: other tokens", async () => {
  const store = await withFiles();
  const { board, oauth, key } = await renewUnstored(store);
  oauth.expireTokens();
  const other = { tokens: { ...oauth.issue() }, scope: "mcp" };
  await store.elsewhere.write("grant", key, other);
  await store.return();
  expect(await callAtOnce(board, 1)).toEqual([]);
  expect(await store.elsewhere.read("grant", key)).toEqual(other);
  expect(oauth.count("refresh")).toBe(1);
});

it("who ends meanwhile tries once more", async () => {
  const store = await withFiles();
  const { board, oauth, key } = await renewUnstored(store);
  await store.return();
  await board.close();
  expect(await refreshTokenIn(store, key)).not.toBe(refreshesOf(oauth)[0]);
});

it("tokens that could not be read are read again", async () => {
  const store = await withFiles();
  const oauth = await protect();
  const { state } = store;
  await (await connect(oauth, { state, onAuthorization: agree(oauth) })).close();
  await store.leave();
  const board = await connect(oauth, { state, start: "none" });
  const [failure] = await callAtOnce(board, 1);
  expect(failure).toContain("no space left on device");
  await store.return();
  // The server is started again by itself.
  await vi.waitFor(async () => expect(await callAtOnce(board, 1)).toEqual([]), SOON);
});
