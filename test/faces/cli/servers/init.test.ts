import { existsSync, symlinkSync } from "node:fs";
import { expect, it } from "vitest";
import { join } from "node:path";
import { loadConfig } from "../../../../src/config/load.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

it("plugboard init writes a first file that is valid, also with its examples, and no second one", async () => {
  const path = join(scratch.directory, "plugboard.json");
  const { code, stdout } = await scratch.run(["init"]);
  expect(code).toBe(0);
  expect(stdout).toContain(`wrote ${path}\n`);
  expect(stdout).toContain(
    "plugboard add files -- npx -y @modelcontextprotocol/server-filesystem .",
  );
  expect((await loadConfig(path)).servers).toEqual([]);
  const text = scratch.read("plugboard.json");
  const again = await scratch.run(["init"]);
  expect(again).toMatchObject({ code: 2, stdout: "" });
  expect(again.stderr).toContain(`there is a plugboard.json already: ${path}`);
  expect(scratch.read("plugboard.json")).toBe(text);

  scratch.file("plugboard.json", text.replace(/^( +)\/\/ (?=["}]| +")/gm, "$1"));
  expect((await loadConfig(path)).servers.map(({ name }) => name)).toEqual(["files", "docs"]);
});

it("plugboard init writes where it is told to", async () => {
  const { stdout } = await scratch.run(["init", "-s", "user", "--json"]);
  expect(JSON.parse(stdout)).toEqual({ file: join(scratch.directory, "home/plugboard.json") });
});

it.each([
  ["init", ["init"]],
  ["add", ["add", "a", "-s", "project", "--yes", "--no-check", "--", "a"]],
])("plugboard %s makes no file where a link in the project leads", async (_, argv) => {
  const path = join(scratch.directory, "plugboard.json");
  const to = join(scratch.directory, "elsewhere.json");
  symlinkSync(to, path);
  const { code, stdout, stderr } = await scratch.run(argv);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(`${path} is a link to ${to}, where there is no file`);
  expect(existsSync(to)).toBe(false);
});

it("what was added to a first file stays above its examples, and leaves no trace when it is removed", async () => {
  await scratch.run(["init"]);
  const text = scratch.read("plugboard.json");
  await scratch.run(["add", "a", "--yes", "--no-check", "--", "a"]);
  const examples = scratch.read("plugboard.json").replace(/^( +)\/\/ (?=["}]| +")/gm, "$1");
  scratch.file("plugboard.json", examples);
  const { servers } = await loadConfig(join(scratch.directory, "plugboard.json"));
  expect(servers.map(({ name }) => name)).toEqual(["a", "files", "docs"]);
  scratch.file("plugboard.json", text);
  await scratch.run(["add", "a", "--yes", "--no-check", "--", "a"]);
  await scratch.run(["rm", "a"]);
  expect(scratch.read("plugboard.json")).toBe(text);
});
