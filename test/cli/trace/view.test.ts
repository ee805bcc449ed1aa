import { describe, expect, it } from "vitest";
import { TraceView, type TraceViewOptions } from "../../../src/cli/trace/view.ts";
import type { TraceEntry } from "../../../src/core/types/trace.ts";
import { plainText } from "../../../src/util/text.ts";
import { painter } from "../../../src/cli/terminal/terminal.ts";

type Entry = TraceEntry extends infer Each
  ? Each extends unknown
    ? Omit<Each, "server" | "at">
    : never
  : never;

const AT = new Date(2026, 10, 16, 14, 30, 5, 7).getTime();

function lines(entry: Entry, options: Partial<TraceViewOptions> = {}): string[] {
  const view = new TraceView({
    width: undefined,
    paint: painter(false),
    unicode: true,
    isFull: false,
    ...options,
  });
  return view.lines({ ...entry, server: "docs", at: AT });
}

const message = (from: "board" | "server", body: object, more: object = {}): Entry =>
  ({ kind: "message", from, message: body, size: 1, ...more }) as Entry;

describe("a line for each entry: the time, who sent it, what it is and what is in it", () => {
  it.each<[string, Entry, string]>([
    [
      "a request",
      message("board", { id: 3, method: "tools/call", params: { name: "x", _meta: { a: 1 } } }),
      '→ tools/call #3 {"name":"x"}',
    ],
    ["a notification", message("server", { method: "notifications/x" }), "← notifications/x"],
    [
      "an answer",
      message("server", { id: 3, result: { a: 1 } }, { answers: "tools/call", ms: 12.3 }),
      '← tools/call #3 answered in 12 ms {"a":1}',
    ],
    [
      "an answer to a request that was not seen",
      message("server", { id: 3, result: {} }),
      "← a request #3 answered",
    ],
    [
      "an error",
      message("server", { id: 3, error: { code: -32602, message: "no such tool" } }, { ms: 1 }),
      "← a request #3 failed in 1 ms -32602 no such tool",
    ],
    [
      "an error of a tool",
      message("server", { id: 3, result: { isError: true } }, { answers: "tools/call" }),
      '← tools/call #3 answered with an error {"isError":true}',
    ],
    [
      "a message that was cut",
      { kind: "cut", from: "server", text: '{"result":"xx', size: 104_857_600, id: 3, ms: 5 },
      '← a request #3 answered in 5 ms (100 MiB, cut) {"result":"xx',
    ],
    [
      "an HTTP answer",
      { kind: "http", method: "POST", status: 401, ms: 8, session: "abc…" },
      "← HTTP 401 to POST 8 ms, session abc…",
    ],
    ["stderr", { kind: "stderr", text: "starting" }, "! stderr starting"],
    ["noise", { kind: "noise", text: "hello", size: 5 }, "← not a message hello"],
    ["a state", { kind: "state", state: "ready", text: "after 1 s" }, "· ready after 1 s"],
    [
      "a crash",
      { kind: "state", state: "backoff", text: "the server exited with code 1" },
      "· failed, will be tried again: the server exited with code 1",
    ],
    ["a loss", { kind: "lost", count: 3 }, "· 3 lines left out: more came than could be shown"],
  ])("%s", (_, entry, line) => {
    expect(lines(entry)).toEqual([`14:30:05.007 ${line}`]);
  });
});

it("fits the screen, and does without symbols where they would not show", () => {
  const entry = message("board", { method: "x", params: { text: "long ".repeat(100) } });
  for (const width of [60, 80, 120]) {
    const [line = ""] = lines(entry, { width });
    expect(line.length).toBeLessThanOrEqual(width);
    expect(line.endsWith("…")).toBe(true);
  }
  expect(lines(message("server", { method: "x" }), { unicode: false })).toEqual([
    "14:30:05.007 <- x",
  ]);
});

it("--full has the whole message below its line", () => {
  const body = { id: 1, method: "x", params: { a: ["b"] } };
  const [head, ...rest] = lines(message("board", body), { isFull: true });
  expect(head).toBe("14:30:05.007 → x #1");
  expect(JSON.parse(rest.join("\n"))).toEqual(body);
  expect(rest.every((line) => line.startsWith("  "))).toBe(true);
});

describe("nothing that a server sends can move the cursor, break the line or hide", () => {
  const hostile = "a\u001b[2J\u001b]0;title\u0007b\r\nc\u202ed\u0000\u2028";
  it.each<[string, Entry]>([
    ["a method", message("server", { method: hostile })],
    ["an id", message("server", { id: hostile, result: {} }, { answers: hostile })],
    ["parameters", message("server", { method: "x", params: { [hostile]: hostile } })],
    ["an error", message("server", { id: 1, error: { code: hostile, message: hostile } })],
    ["a text that was cut", { kind: "cut", from: "server", text: hostile, size: 9 }],
    ["noise", { kind: "noise", text: hostile, size: 9 }],
    ["stderr", { kind: "stderr", text: hostile }],
    ["a state", { kind: "state", state: "failed", text: hostile }],
    [
      "a header",
      { kind: "http", method: "GET", status: 1, ms: 1, contentType: hostile, session: hostile },
    ],
  ])("%s", (_, entry) => {
    expect(lines(entry).length).toBe(1);
    for (const isFull of [false, true]) {
      const shown = lines(entry, { isFull }).join("");
      expect(shown).toBe(plainText(shown));
    }
  });
});

it("says how many entries were skipped because nobody read", () => {
  const view = new TraceView({
    width: undefined,
    paint: painter(false),
    unicode: true,
    isFull: false,
  });
  const entry: TraceEntry = { kind: "stderr", text: "x", server: "docs", at: AT };
  view.skip(entry);
  view.skip({ kind: "lost", count: 4, server: "docs", at: AT });
  expect(view.lines(entry).map((line) => line.slice(13))).toEqual([
    "· 5 lines left out: more came than could be shown",
    "! stderr x",
  ]);
  expect(view.lines(entry).length).toBe(1);
  // For programs.
  view.skip(entry);
  const lost = { kind: "lost", count: 1, server: "docs", at: AT };
  expect([view.withSkipped(entry), view.withSkipped(entry)]).toEqual([[lost, entry], [entry]]);
});
