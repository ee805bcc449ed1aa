import { expect, it } from "vitest";
import { RecentLogs } from "../../../../src/serve/gateway/monitoring/recent-logs.ts";
import { recordingLogger } from "../../../support/logger.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

it("keeps the last lines about servers, passes everything on, and tells of new ones", () => {
  const inner = recordingLogger();
  const clock = new ManualClock();
  const logs = new RecentLogs(inner, clock);
  const heard: string[] = [];
  const end = logs.listen(({ text }) => heard.push(text));
  logs.logger.warn("about no server");
  logs.logger.debug("a detail", { server: "a" });
  logs.logger.info("line", { server: "a", stream: "stderr" });
  logs.logger.warn("changed", { server: "a", subject: "search" });
  logs.logger.warn("looks odd", { server: "a", tool: "search" });
  end();
  for (let at = 0; at < 1200; at += 1)
    logs.logger.info(`${at}${"x".repeat(9000)}`, { server: "b" });
  const lines = logs.lines();
  expect(heard).toEqual(["line", "search: changed", "search: looks odd"]);
  expect(lines).toHaveLength(1000);
  expect(lines[0]).toMatchObject({ at: clock.now(), server: "b", level: "info" });
  expect(lines[0]?.text.length).toBeLessThanOrEqual(2001);
  expect(inner.lines).toHaveLength(1205);
});
