import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../src/core/config/load.ts";
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

describe("the $schema of a new file", () => {
  const published = readFileSync(
    new URL("../../../plugboard.schema.json", import.meta.url),
    "utf8",
  );
  const schemaOf = (name: string): unknown =>
    /^  "\$schema": "(.*)",$/m.exec(scratch.read(name))?.[1];

  it("is the one of the package, where the project has it", async () => {
    mkdirSync(join(scratch.directory, "node_modules/plugboard"), { recursive: true });
    scratch.file("node_modules/plugboard/plugboard.schema.json", published);
    await scratch.run(["init"]);
    expect(schemaOf("plugboard.json")).toBe("./node_modules/plugboard/plugboard.schema.json");
    expect(existsSync(join(scratch.directory, "home/plugboard.schema.json"))).toBe(false);
  });

  it("is left out of another project's file, and never leads to your home", async () => {
    await scratch.run(["init"]);
    expect(scratch.read("plugboard.json")).not.toMatch(/\$schema|home/);
    await scratch.run(["init", "--config", "other.json"]);
    expect(scratch.read("other.json")).not.toMatch(/\$schema|home/);
  });

  it("is a copy beside your own file, which follows the version", async () => {
    const copy = join(scratch.directory, "home/plugboard.schema.json");
    await scratch.run(["init", "-s", "user"]);
    expect(schemaOf("home/plugboard.json")).toBe("./plugboard.schema.json");
    scratch.file("home/plugboard.schema.json", "{}");
    await scratch.run(["add", "a", "--yes", "--no-check", "--", "a"]);
    expect(readFileSync(copy, "utf8")).toBe(published);
  });

  it("is left out where there can be no copy", async () => {
    mkdirSync(join(scratch.directory, "home/plugboard.schema.json"), { recursive: true });
    expect((await scratch.run(["init", "-s", "user"])).code).toBe(0);
    expect(scratch.read("home/plugboard.json")).not.toContain("$schema");
  });

  it("is not written by add where only this user has it", async () => {
    await scratch.run(["add", "a", "-s", "project", "--yes", "--no-check", "--", "a"]);
    expect(JSON.parse(scratch.read("plugboard.json"))).toEqual({
      mcpServers: { a: { command: "a" } },
    });
  });
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
