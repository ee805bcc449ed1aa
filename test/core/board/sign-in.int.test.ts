import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import type * as Flows from "../../../src/core/auth/flows.ts";
import { ServerSignIn } from "../../../src/core/board/sign-in.ts";
import { memoryGrants } from "../../../src/core/state/memory.ts";
import { silentLogger } from "../../../src/core/types/logger.ts";
import type { GrantStore } from "../../../src/core/types/shared-state.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { deferred } from "../../../src/util/deferred.ts";
import { closeAll } from "../../fixtures/http/client.ts";
import { protect } from "../auth/support.ts";

/** What happens between the last answer of a sign-in's server and what follows from it. */
let meanwhile: (() => Promise<void>) | undefined;

vi.mock("../../../src/core/auth/flows.ts", async (original) => {
  const flows = await original<typeof Flows>();
  const discover: typeof Flows.discover = async (...given) => {
    const found = await flows.discover(...given);
    await meanwhile?.();
    return found;
  };
  return { ...flows, discover };
});

afterEach(async () => {
  meanwhile = undefined;
  await closeAll();
});

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

async function open(grants: GrantStore) {
  const { url } = await protect();
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
  return { signIn, target };
}

describe("the sign-in of a server that closes", () => {
  it("has closed when what it was storing is stored", async () => {
    const { grants, began, aWrite } = slowGrants();
    const { signIn } = await open(grants);
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

  it.each(["has come", "is stored"])(
    "begins nothing more if it closes when what its server says %s",
    async (when) => {
      const grants = memoryGrants();
      const locked = vi.spyOn(grants, "withLease");
      const stored = vi.spyOn(grants, "write");
      const { signIn, target } = await open(grants);
      let closed: Promise<void> | undefined;
      const close = async (): Promise<void> => void (closed = signIn.close());
      if (when === "has come") meanwhile = close;
      else stored.mockImplementation(close);
      const authorizer = await signIn.authorizer(target);
      const renewal = authorizer?.renew({ status: 401, header: undefined }, undefined);
      await expect(renewal).rejects.toThrow("aborted");
      await closed;
      expect(stored).toHaveBeenCalledTimes(when === "has come" ? 0 : 1);
      expect(locked).not.toHaveBeenCalled();
    },
  );
});
