// The requests of a client while they are answered, and who can cancel them.

import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Client, type Exchange } from "../../../src/serve/endpoint/client.ts";
import { abortSignalOf } from "../../../src/util/abort.ts";

function connect(): Client {
  return new Client({
    era: "legacy",
    caller: { id: "somebody", label: "somebody" },
    profile: { protocolVersion: "2025-11-25", capabilities: {} },
    send: () => {},
    canBeAsked: false,
  });
}

function begin(client: Client, id: number): Exchange {
  const exchange = client.begin({ id, method: "tools/call", params: {} }, () => {});
  if (exchange === undefined) throw new Error(`a request ${id} is under way`);
  return exchange;
}

describe("a request", () => {
  it("is cancelled by its id, and by the end of its client", () => {
    const client = connect();
    const [first, second, third] = [begin(client, 1), begin(client, 2), begin(client, 3)];
    client.cancel(1);
    client.end(3);
    expect([first, second, third].map(({ signal }) => signal.aborted)).toEqual([
      true,
      false,
      false,
    ]);
    void client.gone();
    expect([second, third].map(({ signal }) => signal.aborted)).toEqual([true, false]);
  });

  it("is one of thousands: the end of their client cancels a part of them in a turn", async () => {
    const client = connect();
    const all = Array.from({ length: 2_000 }, (_, id) => begin(client, id));
    const cancelled = (): number => all.filter(({ signal }) => signal.aborted).length;
    const gone = client.gone();
    const inTurns = [cancelled()];
    while (cancelled() < all.length) {
      const before = cancelled();
      await nextTurn();
      inTurns.push(cancelled() - before);
    }
    await gone;
    expect(Math.max(...inTurns)).toBeLessThanOrEqual(400);
    expect(inTurns[0]).toBeGreaterThan(0);
  });

  it("is not reached by a later cancel, whatever still listens to it", () => {
    const client = connect();
    const ended = begin(client, 1);
    const heard: string[] = [];
    ended.signal.addEventListener("abort", () => heard.push("light"));
    abortSignalOf(ended.signal).addEventListener("abort", () => heard.push("real"));
    client.end(1);
    const other = connect();
    const later = [begin(client, 2), begin(other, 1)];
    client.cancel(2);
    other.cancel(1);
    expect(later.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    expect(ended.signal.aborted).toBe(false);
    expect(heard).toEqual([]);
  });
});
