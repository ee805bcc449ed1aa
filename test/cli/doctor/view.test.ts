import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/util/clock.ts";
import { globalOptions } from "../../../src/cli/context.ts";
import { groupLines, type CheckedFinding, summaryLines } from "../../../src/cli/doctor/view.ts";
import { Screen } from "../../../src/cli/terminal/screen.ts";
import { Sink, terminal } from "../harness.ts";

function view(columns?: number, { env = {}, verbose = false } = {}) {
  const screen = new Screen(new Sink(), new Sink(), terminal(columns, env), systemClock);
  return { screen, options: globalOptions({ verbose }) };
}

const ok = (message: string): CheckedFinding => ({ level: "ok", check: "c", message });
const wrong = (
  level: "note" | "warning" | "broken",
  more: Partial<CheckedFinding> = {},
): CheckedFinding => ({
  level,
  check: "c",
  message: "the command npx is not found",
  remedy: "install Node, then look at it: plugboard status docs",
  ...more,
});

const plain = { env: { NO_COLOR: "1" } };

describe("a group", () => {
  it.each<[string, CheckedFinding[], ReturnType<typeof view>, string[]]>([
    ["that has found nothing is left out", [], view(), []],
    ["that is all right is one line", [ok("one"), ok("two")], view(), ["✓ Servers  one; two"]],
    [
      "names a few of many",
      ["a", "b", "c", "d", "e", "f"].map(ok),
      view(),
      ["✓ Servers  a; b; c; d; and 2 more"],
    ],
    [
      "is cut to the terminal",
      [ok("x".repeat(50))],
      view(40, plain),
      [`✓ Servers  ${"x".repeat(28)}…`],
    ],
    [
      "has a line for each with --verbose",
      [ok("one"), ok("two")],
      view(undefined, { verbose: true }),
      ["✓ Servers", "  ✓ one", "  ✓ two"],
    ],
    [
      "has the mark of its worst finding, and a remedy under each",
      [ok("one"), wrong("warning", { subject: "docs" }), wrong("broken")],
      view(),
      [
        "✗ Servers  one",
        "  ! docs: the command npx is not found",
        "    → install Node, then look at it:",
        "        plugboard status docs",
        "  ✗ the command npx is not found",
        "    → install Node, then look at it:",
        "        plugboard status docs",
      ],
    ],
    [
      "breaks sentences between words, and never a command",
      [
        wrong("note", {
          remedy: "write the full path of the command into it: plugboard status a-very-long-name",
        }),
      ],
      view(40, plain),
      [
        "· Servers",
        "  · the command npx is not found",
        "    → write the full path of the command",
        "      into it:",
        "        plugboard status a-very-long-name",
      ],
    ],
    [
      "has only ASCII where a terminal has nothing else",
      [ok("one"), wrong("broken"), wrong("note")],
      view(80, { env: { TERM: "linux", NO_COLOR: "1" } }),
      [
        "x Servers  one",
        "  x the command npx is not found",
        "    > install Node, then look at it:",
        "        plugboard status docs",
        "  - the command npx is not found",
        "    > install Node, then look at it:",
        "        plugboard status docs",
      ],
    ],
    [
      "shows what was repaired, and why something was not",
      [
        { ...ok("it was open"), fixed: "it is closed" },
        wrong("broken", { unfixed: "no right to" }),
      ],
      view(),
      [
        "✗ Servers",
        "  ✓ fixed, it was: it was open",
        "    → it is closed",
        "  ✗ the command npx is not found",
        "    → install Node, then look at it:",
        "        plugboard status docs",
        "      could not be fixed: no right to",
      ],
    ],
    [
      "names what it is about, unless the message does, and not only a part of a word",
      [
        wrong("note", { subject: "var", message: "the variable A is not set", remedy: "set it" }),
        wrong("note", { subject: "docs", message: "'docs' is down", remedy: "start it" }),
      ],
      view(),
      [
        "· Servers",
        "  · var: the variable A is not set",
        "    → set it",
        "  · 'docs' is down",
        "    → start it",
      ],
    ],
    [
      "obeys no escapes of whoever chose a name",
      [wrong("note", { message: "\u001b[2Jgone", remedy: "\u001b[31mred" })],
      view(),
      ["· Servers", "  · gone", "    → red"],
    ],
  ])("%s", (_, findings, shown, lines) => {
    expect(groupLines({ title: "Servers", findings }, shown)).toEqual(lines);
  });
});

describe("the last lines", () => {
  const fix = { describe: "mend it", apply: () => Promise.resolve("mended") };
  const again = ["When you have fixed it, check again:"];

  it.each<[string, CheckedFinding[], { server?: string; fix?: boolean }, string[]]>([
    ["of a sound machine", [ok("one")], {}, ["Everything is all right."]],
    [
      "count what does not break anything",
      [wrong("warning"), wrong("note"), wrong("note")],
      {},
      ["Nothing is broken: 1 warning, 2 notes."],
    ],
    [
      "count what is broken first",
      [wrong("note"), wrong("broken"), wrong("broken"), wrong("warning")],
      {},
      [
        "2 broken, 1 warning, 1 note",
        "When you have fixed them, check again:",
        "  plugboard doctor",
      ],
    ],
    [
      "name the server",
      [wrong("broken")],
      { server: "docs" },
      ["1 broken", ...again, "  plugboard doctor docs"],
    ],
    [
      "offer repairs that are safe",
      [wrong("broken", { fix })],
      {},
      ["1 broken", "To make 1 repair that is safe:", "  plugboard doctor --fix"],
    ],
    [
      "offer none again that has been tried",
      [wrong("broken", { fix, unfixed: "no" })],
      { fix: true },
      ["1 broken", ...again, "  plugboard doctor"],
    ],
  ])("%s", (_, findings, command, lines) => {
    const given = { kind: "doctor" as const, fix: false, ...command };
    expect(summaryLines(findings, view(), given)).toEqual(["", ...lines]);
  });
});
