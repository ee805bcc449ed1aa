import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { differsIn, directoryUse } from "../../../src/core/config/directory-use.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import type { BoardConfig } from "../../../src/core/types/agent-config.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";

let root = "";
/** The servers run in one directory, a command in the other. */
let there = "";
let here = "";

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-directory-use-")));
  there = join(root, "there");
  here = join(root, "here");
  for (const directory of [there, here]) mkdirSync(directory);
  writeFileSync(join(there, "server.js"), "");
  mkdirSync(join(there, "data"));
  mkdirSync(join(here, "mcp"));
  writeFileSync(join(here, "mcp", "local"), "");
  writeFileSync(join(there, "module.py"), "");
  writeFileSync(join(here, "pyproject.toml"), "");
  writeFileSync(join(here, "package.json"), "{}");
  mkdirSync(join(here, "node_modules", "@scope", "local"), { recursive: true });
});
afterAll(() => rmSync(root, { recursive: true }));

const ENV = { PATH: "/bin:/sbin", HOME: "/home/me" };

/** What means something else here than there. */
function differs(config: BoardConfig, change: object = {}, env = ENV): string | undefined {
  const agent = { ...parseAgentConfig(config), ...change };
  const [definition] = agent.servers;
  if (definition === undefined) throw new Error("there is no server");
  const use = directoryUse(agent, definition, { env, cwd: there, salt: "salt" });
  return differsIn(here, use, "salt");
}

const server = (args: string[], more: ServerConfig = {}): BoardConfig => ({
  servers: { files: { command: "npx", args, ...more } },
});

describe("nothing depends on the directory with", () => {
  it.each<[string, BoardConfig]>([
    ["packages", server(["-y", "@scope/pkg@1"])],
    ["an image that looks like a path", server(["run", "mcp/playwright"])],
    ["absolute paths and URLs", server(["/data", "--url=https://a/b", "~/x"])],
    ["a package that neither project has", server(["-y", "--package=other", "@scope/pkg@latest"])],
    [
      "a program that is told where its project is",
      server(["--directory", "/srv/x", "run", "y"], { command: "uv" }),
    ],
    [
      "a script that names no file of either directory",
      server(["-c", "exec docs --port=80; true"], { command: "sh" }),
    ],
    ["a relative path and a cwd", server(["."], { cwd: "/" })],
  ])("%s", (_, config) => {
    expect(differs(config)).toBeUndefined();
  });

  it("a workspace", () => {
    expect(differs(server(["."]), { workspace: "/" })).toBeUndefined();
  });
});

describe("something else is meant in another directory by", () => {
  it.each<[string, BoardConfig, string]>([
    ["the directory itself", server(["."]), "."],
    ["a path that starts with a dot", server(["../data"]), "../data"],
    ["a command that is a relative path", server([], { command: "./server" }), "./server"],
    ["a path behind an option", server(["--dir=./x"]), "--dir=./x"],
    ["a path in env", server([], { env: { DATA: "./x" } }), "./x"],
    ["a path that a variable holds", server(["${DIR:-.}"]), "${DIR:-.}"],
    ["a file that is in the gateway's directory", server(["server.js"]), "server.js"],
    ["a directory that is in the gateway's directory", server(["--root", "data"]), "data"],
    ["a file that is in the command's directory", server(["mcp/local"]), "mcp/local"],
    ["a directory that is in the command's directory", server(["--root", "mcp"]), "mcp"],
    ["such a file behind an option", server(["--x=mcp/local"]), "--x=mcp/local"],
    ["such a directory in env", server([], { env: { ROOT: "mcp" } }), "mcp"],
    ["a path in a script", server(["-c", "cd ./x && go"]), "cd ./x && go"],
    ["a file in a script", server(["-c", "cat server.js"]), "cat server.js"],
    ["such a directory in a script", server(["-c", "cat mcp/x|y"]), "mcp"],
    ["a path in a list", server(["--mount", "type=bind,src=./x"]), "type=bind,src=./x"],
    ["a path behind a name", server(["file=../x"]), "file=../x"],
    ["a path in an option", server(["-I./x"]), "-I./x"],
    ["the directory for a container", server(["-v", ".:/data"]), ".:/data"],
    ["a module of Python", server(["-m", "module"]), "module"],
    ["such a directory as a package of Python", server(["-m", "mcp.server"]), "mcp"],
  ])("%s", (_, config, word) => {
    expect(differs(config)).toBe(`it has the relative path ${word}`);
  });

  it.each<[string, BoardConfig, object, string]>([
    [
      "servers for single projects",
      server([]),
      { isOfDirectory: true },
      "the file has servers of its own for each project",
    ],
    [
      "a package that the project has",
      server(["-y", "@scope/local@1"]),
      {},
      "it is started with npx, which looks for files of the project",
    ],
    [
      "a program of the project",
      server(["run", "x"], { command: "/usr/bin/uv" }),
      {},
      "it is started with uv, which looks for files of the project",
    ],
    ["roots: true", server([], { roots: true }), {}, "it gets the directory as a root"],
    [
      "very many arguments",
      server(Array.from({ length: 1001 }, (_, index) => `word${index}`)),
      {},
      "it has very many arguments",
    ],
  ])("%s", (_, config, change, what) => {
    expect(differs(config, change)).toBe(what);
  });

  it("a PATH with a relative directory", () => {
    const env = { ...ENV, PATH: "node_modules/.bin:/bin" };
    expect(differs(server([]), {}, env)).toBe("PATH has a directory that is relative to it");
  });
});
