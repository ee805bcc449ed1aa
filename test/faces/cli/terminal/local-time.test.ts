import { describe, expect, it } from "vitest";
import { localTime } from "../../../../src/faces/cli/terminal/local-time.ts";

describe("localTime", () => {
  it("is the reader's", () => {
    expect(localTime(new Date(2026, 0, 5, 7, 8, 9).getTime())).toBe("2026-01-05 07:08:09");
  });
});
