import { Writable } from "node:stream";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { openBoard } from "../../../src/core/board/board.ts";
import { loggerFor, loggerOf, silentLogger } from "../../../src/core/types/logger.ts";
import { recordingLogger } from "../../support/logger.ts";

describe.each(["debug", "info", "warn", "error"] as const)("%s", (level) => {
  it("can be silent", () => {
    expect(silentLogger[level]("message", { server: "docs" })).toBeUndefined();
  });

  it("adds the server's name to every line", () => {
    const logger = recordingLogger();
    loggerFor("docs", logger)[level]("message", { ms: 3 });
    expect(logger.lines).toEqual([
      { level, message: "message", fields: { server: "docs", ms: 3 } },
    ]);
  });
});

describe("a logger of pino's", () => {
  function recordingPino() {
    const lines: unknown[] = [];
    const write = (line: Buffer, _: string, done: () => void): void => {
      lines.push(JSON.parse(String(line)));
      done();
    };
    return { lines, logger: pino({ level: "debug" }, new Writable({ write })) };
  }

  it.each([
    ["debug", 20],
    ["info", 30],
    ["warn", 40],
    ["error", 50],
  ] as const)("gets the message and the fields of %s", (level, number) => {
    const { lines, logger } = recordingPino();
    loggerOf(logger)[level]("50 %s of it", { ms: 3 });
    expect(lines).toMatchObject([{ level: number, msg: "50 %s of it", ms: 3 }]);
  });

  it("is taken by a board as it is, and by its sessions", async () => {
    const { lines, logger } = recordingPino();
    const own = {
      name: "own",
      description: "",
      parameters: {},
      execute: () => ({ content: [{ type: "text" as const, text: "done" }] }),
    };
    await using board = await openBoard({ servers: {} }, { logger, native: [own] });
    await board.call("own");
    const session = await board.openSession({ cwd: process.cwd(), id: "mine" });
    await session.call("own");
    const calls = lines.filter((line) => (line as { msg: string }).msg === "call");
    expect(calls).toMatchObject([{ tool: "own" }, { tool: "own", session: "mine" }]);
  });

  it("any other stays as it is", () => {
    expect(loggerOf(silentLogger)).toBe(silentLogger);
  });
});
