// The examples of `--help` run as they stand, for somebody who has added the server `files` as the README says.

import { afterAll, expect, it } from "vitest";
import { loadGroups, PLUGBOARD } from "../../src/cli/commands.ts";
import type { Command } from "../../src/cli/command.ts";
import { expectNoProcesses } from "../support/processes.ts";
import { readPage } from "./page.ts";
import { Remote } from "./remote.ts";
import { runPage } from "./run-page.ts";

const remote = await Remote.start();

afterAll(async () => {
  await remote.close();
  expectNoProcesses();
});

/** The commands with which people use a server. docs/cli.md has an example of each of the others, which is run there. */
const USED = new Set(["call", "tools", "record", "replay", "types"]);
const ADD = "plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .";

const all = (commands: readonly Command[]): Command[] =>
  commands.flatMap((each) => [each, ...all(each.commands)]);

const groups = await loadGroups();
const commands = all([PLUGBOARD, ...groups.flatMap((group) => group.commands)]);

it("name no server that only somebody without a configuration has, and no package that does not exist", () => {
  const examples = commands.flatMap((each) => each.examples);
  expect(examples.length).toBeGreaterThan(50);
  expect(examples.filter((each) => /\bdemo\b(?!$)|some-server/.test(each))).toEqual([]);
});

it("do what they say", { timeout: 180_000 }, async () => {
  const own = PLUGBOARD.examples.filter((each) => /^plugboard (?:call|tools) /.test(each));
  const used = commands.flatMap(({ name, examples }) => (USED.has(name) ? examples : []));
  // Without a tool, it records until it is stopped.
  const lines = [...own, ...used].filter((each) => each !== "plugboard record files files.jsonl");
  const page = readPage(
    "--help",
    ["<!-- test: home=empty -->", "", "```sh", ADD, ...new Set(lines), "```"].join("\n"),
  );
  expect(await runPage(page, remote, false)).toEqual([]);
});
