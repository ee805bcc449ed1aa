import { describe, expect, it } from "vitest";
import { Clients } from "../../../../src/serve/gateway/monitoring/clients.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

const alice = { id: "token:1", label: "alice" };
const bob = { id: "token:2", label: "alice" };

describe("the clients", () => {
  it("are told apart by caller, agent, name and version", () => {
    const clients = new Clients(new ManualClock());
    const seen = [
      clients.seen(alice, "default", { name: "cli", version: "1" }),
      clients.seen(alice, "default", { name: "cli", version: "1" }),
      clients.seen(alice, "default", { name: "cli", version: "2" }),
      clients.seen(alice, "other", { name: "cli", version: "1" }),
      // Two tokens may have had the same name.
      clients.seen(bob, "default", { name: "cli", version: "1" }),
      clients.seen(bob, "default", undefined),
    ];
    expect(seen).toEqual([true, false, true, true, true, true]);
    expect(clients.list().map(({ requests }) => requests)).toEqual([2, 1, 1, 1, 1]);
  });

  it("are there until they have asked for nothing for 5 minutes", async () => {
    const clock = new ManualClock();
    const clients = new Clients(clock);
    clients.seen(alice, "default", { name: "old" });
    await clock.advance(4 * 60_000);
    clients.seen(alice, "default", { name: "new" });
    expect(clients.present).toBe(2);
    await clock.advance(2 * 60_000);
    expect(clients.present).toBe(1);
    expect(clients.list().map(({ client }) => client.name)).toEqual(["new", "old"]);
  });

  it("that make up ever new names push out only the ones that asked longest ago", async () => {
    const clock = new ManualClock();
    const clients = new Clients(clock);
    // Not that of somebody else.
    clients.seen(bob, "default", { name: "other" });
    for (let at = 0; at < 600; at += 1) {
      await clock.advance(1);
      clients.seen(alice, "default", { name: `c${at}` });
    }
    const names = clients.list().map(({ client }) => client.name);
    const [last, ...rest] = names.toReversed();
    expect([names.length, names[0], rest[0], last]).toEqual([500, "c599", "c101", "other"]);
  });
});
