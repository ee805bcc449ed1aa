import { expect, it } from "vitest";
import * as plugboard from "../src/index.ts";

it("exports exactly this", () => {
  expect(Object.keys(plugboard).toSorted()).toEqual([
    "PlugboardError",
    "degradeContent",
    "loadConfig",
    "normalizeSchema",
    "openBoard",
  ]);
});
