import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  difference,
  hashOfFile,
  readFingerprint,
  takeFingerprint,
} from "../../src/config/fingerprint.ts";
import { parseAgentConfig } from "../../src/config/parse.ts";
import type { BoardConfig } from "../../src/model/agent-config.ts";
import type { ServerConfig } from "../../src/model/server-config.ts";

let root = "";
/** The gateway runs in one directory, a command in the other. */
let there = "";
let here = "";

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-fingerprint-")));
  there = join(root, "there");
  here = join(root, "here");
  for (const directory of [there, here]) mkdirSync(directory);
  writeFileSync(join(there, "server.js"), "");
  mkdirSync(join(there, "data"));
  mkdirSync(join(here, "mcp"));
  writeFileSync(join(here, "mcp", "local"), "");
  symlinkSync(there, join(root, "link"));
  writeFileSync(join(there, "module.py"), "");
  writeFileSync(join(here, "pyproject.toml"), "");
  writeFileSync(join(here, "package.json"), "{}");
  mkdirSync(join(here, "node_modules", "@scope", "local"), { recursive: true });
});
afterAll(() => rmSync(root, { recursive: true }));

const FILE = hashOfFile(Buffer.from("{}"));
const ENV = { PATH: "/bin:/sbin", HOME: "/home/me", TOKEN: "secret-value" };

function compare(
  config: BoardConfig,
  {
    env = ENV,
    cwd = there,
    file = FILE,
    agent = "default",
  }: { env?: Record<string, string>; cwd?: string; file?: string; agent?: string } = {},
  change: object = {},
) {
  const agents = [{ ...parseAgentConfig(config), ...change }];
  const taken = takeFingerprint(agents, { file: FILE, salt: "salt", env: ENV, cwd: there });
  // It is read from a file.
  const noted = readFingerprint(JSON.parse(JSON.stringify(taken)));
  if (noted === undefined) throw new Error("it cannot be read back");
  return difference(noted, { agent, file, env, cwd });
}

const server = (args: string[], more: ServerConfig = {}): BoardConfig => ({
  servers: { files: { command: "npx", args, ...more } },
});

describe("a command would start the same servers as a gateway", () => {
  it.each<[string, BoardConfig, Parameters<typeof compare>[1]]>([
    ["with the same file, variables and directory", server(["."]), {}],
    [
      "whose PATH has a directory twice",
      server([]),
      { env: { ...ENV, PATH: "/bin:/bin:/sbin:/bin" } },
    ],
    ["in the same directory by another path", server(["."]), { cwd: "link" }],
    ["whose variables that nobody uses differ", server([]), { env: { ...ENV, OTHER: "x" } }],
    [
      "in another directory, if nothing depends on it",
      server(["-y", "@scope/pkg@1"]),
      { cwd: "here" },
    ],
    ["with an image that looks like a path", server(["run", "mcp/playwright"]), { cwd: "here" }],
    [
      "with absolute paths and URLs",
      server(["/data", "--url=https://a/b", "~/x"]),
      { cwd: "here" },
    ],
    [
      "with a package that neither project has",
      server(["-y", "--package=other", "@scope/pkg@latest"]),
      { cwd: "here" },
    ],
    [
      "with a program that is told where its project is",
      server(["--directory", "/srv/x", "run", "y"], { command: "uv" }),
      { cwd: "here" },
    ],
    [
      "with a script that names no file of either directory",
      server(["-c", "exec docs --port=80; true"], { command: "sh" }),
      { cwd: "here" },
    ],
    [
      "with secrets, which the gateway gets for everybody",
      server(["a ${secret://gcp/x}"], { env: { A: "secret://file/x", B: "op://v/i/f" } }),
      { cwd: "here", env: { ...ENV, GOOGLE_CLOUD_PROJECT: "other" } },
    ],
    ["with a relative path and a cwd", server(["."], { cwd: "/" }), { cwd: "here" }],
    [
      "whose PATH differs, if it has no programs",
      { servers: { remote: { url: "https://example.com/mcp" } } },
      { env: { ...ENV, PATH: "/other" } },
    ],
    [
      "whose proxy differs, if it has no URLs",
      server([]),
      { env: { ...ENV, HTTPS_PROXY: "http://proxy" } },
    ],
    [
      "with a server of its own session that uses what differs",
      server(["${TOKEN}", "."], { scope: "session" }),
      { env: { ...ENV, TOKEN: "other" }, cwd: "here" },
    ],
    [
      "with a disabled server that uses what differs",
      server(["${TOKEN}", "."], { enabled: false }),
      { env: { ...ENV, TOKEN: "other" }, cwd: "here" },
    ],
  ])("%s", (_, config, at) => {
    const cwd = at?.cwd === undefined ? there : join(root, at.cwd);
    expect(compare(config, { ...at, cwd })).toBeUndefined();
  });

  it("in another directory, if the agent has a workspace", () => {
    expect(compare(server(["."]), { cwd: here }, { workspace: "/" })).toBeUndefined();
  });
});

describe("a command stands alone", () => {
  it.each<[string, BoardConfig, Record<string, string>, string]>([
    ["PATH", server([]), { ...ENV, PATH: "/other" }, "PATH"],
    ["the order of PATH", server([]), { ...ENV, PATH: "/sbin:/bin" }, "PATH"],
    ["a variable in an argument", server(["${TOKEN}"]), { ...ENV, TOKEN: "x" }, "TOKEN"],
    ["a variable in env", server([], { env: { A: "x${TOKEN}" } }), { ...ENV, TOKEN: "x" }, "TOKEN"],
    [
      "a variable that is not set",
      server(["${TOKEN}"]),
      { PATH: "/bin:/sbin", HOME: "/home/me" },
      "TOKEN",
    ],
    [
      "a variable that is referred to as a secret",
      server([], { env: { A: "secret://env/TOKEN" } }),
      { ...ENV, TOKEN: "x" },
      "TOKEN",
    ],
    ["one that is empty here", server(["${NONE:-x}"]), { ...ENV, NONE: "" }, "NONE"],
    [
      "a variable in a header",
      { servers: { r: { url: "https://a.example/", headers: { A: "${TOKEN}" } } } },
      { ...ENV, TOKEN: "x" },
      "TOKEN",
    ],
    [
      "the proxy of a URL",
      { servers: { r: { url: "https://a.example/" } } },
      { ...ENV, https_proxy: "http://proxy" },
      "https_proxy",
    ],
    ["a variable in roots", server([], { roots: ["${TOKEN}"] }), { ...ENV, TOKEN: "x" }, "TOKEN"],
  ])("where %s differs", (_, config, env, name) => {
    expect(compare(config, { env })).toEqual({ kind: "variable", name });
  });

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
    ["a path behind an option", server(["--x=mcp/local"]), "--x=mcp/local"],
    ["one that is named in env", server([], { env: { ROOT: "mcp" } }), "mcp"],
    ["a path in a script", server(["-c", "cd ./x && go"]), "cd ./x && go"],
    ["a file in a script", server(["-c", "cat server.js"]), "cat server.js"],
    ["a directory in a script, there", server(["-c", "cat mcp/x|y"]), "mcp"],
    ["a path in a list", server(["--mount", "type=bind,src=./x"]), "type=bind,src=./x"],
    ["a path behind a name", server(["file=../x"]), "file=../x"],
    ["a path in an option", server(["-I./x"]), "-I./x"],
    ["the directory for a container", server(["-v", ".:/data"]), ".:/data"],
    ["a module of Python", server(["-m", "module"]), "module"],
    ["a package of Python, there", server(["-m", "mcp.server"]), "mcp"],
  ])("in another directory with %s", (_, config, word) => {
    expect(compare(config, { cwd: here })).toEqual({
      kind: "directory",
      what: `server 'files' has the relative path ${word}`,
      cwd: there,
    });
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
      "server 'files' is started with npx, which looks for files of the project",
    ],
    [
      "a program of the project",
      server(["run", "x"], { command: "/usr/bin/uv" }),
      {},
      "server 'files' is started with uv, which looks for files of the project",
    ],
    ["roots: true", server([], { roots: true }), {}, "server 'files' gets it as a root"],
    ["roots of the agent", server([]), { roots: true }, "server 'files' gets it as a root"],
    [
      "modules with tools",
      server([]),
      { nativeModules: [{ path: "/x.js", written: "x.js" }] },
      "the modules in tools.native run in it",
    ],
  ])("in another directory with %s", (_, config, change, what) => {
    const found = compare(config, { cwd: here }, change);
    expect(found).toEqual({ kind: "directory", what, cwd: there });
  });

  it("with another file, another agent, or a file that nobody has trusted", () => {
    const config = server([]);
    expect(compare(config, { file: "other" })).toEqual({ kind: "file" });
    expect(compare(config, { agent: "toString" })).toEqual({ kind: "agent", agent: "toString" });
    const untrusted = { untrusted: { remedy: "" } };
    expect(compare(config, {}, untrusted)).toEqual({ kind: "untrusted" });
  });
});

it("a fingerprint holds no value of a variable, and no argument that may be a token", () => {
  const config = server(
    ["${TOKEN}", "--key=abc123", "sk-abc/def+ghi=", "eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl"],
    {
      env: { A: "${TOKEN}", B: "literal-value", C: "wJabcXU/K7abcNG" },
    },
  );
  const agents = [parseAgentConfig(config)];
  const taken = takeFingerprint(agents, { file: FILE, salt: "salt", env: ENV, cwd: there });
  expect(JSON.stringify(taken)).not.toMatch(/secret-value|abc|literal|eyJ/);
});

it.each([undefined, null, 1, [], {}, { file: 1 }, { file: "", cwd: "", salt: "", values: null }])(
  "%j is no fingerprint",
  (value) => {
    expect(readFingerprint(value)).toBeUndefined();
  },
);

it("in another directory, a PATH with a relative directory leads to another program", () => {
  const env = { ...ENV, PATH: "node_modules/.bin:/bin" };
  const agents = [parseAgentConfig(server([]))];
  const taken = takeFingerprint(agents, { file: FILE, salt: "salt", env, cwd: there });
  const at = { agent: "default", file: FILE, env };
  expect(difference(taken, { ...at, cwd: there })).toBeUndefined();
  expect(difference(taken, { ...at, cwd: here })).toMatchObject({
    what: "PATH has a directory that is relative to it",
  });
});
