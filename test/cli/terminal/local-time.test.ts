import { describe, expect, it } from "vitest";
import { localTime } from "../../../src/cli/terminal/local-time.ts";

describe("localTime", () => {
  it("uses the reader's time zone", () => {
    expect(localTime(new Date(2026, 0, 5, 7, 8, 9).getTime())).toBe("2026-01-05 07:08:09");
  });
});
