import { describe, expect, it } from "vitest";
import { protocolLevel, ServerLog } from "../../../src/server/log/server-log.ts";
import { recordingLogger } from "../../support/logger.ts";
import { ManualClock } from "../../support/manual-clock.ts";

function serverLog() {
  const logger = recordingLogger();
  const clock = new ManualClock();
  const redact = (text: string): string => text.replaceAll("hunter2", "***");
  return { logger, clock, log: new ServerLog(logger, clock, redact) };
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
    new ServerLog(logger, new ManualClock()).write({ data: "x" });
    expect(logger.lines).toHaveLength(1);
  });
});

it.each([
  ["debug", "debug"],
  ["info", "info"],
  ["warn", "warning"],
  ["error", "error"],
] as const)("the host's %s is the protocol's %s", (level, expected) => {
  expect(protocolLevel(level)).toBe(expected);
});
