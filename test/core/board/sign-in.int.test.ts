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

async function open(grants: GrantStore): Promise<ServerSignIn> {
  const { url } = await protect();
  const target = {
    kind: "http",
    url,
    headers: {},
    allowInsecure: false,
    allowPrivate: false,
  } as const;
  return new ServerSignIn({
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
}

describe("the sign-in of a server that closes", () => {
  it("has closed when what it was storing is stored", async () => {
    const { grants, began, aWrite } = slowGrants();
    const signIn = await open(grants);
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

  it("stores nothing more of the server once it has closed, whatever it was about to", async () => {
    const grants = memoryGrants();
    const stored = vi.spyOn(grants, "write");
    const signIn = await open(grants);
    meanwhile = () => signIn.close();
    await signIn.look().catch(() => {});
    expect(stored).not.toHaveBeenCalled();
  });
});
