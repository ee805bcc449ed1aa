import { describe, expect, it } from "vitest";
import { readBashLine } from "../../../src/cli/completion/bash-line.ts";

/** As bash has it unless it is told otherwise. */
const BREAKS = " \t\n\"'@><=;|&(:";

describe("the words of a line", () => {
  it.each([
    ["plugboard ", [""]],
    ["plugboard  call   x", ["call", "x"]],
    ["plugboard call a\\ b", ["call", "a b"]],
    ["plugboard call 'a b' \"c $d\" e", ["call", "a b", "c $d", "e"]],
    ["plugboard call 'a \\", ["call", "a \\"]],
    ['plugboard call "a \\" b', ["call", 'a " b']],
    ["plugboard call key=$'a\\'b' x", ["call", "key=a'b", "x"]],
    ["plugboard call time=14:3", ["call", "time=14:3"]],
    ["plugboard call '' ", ["call", "", ""]],
    ["plugboard tools 2>err.txt < in.txt fi", ["tools", "fi"]],
  ])("%s", (line, words) => {
    expect(readBashLine(line, BREAKS).words).toEqual(words);
  });

  it.each([
    ["plugboard tools > o", true],
    ["plugboard tools >o", true],
    ["plugboard tools '>' o", false],
    ["plugboard tools > out.txt o", false],
  ])("knows the file of a redirection: %s", (line, expected) => {
    expect(readBashLine(line, BREAKS).isRedirected).toBe(expected);
  });
});

describe("what bash inserts", () => {
  it.each([
    // Bash replaces what stands behind the last of its breaks, so only that comes back.
    ["plugboard call x ti", "time=", "time="],
    ["plugboard call x time=14:", "time=14:30", "30 "],
    ["plugboard --log-level=d", "--log-level=debug", "debug "],
    ["plugboard call x 'time=1", "time=14:30", "time=14:30"],
    ["plugboard call fi", "files/", "files/"],
    ["plugboard call fi", "files/read", "files/read "],
    ["plugboard get a", "a b", "a\\ b "],
    [
      "plugboard get a",
      "a$(touch x)`y`;&|<>*?[]{}~!#'\"\\",
      "a\\$\\(touch\\ x\\)\\`y\\`\\;\\&\\|\\<\\>\\*\\?\\[\\]\\{\\}\\~\\!\\#\\'\\\"\\\\ ",
    ],
    ['plugboard get "a', 'a $(x)`y`"\\', 'a \\$(x)\\`y\\`\\"\\\\'],
    ["plugboard get 'a", "a$(x)'b", "a$(x)'\\''b"],
    ["plugboard get x", "x-ü日", "x-ü日 "],
    // Nothing keeps a shell from expanding ! between double quotes.
    ['plugboard get "a', "a!b", undefined],
    ["plugboard get $'a", "ab", undefined],
  ])("%s → %s", (line, word, expected) => {
    expect(readBashLine(line, BREAKS).toInsert(word)).toBe(expected);
  });

  it("goes by the breaks that a user has set", () => {
    expect(readBashLine("plugboard call x time=14:", " \t\n").toInsert("time=14:30")).toBe(
      "time=14:30 ",
    );
  });
});
