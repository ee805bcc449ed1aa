// What the first clients wait for.

import { describe, expect, it } from "vitest";
import { Startup } from "../../src/endpoint/startup.ts";
import type { BoardEvents } from "../../src/model/events.ts";
import type { ServerStatus } from "../../src/model/server-status.ts";
import { Emitter } from "../../src/util/emitter.ts";
import { ManualClock, settle } from "../support/manual-clock.ts";

function start(...kinds: string[]) {
  const clock = new ManualClock();
  const events = new Emitter<BoardEvents>(() => {});
  const states = kinds.map((kind) => ({ state: { kind } }) as ServerStatus);
  const startup = new Startup({ on: events.on.bind(events), status: () => states }, clock);
  return {
    clock,
    startup,
    becomes: (index: number, kind: string) => {
      states[index] = { state: { kind } } as ServerStatus;
      events.emit("server", {} as BoardEvents["server"]);
    },
    begin: (what: "forInstructions" | "forLists") => {
      const wait = { isOver: false };
      void startup[what]().then(() => (wait.isOver = true));
      return wait;
    },
  };
}

describe("the first client", () => {
  it.each(["ready", "failed", "untrusted", "disabled", "backoff", "needs-auth", "idle"])(
    "does not wait for a server that is %s",
    async (kind) => {
      const { begin } = start(kind);
      const wait = begin("forLists");
      await settle();
      expect(wait.isOver).toBe(true);
    },
  );

  it("waits until every server has started or failed", async () => {
    const { begin, becomes } = start("starting", "starting");
    const wait = begin("forLists");
    becomes(0, "ready");
    await settle();
    expect(wait.isOver).toBe(false);
    becomes(1, "failed");
    await settle();
    expect(wait.isOver).toBe(true);
  });

  it.each([
    ["forInstructions", 5000],
    ["forLists", 8000],
  ] as const)("does not wait %s for longer than a client has patience", async (what, ms) => {
    const { clock, begin } = start("starting");
    const wait = begin(what);
    await clock.advance(ms - 1);
    expect(wait.isOver).toBe(false);
    await clock.advance(1);
    expect(wait.isOver).toBe(true);
  });

  it("does not wait for a restart later on", async () => {
    const { clock, begin, becomes } = start("starting");
    begin("forLists");
    becomes(0, "ready");
    await settle();
    becomes(0, "starting");
    const wait = begin("forLists");
    await settle();
    expect(wait.isOver).toBe(true);
    expect(clock.next()).toBeUndefined();
  });
});
