// A call is sent to its server at most once, unless the server has certainly not run it. Whoever made a call that
// failed after it was sent learns that it may have run.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Board } from "../../../src/core/types/board.ts";
import type { ErrorCode } from "../../../src/core/types/errors.ts";
import type { CallOutcome } from "../../../src/core/types/tool.ts";
import { closeAll, serve, until } from "../../fixtures/http/client.ts";
import type { McpHttp, McpHttpOptions } from "../../fixtures/http/mcp.ts";
import { temporaryDirectory } from "../../support/directory.ts";
import { closeBoards, fixture, openWith, reaches, textOf } from "../../support/boards.ts";
import { MovableClock } from "../../support/movable-clock.ts";

afterEach(closeAll);
// Last, so that it is done first.
closeBoards();

type Call = [tool: string, args: Record<string, unknown>];

const EFFECT = /may have taken effect/;

/** What happens to a call once it runs: nothing more, its time is over, the caller gives up, or the board closes. */
type Then = "nothing" | "timeout" | "cancel" | "close";

/** In milliseconds. A call takes far less, so its time is over only when the test puts the clock forward. */
const TOOL_TIMEOUT = 60_000;

async function callAndThen(
  board: Board,
  [tool, args]: Call,
  then: Then,
  clock: MovableClock,
  runs: () => boolean,
): Promise<CallOutcome> {
  const giveUp = new AbortController();
  const outcome = board.call(tool, args, { signal: giveUp.signal });
  if (then !== "nothing") await until(runs);
  if (then === "timeout") clock.forward(TOOL_TIMEOUT);
  if (then === "cancel") giveUp.abort();
  if (then === "close") await board.close();
  return outcome;
}

describe("a call to a program that fails after it was sent has run once, and says that it may have", () => {
  it.each<[string, string, Then, ErrorCode]>([
    ["exits", "exit", "nothing", "CONNECTION_CLOSED"],
    ["does not answer in time", "hang", "timeout", "TIMEOUT"],
    ["answers with too much", "flood", "nothing", "MESSAGE_TOO_LARGE"],
    ["answers with something malformed", "junk", "nothing", "PROTOCOL"],
    ["is not waited for any longer", "hang", "cancel", "CANCELLED"],
    ["is on a board that is closed", "hang", "close", "CONNECTION_CLOSED"],
  ])("the program %s", async (_, what, then, code) => {
    const file = join(temporaryDirectory(), "calls.txt");
    const written = (): string => (existsSync(file) ? readFileSync(file, "utf8") : "");
    const server = { ...fixture("writes-down", `--file=${file}`), toolTimeout: TOOL_TIMEOUT };
    const servers = { one: { ...server, maxMessageBytes: 2 ** 16 } };
    const clock = new MovableClock();
    const board = await openWith({ servers }, { clock });
    const call: Call = ["one/run", { end: what }];
    const outcome = await callAndThen(board, call, then, clock, () => written() !== "");
    expect(outcome.failure).toMatchObject({ code, mayHaveRun: true });
    expect(textOf(outcome)).toMatch(EFFECT);
    if (then !== "close") {
      await reaches(board, "one", "ready");
      expect(textOf(await board.call("one/echo", { text: "still here" }))).toBe("still here");
    }
    expect(written()).toBe(`${what}\n`);
  });
});

function sent(server: McpHttp): number {
  return server.requests.filter(
    ({ body }) => (body as { method?: string })?.method === "tools/call",
  ).length;
}

const DROP: Call = ["one/drop", { key: "k" }];
const COUNT: Call = ["one/count", { key: "k" }];

describe("a call to a URL that fails after it was sent was sent once, and says that it may have run", () => {
  it.each<[string, McpHttpOptions, Call, Then, ErrorCode]>([
    ["the connection is reset", { reset: ["tools/call"] }, COUNT, "nothing", "NETWORK"],
    ["an answer of JSON is cut", {}, DROP, "nothing", "CONNECTION_CLOSED"],
    ["a stream of events is cut", { answer: "sse" }, DROP, "nothing", "CONNECTION_CLOSED"],
    ["no answer comes in time", { never: ["tools/call"] }, COUNT, "timeout", "TIMEOUT"],
    [
      "HTTP 500",
      { status: [{ method: "tools/call", code: 500, times: 1 }] },
      COUNT,
      "nothing",
      "HTTP_STATUS",
    ],
    [
      "HTTP 503, as of a proxy",
      { status: [{ method: "tools/call", code: 503, times: 1, headers: { "retry-after": "0" } }] },
      COUNT,
      "nothing",
      "HTTP_STATUS",
    ],
    ["the caller gives up", { never: ["tools/call"] }, COUNT, "cancel", "CANCELLED"],
    ["the board is closed", { never: ["tools/call"] }, COUNT, "close", "CONNECTION_CLOSED"],
  ])("%s", async (_, options, call, then, code) => {
    for (const era of ["legacy", "modern"] as const) {
      const server = await serve({ ...options, era, eventIds: false });
      const one = { url: server.url, toolTimeout: TOOL_TIMEOUT };
      const clock = new MovableClock();
      const board = await openWith({ servers: { one } }, { clock });
      const outcome = await callAndThen(board, call, then, clock, () => sent(server) > 0);
      expect(outcome.failure).toMatchObject({ code, mayHaveRun: true });
      expect(textOf(outcome)).toMatch(EFFECT);
      await board.close();
      expect(sent(server)).toBe(1);
    }
  });
});

describe("a connection to a URL that breaks", () => {
  it.each(["legacy", "modern"] as const)("fails its own call alone (%s)", async (era) => {
    const server = await serve({ era, reset: ["count"] });
    const board = await openWith({ servers: { one: { url: server.url } } });
    const other = board.call("one/sleep", { ms: 300 });
    await until(() => sent(server) === 1);
    const outcome = await board.call(...COUNT);
    expect(outcome.failure).toMatchObject({ code: "NETWORK", mayHaveRun: true });
    expect(textOf(await other)).toBe("slept 300 ms");
    expect(board.status()[0]).toMatchObject({ restarts: 0, state: { kind: "ready" } });
  });

  it.each(["legacy", "modern"] as const)(
    "costs nothing but another try, if nothing can have run (%s)",
    async (era) => {
      const server = await serve({ era, reset: ["tools/list"], resets: 1 });
      const board = await openWith({ servers: { one: { url: server.url } } });
      expect(textOf(await board.call(...COUNT))).toBe("counted k");
      const lists = server.requests.filter(({ body }) => body?.method === "tools/list");
      expect(lists).toHaveLength(2);
      expect(board.status()[0]).toMatchObject({ restarts: 0 });
    },
  );
});

describe("a call that was refused has not run", () => {
  it.each([400, 413, 403])("and is not sent a second time: HTTP %i", async (code) => {
    const status = [{ method: "tools/call", code, times: 1 }];
    const server = await serve({ status, era: "modern" });
    const board = await openWith({ servers: { one: { url: server.url } } });
    const outcome = await board.call(...COUNT);
    expect(outcome.isError).toBe(true);
    expect(outcome.failure?.mayHaveRun).toBeUndefined();
    expect(textOf(outcome)).not.toMatch(EFFECT);
    expect([sent(server), server.calls.size]).toEqual([1, 0]);
  });

  it("so it is sent again where the server says later, or has lost the session", async () => {
    const headers = { "retry-after": "0" };
    const status = [{ method: "tools/call", code: 429, times: 1, headers }];
    const server = await serve({ status });
    const board = await openWith({ servers: { one: { url: server.url } } });
    expect((await board.call(...COUNT)).failure).toBeUndefined();
    expect([sent(server), server.calls.get("k")]).toEqual([2, 1]);
    server.forgetSessions();
    expect((await board.call("one/count", { key: "second" })).failure).toBeUndefined();
    expect([sent(server), server.calls.get("second")]).toEqual([4, 1]);
  });
});

it("a call that is cancelled before it is sent has not run", async () => {
  const file = join(temporaryDirectory(), "calls.txt");
  const board = await openWith({ servers: { one: fixture("writes-down", `--file=${file}`) } });
  const outcome = await board.call("one/run", { end: "hang" }, { signal: AbortSignal.abort() });
  expect(outcome.failure).toEqual({ code: "CANCELLED", message: "the call was cancelled" });
  expect(existsSync(file)).toBe(false);
});

it("a call may take as long as the board says, where its server's configuration does not", async () => {
  const board = await openWith(
    { servers: { one: fixture("echo"), two: { ...fixture("echo"), toolTimeout: 60_000 } } },
    { defaultToolTimeout: 200 },
  );
  expect((await board.call("one/sleep", { ms: 1000 })).failure?.message).toContain("within 200 ms");
  expect((await board.call("two/sleep", { ms: 1000 })).failure).toBeUndefined();
});
