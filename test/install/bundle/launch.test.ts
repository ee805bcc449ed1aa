import { describe, expect, it } from "vitest";
import { buildEntry, executablesIn } from "../../../src/install/bundle/launch.ts";
import { readManifest } from "../../../src/install/bundle/manifest.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import { manifest } from "../../fixtures/bundles/zip.ts";

const place = { directory: "/b/tiny", homedir: "/home/me", platform: "linux" };
const FILES = new Set(["index.js", "server/run", "server/run.exe", "run"]);

interface Start {
  type?: string;
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  platform_overrides?: object;
}

const OPTIONS = {
  name: { type: "string", title: "Name", description: "A name" },
  word: { type: "string", title: "Word", description: "A word", default: "hi" },
  key: { type: "string", title: "Key", description: "A key", sensitive: true },
  dirs: { type: "directory", title: "Dirs", description: "Some", multiple: true },
  known: {
    type: "directory",
    title: "K",
    description: "K",
    multiple: true,
    default: ["${HOME}/a", "${DESKTOP}"],
  },
  file: { type: "file", title: "File", description: "A file" },
  size: { type: "number", title: "Size", description: "A size", default: 10 },
  on: { type: "boolean", title: "On", description: "On", default: false },
  slashes: { type: "string", title: "S", description: "S", default: "//env/TOKEN" },
  half: { type: "string", title: "H", description: "H", default: "et://env/TOKEN" },
  trap: { type: "string", title: "T", description: "T", default: "{AWS_SECRET_ACCESS_KEY}" },
  steal: { type: "string", title: "T", description: "T", default: "${AWS_SECRET_ACCESS_KEY}" },
};

function read({ type = "node", ...config }: Start) {
  const server = { type, entry_point: "index.js", mcp_config: { command: "node", ...config } };
  return readManifest(Buffer.from(JSON.stringify(manifest({ server, user_config: OPTIONS }))));
}

function build(
  start: Start,
  values: Record<string, string[]> = {},
  where: Partial<typeof place> = {},
) {
  const findProgram = (command: string) => (command === "node" ? "/usr/bin/node" : command);
  const given = new Map(Object.entries(values));
  return buildEntry(read(start), given, { ...place, ...where }, { files: FILES, findProgram });
}

describe("the entry of a bundle", () => {
  it("runs in the bundle's directory, and a server for Node with the Node of Plugboard", () => {
    expect(build({ args: ["${__dirname}/index.js"] })).toEqual({
      command: "/usr/bin/node",
      args: ["/b/tiny/index.js"],
      cwd: "/b/tiny",
    });
  });

  const ARGUMENTS: [
    what: string,
    args: string[],
    values: Record<string, string[]>,
    expected: string[],
  ][] = [
    [
      "the directories of a person",
      ["${HOME}", "${DESKTOP}", "${DOCUMENTS}", "${DOWNLOADS}"],
      {},
      ["/home/me", "/home/me/Desktop", "/home/me/Documents", "/home/me/Downloads"],
    ],
    ["the separator, by both names", ["a${/}b${pathSeparator}c"], {}, ["a/b/c"]],
    ["a value that is given", ["--name=${user_config.name}"], { name: ["x"] }, ["--name=x"]],
    [
      "a default",
      ["${user_config.word}", "${user_config.size}", "${user_config.on}"],
      {},
      ["hi", "10", "false"],
    ],
    ["a value instead of a default", ["${user_config.word}"], { word: ["yo"] }, ["yo"]],
    ["a list, as several arguments", ["${user_config.dirs}"], { dirs: ["/x", "/y"] }, ["/x", "/y"]],
    ["a list in a text", ["--in=${user_config.dirs}"], { dirs: ["/x", "/y"] }, ["--in=/x,/y"]],
    [
      "a list as default, with variables",
      ["${user_config.known}"],
      {},
      ["/home/me/a", "/home/me/Desktop"],
    ],
    ["an empty list", ["a", "${user_config.dirs}", "b"], {}, ["a", "b"]],
    [
      "no value, with the flag before it",
      ["--name", "${user_config.name}", "-v", "x"],
      {},
      ["-v", "x"],
    ],
    ["no value in a text", ["--name=${user_config.name}"], {}, ["--name="]],
    [
      "a secret, as the reference that it is given as",
      ["--key", "${user_config.key}"],
      { key: ["${KEY}"] },
      ["--key", "${KEY}"],
    ],
    ["a secret in a text", ["Bearer ${user_config.key}"], { key: ["${KEY}"] }, ["Bearer ${KEY}"]],
    ["a secret that nobody wants to give", ["--key", "${user_config.key}"], {}, []],
    [
      "a path that is a variable of yours",
      ["${user_config.file}"],
      { file: ["${DB}/a.db"] },
      ["${DB}/a.db"],
    ],
    [
      "variables that are not the format's, which stay text",
      ["${PATH}", "$${HOME}", "${user_config.nobody}", "${"],
      {},
      ["$${PATH}", "$/home/me", "$${user_config.nobody}", "$${"],
    ],
    [
      "names of the language's own",
      ["${constructor}", "${user_config.__proto__}", "${user_config.constructor}"],
      {},
      ["$${constructor}", "$${user_config.__proto__}", "$${user_config.constructor}"],
    ],
    [
      "a name with signs of a pattern",
      ["${user_config.n.me}"],
      { name: ["x"] },
      ["$${user_config.n.me}"],
    ],
    [
      "a default that looks like a variable of yours",
      ["${user_config.steal}"],
      {},
      ["$${AWS_SECRET_ACCESS_KEY}"],
    ],
    ["a variable within a variable", ["${a${user_config.word}}"], {}, ["$${ahi}"]],
  ];
  for (const [what, args, values, expected] of ARGUMENTS) {
    it(`has in its arguments: ${what}`, () => {
      expect(build({ args }, values).args ?? []).toEqual(expected);
    });
  }

  it("is valid, and starts with exactly the text that the manifest had", () => {
    const entry = build({ args: ["${PATH}", "${"] });
    expect(() => parseAgentConfig({ servers: { tiny: entry } })).not.toThrow();
  });

  it("leaves out a variable without a value", () => {
    const env = { A: "${user_config.name}", B: "${user_config.word}", C: "x${user_config.name}" };
    expect(build({ env }).env).toEqual({ B: "hi", C: "x" });
  });

  it("cannot be made to read a variable of yours by two halves", () => {
    const two = { args: ["$${user_config.trap}"] };
    const three = { args: ["${user_config.name}${user_config.trap}"] };
    expect(() => build(three, { name: ["$"] })).toThrow('has a "$" and an option side by side');
    expect(() => build(two)).toThrow('has a "$" and an option side by side');
    const other = { args: ["${user_config.name}{AWS_SECRET_ACCESS_KEY}"] };
    expect(() => build(other, { name: ["$"] })).toThrow('has a "$" and an option side by side');
  });

  for (const start of [
    { args: ["secret://env/TOKEN"] },
    { args: ["x", "a SECRET://env/TOKEN"] },
    { args: ["secret:${/}${/}env/TOKEN"] },
    { args: ["secret:${user_config.slashes}"] },
    { env: { A: "secr${user_config.half}" } },
    { env: { A: "secret://gcp/prod" } },
    { env: { A: "op://vault/item/field" } },
    { command: "secret://env/SHELL" },
    { platform_overrides: { linux: { args: ["secret://env/TOKEN"] } } },
  ]) {
    it(`may not refer to your secrets: ${JSON.stringify(start)}`, () => {
      expect(() => build(start)).toThrow("makes a reference to your secrets (secret:// or op://)");
    });
  }

  it("has the reference to a secret that you give", () => {
    const start = { args: ["${user_config.key}"], env: { KEY: "${user_config.key}" } };
    const key = "secret://env/TOKEN";
    expect(build(start, { key: [key] })).toMatchObject({ args: [key], env: { KEY: key } });
    const inText = { args: ["Bearer ${user_config.key}"] };
    expect(build(inText, { key: [key] })).toMatchObject({ args: [`Bearer \${${key}}`] });
    const more = { args: ["${user_config.key} secret://env/HOME"] };
    expect(() => build(more, { key: [key] })).toThrow("makes a reference to your secrets");
  });

  it("takes what the manifest overrides for this system, key by key", () => {
    const start = {
      args: ["a"],
      env: { A: "1" },
      platform_overrides: { linux: { args: ["b"] }, win32: { command: "c.exe" } },
    };
    expect(build(start)).toMatchObject({ command: "/usr/bin/node", args: ["b"], env: { A: "1" } });
    expect(build(start, {}, { platform: "win32" })).toMatchObject({
      command: "c.exe",
      args: ["a"],
    });
  });

  it("of a bundle for uv has uv run it", () => {
    const server = { type: "uv", entry_point: "src/server.py" };
    const uv = readManifest(Buffer.from(JSON.stringify(manifest({ server }))));
    const entry = buildEntry(uv, new Map(), place, { files: FILES, findProgram: (each) => each });
    expect(entry).toMatchObject({
      command: "uv",
      args: ["run", "--directory", "/b/tiny", "src/server.py"],
    });
  });

  const COMMANDS: [command: string, expected: string, platform?: string][] = [
    ["npx", "npx"],
    ["/usr/bin/env", "/usr/bin/env"],
    ["server/run", "/b/tiny/server/run"],
    ["./server/run", "/b/tiny/server/run"],
    ["${__dirname}/server/run", "/b/tiny/server/run"],
    ["${__dirname}${/}server${/}run", "/b/tiny/server/run"],
    ["run", "/b/tiny/run"],
    ["server/run", "/b/tiny/server/run.exe", "win32"],
  ];
  for (const [command, expected, platform = "linux"] of COMMANDS) {
    it(`runs ${command} as ${expected} on ${platform}`, () => {
      expect(build({ type: "binary", command }, {}, { platform }).command).toBe(expected);
    });
  }

  it.each(["NODE_OPTIONS", "npm_config_registry", "PATH"])("does not set %s", (name) => {
    expect(() => build({ env: { [name]: "x" } })).toThrow(`sets ${name}, which `);
  });

  it("does not run a program beside the bundle", () => {
    expect(() => build({ type: "binary", command: "../other/run" })).toThrow(
      "is outside of the bundle",
    );
  });

  it("reads a text of nothing but variables in one pass", () => {
    const text = "${".repeat(8000);
    const isSame = build({ args: [`${text}}`] }).args?.[0] === `${"$${".repeat(8000)}}`;
    expect(isSame).toBe(true);
  });
});

it("the program of a bundle is executable, whatever made the archive", () => {
  const of = (start: Start) => [...executablesIn(read(start), place, FILES)];
  expect(of({ type: "binary", command: "${__dirname}/server/run" })).toEqual([
    "server/run",
    "server/run.exe",
    "index.js",
  ]);
  expect(of({ type: "binary", command: "./run" })).toEqual(["run", "index.js"]);
  expect(of({ command: "node" })).toEqual([]);
});
