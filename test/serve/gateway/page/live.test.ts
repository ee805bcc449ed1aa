import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import type { PendingApproval } from "../../../../src/core/types/shared-state.ts";
import type { WatchedCallEvent } from "../../../../src/core/types/events.ts";
import type { ServerLine } from "../../../../src/core/types/server-log.ts";
import type { PlacedCallWatcher } from "../../../../src/serve/gateway/monitoring/monitoring.ts";
import { Live, type LiveOptions } from "../../../../src/serve/gateway/page/live.ts";
import { Tally } from "../../../../src/serve/gateway/monitoring/tally.ts";
import type { Role, Snapshot } from "../../../../src/serve/gateway/page/wire.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

class FakeReply extends EventEmitter {
  text = "";
  status = 0;
  destroyed = false;
  writableLength = 0;
  writeHead(status: number): this {
    this.status = status;
    return this;
  }
  write(text: string): void {
    this.text += text;
  }
  end(text = ""): void {
    this.text += text;
    this.leave();
  }
  leave(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

const QUESTION = {
  id: "abc",
  agent: "default",
  caller: { id: "token:1", label: "ci" },
  createdAt: 0,
  expiresAt: 1000,
  argsHash: "",
  request: { tool: "files/rm", args: { path: "/secret-place" }, hints: {}, reason: "asked" },
} as unknown as PendingApproval;

function open() {
  const clock = new ManualClock();
  const lists = { count: 0 };
  const state = {
    name: "files",
    transport: "stdio",
    target: "node files.js --key $KEY",
    state: { kind: "failed", error: { code: "SPAWN_FAILED", message: "KEY is missing" } },
    tools: 0,
    promptTokens: 0,
    restarts: 0,
    calls: { total: 0, failed: 0, inFlight: 0 },
    diagnostics: [],
    stderr: [],
  };
  const watchers: PlacedCallWatcher[] = [];
  const monitoring = {
    watchCalls: (watcher: PlacedCallWatcher) => {
      watchers.push(watcher);
      return () => void watchers.splice(0);
    },
    tally: new Tally(),
    since: 1,
    servers: () => [{ agent: "default", status: state }],
    status: () => ({
      agents: [{ id: "default", isOpen: true, servers: [] }],
      clients: { list: [] },
      sessions: { list: [] },
      attached: { list: [] },
      config: "/of/mine/plugboard.json",
      unappliedEdit: { kind: "waiting", message: "files would start in another way" },
    }),
  };
  const waiting = [QUESTION];
  const pending = {
    list: async () => {
      lists.count += 1;
      return [...waiting];
    },
  };
  const readers = { open: 0 };
  const listeners = new Set<(line: ServerLine) => void>();
  const written: ServerLine[] = [{ at: 0, server: "files", level: "info", text: "an early line" }];
  const logs = {
    lines: () => written,
    listen: (listener: (line: ServerLine) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const live = new Live({
    monitoring,
    state: { pending, pins: { list: async () => [] }, changes: { subscribe: () => () => {} } },
    clock,
    logs,
    url: () => "http://127.0.0.1:1/mcp",
    onReader: () => {
      readers.open += 1;
      return () => void (readers.open -= 1);
    },
  } as unknown as LiveOptions);
  const look = async (
    role: Role,
    nonce: string = role,
    reply = new FakeReply(),
    headers: IncomingMessage["headers"] = {},
  ) => {
    const request = { headers, method: "GET" } as IncomingMessage;
    const visitor = { role, name: role, nonce, until: Infinity };
    await live.open(request, reply as unknown as ServerResponse, visitor);
    return reply;
  };
  return { live, clock, look, lists, readers, watchers, listeners, written, waiting, monitoring };
}

function snapshotIn({ text }: FakeReply): Snapshot {
  return JSON.parse(/^event: snapshot\ndata: (.*)$/m.exec(text)?.[1] ?? "{}") as Snapshot;
}

describe("what a visitor sees", () => {
  it("is everything for the owner; a viewer gets no command lines, reasons, arguments and files", async () => {
    const { look, live } = open();
    const owner = snapshotIn(await look("owner"));
    expect(owner.servers[0]).toMatchObject({
      target: "node files.js --key $KEY",
      why: "KEY is missing",
    });
    expect(owner.edit?.message).toContain("files");
    expect(owner.gateway.config).toBe("/of/mine/plugboard.json");
    const viewer = await look("viewer");
    expect(snapshotIn(viewer).servers[0]).toMatchObject({ name: "files", state: "failed" });
    for (const hidden of ["files.js", "KEY", "secret-place", "would start", "/of/mine"]) {
      expect(viewer.text, hidden).not.toContain(hidden);
    }
    live.close();
  });

  it("are the calls as they happen, for a viewer without what a server has said", async () => {
    const { look, live, clock, watchers } = open();
    const [owner, viewer] = [await look("owner"), await look("viewer")];
    watchers[0]?.ended(ended("1"), { agent: "default" });
    await clock.advance(200);
    expect(owner.text).toMatch(/event: calls\n.*"outcome":"error".*boom/);
    expect(viewer.text).toMatch(/event: calls\n.*"outcome":"error"/);
    expect(viewer.text).not.toContain("boom");
    live.close();
  });

  it("are the calls of the minute that has not ended, too", async () => {
    const { look, live, clock, monitoring } = open();
    const listeners = new Map<string, (event: object) => void>();
    const board = {
      on: (name: string, listener: (event: object) => void) => {
        listeners.set(name, listener);
        return () => {};
      },
    };
    monitoring.tally.watch(
      "default",
      board as unknown as Parameters<Tally["watch"]>[1],
      () => true,
    );
    const call = (): void => listeners.get("call")?.(ended("1"));
    const at = clock.now();
    call();
    const page = await look("owner");
    expect(snapshotIn(page).minutes).toEqual([{ at, calls: 1, errors: 1 }]);
    call();
    await clock.advance(600);
    expect(page.text).toContain(JSON.stringify({ at, calls: 2, errors: 2 }));
    await clock.advance(at + 59_900 - clock.now());
    call();
    // The minute ends before the next look at the figures.
    await clock.advance(700);
    const first = JSON.stringify({ at, calls: 3, errors: 3 });
    const second = JSON.stringify({ at: at + 60_000, calls: 0, errors: 0 });
    expect(page.text).toContain(first);
    expect(page.text).toContain(second);
    const [id = ""] = /^id: .*$/m.exec(page.text) ?? [];
    const back = await look("owner", "back", new FakeReply(), { "last-event-id": id.slice(4) });
    expect(back.text).toContain(first);
    expect(back.text).toContain(second);
    call();
    expect(snapshotIn(await look("owner", "later")).minutes).toEqual([
      { at, calls: 3, errors: 3 },
      { at: at + 60_000, calls: 1, errors: 1 },
    ]);
    live.close();
  });

  it("is what servers write, for the owner alone", async () => {
    const { look, live, clock, listeners } = open();
    const [owner, viewer] = [await look("owner"), await look("viewer")];
    const line: ServerLine = { at: 1, server: "files", level: "warn", text: "disk is full" };
    for (const listener of listeners) listener(line);
    await clock.advance(200);
    for (const words of ["an early line", "disk is full"]) {
      expect(owner.text).toContain(words);
      expect(viewer.text).not.toContain(words);
    }
    expect(owner.text.split("disk is full")).toHaveLength(2);
    live.close();
    expect(listeners.size).toBe(0);
  });

  it("is true from the first moment: what goes back to what it was is told to a page that came meanwhile", async () => {
    const { look, live, clock, waiting } = open();
    waiting.splice(0);
    const first = await look("owner", "first");
    await clock.advance(1000);
    waiting.push(QUESTION);
    const second = await look("owner", "second");
    expect(snapshotIn(second).waiting).toHaveLength(1);
    waiting.splice(0);
    await clock.advance(1000);
    for (const page of [first, second]) {
      expect(page.text.lastIndexOf("event: waiting\n")).toBeGreaterThan(
        page.text.lastIndexOf("files/rm"),
      );
    }
    live.close();
  });

  it("has no line twice that is written just before it comes", async () => {
    const { look, live, clock, listeners, written } = open();
    await look("owner", "first");
    const line: ServerLine = { at: 1, server: "files", level: "warn", text: "disk is full" };
    written.push(line);
    for (const listener of listeners) listener(line);
    const owner = await look("owner");
    await clock.advance(1000);
    expect(owner.text.split("disk is full")).toHaveLength(2);
    live.close();
  });
});

describe("a page whose connection was lost", () => {
  const line: ServerLine = { at: 1, server: "files", level: "warn", text: "disk is full" };
  const lastId = ({ text }: FakeReply): IncomingMessage["headers"] => ({
    "last-event-id": [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? "",
  });

  it("goes on where it stopped if it is back soon, and misses nothing", async () => {
    const { look, live, clock, listeners } = open();
    const page = await look("owner");
    await clock.advance(1000);
    page.leave();
    for (const listener of listeners) listener(line);
    await clock.advance(30_000);
    const back = await look("owner", "owner", new FakeReply(), lastId(page));
    expect(back.text).not.toContain("event: snapshot");
    expect(back.text).toContain("disk is full");
    live.close();
  });

  it("begins anew if nobody has looked for a while, and then nothing is listened to", async () => {
    const { look, live, clock, listeners, written } = open();
    const page = await look("owner");
    await clock.advance(1000);
    page.leave();
    await clock.advance(61_000);
    expect(listeners.size).toBe(0);
    written.push(line);
    const back = await look("owner", "owner", new FakeReply(), lastId(page));
    expect(back.text).toContain("event: gap");
    expect(snapshotIn(back).lines?.map(({ text }) => text)).toContain("disk is full");
    live.close();
  });
});

function ended(callId: string): WatchedCallEvent {
  return {
    callId,
    tool: "x",
    source: { kind: "mcp", server: "files", tool: "rm" },
    durationMs: 5,
    isError: true,
    failure: { code: "SERVER_ERROR", message: "boom" },
    decision: { verdict: "allowed" },
    bytes: 10,
    steps: [],
    size: () => 10,
    read: () => ({ args: {}, outcome: { content: [] }, redacted: { args: [], answer: [] } }),
  };
}

describe("looking", () => {
  it("costs nothing once nobody looks any more", async () => {
    const { look, clock, lists, live, readers } = open();
    const reply = await look("owner");
    await clock.advance(2000);
    expect(readers.open).toBe(1);
    reply.leave();
    expect(readers.open).toBe(0);
    await clock.advance(2000);
    const { count } = lists;
    await clock.advance(10_000);
    expect(lists.count).toBe(count);
    live.close();
  });

  it("of somebody who went away at once takes no place", async () => {
    const { look, live, readers } = open();
    for (let at = 0; at < 40; at += 1) {
      const reply = new FakeReply();
      reply.destroyed = true;
      await look("owner", "gone", reply);
    }
    expect(readers.open).toBe(0);
    expect((await look("owner")).status).toBe(200);
    live.close();
  });

  it("has a place for the owner, however many viewers there are", async () => {
    const { look, live } = open();
    const statuses: number[] = [];
    for (let at = 0; at < 40; at += 1) statuses.push((await look("viewer", `v${at % 5}`)).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(24);
    expect((await look("owner")).status).toBe(200);
    live.close();
  });
});
