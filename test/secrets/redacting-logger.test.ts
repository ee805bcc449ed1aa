import { describe, expect, it } from "vitest";
import { silentLogger } from "../../src/model/logger.ts";
import { redactingLogger } from "../../src/secrets/redacting-logger.ts";
import { Redactor } from "../../src/secrets/redactor.ts";
import { recordingLogger } from "../support/logger.ts";

const redactor = new Redactor();
redactor.add("hunter2-hunter2");

describe("a redacting logger", () => {
  it.each(["debug", "info", "warn", "error"] as const)("tells no secret at %s", (level) => {
    const inner = recordingLogger();
    const logger = redactingLogger(inner, redactor);
    logger[level]("token hunter2-hunter2", { server: "docs", reason: ["hunter2-hunter2"] });
    logger[level]("ready");
    expect(inner.lines).toEqual([
      { level, message: "token [REDACTED]", fields: { server: "docs", reason: ["[REDACTED]"] } },
      { level, message: "ready", fields: {} },
    ]);
  });

  it("is none where nothing is logged", () => {
    expect(redactingLogger(silentLogger, redactor)).toBe(silentLogger);
  });
});
