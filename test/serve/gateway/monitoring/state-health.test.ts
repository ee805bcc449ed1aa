import { expect, it } from "vitest";
import { HealthLines } from "../../../../src/serve/gateway/monitoring/state-health.ts";
import type { StateHealth } from "../../../../src/core/types/shared-state.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

it("says once what of an engine is wrong, also what comes later, and when nothing of it is any more", async () => {
  const clock = new ManualClock();
  let away: StateHealth["away"] = [];
  let said: string[] = [];
  const lines = new HealthLines({
    health: () => ({ replicas: 1, engines: ["postgres", "valkey"], away }),
    clock,
    logger: {
      debug: () => {},
      info: (line) => said.push(line),
      warn: (line) => said.push(line),
      error: (line) => said.push(line),
    },
  });
  const now = async (...messages: string[]): Promise<string[]> => {
    away = messages.map((message) => ({ engine: "postgres", message }));
    said = [];
    await clock.advance(1000);
    return said.map((line) => line.replace("; the gateway goes on, degraded", ""));
  };
  expect(await now()).toEqual([]);
  expect(await now("it refuses a")).toEqual(["it refuses a"]);
  expect(await now("it refuses a", "it refuses b")).toEqual(["it refuses b"]);
  expect(await now("it refuses b")).toEqual([]);
  expect(await now("it refuses a")).toEqual([]);
  expect(await now()).toEqual(["postgres is back"]);
  expect(await now("it refuses a")).toEqual(["it refuses a"]);
  lines.close();
});
