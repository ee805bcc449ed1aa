import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { isCached, packageRunOf } from "../../../../src/cli/doctor/servers/package-runner.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

describe("the package of a command line", () => {
  it.each<[string, string | undefined]>([
    ["npx -y @a/files@1.2.0 /tmp", "npx @a/files@1.2.0 @a/files"],
    ["/usr/bin/npx --yes files", "npx files files"],
    ["npx.cmd files@latest", "npx files@latest files"],
    ["npx -p @a/tools -y start", "npx @a/tools @a/tools"],
    ["npx --package=@a/tools start", "npx @a/tools @a/tools"],
    ["npx --registry https://npm.example files", "npx files files"],
    ["uvx My_Server==1.0", "uvx My_Server==1.0 my-server"],
    ["uvx --from git+https://example.com/x start", undefined],
    ["uv tool run my.server@latest", "uvx my.server@latest my-server"],
    ["uv run server.py", undefined],
    ["npx ./local", undefined],
    ["npx ${PACKAGE}", undefined],
    ["npx -y", undefined],
    ["node server.js", undefined],
    ["not-npx files", undefined],
  ])("%s", (line, expected) => {
    const [command = "", ...args] = line.split(" ");
    const run = packageRunOf({ command, args });
    expect(run && `${run.runner} ${run.spec} ${run.name}`).toBe(expected);
  });
});

describe.skipIf(process.platform === "win32")("a package is on this machine", () => {
  let homedir = "";
  beforeEach(() => {
    homedir = temporaryDirectory();
  });

  const installed = JSON.stringify({ dependencies: { "@a/files": "^1.0.0" } });
  it.each<
    [string, line: string, files: Record<string, string>, env: Record<string, string>, boolean]
  >([
    ["in npx's cache", "npx @a/files", { ".npm/_npx/0a1b/package.json": installed }, {}, true],
    ["not in it", "npx @a/other", { ".npm/_npx/0a1b/package.json": installed }, {}, false],
    [
      "where the cache is broken",
      "npx @a/files",
      { ".npm/_npx/0a1b/package.json": "{" },
      {},
      false,
    ],
    ["where there is no cache", "npx @a/files", {}, {}, false],
    [
      "in a cache of its own",
      "npx @a/files",
      { "own/_npx/0a1b/package.json": installed, ".npmrc": "cache = ~/own\n" },
      {},
      true,
    ],
    [
      "in the directory",
      "npx @a/files",
      { "work/node_modules/@a/files/package.json": "{}" },
      {},
      true,
    ],
    ["in uv's cache", "uvx my_server", { ".cache/uv/wheels-v5/pypi/my-server/1.0": "" }, {}, true],
    ["as a tool of uv", "uvx my_server", { ".local/share/uv/tools/my-server/bin": "" }, {}, true],
    ["not in uv's cache", "uvx other", { ".cache/uv/wheels-v5/pypi/my-server/1.0": "" }, {}, false],
  ])("%s", async (_, line, files, env, expected) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(homedir, path)), { recursive: true });
      writeFileSync(join(homedir, path), text);
    }
    const [command = "", ...args] = line.split(" ");
    const run = packageRunOf({ command, args });
    expect(run && (await isCached(run, { homedir, cwd: join(homedir, "work"), env }))).toBe(
      expected,
    );
  });
});
