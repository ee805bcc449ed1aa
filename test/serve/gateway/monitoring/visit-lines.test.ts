import { describe, expect, it } from "vitest";
import { VisitLines } from "../../../../src/serve/gateway/monitoring/visit-lines.ts";
import { silentLogger } from "../../../../src/core/types/logger.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

function open() {
  const clock = new ManualClock();
  const said: string[] = [];
  const lines = new VisitLines(clock, {
    ...silentLogger,
    info: (message) => said.push(message),
    warn: (message) => said.push(`! ${message}`),
  });
  return { clock, said, lines };
}

describe("lines about who comes and goes", () => {
  it("are summed up when there are too many of a kind", async () => {
    const { clock, said, lines } = open();
    for (let at = 0; at < 5000; at += 1) lines.say("refusal", `refused ${at}`, {});
    lines.say("session", "session begins", {});
    expect(said).toHaveLength(11);
    expect(said.slice(-2)).toEqual(["! refused 9", "session begins"]);
    await clock.advance(10_000);
    expect(said.slice(11)).toEqual(["! 4990 more refused requests within 10 s"]);
    lines.say("refusal", "refused again", {});
    expect(said.at(-1)).toBe("! refused again");
    lines.close();
  });

  it("are not held back by a close", () => {
    const { clock, said, lines } = open();
    for (let at = 0; at < 12; at += 1) lines.say("client", `client ${at}`, {});
    lines.close();
    expect(said.at(-1)).toBe("2 more new clients within 10 s");
    expect(clock.next()).toBeUndefined();
  });
});
