// What the first clients wait for.

import { describe, expect, it } from "vitest";
import { Startup } from "../../../src/serve/endpoint/startup.ts";
import type { BoardEvents } from "../../../src/core/types/events.ts";
import type { ServerStatus } from "../../../src/core/types/server-status.ts";
import { Emitter } from "../../../src/util/emitter.ts";
import { ManualClock, settle } from "../../support/manual-clock.ts";

const server = (kind: string, known: Partial<ServerStatus> = {}): ServerStatus =>
  ({ state: { kind }, cached: false, ...known }) as ServerStatus;

const OWN_RESOURCE = "plugboard://status";

function start(...servers: ServerStatus[]) {
  const clock = new ManualClock();
  const events = new Emitter<BoardEvents>(() => {});
  const startup = new Startup({ on: events.on.bind(events), status: () => servers }, clock);
  return {
    clock,
    becomes: (index: number, kind: string) => {
      servers[index] = server(kind);
      events.emit("server", {} as BoardEvents["server"]);
    },
    ask: (method: string) => {
      const wait = { isOver: false };
      const waiting =
        method === OWN_RESOURCE ? startup.beforeOwnResource() : startup.before(method);
      if (waiting === undefined) wait.isOver = true;
      else void waiting.then(() => (wait.isOver = true));
      return wait;
    },
  };
}

describe("the first client", () => {
  it.each(["ready", "failed", "untrusted", "disabled", "backoff", "needs-auth", "idle"])(
    "does not wait for a server that is %s",
    (kind) => {
      const { ask } = start(server(kind));
      expect(ask("tools/list").isOver).toBe(true);
      expect(ask(OWN_RESOURCE).isOver).toBe(true);
    },
  );

  it.each(["initialize", "server/discover", "tools/call", "resources/read", "ping"])(
    "does not wait with %s",
    (method) => expect(start(server("starting")).ask(method).isOver).toBe(true),
  );

  it("waits until every server has started or failed", async () => {
    const { ask, becomes } = start(server("starting"), server("starting"));
    const wait = ask("tools/list");
    becomes(0, "ready");
    await settle();
    expect(wait.isOver).toBe(false);
    becomes(1, "failed");
    await settle();
    expect(wait.isOver).toBe(true);
  });

  it.each<[string, Partial<ServerStatus>]>([
    ["whose tools are known from an earlier run", { cached: true }],
    ["that has failed lately", { lastError: "no answer within 30 s; tried 2 min ago" }],
  ])("waits for a server %s only with the resources of the board itself", (_, known) => {
    const { ask } = start(server("starting", known));
    expect(ask("tools/list").isOver).toBe(true);
    expect(ask("prompts/list").isOver).toBe(true);
    expect(ask(OWN_RESOURCE).isOver).toBe(false);
  });

  it.each([
    [OWN_RESOURCE, 5000],
    ["tools/list", 8000],
    ["resources/list", 8000],
    ["resources/templates/list", 8000],
    ["prompts/list", 8000],
  ])("does not wait with %s for longer than a client has patience", async (method, ms) => {
    const { clock, ask } = start(server("starting"));
    const wait = ask(method);
    await clock.advance(ms - 1);
    expect(wait.isOver).toBe(false);
    await clock.advance(1);
    expect(wait.isOver).toBe(true);
    expect(ask(method).isOver).toBe(true);
    expect(clock.next()).toBeUndefined();
  });

  it("does not wait for a restart later on", () => {
    const { ask, becomes } = start(server("ready"));
    ask("tools/list");
    becomes(0, "starting");
    expect(ask("tools/list").isOver).toBe(true);
  });
});
