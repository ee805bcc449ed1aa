import { expect, it } from "vitest";
import { PlugboardError } from "../../../../src/core/types/errors.ts";
import type { ServerState } from "../../../../src/core/types/server-state.ts";
import { ServerHistory } from "../../../../src/serve/gateway/monitoring/server-history.ts";
import { ManualClock } from "../../../support/manual-clock.ts";

it("the last states of a server are kept with why it failed, and no more of them", () => {
  const clock = new ManualClock();
  const history = new ServerHistory(clock);
  const error = new PlugboardError("SPAWN_FAILED", "no such program");
  const failed = { kind: "failed", error } as ServerState;
  for (let at = 0; at < 60; at += 1) {
    history.add("default", { server: "a", state: { kind: "stopped" } });
  }
  history.add("default", { server: "a", state: failed });
  const states = history.of("default", "a");
  expect(states).toHaveLength(50);
  expect(states.at(-1)).toEqual({ at: clock.now(), state: "failed", why: "no such program" });
  expect(history.of("other", "a")).toEqual([]);
});
