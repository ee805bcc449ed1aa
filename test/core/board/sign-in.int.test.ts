import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { ServerSignIn } from "../../../src/core/board/sign-in.ts";
import { memoryGrants } from "../../../src/core/state/memory.ts";
import { silentLogger } from "../../../src/core/types/logger.ts";
import type { GrantStore } from "../../../src/core/types/shared-state.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { deferred } from "../../../src/util/deferred.ts";
import { closeAll } from "../../fixtures/http/client.ts";
import { protect } from "../auth/support.ts";

afterEach(closeAll);

/** Writes one after another, each when it is let go. */
function slowGrants() {
  const grants = memoryGrants();
  const began: (() => void)[] = [];
  const waiting = deferred();
  const write: GrantStore["write"] = async (...given) => {
    const go = deferred();
    began.push(go.resolve);
    waiting.resolve();
    await go.promise;
    await grants.write(...given);
  };
  return { grants: { ...grants, write }, began, aWrite: waiting.promise };
}

describe("the sign-in of a server that closes", () => {
  it("has closed when what it was storing is stored", async () => {
    const { url } = await protect();
    const { grants, began, aWrite } = slowGrants();
    const target = {
      kind: "http",
      url,
      headers: {},
      allowInsecure: false,
      allowPrivate: false,
    } as const;
    const signIn = new ServerSignIn({
      server: "docs",
      resolve: async () => ({ target }),
      isOfMatchingServer: false,
      grants,
      onChange: async () => {},
      exchanges: new Map(),
      networkAllow: ["127.0.0.1"],
      isOfSession: false,
      env: {},
      onAuthorization: undefined,
      clock: systemClock,
      logger: silentLogger,
      onSecrets: () => {},
    });
    const looked = signIn.look().catch(() => {});
    await aWrite;
    let isClosed = false;
    const closed = signIn.close().then(() => {
      isClosed = true;
    });
    // It has everything else to end first.
    for (let turns = 0; turns < 1000; turns += 1) await nextTurn();
    expect([began.length, isClosed]).toEqual([1, false]);
    began[0]?.();
    await Promise.all([closed, looked]);
    expect(isClosed).toBe(true);
  });
});
