import type { McpSubscription, SubscriptionFilter } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import type { PlugboardError } from "../../../../src/core/types/errors.ts";
import { ChangeStream } from "../../../../src/core/upstream/connection/change-stream.ts";
import { ManualClock, settle } from "../../../support/manual-clock.ts";

interface Stream extends McpSubscription {
  end(why: "graceful" | "remote"): void;
  isClosed: boolean;
}

/** A client whose streams are opened by hand; `refuse` makes the next ones fail. */
function fakeClient(capabilities: object = { tools: { listChanged: true } }) {
  const streams: Stream[] = [];
  const client = {
    refuse: undefined as Error | undefined,
    transport: {} as never,
    getServerCapabilities: () => capabilities,
    async listen(filter: SubscriptionFilter): Promise<McpSubscription> {
      if (client.refuse !== undefined) throw client.refuse;
      let end: (why: "local" | "graceful" | "remote") => void = () => {};
      const stream: Stream = {
        honoredFilter: filter,
        isClosed: false,
        closed: new Promise((resolve) => {
          end = resolve;
        }),
        end: (why) => end(why),
        async close() {
          stream.isClosed = true;
          end("local");
        },
      };
      streams.push(stream);
      return stream;
    },
  };
  return { client, streams };
}

function listen(capabilities?: object) {
  const { client, streams } = fakeClient(capabilities);
  const clock = new ManualClock();
  const errors: PlugboardError[] = [];
  let missed = 0;
  const listening = new ChangeStream({
    client,
    clock,
    timeout: 1000,
    onError: (error) => errors.push(error),
    onMissed: () => {
      missed += 1;
    },
  });
  const filters = () => streams.map(({ honoredFilter }) => honoredFilter);
  return { client, streams, clock, errors, listening, filters, missed: () => missed };
}

describe("the stream", () => {
  it.each([
    [{ tools: { listChanged: true } }, { toolsListChanged: true }],
    [
      { tools: {}, resources: { listChanged: true }, prompts: { listChanged: true } },
      { resourcesListChanged: true, promptsListChanged: true },
    ],
  ])("is opened for what the server reports: %j", async (capabilities, filter) => {
    const { listening, filters } = listen(capabilities);
    listening.start();
    await settle();
    expect(filters()).toEqual([filter]);
  });

  it("is not opened if there is nothing to hear", async () => {
    const { listening, filters } = listen({ tools: {} });
    listening.start();
    await settle();
    expect(filters()).toEqual([]);
  });

  it("is replaced when the subscriptions change, the new one first", async () => {
    const { listening, streams, filters } = listen();
    listening.start();
    await settle();
    await listening.subscribe(new Set(["a:1"]));
    expect(filters()).toEqual([
      { toolsListChanged: true },
      { toolsListChanged: true, resourceSubscriptions: ["a:1"] },
    ]);
    expect(streams.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    expect([listening.covers("a:1"), listening.covers("a:2")]).toEqual([true, false]);
  });

  it("is replaced once for changes that come together", async () => {
    const { listening, filters } = listen();
    const uris = new Set<string>();
    const wants = ["a:1", "a:2", "a:3"].map((uri) => listening.subscribe(uris.add(uri)));
    await Promise.all(wants);
    expect(filters()).toEqual([
      { toolsListChanged: true, resourceSubscriptions: ["a:1", "a:2", "a:3"] },
    ]);
  });

  it("ends when there are no subscriptions any more", async () => {
    const { listening, streams } = listen({});
    await listening.subscribe(new Set(["a:1"]));
    await listening.subscribe(new Set());
    expect(streams.map(({ isClosed }) => isClosed)).toEqual([true]);
    expect(listening.covers("a:1")).toBe(false);
  });

  it("is opened again when it ends, and reports that something may have been missed", async () => {
    const { listening, streams, clock, missed } = listen();
    listening.start();
    await settle();
    streams[0]?.end("remote");
    await clock.advance(999);
    expect([streams.length, missed()]).toEqual([1, 0]);
    await clock.advance(1);
    expect([streams.length, missed()]).toEqual([2, 1]);
  });

  it("is opened again later and later when it ends at once, and soon when it has lasted", async () => {
    const { listening, streams, clock } = listen();
    listening.start();
    await settle();
    for (const wait of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      const before = streams.length;
      streams.at(-1)?.end("graceful");
      await clock.advance(wait - 1);
      expect(streams).toHaveLength(before);
      await clock.advance(1);
      expect(streams).toHaveLength(before + 1);
    }
    await clock.advance(30_001);
    streams.at(-1)?.end("remote");
    const before = streams.length;
    await clock.advance(1000);
    expect(streams).toHaveLength(before + 1);
  });

  it("that cannot be opened is tried again, while there is a connection", async () => {
    const { listening, client, streams, clock, errors } = listen();
    client.refuse = new Error("no");
    listening.start();
    await clock.advance(1000);
    expect(errors.map(({ message }) => message)).toEqual(["no", "no"]);
    client.refuse = undefined;
    await clock.advance(2000);
    expect(streams).toHaveLength(1);
    client.transport = undefined as never;
    streams[0]?.end("remote");
    await clock.advance(60_000);
    expect(streams).toHaveLength(1);
  });

  it("is not opened again for a connection that has ended meanwhile", async () => {
    const { listening, client, streams, clock } = listen();
    listening.start();
    await settle();
    streams[0]?.end("remote");
    await settle();
    client.transport = undefined as never;
    await clock.advance(60_000);
    expect(streams).toHaveLength(1);
  });

  it("that is refused rejects the subscription", async () => {
    const { listening, client } = listen();
    client.refuse = new Error("no");
    await expect(listening.subscribe(new Set(["a:1"]))).rejects.toThrow("no");
  });
});
