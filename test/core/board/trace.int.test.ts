import { afterEach, describe, expect, it } from "vitest";
import type { Board } from "../../../src/core/types/board.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import type { TraceEntry, TraceOptions } from "../../../src/core/types/trace.ts";
import { closeAll, serve } from "../../fixtures/http/client.ts";
import { startSse } from "../../fixtures/http/sse.ts";
import { closeBoards, fixture, open, statusOf } from "../../support/boards.ts";

afterEach(closeAll);
// Last, so that it is done first.
closeBoards();

/** A board that is traced from the first message on. */
async function trace(
  servers: Record<string, ServerConfig>,
  use: (board: Board) => Promise<unknown>,
  options: TraceOptions = {},
): Promise<TraceEntry[]> {
  const board = await open(servers, { start: "none" });
  const entries: TraceEntry[] = [];
  const end = board.trace((entry) => entries.push(entry), options);
  await use(board);
  await end();
  return entries;
}

/** `→ method`, `← method` for its answer, and what else there is. */
function outline(entries: readonly TraceEntry[]): string[] {
  return entries.map((entry) => {
    switch (entry.kind) {
      case "message": {
        const { method = entry.answers } = entry.message;
        return `${entry.from === "board" ? "→" : "←"} ${String(method)}`;
      }
      case "http":
        return `HTTP ${entry.method} ${entry.status}${entry.session ? " in a session" : ""}`;
      case "state":
        return entry.state;
      default:
        return entry.kind;
    }
  });
}

const call = (board: Board): Promise<unknown> => board.call("echo/echo", { text: "hi" });
const SESSION_SECRET = "s3cr3t-of-the-session";
const CALL = ["→ tools/call", "← tools/call"];
const LEGACY = ["→ initialize", "← initialize", "→ notifications/initialized"];
const LIST = ["→ tools/list", "← tools/list"];

describe("every transport and era is traced from the handshake to the result", () => {
  it("stdio, legacy", async () => {
    const entries = await trace({ echo: fixture("echo") }, call);
    const seen = outline(entries);
    expect(seen.slice(0, 6)).toEqual(["starting", ...LEGACY, ...LIST]);
    expect(seen.slice(-3)).toEqual(["ready", ...CALL]);
    expect(entries.at(-1)).toMatchObject({
      server: "echo",
      message: { result: { content: [{ text: "hi" }] } },
      answers: "tools/call",
    });
  });

  it("stdio, 2026-07-28", async () => {
    const seen = outline(await trace({ echo: fixture("modern-only") }, call));
    expect(seen).toEqual(
      expect.arrayContaining(["→ initialize", "→ server/discover", "→ subscriptions/listen"]),
    );
    expect(seen).toEqual(expect.arrayContaining(["← server/discover", ...LIST, ...CALL]));
  });

  it.each<[string, Parameters<typeof serve>[0], string[]]>([
    ["legacy", { era: "legacy" }, ["→ initialize", "HTTP POST 200 in a session", "← initialize"]],
    [
      "legacy, with streams",
      { answer: "sse" },
      ["→ initialize", "HTTP POST 200 in a session", "← initialize"],
    ],
    ["2026-07-28", { era: "modern" }, ["→ server/discover", "HTTP POST 200", "← server/discover"]],
  ])("HTTP, %s", async (_, options, handshake) => {
    const { url } = await serve(options);
    const seen = outline(await trace({ echo: { url } }, call));
    const at = seen.indexOf(handshake[0] ?? "");
    expect(seen.slice(at, at + 3)).toEqual(handshake);
    expect(seen).toEqual(expect.arrayContaining([...LIST, ...CALL]));
  });

  it("HTTP that refuses: the status, and what the server says about it", async () => {
    const { url } = await serve({ era: "legacy", sessions: false });
    const entries = await trace({ echo: { url: url.replace(/\/mcp$/, "/elsewhere") } }, call);
    expect(outline(entries)).toEqual(expect.arrayContaining(["HTTP POST 404", "backoff"]));
  });

  it("SSE", async () => {
    const { url } = await startSse();
    const seen = outline(await trace({ echo: { url, transport: "sse" } }, call));
    expect(seen).toEqual(expect.arrayContaining(["HTTP GET 200", ...LEGACY, ...LIST, ...CALL]));
  });
});

it("stderr, lines that are no messages, and the end of the server are in the trace, in their order", async () => {
  const seen = outline(
    await trace({ echo: fixture("log-on-stdout"), dead: fixture("stderr-then-exit") }, (board) =>
      Promise.all([call(board), board.call("dead/x")]),
    ),
  );
  expect(seen.filter((each) => each === "noise").length).toBeGreaterThan(3);
  expect(seen.indexOf("stderr")).toBeLessThan(seen.indexOf("backoff"));
});

it("no secret of the configuration is in a trace, wherever the server repeats it", async () => {
  const secret = "s3cr3t-of-the-server";
  const config = { ...fixture("repeats-secrets"), env: { NOTE_TOKEN: secret } };
  const entries = await trace({ tells: config }, async (board) => {
    for (const tool of ["tell", "refuse"]) await board.call(`tells/${tool}`, { note: secret });
    await board.call("tells/crash");
  });
  const text = JSON.stringify(entries);
  expect(outline(entries)).toEqual(expect.arrayContaining(["stderr", ...CALL]));
  expect(text).toContain("[REDACTED]");
  for (const form of [secret, btoa(secret), btoa(`user:${secret}`), encodeURIComponent(secret)]) {
    expect(text).not.toContain(form);
  }
});

it("a large message is cut, and arrives whole at its caller", async () => {
  let length = 0;
  const entries = await trace(
    { large: fixture("large-results") },
    async (board) => {
      const outcome = await board.call("large/lines", { bytes: 3_000_000 });
      length = JSON.stringify(outcome.content).length;
    },
    { maxSize: 100_000 },
  );
  expect(length).toBeGreaterThan(3_000_000);
  expect(entries.at(-1)).toMatchObject({ kind: "cut", answers: "tools/call" });
  expect(JSON.stringify(entries.at(-1)).length).toBeLessThan(10_000);
});

it("a trace may begin and end at any time, be about one server, and see the servers of sessions", async () => {
  const board = await open({ echo: fixture("echo"), other: fixture("echo") });
  expect(() => board.trace(() => {}, { server: "ecko" })).toThrow(
    expect.objectContaining({ code: "UNKNOWN_SERVER" }),
  );
  const heard: TraceEntry[] = [];
  const end = board.trace((entry) => heard.push(entry), { server: "echo" });
  await board.call("other/echo", { text: "not heard" });
  await board.call("echo/echo", { text: "heard" });
  await end();
  await board.call("echo/echo", { text: "too late" });
  expect(outline(heard)).toEqual(CALL);

  const all: TraceEntry[] = [];
  const endAll = board.trace((entry) => all.push(entry));
  await using session = await board.openSession({
    cwd: process.cwd(),
    servers: {
      own: { ...fixture("repeats-secrets"), env: { NOTE_TOKEN: SESSION_SECRET } },
    },
  });
  await session.call("own/tell");
  await endAll();
  expect(statusOf(board, "echo").state.kind).toBe("ready");
  expect(new Set(all.map(({ server }) => server))).toEqual(new Set(["own"]));
  expect(outline(all)).toEqual(expect.arrayContaining(CALL));
  expect(JSON.stringify(all)).not.toContain(SESSION_SECRET);
});
