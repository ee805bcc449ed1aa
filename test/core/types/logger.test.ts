import { describe, expect, it } from "vitest";
import { loggerFor, silentLogger } from "../../../src/core/types/logger.ts";
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
