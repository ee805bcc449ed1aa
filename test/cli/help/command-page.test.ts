import { expect, it } from "vitest";
import { type Command, command } from "../../../src/cli/command.ts";
import {
  commandPage,
  notesOf,
  shownArguments,
  shownOptions,
  usageOf,
} from "../../../src/cli/help/command-page.ts";
import { SERVER_NOTES, SERVER_OPTIONS } from "../../../src/cli/typed-server.ts";

const look: Command = command({
  name: "look",
  aliases: ["l"],
  about: "look at a server for as long as you want to",
  args: [
    { kind: "one", name: "server", about: "which one", isServer: true },
    { kind: "any", name: "words" },
  ],
  options: {
    ...SERVER_OPTIONS,
    how: {
      kind: "optional",
      name: "--how",
      value: "way",
      about: "how",
      choices: ["a", "b"],
      preset: "a",
    },
    secretly: { kind: "flag", name: "--secretly", about: "without a word", isHidden: true },
  },
  server: {},
  notes: "\nIt looks.",
  examples: ["plugboard look docs"],
});

it("says how a command is typed, with a server of the configuration and with one that is typed", () => {
  expect(usageOf(look)).toEqual([
    "[options] <server> [words...]",
    "[options] [words...] -- <command...>",
    "[options] <url> [words...]",
  ]);
  expect(notesOf(look)).toEqual([SERVER_NOTES, "\nIt looks."]);
});

it("lists all arguments if one is explained, the options that are not hidden, and --help", () => {
  expect(shownArguments(look).map(({ name }) => name)).toEqual(["server", "words"]);
  const names = shownOptions(look).map(({ name }) => name);
  expect(names.slice(-2)).toEqual(["--how", "--help"]);
  expect(names).not.toContain("--secretly");
});

it("shows all of it on one page", () => {
  const page = commandPage(look, "plugboard look", undefined);
  expect(page).toContain(
    "Usage: plugboard look|l [options] <server> [words...]\n       plugboard look",
  );
  expect(page).toContain('\n  --how [way]              how (choices: "a", "b", preset: "a")\n');
  expect(page).toMatch(
    /Options of every command[^]*\n\nIt looks\.\n\nExamples:\n {2}plugboard look docs\n$/,
  );
});

it("has descriptions below what they describe on a narrow terminal", () => {
  const page = commandPage(look, "plugboard look", undefined, 40);
  expect(page).toContain("\n  server\n      which one\n  words\n");
});
