import { expect, it } from "vitest";
import { bearerToken, isBearerToken } from "../../../src/core/net/bearer.ts";

it.each([
  ["Bearer abc", "abc"],
  ["bearer abc", "abc"],
  ["BEARER   abc", "abc"],
  ["Bearer a.b-c_d~e+f/g==", "a.b-c_d~e+f/g=="],
  [`Bearer ${"x".repeat(16_000)}`, "x".repeat(16_000)],
])("%s carries a token", (header, token) => {
  expect(bearerToken(header)).toBe(token);
});

it.each([
  ["nothing", ""],
  ["the scheme alone", "Bearer"],
  ["the scheme and a space", "Bearer "],
  ["a token without the scheme", "abc"],
  ["another scheme", "Basic abc"],
  ["a scheme that begins like it", "Bearerabc"],
  ["a tab in place of the space", "Bearer\tabc"],
  ["a space before the scheme", " Bearer abc"],
  ["a second word", "Bearer abc def"],
  ["a line end", "Bearer abc\n"],
  ["quotes", 'Bearer "abc"'],
  ["padding in the middle", "Bearer a=b"],
  ["more than a header of ours is long", `Bearer ${"x".repeat(17_000)}`],
  ["spaces without end", `Bearer${" ".repeat(17_000)}abc`],
])("no token is read from %s", (_, header) => {
  expect(bearerToken(header)).toBeUndefined();
});

it.each([
  ["abc", true],
  ["a==", true],
  ["", false],
  ["a b", false],
  ["a,b", false],
  ["é", false],
])("%j is a text that can be sent as a token: %s", (text, expected) => {
  expect(isBearerToken(text)).toBe(expected);
});
