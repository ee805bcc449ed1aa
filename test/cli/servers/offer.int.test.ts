import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { closeAll, owned } from "../../fixtures/http/client.ts";
import { type Registry, serverJson, startRegistry } from "../../fixtures/registry/registry.ts";
import { asked, useScratch } from "../harness.ts";
import { NAME, notes, type Packages, packages } from "./packages.ts";

const scratch = useScratch();
afterEach(closeAll);

let registry: Registry;
let packed: Packages;
beforeEach(async () => {
  registry = owned(await startRegistry([notes("1.0.0"), notes("1.1.0")]));
  packed = packages(scratch, registry.url);
  packed.publish("1.1.0", [{ name: "read_note", description: "Reads a note." }]);
});

const run = (argv: string[], env: Record<string, string> = {}) =>
  scratch.run(argv, { env: packed.env(env) });
const file = (): string => join(scratch.directory, "home/plugboard.json");
const written = (): Record<string, object> =>
  (JSON.parse(readFileSync(file(), "utf8")) as { mcpServers: Record<string, object> }).mcpServers;

describe("plugboard add of a server in the registry", () => {
  it("shows who publishes it and the whole command, asks, tries it, and keeps where it came from", async () => {
    const { code, stdout, stderr } = await asked(scratch, ["add", NAME], packed.env(), [
      "Add it? [y/N] ",
      "y\n",
    ]);
    expect(stderr).toContain(
      `${NAME} 1.1.0\n  Keeps notes\n  published by someone on GitHub, in the registry ${registry.url}\n`,
    );
    expect(stderr).toContain(
      `This would be added to ${file()}:\n  notes: npx -y notes-mcp@1.1.0\n`,
    );
    expect(stderr).toContain("It runs code of its publisher on this machine, with your rights.");
    expect(stderr).toContain("notes answers, and has 1 tool: read_note");
    expect({ code, stdout }).toEqual({ code: 0, stdout: `added notes to ${file()}\n` });
    expect(written()).toEqual({
      notes: {
        command: "npx",
        args: ["-y", "notes-mcp@1.1.0"],
        provenance: {
          kind: "registry",
          registry: registry.url,
          name: NAME,
          version: "1.1.0",
          hash: expect.stringMatching(/^sha256-[0-9a-f]{64}$/),
          way: "npm",
        },
      },
    });
    expect((await run(["tools", "--json"])).stdout).toContain("read_note");
  });

  it("takes a name and a version", async () => {
    await run(["add", "mine", `${NAME}@1.0.0`, "--yes", "--no-check"]);
    expect(written()).toMatchObject({ mine: { args: ["-y", "notes-mcp@1.0.0"] } });
  });

  it("starts and writes nothing if nobody agrees", async () => {
    const no = await asked(scratch, ["add", NAME], packed.env(), ["Add it? [y/N] ", "n\n"]);
    expect(no.code).toBe(4);
    const unasked = await run(["add", NAME]);
    expect(unasked.code).toBe(4);
    expect(unasked.stderr).toContain("cannot ask whether to add it");
    expect(existsSync(file())).toBe(false);
  });

  it("that is there already says how to update it", async () => {
    await run(["add", NAME, "--yes", "--no-check"]);
    const { code, stderr } = await run(["add", NAME, "--yes"]);
    expect(code).toBe(2);
    expect(stderr).toContain(`has ${NAME} already, as 'notes' in version 1.1.0`);
    expect(stderr).toContain("  plugboard update notes\n");
    scratch.file("home/plugboard.json", { mcpServers: { notes: { command: "other" } } });
    expect((await run(["add", NAME, "--yes"])).stderr).toContain("has a server 'notes' already:");
  });

  it("that was deleted is refused, and one that is deprecated is warned of", async () => {
    registry.published = [
      { ...notes("1.0.0"), status: "deprecated", statusMessage: "use\u001b[2J better" },
    ];
    const { code, stderr } = await run(["add", NAME, "--yes", "--no-check"]);
    expect(code).toBe(0);
    expect(stderr).toContain("warning: it is deprecated: use\\u{1b}[2J better\n");
    registry.published = [{ ...notes("2.0.0"), status: "deleted", statusMessage: "malware" }];
    const deleted = await run(["add", "other", NAME, "--yes"]);
    expect(deleted.code).toBe(4);
    expect(deleted.stderr).toContain(`${NAME} 2.0.0 was deleted from the registry: malware`);
  });

  it("shows nothing that a terminal would obey", async () => {
    registry.published = [{ server: serverJson("hostile-text") }];
    const { stderr } = await run(["add", "io.github.example/hostile-text"]);
    // oxlint-disable-next-line no-control-regex
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u200b]/);
    expect(stderr).toContain("Nice\\u{1b}[2J\\u{202e}server");
  });

  it("warns of what looks dangerous", async () => {
    registry.published = [
      notes("1.0.0", {
        runtimeArguments: [],
        packageArguments: [
          { type: "positional", value: "sudo" },
          { type: "positional", value: "~/.ssh/id_rsa" },
        ],
      }),
    ];
    const { stderr } = await run(["add", NAME]);
    expect(stderr).toContain("warning: it runs with the rights of another user");
    expect(stderr).toContain("warning: it names a place where keys and credentials are kept");
    expect(stderr).toContain("  notes: npx -y notes-mcp@1.0.0 sudo '~/.ssh/id_rsa'\n");
  });

  it.each<[what: string, argv: string[], message: string]>([
    [
      "a variable",
      ["add", NAME, "-e", "A=1"],
      "-e, -H, -t and the options of a client are for a command or a URL",
    ],
    ["values for a command", ["add", "x", "--set", "A=1", "--", "run"], "--set, --package"],
    [
      "an address that is not a registry",
      ["add", NAME, "--registry", "http://a.example"],
      "is not an https URL",
    ],
    [
      "another way",
      ["add", NAME, "--package", "oci"],
      "cannot be run as 'oci'; its ways are:\n  npm: notes-mcp 1.1.0 with npx",
    ],
    ["a URL that it does not have", ["add", NAME, "--remote"], "cannot be run as 'remote'"],
    ["a version that is not there", ["add", `${NAME}@9.0.0`], "it has 1.1.0, 1.0.0"],
    ["a name that cannot be one", ["add", "native", NAME], "is the name of the native tools"],
  ])("refuses %s", async (_, argv, message) => {
    const { code, stderr } = await run(argv);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it("takes what comes after -- for a command", async () => {
    const { code } = await run(["add", "x", "--yes", "--no-check", "--", NAME]);
    expect(code).toBe(0);
    expect(written()).toEqual({ x: { command: NAME } });
  });

  it("says what is missing if nothing that it needs is here", async () => {
    const { code, stderr } = await run(["add", NAME, "--yes"], { PATH: "" });
    expect(code).toBe(3);
    expect(stderr).toContain("npm: notes-mcp 1.1.0 with npx, which is not installed");
  });

  it("does not ask a registry that only an untrusted file names", async () => {
    const evil = owned(await startRegistry([notes("6.6.6")]));
    scratch.file("plugboard.json", { registry: evil.url, mcpServers: { x: { command: "x" } } });
    const asks = ["registry", "notes", "--json"];
    const env = packed.env({ PLUGBOARD_REGISTRY: "" });
    const { stderr } = await scratch.run([...asks, "--registry", registry.url], { env });
    expect(stderr).not.toContain("is not trusted");
    expect(evil.asked).toEqual([]);
    await scratch.run(["trust", "--yes"], { env });
    expect((await scratch.run(asks, { env })).stdout).toContain("6.6.6");
    expect(evil.asked).toHaveLength(1);
  });
});

describe("the values of a server in the registry", () => {
  const input = {
    environmentVariables: [
      { name: "REGION", description: "Where", isRequired: true, choices: ["eu", "us"] },
      { name: "LIMIT", format: "number", default: "5" },
      { name: "API_KEY", description: "From your account", isRequired: true, isSecret: true },
    ],
  };
  beforeEach(() => {
    registry.published = [notes("1.1.0", input)];
  });

  it("are asked for, and a secret one that you do not type is a variable that you set yourself", async () => {
    const { code, stderr } = await asked(
      scratch,
      ["add", NAME],
      packed.env(),
      ["REGION *: Where", "asia\n"],
      ["is not one of the choices", "2\n"],
      ["(Enter alone for your variable API_KEY) > ", "\n"],
      ["It takes 1 optional value more (LIMIT). Give any? [y/N] ", "y\n"],
      ["[5] > ", "many\n"],
      ["LIMIT is not a number", "7\n"],
      ["Add it? [y/N] ", "y\n"],
    );
    expect(code).toBe(0);
    expect(stderr).toContain(
      "API_KEY: From your account\n  It is secret, so set it yourself:\n    export API_KEY=<value>\n" +
        "  or name where it is kept: --set API_KEY=secret://keyring/service/account\n",
    );
    // The file has no value that could be moved.
    expect(stderr).not.toContain("secrets move");
    expect(stderr).toContain("notes was not tried, because API_KEY is not set here");
    expect(written()).toMatchObject({
      notes: {
        env: { REGION: "us", LIMIT: "7", API_KEY: "${API_KEY}" },
        provenance: { inputs: { REGION: ["us"], LIMIT: ["7"], API_KEY: ["${API_KEY}"] } },
      },
    });
  });

  it("are given with --set; then you are told that it gets a secret that is set, and the server is tried", async () => {
    const { code, stderr } = await run(["add", NAME, "--yes", "--set", "REGION=eu"], {
      API_KEY: "hunter2",
    });
    expect(code).toBe(0);
    expect(stderr).not.toContain("set it yourself");
    expect(stderr).toContain("it gets your API_KEY, which is set here\n");
    expect(stderr).toContain("notes answers");
    expect(written()).toMatchObject({
      notes: { env: { REGION: "eu", LIMIT: "5", API_KEY: "${API_KEY}" } },
    });
    expect(readFileSync(file(), "utf8")).not.toContain("hunter2");
  });

  it("that are missing are listed, all at once", async () => {
    const { code, stderr } = await run(["add", NAME, "--yes"]);
    expect(code).toBe(2);
    expect(stderr).toContain(
      "the server needs values that were not given:\n  REGION: Where (eu, us)\n",
    );
  });

  it.each([
    ["API_KEY=hunter2", "'API_KEY' is secret, and others on this machine can read a command line"],
    ["REGION=asia", "'REGION' is not one of eu, us"],
    ["LIMIT=x", "'LIMIT' is not a number"],
    ["REGOIN=eu", "the server has no input 'REGOIN'; did you mean 'REGION'?"],
    ["REGION", "--set takes KEY=value"],
  ])("cannot be %s", async (set, message) => {
    const { code, stderr } = await run(["add", NAME, "--yes", "--set", set]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(existsSync(file())).toBe(false);
  });

  it("may be another variable for a secret", async () => {
    await run(["add", NAME, "--yes", "--set", "REGION=eu", "--set", "API_KEY=${MY_KEY}"]);
    expect(written()).toMatchObject({ notes: { env: { API_KEY: "${MY_KEY}" } } });
  });
});

describe("a secret that is typed for a server in the registry", () => {
  const SECRET = "hunter2-hunter2";
  const store = (): string => join(scratch.directory, "home/secrets.json");
  const inFile = (): string => `secret://file/${store()}#notes-API_KEY`;
  const PROMPT = "(Enter alone for your variable API_KEY) > ";

  beforeEach(() => {
    registry.published = [
      notes("1.1.0", { environmentVariables: [{ name: "API_KEY", isRequired: true }] }),
    ];
    // The server starts only with the right key.
    const npx = join(scratch.directory, "bin/npx");
    const [, ...lines] = readFileSync(npx, "utf8").split("\n");
    const check = `[ "$API_KEY" = "${SECRET}" ] || exit 1`;
    writeFileSync(npx, ["#!/bin/sh", check, ...lines].join("\n"));
  });

  const add = (value: string, ...answers: [question: string, answer: string][]) =>
    asked(scratch, ["add", NAME], packed.env(), [PROMPT, `${value}\n`], ...answers);

  it("is stored once you agree, and the server is tried with it", async () => {
    const no = await add(SECRET, ["Add it? [y/N] ", "n\n"]);
    expect(no.code).toBe(4);
    expect(no.stderr).toContain("is stored in a file that only you can read once you agree");
    expect(no.stderr).toContain(`These values would be stored as secrets:\n  ${inFile()}\n`);
    expect([existsSync(store()), existsSync(file())]).toEqual([false, false]);

    const { code, stdout, stderr } = await add(SECRET, ["Add it? [y/N] ", "y\n"]);
    expect(code).toBe(0);
    expect(stderr).toContain("notes answers");
    expect(JSON.parse(readFileSync(store(), "utf8"))).toEqual({ "notes-API_KEY": SECRET });
    expect(written()).toMatchObject({
      notes: { env: { API_KEY: inFile() }, provenance: { inputs: { API_KEY: [inFile()] } } },
    });
    expect(readFileSync(file(), "utf8") + stdout + stderr).not.toContain(SECRET);
  });

  it("that stays there without its server is named, and asked about before it is replaced", async () => {
    const failed = await add(
      "another-key",
      ["Add it? [y/N] ", "y\n"],
      ["Add it anyway? [y/N] ", "n\n"],
    );
    expect(failed.code).toBe(4);
    expect(failed.stderr).toContain(
      `These values were stored, and are still there:\n  ${inFile()}\nTo remove notes-API_KEY, delete it from ${store()}.\n`,
    );
    expect(failed.stderr).toMatch(/\nthe configuration has not changed\n$/);
    expect(failed.stderr).not.toContain("nothing has changed");
    expect(existsSync(file())).toBe(false);
    const replace = `${inFile()} has another value already. Replace it? [y/N] `;
    const kept = await add(SECRET, ["Add it? [y/N] ", "y\n"], [replace, "n\n"]);
    expect(kept.code).toBe(4);
    expect(existsSync(file())).toBe(false);
    const { code } = await add(SECRET, ["Add it? [y/N] ", "y\n"], [replace, "y\n"]);
    expect(code).toBe(0);
    expect(JSON.parse(readFileSync(store(), "utf8"))).toEqual({ "notes-API_KEY": SECRET });
  });

  it("goes where --secrets says, and a reference is taken as it is", async () => {
    mkdirSync(join(scratch.directory, "home"));
    const vault = { secrets: { vault: { address: "http://127.0.0.1:9" } } };
    scratch.file("home/plugboard.json", vault);
    const failed = await add(SECRET, ["Add it? [y/N] ", "y\n"]);
    expect(failed.code).toBe(3);
    expect(failed.stderr).toContain("the value cannot be put into vault: ");
    const argv = ["add", NAME, "--secrets", "file"];
    const agreed: [string, string] = ["Add it? [y/N] ", "y\n"];
    const told = await asked(scratch, argv, packed.env(), [PROMPT, `${SECRET}\n`], agreed);
    expect(told.code).toBe(0);
    expect(written()).toMatchObject({ notes: { env: { API_KEY: inFile() } } });
    const other = `secret://file/${store()}#notes-API_KEY`;
    const env = packed.env();
    const again = ["add", "other", NAME];
    expect((await asked(scratch, again, env, [PROMPT, `${other}\n`], agreed)).code).toBe(0);
    expect(written()).toMatchObject({ other: { env: { API_KEY: other } } });
  });

  it("is not asked for in a file that nobody has trusted", async () => {
    scratch.file("plugboard.json", {
      secrets: { vault: { address: "http://127.0.0.1:9" } },
      mcpServers: { x: { command: "x" } },
    });
    const argv = ["add", NAME, "--no-check"];
    const { code, stderr } = await asked(scratch, argv, packed.env(), ["Add it? [y/N] ", "y\n"]);
    expect(code).toBe(0);
    expect(stderr).toContain("note: secrets cannot be stored: ");
    expect(scratch.read("plugboard.json")).toContain("${API_KEY}");
    const refused = await asked(scratch, [...argv, "--force", "--secrets"], packed.env());
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      "is not trusted, and a configuration decides where secrets are kept",
    );
  });
});

it("a bundle that the registry names is checked by its hash, and its server runs", async () => {
  const bytes = readFileSync(new URL("../../fixtures/bundles/hello.mcpb", import.meta.url));
  const files = owned(await startRegistry());
  files.misbehave = (_, response) => void response.end(bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const bundled = (fileSha256: string) =>
    notes("1.0.0", { registryType: "mcpb", identifier: `${files.url}/hello.mcpb`, fileSha256 });

  registry.published = [bundled("0".repeat(64))];
  const wrong = await run(["add", NAME, "--yes"]);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain("cannot be used");
  expect(existsSync(file())).toBe(false);

  registry.published = [bundled(sha256)];
  const { code, stderr } = await run(["add", NAME, "--yes", "--set", "greeting=Hello"]);
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("notes answers, and has 1 tool: hello"),
  });
  expect(written()).toMatchObject({
    notes: { provenance: { kind: "registry", name: NAME, version: "1.0.0", way: "mcpb" } },
  });
});
