import { describe } from "vitest";
import { LocalLimits } from "../../../src/core/state/local-limits.ts";
import { memoryGrants, memoryPins } from "../../../src/core/state/memory.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { memorySessions } from "../../../src/core/state/known-sessions.ts";
import {
  testGrants,
  testLimits,
  testPins,
  testPlaces,
  testSessionBounds,
} from "./shared-state-contract.ts";

describe("a board without shared state", () => {
  testPins(async () => twice({ pins: memoryPins() }));
  testGrants(async () => twice({ grants: memoryGrants() }));
  testLimits(async () => twice({ limits: new LocalLimits(systemClock) }));
  testSessionBounds(async () => twice({ sessions: memorySessions() }));
  testPlaces(async () => twice({ limits: new LocalLimits(systemClock) }));
});

function twice<State>(state: State): [State, State] {
  return [state, state];
}
