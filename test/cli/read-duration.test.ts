import { expect, it } from "vitest";
import { readDuration } from "../../src/cli/read-duration.ts";

it.each([
  ["90s", 90_000],
  ["15m", 900_000],
  ["1h", 3_600_000],
  ["30 d", 2_592_000_000],
  ["8w", 4_838_400_000],
  ["0s", 0],
])("%s is %i ms", (text, ms) => {
  expect(readDuration(text)).toBe(ms);
});

it.each(["", "5", "d", "-1d", "1.5h", "1y", "1234567s", "1d2h", "2026-11-15"])(
  "%j is not a duration",
  (text) => {
    expect(readDuration(text)).toBeUndefined();
  },
);
