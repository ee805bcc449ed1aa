import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  difference,
  hashOfFile,
  readFingerprint,
  serverDifference,
  sharedNames,
  takeFingerprint,
} from "../../../src/core/config/fingerprint.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import type { BoardConfig } from "../../../src/core/types/agent-config.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "plugboard-fingerprint-")));
/** The gateway runs in one directory, a command in the other. */
const [there, here] = [join(root, "there"), join(root, "here")];
/** Two directories with a program of the same name. */
const [bin, other] = [join(root, "bin"), join(root, "other")];

for (const directory of [there, here, bin, other]) mkdirSync(directory);
for (const directory of [bin, other]) {
  writeFileSync(join(directory, "npx"), "", { mode: 0o755 });
}
symlinkSync(there, join(root, "link"));
afterAll(() => rmSync(root, { recursive: true }));

const FILE = hashOfFile(Buffer.from("{}"));
const ENV = { PATH: bin, HOME: "/home/me", TOKEN: "secret-value" };

function compare(
  config: BoardConfig,
  {
    env = ENV,
    cwd = there,
    file = FILE,
    base,
    agent = "default",
  }: {
    env?: Record<string, string>;
    cwd?: string;
    file?: string;
    base?: string;
    agent?: string;
  } = {},
  change: object = {},
  baseThere?: string,
) {
  const agents = [{ ...parseAgentConfig(config), ...change }];
  const taken = takeFingerprint(agents, {
    file: FILE,
    base: baseThere,
    salt: "salt",
    env: ENV,
    cwd: there,
  });
  // It is read from a file.
  const noted = readFingerprint(JSON.parse(JSON.stringify(taken)));
  if (noted === undefined) throw new Error("it cannot be read back");
  const whole = difference(noted, { agent, file, base });
  if (whole !== undefined) return whole;
  const differing = sharedNames(noted, agent).map((name) =>
    serverDifference(noted, { agent, server: name, env, cwd }),
  );
  return differing.find((each) => each !== undefined);
}

const server = (args: string[], more: ServerConfig = {}): BoardConfig => ({
  servers: { files: { command: "npx", args, ...more } },
});

describe("a command would start the same servers as a gateway", () => {
  it.each<[string, BoardConfig, Parameters<typeof compare>[1]]>([
    ["with the same file, variables and directory", server(["."]), {}],
    [
      "whose PATH is another, with the same program in it",
      server([]),
      { env: { ...ENV, PATH: `${bin}:/elsewhere` } },
    ],
    [
      "whose PATH is another, with the same program for a variable",
      server([], { command: "${PROGRAM:-npx}" }),
      { env: { ...ENV, PATH: `${bin}:/elsewhere` } },
    ],
    [
      "whose PATH is another, if the program is a path",
      server([], { command: "/bin/true" }),
      { env: { ...ENV, PATH: "/elsewhere" } },
    ],
    ["in the same directory by another path", server(["."]), { cwd: "link" }],
    ["whose variables that nobody uses differ", server([]), { env: { ...ENV, OTHER: "x" } }],
    [
      "with secrets, which the gateway gets for everybody",
      server(["a ${secret://gcp/x}"], { env: { A: "secret://file/x", B: "op://v/i/f" } }),
      { cwd: "here", env: { ...ENV, GOOGLE_CLOUD_PROJECT: "other" } },
    ],
    [
      "whose PATH differs, if it has no programs",
      { servers: { remote: { url: "https://example.com/mcp" } } },
      { env: { ...ENV, PATH: "/other" } },
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
});

describe("a command stands alone", () => {
  it.each<[string, BoardConfig, Record<string, string>, string]>([
    [
      "PATH, of a shell",
      server(["-c", "exec x"], { command: "sh" }),
      { ...ENV, PATH: other },
      "PATH",
    ],
    ["a variable in an argument", server(["${TOKEN}"]), { ...ENV, TOKEN: "x" }, "TOKEN"],
    ["a variable in env", server([], { env: { A: "x${TOKEN}" } }), { ...ENV, TOKEN: "x" }, "TOKEN"],
    ["a variable that is not set", server(["${TOKEN}"]), { PATH: bin, HOME: "/home/me" }, "TOKEN"],
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
    ["the proxy of a program", server([]), { ...ENV, HTTPS_PROXY: "http://proxy" }, "HTTPS_PROXY"],
    ["a variable in roots", server([], { roots: ["${TOKEN}"] }), { ...ENV, TOKEN: "x" }, "TOKEN"],
  ])("where %s differs", (_, config, env, name) => {
    expect(compare(config, { env })).toMatchObject({ kind: "variable", name });
  });

  it.each([
    ["another program of that name comes first", `${other}:${bin}`],
    ["the program is not found", "/elsewhere"],
  ])("where %s on PATH", (_, PATH) => {
    const variable = server([], { command: "${PROGRAM:-npx}" });
    expect(compare(variable, { env: { ...ENV, PATH } })).toMatchObject({ kind: "program" });
    expect(compare(server([]), { env: { ...ENV, PATH } })).toEqual({
      kind: "program",
      name: "npx",
      there: join(bin, "npx"),
    });
  });

  it("with a server that the gateway does not share", () => {
    const taken = takeFingerprint([parseAgentConfig(server([]))], {
      file: FILE,
      salt: "salt",
      env: ENV,
      cwd: there,
    });
    const asked = { agent: "default", server: "more", env: ENV, cwd: there };
    expect(serverDifference(taken, asked)).toEqual({ kind: "unknown" });
  });

  it("in another directory, where something depends on it", () => {
    const what = "it has the relative path .";
    expect(compare(server(["."]), { cwd: here })).toEqual({ kind: "directory", what, cwd: there });
  });

  it.each<[string, object, string]>([
    ["roots of the agent", { roots: true }, "it gets the directory as a root"],
    [
      "modules with tools",
      { nativeModules: [{ path: "/x.js", written: "x.js" }] },
      "they run in the working directory",
    ],
  ])("in another directory, with %s", (_, change, what) => {
    const config = server([], { command: "/bin/true" });
    const found = compare(config, { cwd: here }, change);
    expect(found).toEqual({ kind: "directory", what, cwd: there });
  });

  it("with another file, another agent, or a file that nobody has trusted", () => {
    const config = server([]);
    expect(compare(config, { file: "other" })).toEqual({ kind: "file" });
    expect(compare(config, { agent: "toString" })).toEqual({ kind: "agent", agent: "toString" });
    const file = { file: "plugboard.json", remedy: "", servers: [] };
    const untrusted = { untrusted: [file] };
    expect(compare(config, {}, untrusted)).toEqual({ kind: "untrusted" });
    const changed = { untrusted: [{ ...file, inUse: true as const }] };
    expect(compare(config, {}, changed)).toBeUndefined();
  });
});

it.each([
  [undefined, undefined, undefined],
  ["a", "a", undefined],
  ["a", "b", { kind: "base", has: "both" }],
  ["a", undefined, { kind: "base", has: "gateway" }],
  [undefined, "a", { kind: "base", has: "command" }],
])("with %s beneath in the gateway and %s in the command: %j", (theirs, base, found) => {
  expect(compare(server([]), { base }, {}, theirs)).toEqual(found);
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
