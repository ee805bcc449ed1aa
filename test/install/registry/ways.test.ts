import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/core/types/json.ts";
import { parseAgentConfig } from "../../../src/core/config/parse.ts";
import { parseTemplate } from "../../../src/core/config/schema/references.ts";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import type { OfferInput } from "../../../src/core/types/server-offer.ts";
import { readEntry } from "../../../src/install/registry/server-json.ts";
import { chooseWay, suggestedName, type Way, waysOf } from "../../../src/install/registry/ways.ts";

const REGISTRY = "https://registry.example";

function ways(server: object): Way[] {
  const entry = readEntry({ server });
  if (typeof entry === "string") throw new Error(entry);
  return waysOf(entry, REGISTRY);
}

function fromFile(name: string): JsonObject {
  const url = new URL(`../../fixtures/registry/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, "utf8")) as JsonObject;
}

type Given = Record<string, string[]>;

function build(way: Way | undefined, given: Given = {}): ServerConfig {
  if (way?.kind !== "offer") throw new Error(`it is ${JSON.stringify(way)}`);
  const server = way.offer.build(new Map(Object.entries(given)));
  // What is built can be written.
  parseAgentConfig({ servers: { it: server } });
  return server;
}

/** The command line with its variables, or the URL with its headers. */
function shown({ command, args = [], env = {}, url = "", headers = {}, transport }: ServerConfig) {
  const pairs = (map: Record<string, string>): string[] =>
    Object.entries(map).map((pair) => pair.join("="));
  return command === undefined
    ? [transport, url, ...pairs(headers)].join(" ")
    : [...pairs(env), command, ...args].join(" ");
}

describe("a server.json becomes", () => {
  it.each<[file: string, way: string, given: Given, expected: string]>([
    [
      "brave-search",
      "npm",
      { BRAVE_API_KEY: ["${BRAVE_API_KEY}"] },
      "BRAVE_API_KEY=${BRAVE_API_KEY} npx -y @modelcontextprotocol/server-brave-search@1.0.2",
    ],
    [
      "filesystem",
      "npm",
      { target_dir: ["/a", "/b"], LOG_LEVEL: ["debug"] },
      "LOG_LEVEL=debug npx -y @modelcontextprotocol/server-filesystem@1.0.2 /a /b",
    ],
    [
      "filesystem",
      "npm",
      {},
      "LOG_LEVEL=info npx -y @modelcontextprotocol/server-filesystem@1.0.2 /Users/username/Desktop",
    ],
    [
      "filesystem",
      "oci",
      { source_path: ["/a", "/b"], target_path: ["/project/a", "/project/b"] },
      "LOG_LEVEL=info docker run -i --rm --mount type=bind,src=/a,dst=/project/a " +
        "--mount type=bind,src=/b,dst=/project/b -e LOG_LEVEL images.example/mcp/filesystem:1.0.2 /project",
    ],
    [
      "filesystem",
      "oci",
      { source_path: ["/a"] },
      "LOG_LEVEL=info docker run -i --rm --mount type=bind,src=/a,dst=/project " +
        "-e LOG_LEVEL images.example/mcp/filesystem:1.0.2 /project",
    ],
    ["weather", "pypi", {}, "WEATHER_UNITS=celsius uvx weather-mcp-server==0.5.0 --stdio"],
    [
      "weather",
      "pypi",
      { verbose: ["true"], WEATHER_API_KEY: ["${KEY}"], WEATHER_UNITS: ["fahrenheit"] },
      "WEATHER_API_KEY=${KEY} WEATHER_UNITS=fahrenheit uvx weather-mcp-server==0.5.0 --verbose --stdio",
    ],
    [
      "sample-nuget",
      "nuget",
      { WEATHER_CHOICES: ["Sunny,Humid"] },
      "WEATHER_CHOICES=Sunny,Humid dnx Knapcode.SampleMcpServer@0.4.0-beta --yes -- mcp start",
    ],
    ["hybrid", "npm", {}, "npx -y @example/hybrid-mcp-server@1.5.0 --mode local"],
    [
      "hybrid",
      "remote",
      { tenant: ["acme"], token: ["${HYBRID_MCP_TOKEN}"] },
      "http https://acme.mcp.example.com/http Authorization=Bearer ${HYBRID_MCP_TOKEN}",
    ],
    [
      "hybrid",
      "remote-2",
      { "X-API-Key": ["${KEY}"], "X-Region": ["eu-west-1"] },
      "sse https://mcp.example.com/sse X-API-Key=${KEY} X-Region=eu-west-1",
    ],
  ])("%s as %s with %j", (file, id, given, expected) => {
    const way = ways(fromFile(file)).find((each) => each.id === id);
    expect(shown(build(way, given))).toBe(expected);
  });

  it("a bundle, with the hash that its file must have", () => {
    expect(ways(fromFile("hybrid")).find(({ id }) => id === "mcpb")).toMatchObject({
      kind: "bundle",
      url: "https://github.com/example/hybrid-mcp/releases/download/v1.5.0/hybrid.mcpb",
      sha256: "fe333e598595000ae021bd27117db32ec69af6987f507ba7a63c90638ff633ce",
    });
  });
});

const NPM = {
  registryType: "npm",
  identifier: "pkg",
  version: "1.0.0",
  transport: { type: "stdio" },
};

const server = (parts: object): object => ({
  name: "io.github.someone/thing",
  description: "",
  version: "1.0.0",
  ...parts,
});

const packaged = (parts: object): Way[] => ways(server({ packages: [{ ...NPM, ...parts }] }));

describe("arguments", () => {
  const positional = (value: string): object => ({ type: "positional", value });

  it.each<[what: string, parts: object, given: Given, expected: string]>([
    [
      "that say yes already",
      { runtimeArguments: [{ type: "named", name: "--yes" }] },
      {},
      "npx --yes pkg@1.0.0",
    ],
    [
      "of the runner",
      { runtimeArguments: [positional("--prefer-offline")] },
      {},
      "npx -y --prefer-offline pkg@1.0.0",
    ],
    [
      "that name the package",
      { runtimeArguments: [{ type: "named", name: "-p", value: "pkg" }, positional("bin")] },
      {},
      "npx -y -p pkg bin",
    ],
    [
      "that name a similar package",
      { runtimeArguments: [positional("pkg-other")] },
      {},
      "npx -y pkg-other pkg@1.0.0",
    ],
    [
      "with a value behind an equals sign",
      { packageArguments: [{ type: "named", name: "--port=", value: "80" }] },
      {},
      "npx -y pkg@1.0.0 --port=80",
    ],
    [
      "of the same name twice",
      {
        packageArguments: [
          { type: "named", name: "-v", isRequired: true },
          { type: "named", name: "-v", isRequired: true },
        ],
      },
      { v: ["a"], "v-2": ["b"] },
      "npx -y pkg@1.0.0 -v a -v b",
    ],
    [
      "that are optional and not given",
      { packageArguments: [{ type: "named", name: "--port", description: "the port" }] },
      {},
      "npx -y pkg@1.0.0",
    ],
    [
      "that are switched off although they are on",
      { packageArguments: [{ type: "named", name: "--tls", format: "boolean", default: "true" }] },
      { tls: ["false"] },
      "npx -y pkg@1.0.0 --tls=false",
    ],
    [
      "in a container that the publisher wrote out",
      {
        registryType: "oci",
        identifier: "someone/thing",
        runtimeHint: "docker",
        runtimeArguments: ["run", "--interactive", "--rm", "-e", "KEY=1"].map(positional),
        environmentVariables: [
          { name: "KEY", value: "1" },
          { name: "OTHER", value: "2" },
        ],
      },
      {},
      "KEY=1 OTHER=2 docker run --interactive --rm -e KEY=1 -e OTHER someone/thing:1.0.0",
    ],
    [
      "in a container, whatever else docker is told to do",
      {
        registryType: "oci",
        identifier: "someone/thing",
        runtimeArguments: ["-H", "tcp://evil.example", "run", "-i", "--rm"].map(positional),
      },
      {},
      "docker run -H tcp://evil.example run -i --rm someone/thing:1.0.0",
    ],
    [
      "of an image that is elsewhere",
      {
        registryType: "oci",
        identifier: "someone/thing",
        registryBaseUrl: "https://images.example",
      },
      {},
      "docker run -i --rm images.example/someone/thing:1.0.0",
    ],
    [
      "with braces that mean nothing",
      { packageArguments: [positional('{"a":{b}}')] },
      {},
      'npx -y pkg@1.0.0 {"a":{b}}',
    ],
  ])("%s", (_, parts, given, expected) => {
    expect(shown(build(packaged(parts)[0], given))).toBe(expected);
  });

  it("share a variable of the same name, which is secret if it is anywhere", () => {
    const variables = (isSecret: boolean): object => ({
      token: { isSecret, isRequired: !isSecret },
    });
    const [way] = packaged({
      packageArguments: [
        { type: "named", name: "--a", value: "a {token}", variables: variables(false) },
        { type: "named", name: "--b", value: "b {token}", variables: variables(true) },
      ],
    });
    expect(inputsOf(way)).toMatchObject([
      { key: "token", isSecret: true, isRequired: true, variable: "THING_TOKEN" },
    ]);
    expect(build(way, { token: ["${T}"] }).args).toEqual([
      "-y",
      "pkg@1.0.0",
      "--a",
      "a ${T}",
      "--b",
      "b ${T}",
    ]);
  });
});

function inputsOf(way: Way | undefined): OfferInput[] {
  return way?.kind === "offer" ? way.offer.inputs : [];
}

describe("inputs", () => {
  it("say what a person has to give", () => {
    const [npm, oci] = ways(fromFile("filesystem"));
    expect(inputsOf(npm)).toEqual([
      {
        key: "LOG_LEVEL",
        description: "Logging level (debug, info, warn, error)",
        isRequired: false,
        isSecret: false,
        format: "string",
        default: "info",
      },
      {
        key: "target_dir",
        description: "Path to access",
        isRequired: true,
        isSecret: false,
        format: "string",
        default: "/Users/username/Desktop",
        isMultiple: true,
      },
    ]);
    expect(inputsOf(oci).map(({ key, format }) => [key, format])).toEqual([
      ["source_path", "file"],
      ["target_path", "string"],
      ["LOG_LEVEL", "string"],
    ]);
  });

  it("that are secret refer to a variable, which is another one for each server", () => {
    const [remote] = ways(fromFile("hybrid"));
    expect(inputsOf(remote).find(({ isSecret }) => isSecret)?.variable).toBe("HYBRID_MCP_TOKEN");
    const [brave] = ways(fromFile("brave-search"));
    expect(inputsOf(brave)[0]?.variable).toBe("BRAVE_API_KEY");
  });

  it("that are given as references stand in braces inside a text, and as they are alone", () => {
    const [way] = packaged({
      packageArguments: [
        { type: "named", name: "--key", isSecret: true, isRequired: true },
        { type: "named", name: "--token=", isSecret: true, isRequired: true },
      ],
      environmentVariables: [
        { name: "AUTH", value: "Bearer {API_KEY}", variables: { API_KEY: { isSecret: true } } },
        { name: "API_KEY", isSecret: true },
      ],
    });
    const given = new Map([
      ["key", ["secret://env/A"]],
      ["token", ["op://v/i/f"]],
      ["API_KEY", ["secret://file/x#y"]],
    ]);
    expect(way?.kind === "offer" && way.offer.build(given)).toMatchObject({
      args: ["-y", "pkg@1.0.0", "--key", "secret://env/A", "--token=${op://v/i/f}"],
      env: { AUTH: "Bearer ${secret://file/x#y}", API_KEY: "secret://file/x#y" },
    });
  });

  it.each<[name: string, isSecret: boolean]>([
    ["NCBI_API_KEY", true],
    ["OAUTH_CLIENT_SECRET", true],
    ["DT_PLATFORM_TOKEN", true],
    ["password", true],
    ["apikey", true],
    ["MAX_TOKENS", false],
    ["MONKEY", false],
    ["SECRET_NAME", false],
    ["KEY", false],
  ])("that are called %s are secret, whatever the publisher says: %s", (name, isSecret) => {
    const [way] = packaged({ environmentVariables: [{ name }] });
    expect(inputsOf(way)).toMatchObject([{ key: name, isSecret }]);
    const [preset] = packaged({ environmentVariables: [{ name, default: "none" }] });
    expect(inputsOf(preset)).toMatchObject([{ key: name, isSecret: false }]);
  });

  it("are asked for where a URL cannot be used without them", () => {
    const [way] = ways(server({ remotes: [{ type: "sse", url: "https://{host}/sse" }] }));
    expect(inputsOf(way)).toMatchObject([{ key: "host", isRequired: true }]);
  });
});

/** What a value in the file stands for; a reference is left as a mark. */
function meaning(value: string): string {
  const template = parseTemplate(value);
  if (template.kind === "malformed") return "malformed";
  return template.parts.map((part) => (part.kind === "text" ? part.text : "A REFERENCE")).join("");
}

describe("what a publisher wrote", () => {
  it("never reads a variable of whoever adds the server", () => {
    const [way] = packaged({
      packageArguments: [
        { type: "positional", value: "${AWS_SECRET_ACCESS_KEY}" },
        { type: "positional", value: "$${HOME}" },
        { type: "named", name: "--${HOME}", value: "${HOME}" },
        { type: "positional", value: "${given}", variables: { given: { default: "{HOME}" } } },
        { type: "positional", value: "$x", variables: {} },
      ],
      environmentVariables: [
        { name: "A", default: "${HOME}" },
        { name: "B", value: "${HOME}" },
      ],
    });
    const { args = [], env = {} } = build(way, {});
    expect(args.map(meaning)).toEqual([
      "-y",
      "pkg@1.0.0",
      "${AWS_SECRET_ACCESS_KEY}",
      "$${HOME}",
      "--${HOME}",
      "${HOME}",
      "${HOME}",
      "$x",
    ]);
    expect(Object.values(env).map(meaning)).toEqual(["${HOME}", "${HOME}"]);
  });

  it.each([
    ["fixed", { environmentVariables: [{ name: "A", value: "secret://env/HOME" }] }],
    ["written for 1Password", { environmentVariables: [{ name: "A", value: "op://a/b/c" }] }],
    ["proposed", { environmentVariables: [{ name: "A", default: "secret://env/HOME" }] }],
    [
      "put together",
      {
        packageArguments: [
          { type: "positional", value: "secret:{x}", variables: { x: { default: "//env/A" } } },
        ],
      },
    ],
  ])("cannot name a secret, however it is %s", (_, parts) => {
    expect(() => build(packaged(parts)[0])).toThrow("the publisher refers to a secret of yours");
  });

  it.each<[what: string, parts: object, why: string]>([
    ["an option", { identifier: "--call=evil" }, "'--call=evil' is not the name of a package"],
    ["a path", { identifier: "../evil" }, "is not the name of a package"],
    ["a file", { identifier: "evil.tgz" }, "'evil.tgz' is not the name of a package"],
    ["a repository", { identifier: "github:me/evil" }, "is not the name of a package"],
    ["a line break", { identifier: "pkg\nevil" }, "is not the name of a package"],
    ["a range", { version: "^1.0.0" }, "'^1.0.0' is not an exact version"],
    ["the newest", { version: "latest" }, "'latest' is not an exact version"],
    ["an alias", { version: "npm:evil" }, "is not an exact version"],
    ["a tag", { version: "beta" }, "'beta' is not an exact version"],
    ["a part of a version", { version: "1.2" }, "'1.2' is not an exact version"],
    ["a tag that looks like a version", { version: "1.2.3-a..b" }, "is not an exact version"],
    ["a tag of numbers", { version: "9007199254740993.0.0" }, "is not an exact version"],
    ["a tag of many letters", { version: `1.2.3-${"a".repeat(256)}` }, "is not an exact version"],
    ["a repository as the version", { version: "git+https://evil" }, "is not an exact version"],
    [
      "a tag of Python",
      { registryType: "pypi", version: "nightly" },
      "'nightly' is not an exact version",
    ],
    // A pattern that tries every way to read it needs minutes.
    [
      "a version of Python that can be read in many ways",
      { registryType: "pypi", version: `1${"rc".repeat(32)}!` },
      "is not an exact version",
    ],
    [
      "a variable that is more than a name",
      {
        registryType: "oci",
        identifier: "a/b",
        version: "1",
        environmentVariables: [{ name: "X=${TOKEN}", value: "1" }],
      },
      "'X=${TOKEN}' is not the name of a variable",
    ],
    [
      "a variable that loads code",
      { environmentVariables: [{ name: "Node_Options" }] },
      "it sets Node_Options, which loads modules into every program of Node.js",
    ],
    [
      "another registry of packages",
      { environmentVariables: [{ name: "npm_config_registry", value: "https://a.example" }] },
      "it sets npm_config_registry, which decides what npm, pnpm, Yarn or Bun get and run",
    ],
    [
      "other directories of programs",
      { environmentVariables: [{ name: "PATH", value: "bin" }] },
      "it sets PATH, which chooses which programs and settings are used",
    ],
    [
      "a shell",
      { runtimeHint: "bash", runtimeArguments: [{ type: "positional", value: "-c" }] },
      "it has to be run with bash",
    ],
    ["unknown", { registryType: "cargo" }, "Plugboard cannot run packages of this type"],
    ["at a URL", { transport: { type: "sse", url: "http://localhost:1" } }, "start it yourself"],
    [
      "a bundle without a hash",
      { registryType: "mcpb", identifier: "https://a.example/x" },
      "has no hash",
    ],
    [
      "a bundle on plain http",
      { registryType: "mcpb", identifier: "http://a.example/x", fileSha256: "0".repeat(64) },
      "is not at an https URL",
    ],
    [
      "a bundle on this machine, of a registry that is not",
      { registryType: "mcpb", identifier: "https://127.0.0.1/x", fileSha256: "0".repeat(64) },
      "its file is on this machine",
    ],
    [
      "a bundle at no address",
      { registryType: "mcpb", identifier: "x.mcpb", fileSha256: "0".repeat(64) },
      "is not at an https URL",
    ],
  ])("cannot be a package that is %s", (_, parts, why) => {
    expect(packaged(parts)).toMatchObject([
      { kind: "unusable", why: expect.stringContaining(why) },
    ]);
  });

  it.each([
    ["file:///etc/passwd", "its address is not an https URL"],
    ["http://example.com/mcp", "its address is plain http"],
  ])("cannot be the address %s", (url, why) => {
    const [way] = ways(server({ remotes: [{ type: "streamable-http", url }] }));
    expect(way).toMatchObject({ kind: "unusable", why: expect.stringContaining(why) });
  });
});

describe("notes", () => {
  it.each<[what: string, parts: object, notes: string[]]>([
    ["a version", {}, []],
    [
      "no version",
      { version: undefined },
      ["the package has no version: what runs may change at any time"],
    ],
    [
      "the newest image",
      { registryType: "oci", identifier: "a/b:latest", version: undefined },
      ["the package has no version: what runs may change at any time"],
    ],
    [
      "a place of its own",
      { registryBaseUrl: "https://packages.example" },
      ["the publisher has it at https://packages.example; npx takes it from where it looks"],
    ],
    [
      "another runner",
      { registryType: "pypi", runtimeHint: "python" },
      ["the publisher runs it with python; here it is run with uvx"],
    ],
  ])("for a package with %s", (_, parts, notes) => {
    const [way] = packaged(parts);
    expect(way?.kind === "offer" && way.offer.notes).toEqual(notes);
  });
});

describe("the way that is chosen", () => {
  const PYPI = { ...NPM, registryType: "pypi" };
  const BUNDLE = {
    ...NPM,
    registryType: "mcpb",
    identifier: "https://a.example/x.mcpb",
    fileSha256: "0".repeat(64),
  };
  const remote = (url: string): object => ({ type: "streamable-http", url });

  it.each<[what: string, parts: object, present: string[], id: string | undefined]>([
    ["a URL first", { remotes: [remote("https://a.example")], packages: [NPM] }, ["npx"], "remote"],
    [
      "a package before a URL on this machine",
      { remotes: [remote("http://localhost:1")], packages: [NPM] },
      ["npx"],
      "npm",
    ],
    ["what is here", { packages: [NPM, PYPI] }, ["uvx"], "pypi"],
    ["the publisher's first", { packages: [PYPI, NPM] }, ["npx", "uvx"], "pypi"],
    ["a bundle where nothing is here", { packages: [NPM, BUNDLE] }, [], "mcpb"],
    ["none", { packages: [NPM] }, [], undefined],
    [
      "none of those that cannot be used",
      { packages: [{ ...NPM, version: "latest" }] },
      ["npx"],
      undefined,
    ],
  ])("is %s", (_, parts, present, id) => {
    expect(chooseWay(ways(server(parts)), (program) => present.includes(program))?.id).toBe(id);
  });
});

it.each([
  ["io.github.someone/thing", "thing"],
  ["com.example/native", "example-native"],
  [`com.example/${"x".repeat(100)}`, "x".repeat(64)],
])("%s is called %s", (name, expected) => {
  expect(suggestedName(name)).toBe(expected);
});
