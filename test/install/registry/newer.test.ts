import { expect, it } from "vitest";
import { isNewer } from "../../../src/install/registry/newer.ts";

it.each<[version: string, than: string, isIt: boolean]>([
  ["1.0.0", "1.0.0", false],
  ["1.0.1", "1.0.0", true],
  ["1.0.0", "1.0.1", false],
  ["1.10.0", "1.9.0", true],
  ["2", "1.9.9", true],
  ["1.0.0.1", "1.0.0", true],
  ["v1.1.0", "1.0.0", true],
  ["1.0.0", "1.0.0-beta.1", true],
  ["1.0.0-beta.1", "1.0.0", false],
  ["1.0.0-beta.10", "1.0.0-beta.9", true],
  ["1.0.0-beta", "1.0.0-1", true],
  ["1.0.0-alpha.1", "1.0.0-alpha", true],
  ["1.0.0-rc.1", "1.0.0-beta.5", true],
  ["1.0.0+b", "1.0.0+a", false],
  // Nobody can tell, so it is another one.
  ["nightly", "1.0.0", true],
  ["2026-01-02", "snapshot", true],
])("%s is newer than %s: %s", (version, than, isIt) => {
  expect(isNewer(version, than)).toBe(isIt);
});
