import { describe, expect, it } from "vitest";
import { BoardTrace } from "../../../src/core/board/trace.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import { silentLogger } from "../../../src/core/types/logger.ts";
import type { TraceEntry, TraceOptions } from "../../../src/core/types/trace.ts";
import { Redactor } from "../../../src/core/redaction/redactor.ts";
import { recordingLogger } from "../../support/logger.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const SECRET = "kX93-hush-hush-kX93";

function traced(options: TraceOptions = {}) {
  const clock = new ManualClock();
  const trace = new BoardTrace({ clock, logger: silentLogger });
  const redactor = new Redactor();
  redactor.add(SECRET);
  const tap = trace.tap("docs", redactor);
  const entries: TraceEntry[] = [];
  const end = trace.begin((entry) => entries.push(entry), options);
  return { clock, trace, redactor, tap, entries, end };
}

/** What a trace tells about this line of the server. */
async function told(line: string, options?: TraceOptions): Promise<TraceEntry[]> {
  const { tap, entries, end } = traced(options);
  tap.listener?.({ kind: "received", text: line });
  await end();
  return entries;
}

it("costs nothing but a look while nobody listens", async () => {
  const { trace, tap, entries, end } = traced();
  expect(tap.listener).toBeTypeOf("function");
  await end();
  expect(trace.isOn).toBe(false);
  expect(tap.listener).toBeUndefined();
  tap.state({ kind: "idle" });
  expect(entries).toEqual([]);
});

it("tells both directions in order, with the method and the time of each answer", async () => {
  const { clock, tap, entries, end } = traced();
  const hear = (kind: "sent" | "received", message: object): void =>
    tap.listener?.({ kind, text: JSON.stringify({ jsonrpc: "2.0", ...message }) });
  hear("sent", { id: 1, method: "tools/call", params: {} });
  // The server's own ids are not the board's.
  hear("received", { id: 1, method: "roots/list" });
  await clock.advance(5);
  hear("sent", { id: 1, result: { roots: [] } });
  await clock.advance(7);
  hear("received", { id: 1, error: { code: -1, message: "no" } });
  hear("received", { id: 9, result: {} });
  await end();
  const seen = entries.flatMap((each) =>
    each.kind === "message" ? [[each.from, each.message["method"], each.answers, each.ms]] : [],
  );
  expect(seen).toEqual([
    ["board", "tools/call", undefined, undefined],
    ["server", "roots/list", undefined, undefined],
    ["board", undefined, "roots/list", 5],
    ["server", undefined, "tools/call", 12],
    ["server", undefined, undefined, undefined],
  ]);
});

describe("a secret of the configuration is in nothing that is told", () => {
  const half = SECRET.length / 2;
  const [first, second] = [SECRET.slice(0, half), SECRET.slice(half)];
  it.each<[string, unknown]>([
    ["arguments", { method: "tools/call", params: { arguments: { a: [`x${SECRET}y`] } } }],
    ["a result", { id: 1, result: { content: [{ type: "text", text: SECRET }] } }],
    ["an error", { id: 1, error: { code: 1, message: `no ${SECRET}`, data: { [SECRET]: 1 } } }],
    ["an address", { id: 1, result: { uri: `https://h/?q=${encodeURIComponent(SECRET)}` } }],
    ["base64", { id: 1, result: { blob: btoa(SECRET) } }],
    ["the name of a method", { method: SECRET }],
    ["an id", { id: SECRET, result: {} }],
    ["two fields of an object", { id: 1, result: { a: first, b: second } }],
    ["two items of a list", { id: 1, result: { parts: [first, second] } }],
    [
      "two blocks of a result",
      {
        id: 1,
        result: {
          content: [
            { type: "text", text: `a${first}` },
            { type: "text", text: `${second}z` },
          ],
        },
      },
    ],
    [
      "two resources of a result",
      {
        id: 1,
        result: { content: [{ resource: { text: first } }, { resource: { text: second } }] },
      },
    ],
    ["a line that is no message", `log: ${SECRET}`],
    [
      "a message that is cut, at the cut",
      { method: "x", params: { a: "y".repeat(4040) + SECRET } },
    ],
    ["a batch", [{ method: "a", params: { a: SECRET } }, { method: "b" }]],
  ])("%s", async (_, message) => {
    const line = typeof message === "string" ? message : JSON.stringify(message);
    for (const options of [{}, { maxSize: 10 }]) {
      const entries = JSON.stringify(await told(line, options));
      expect(entries).toContain("docs");
      for (const part of [SECRET, btoa(SECRET), encodeURIComponent(SECRET)]) {
        expect(entries).not.toContain(part);
      }
      if (options.maxSize === undefined) {
        expect(entries.includes(first) && entries.includes(second)).toBe(false);
      }
    }
  });
});

it.each([
  ["a number", '{"id":1,"result":{"pin":492912341234}}'],
  ["an id", '{"id":492912341234,"result":{}}'],
])("a secret of digits is not told as %s", async (_, line) => {
  const { tap, redactor, entries, end } = traced();
  redactor.add("492912341234");
  tap.listener?.({ kind: "received", text: line });
  await end();
  expect(entries).toMatchObject([{ kind: "cut", text: expect.stringContaining("[REDACTED]") }]);
  expect(JSON.stringify(entries)).not.toContain("492912341234");
});

it("keeps little of what a server asks, and takes a batch of any length", async () => {
  const { tap, entries, end } = traced();
  const ask = (id: string): void =>
    tap.listener?.({ kind: "received", text: JSON.stringify({ id, method: "ping" }) });
  ask("x".repeat(100_000));
  ask("short");
  tap.listener?.({ kind: "received", text: `[${"{},".repeat(100_000)}{}]` });
  await end();
  expect([...tap.requests.keys()]).toEqual(["server short"]);
  expect(entries.map(({ kind }) => kind)).toEqual(["message", "message", "cut"]);
});

it("hides what looks like a credential, though it is in no configuration", async () => {
  const message = { method: "tools/call", params: { arguments: { password: "hunter2" } } };
  for (const options of [{}, { maxSize: 10 }]) {
    expect(JSON.stringify(await told(JSON.stringify(message), options))).not.toContain("hunter2");
  }
});

describe("what is no message in itself", () => {
  it.each<[string, string, object]>([
    ["a log line", "starting…", { kind: "noise", text: "starting…", size: 9 }],
    ["a number", "12", { kind: "noise", text: "12" }],
    ["an empty batch", "[]", { kind: "noise" }],
    ["escapes are gone", "\u001b[31mred\u001b[0m\u0007", { kind: "noise", text: "red" }],
  ])("%s", async (_, line, expected) => {
    expect(await told(line)).toMatchObject([{ server: "docs", ...expected }]);
  });
});

describe("a message that is too large is cut", () => {
  it.each<[string, string, object]>([
    [
      "a request",
      `{"id":7,"method":"tools/call","params":"${"x".repeat(9000)}"}`,
      {
        id: 7,
        method: "tools/call",
      },
    ],
    ["an answer", `{"result":"${"x".repeat(9000)}","jsonrpc":"2.0","id":"a-1"}`, { id: "a-1" }],
    [
      "one that is nested too deeply",
      `{"id":7,"result":${"[".repeat(5000)}${"]".repeat(5000)}}`,
      {
        id: 7,
      },
    ],
  ])("%s", async (_, line, expected) => {
    const [entry, ...others] = await told(line, { maxSize: line.includes("[") ? 1e6 : 1000 });
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ kind: "cut", from: "server", size: line.length, ...expected });
    expect(JSON.stringify(entry).length).toBeLessThan(6000);
  });

  it("for one listener, and given whole to another", async () => {
    const { trace, tap, entries, end } = traced({ maxSize: 100 });
    const whole: TraceEntry[] = [];
    const endOther = trace.begin((entry) => whole.push(entry), { server: "docs" });
    tap.listener?.({ kind: "sent", text: `{"id":1,"method":"x","params":"${"y".repeat(500)}"}` });
    await end();
    await endOther();
    expect(entries).toMatchObject([{ kind: "cut", id: 1, method: "x" }]);
    expect(whole).toMatchObject([{ kind: "message", message: { params: "y".repeat(500) } }]);
  });
});

it("leaves out and counts what comes faster than it is taken, and keeps the order of the rest", async () => {
  const { tap, entries, end } = traced();
  const send = (id: number): void =>
    tap.listener?.({ kind: "sent", text: JSON.stringify({ id, method: "x" }) });
  for (let id = 0; id < 5000; id += 1) send(id);
  // Nothing was done for any of them yet: the calls go first.
  expect(entries).toEqual([]);
  while (entries.at(-1)?.kind !== "lost") await new Promise((resolve) => setImmediate(resolve));
  send(5000);
  await end();
  expect(entries.filter(({ kind }) => kind === "lost")).toMatchObject([{ count: 3000 }]);
  const ids = entries.flatMap((each) => (each.kind === "message" ? [each.message["id"]] : []));
  expect(ids).toEqual([...Array.from({ length: 2000 }, (_, at) => at), 5000]);
});

it("does not let large messages pile up", async () => {
  const { tap, entries, end } = traced({ maxSize: Infinity });
  const text = `{"method":"x","params":"${"y".repeat(20 * 1024 ** 2)}"}`;
  for (let count = 0; count < 3; count += 1) tap.listener?.({ kind: "received", text });
  await end();
  expect(entries.map(({ kind }) => kind)).toEqual(["message", "lost"]);
});

it("tells states with what is known about them, and HTTP answers with the beginning of the session's id", async () => {
  const { tap, entries, end } = traced();
  const error = new PlugboardError("SPAWN_FAILED", `cannot use ${SECRET}\u001b[2J`);
  tap.state({ kind: "starting", attempt: 1, since: 0 });
  tap.state({ kind: "failed", error });
  tap.listener?.({ kind: "stderr", text: "a line" });
  for (const session of ["0123456789abcdef", "abcdef"]) {
    const contentType = "text/event-stream; charset=utf-8";
    tap.listener?.({ kind: "http", method: "POST", status: 200, ms: 1.26, contentType, session });
  }
  await end();
  const about = { server: "docs", at: expect.any(Number) };
  const contentType = "text/event-stream";
  const http = { ...about, kind: "http", method: "POST", status: 200, ms: 1.3, contentType };
  expect(entries).toEqual([
    { ...about, kind: "state", state: "starting" },
    { ...about, kind: "state", state: "failed", text: "cannot use [REDACTED]" },
    { ...about, kind: "stderr", text: "a line" },
    { ...http, session: "01234567…" },
    { ...http, session: "abc…" },
  ]);
});

it("a listener that throws, or ends its trace, disturbs nobody", async () => {
  const logger = recordingLogger();
  const trace = new BoardTrace({ clock: new ManualClock(), logger });
  const tap = trace.tap("docs", new Redactor());
  const other = trace.tap("other", new Redactor());
  const heard: unknown[] = [];
  const end = trace.begin(() => {
    throw new Error("oops");
  }, {});
  const later = (): unknown => Promise.reject(new Error("later"));
  const endLater = trace.begin(later, {});
  const endOne = trace.begin(
    (entry) => {
      heard.push(entry);
      void endOne();
    },
    { server: "docs" },
  );
  for (const each of [tap, other, tap]) each.listener?.({ kind: "stderr", text: "x" });
  await end();
  await endLater();
  expect(heard.length).toBe(2);
  expect(JSON.stringify(logger.lines)).toContain("oops");
  expect(JSON.stringify(logger.lines)).toContain("later");
});
