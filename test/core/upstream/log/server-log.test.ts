import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/core/types/json.ts";
import { type LoggedMessage, ServerLog } from "../../../../src/core/upstream/log/server-log.ts";
import { recordingLogger } from "../../../support/logger.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

function serverLog() {
  const logger = recordingLogger();
  const clock = new ManualClock();
  const redact = (text: string): string => text.replaceAll("hunter2", "***");
  return { logger, clock, log: new ServerLog({ logger, clock, redact }) };
}

describe("a server's log message", () => {
  it.each([
    ["debug", "debug"],
    ["info", "info"],
    ["notice", "info"],
    ["warning", "warn"],
    ["error", "error"],
    ["critical", "error"],
    ["alert", "error"],
    ["emergency", "error"],
    ["odd", "info"],
    [undefined, "info"],
  ])("at %s is logged at %s", (level, expected) => {
    const { log, logger } = serverLog();
    log.write({ level, data: "x" });
    expect(logger.lines).toEqual([{ level: expected, message: "x", fields: { stream: "log" } }]);
  });

  it.each([
    ["plain", "plain"],
    ["a\nb\u001b[2J\u202ec", "a bc"],
    ["hun\u200bter2", "***"],
    [{ a: [1] }, '{"a":[1]}'],
    [undefined, "undefined"],
    [null, "null"],
    ["x".repeat(1 << 20), `${"x".repeat(1999)}…`],
  ])("is one plain line: %#", (data, message) => {
    const { log, logger } = serverLog();
    log.write({ level: "info", data });
    expect(logger.lines[0]?.message).toBe(message);
  });

  it("names the part of the server that logged it", () => {
    const { log, logger } = serverLog();
    log.write({ level: "info", data: "x", logger: `db\n${"x".repeat(100)}` });
    expect(logger.lines[0]?.fields["logger"]).toMatch(/^db x+…$/);
  });

  it.each([undefined, "x", []])("is ignored if it is malformed: %j", (params) => {
    const { log, logger } = serverLog();
    log.write(params);
    expect(logger.lines).toEqual([]);
  });

  it("is left out of a flood, and counted", async () => {
    const { log, logger, clock } = serverLog();
    for (let each = 0; each < 250; each += 1) log.write({ level: "info", data: "x" });
    expect(logger.lines).toHaveLength(100);
    await clock.advance(1000);
    log.write({ level: "info", data: "y" });
    expect(logger.lines.slice(100).map(({ message }) => message)).toEqual([
      "(150 messages left out)",
      "y",
    ]);
  });

  it("is logged as it is without a redactor", () => {
    const logger = recordingLogger();
    new ServerLog({ logger, clock: new ManualClock() }).write({ data: "x" });
    expect(logger.lines).toHaveLength(1);
  });
});

describe("what is told of it", () => {
  function told(params: JsonObject, request?: { callId?: string; board?: object }) {
    const messages: LoggedMessage[] = [];
    const redact = (text: string): string => text.replaceAll("hunter2", "***");
    const log = new ServerLog({
      logger: recordingLogger(),
      clock: new ManualClock(),
      redact,
      onLog: (message) => void messages.push(message),
    });
    log.write(params, request);
    return messages[0];
  }

  it.each<[string, JsonObject, object]>([
    ["its level as it is", { level: "alert", data: "x" }, { level: "alert", data: "x" }],
    ["info for another level", { level: "odd", data: "x" }, { level: "info", data: "x" }],
    [
      "its logger",
      { level: "info", logger: "db", data: 1 },
      { level: "info", logger: "db", data: 1 },
    ],
    ["several lines", { level: "info", data: "a\nb" }, { level: "info", data: "a\nb" }],
    ["no data", { level: "info" }, { level: "info", data: null }],
    ["JSON", { level: "info", data: { a: [1] } }, { level: "info", data: { a: [1] } }],
    [
      "without secrets and invisible characters",
      { level: "info", data: { "a\u202e": ["hunter2", { b: "hun\u200bter2" }] } },
      { level: "info", data: { a: ["***", { b: "***" }] } },
    ],
    [
      "the beginning of what is large",
      { level: "info", data: { a: "x".repeat(1 << 20) } },
      { level: "info", data: `{"a":"${"x".repeat(7994)}` },
    ],
  ])("%s", (_, params, expected) => {
    expect(told(params)).toEqual(expected);
  });

  it("is the call that it belongs to", () => {
    const board = {};
    const message = told({ level: "info", data: "x" }, { callId: "call_1", board });
    expect(message).toEqual({ level: "info", data: "x", callId: "call_1", board });
    expect(message?.board).toBe(board);
  });

  it("is bounded, however deep the data is nested", () => {
    let data: unknown = "x";
    for (let depth = 0; depth < 2000; depth += 1) data = [data];
    expect(told({ level: "info", data })?.data).toBe("[".repeat(2000) + '"x"' + "]".repeat(2000));
  });
});
