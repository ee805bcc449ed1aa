import { describe, expect, it } from "vitest";
import { loggerFor, silentLogger } from "../../src/model/logger.ts";
import { recordingLogger } from "../support/logger.ts";

describe.each(["debug", "info", "warn", "error"] as const)("%s", (level) => {
  it("says nothing where nobody listens", () => {
    expect(silentLogger[level]("message", { server: "docs" })).toBeUndefined();
  });

  it("carries the server's name", () => {
    const logger = recordingLogger();
    loggerFor("docs", logger)[level]("message", { ms: 3 });
    expect(logger.lines).toEqual([
      { level, message: "message", fields: { server: "docs", ms: 3 } },
    ]);
  });
});
