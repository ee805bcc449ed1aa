import { describe, expect, it } from "vitest";
import { makeCookie, parseCookie } from "../../../src/core/process/cookie.ts";

const host = { uid: 1000, pid: 4321, start: "987654", space: "abc123" };

describe("a cookie", () => {
  it("names its host and gives every server a serial", () => {
    expect(makeCookie(host, () => 0.5)).toBe("1.1000.4321.987654.abc123.i000000000");
    expect(makeCookie(host)).not.toBe(makeCookie(host));
  });

  it("can be read back", () => {
    for (const random of [0, 0.5, 0.123456789, 1 - 2 ** -53]) {
      expect(parseCookie(makeCookie(host, () => random))).toMatchObject(host);
    }
  });

  it.each([
    ["another version", "2.1000.4321.987654.abc123.i000000000"],
    ["a field short", "1.4321.987654.abc123.i000000000"],
    ["a field more", "1.1000.4321.987654.abc123.i000000000.x"],
    ["a pid that is no number", "1.1000.4321x.987654.abc123.i000000000"],
    ["a sign", "1.1000.-1.987654.abc123.i000000000"],
    ["white space", "1.1000.4321.987654.abc123.i000000000\n"],
    ["nothing", ""],
    ["endless digits", `1.1000.${"9".repeat(400)}.987654.abc123.i000000000`],
  ])("is not taken from %s", (_, text) => {
    expect(parseCookie(text)).toBeUndefined();
  });
});
