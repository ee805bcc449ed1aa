import { expect, it } from "vitest";
import { isPipe } from "../../../src/cli/background/background.ts";

it.each([
  ["a pipe", 0o010600, true],
  // Windows knows no rights.
  ["a pipe on Windows", 0o010000, true],
  ["a socket", 0o140777, true],
  ["a file", 0o100644, false],
  ["a directory", 0o040755, false],
  ["a terminal", 0o020620, false],
])("%s is told apart by its mode", (_, mode, expected) => {
  expect(isPipe({ mode })).toBe(expected);
});
