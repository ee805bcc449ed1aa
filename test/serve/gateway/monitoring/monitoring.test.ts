import { expect, it } from "vitest";
import { openBoard } from "../../../../src/core/board/board.ts";
import { silentLogger } from "../../../../src/core/types/logger.ts";
import { Monitoring } from "../../../../src/serve/gateway/monitoring/monitoring.ts";
import { systemClock } from "../../../../src/util/clock.ts";

it("knows the past of a server that failed before anybody listened", async () => {
  const env = { KEY: "secret://env/PLUGBOARD_TEST_NOT_SET" };
  await using board = await openBoard({ servers: { needy: { command: "never-started", env } } });
  await expect.poll(() => board.status()[0]?.state.kind).toBe("failed");
  const monitoring = new Monitoring({
    version: "0",
    pid: 1,
    agentIds: ["default"],
    clock: systemClock,
    logger: silentLogger,
  });
  monitoring.watch("default", board)();
  expect(monitoring.history.of("default", "needy")).toMatchObject([
    { state: "failed", why: expect.stringContaining("PLUGBOARD_TEST_NOT_SET") },
  ]);
  monitoring.events.close();
});
