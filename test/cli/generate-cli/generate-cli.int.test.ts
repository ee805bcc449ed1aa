import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runServerCli } from "../../../src/cli/server-cli.ts";
import { fixture } from "../../support/boards.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();
const SECRET = "sk-7fKq92mXbT41LzPw88Qd";

/** What is embedded in a generated file. */
function embeddedIn(file: string): object {
  const [, json = ""] = /^const SERVER = (\{[^]*?\n\});$/m.exec(scratch.read(file)) ?? [];
  return JSON.parse(json) as object;
}

/** As `node <file> …` does it. */
function run(file: string, argv: readonly string[], env: Record<string, string> = {}) {
  const embedded = embeddedIn(file);
  return scratch.run(argv, {
    env: { PLUGBOARD_CONFIG: "", ...env },
    program: (words, io) => runServerCli(embedded, words, join(scratch.directory, file), io),
  });
}

describe("plugboard generate-cli", () => {
  it("writes one file that can be run, with references in place of secrets", async () => {
    scratch.servers({
      "token teller": { ...fixture("tells-token"), env: { API_TOKEN: SECRET, REGION: "north" } },
    });
    const generated = await scratch.run(["generate-cli", "token teller"]);
    expect(generated).toMatchObject({ code: 0, stdout: "" });
    expect(generated.stderr).toContain(
      "the file has no secrets in it: it reads API_TOKEN from the environment",
    );
    const text = scratch.read("token-teller.mjs");
    expect(text).not.toContain(SECRET);
    expect(text.split("\n")[0]).toBe("#!/usr/bin/env node");
    expect(statSync(join(scratch.directory, "token-teller.mjs")).mode & 0o111).toBe(0o111);
    expect(embeddedIn("token-teller.mjs")).toMatchObject({
      name: "token teller",
      server: { env: { API_TOKEN: "${API_TOKEN}", REGION: "north" } },
    });

    const unset = await run("token-teller.mjs", ["ok", "--path", "x", "--mode", "b"]);
    expect(unset).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("API_TOKEN"),
    });
    const called = await run("token-teller.mjs", ["ok", "--path", "x", "--mode", "b"], {
      API_TOKEN: SECRET,
    });
    expect(called).toMatchObject({ code: 0, stdout: '{"path":"x","mode":"b"}\n' });
  });

  it("makes commands whose arguments are checked before anything starts", async () => {
    const { command = "", args = [] } = fixture("echo");
    const generated = await scratch.run([
      "--json",
      "generate-cli",
      "-o",
      "e.mjs",
      "--",
      command,
      ...args,
    ]);
    expect(JSON.parse(generated.stdout)).toMatchObject({
      file: "e.mjs",
      server: "echo",
      tools: expect.arrayContaining(["add", "sleep"]),
      variables: [],
    });

    expect(await run("e.mjs", ["add", "--a", "1", "--b", "2"])).toMatchObject({
      code: 0,
      stdout: "3\n",
    });
    const json = await run("e.mjs", ["add", "--raw", '{"a":1}', "b=5", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ structuredContent: { sum: 6 } });
    const stdin = await scratch.run(["add", "--raw", "-"], {
      stdin: '{"a":2,"b":2}',
      program: (words, io) => runServerCli(embeddedIn("e.mjs"), words, "e.mjs", io),
    });
    expect(stdin).toMatchObject({ code: 0, stdout: "4\n" });

    // A server that cannot be started would be the mistake otherwise.
    const broken = { ...embeddedIn("e.mjs"), server: { command: "/nowhere/at-all" } };
    const unstarted = (argv: readonly string[]) =>
      scratch.run(argv, { program: (words, io) => runServerCli(broken, words, "e.mjs", io) });
    const missing = await unstarted(["add", "--a", "1"]);
    expect(missing).toMatchObject({ code: 2, stdout: "" });
    expect(missing.stderr).toContain("1 argument missing:\n    b  number");
    expect(missing.stderr).toContain("to see what it takes: e.mjs add --help");
    // The server has lost a tool since.
    const older = { ...embeddedIn("e.mjs"), tools: [{ name: "gone", parameters: {} }] };
    const gone = await scratch.run(["gone"], {
      program: (words, io) => runServerCli(older, words, "e.mjs", io),
    });
    expect(gone).toMatchObject({ code: 2, stdout: "" });
    expect(gone.stderr).toContain("the server has changed since this command line was generated");
    const wrong = await unstarted(["add", "--a", "x", "--json"]);
    expect(JSON.parse(wrong.stdout)).toMatchObject({ error: { code: "INVALID_ARGUMENTS" } });
    expect(await unstarted(["add", "--a", "1", "--b", "2"])).toMatchObject({ code: 3, stdout: "" });
  });

  it("keeps the rules of the server", async () => {
    scratch.servers({ e: { ...fixture("echo"), approval: "ask", tools: { deny: ["sleep"] } } });
    expect(await scratch.run(["generate-cli", "e"])).toMatchObject({ code: 0 });
    expect(await run("e.mjs", ["add", "--a", "1", "--b", "2"])).toMatchObject({
      code: 4,
      stdout: "",
    });
    expect(await run("e.mjs", ["add", "--a", "1", "--b", "2", "--yes"])).toMatchObject({ code: 0 });
    expect(await run("e.mjs", ["sleep", "--ms", "1"])).toMatchObject({ code: 2 });
  });

  it.each<[name: string, argv: string[], code: number, message: string]>([
    ["no server", ["generate-cli"], 2, "missing required argument 'server'"],
    ["two servers", ["generate-cli", "a", "b"], 2, "'b' is one word too many"],
    ["an unknown server", ["generate-cli", "c"], 2, "there is no server named 'c'"],
    ["a server without tools", ["generate-cli", "empty"], 3, "'empty' has no tools"],
    ["a server that does not start", ["generate-cli", "bad"], 3, "so nothing was written"],
  ])("refuses %s", async (_, argv, code, message) => {
    scratch.servers({
      a: fixture("echo"),
      empty: fixture("no-tools"),
      bad: { command: "/nowhere" },
    });
    const refused = await scratch.run(argv);
    expect(refused).toMatchObject({ code, stdout: "" });
    expect(refused.stderr).toContain(message);
  });
});

describe("a generated command line", () => {
  const embedded = {
    name: "docs",
    server: { command: "/nowhere/at-all" },
    tools: [
      {
        name: "search_docs",
        description: "Finds pages. Ranks them too.\n\nSlow.",
        parameters: {
          type: "object",
          properties: {
            query: { type: "string", description: "What to look for" },
            order: { enum: ["asc", "desc"], default: "asc" },
            limit: { type: "integer", minimum: 1, maximum: 9 },
            deep: { type: "boolean", default: true },
            tag: { type: "array", items: { type: "string" } },
            near: { type: "object" },
          },
          required: ["query"],
        },
      },
      { name: "ping", parameters: { type: "object" } },
    ],
  };
  const program = (words: readonly string[], io: Parameters<typeof runServerCli>[3]) =>
    runServerCli(embedded, words, "/somewhere/docs.mjs", io);

  it("explains a command", async () => {
    const { code, stdout } = await scratch.run(["search-docs", "--help"], { program });
    expect(code).toBe(0);
    expect(stdout.slice(0, stdout.indexOf("\nOptions:"))).toBe(
      `Usage: docs.mjs search-docs --query <text> [options]

Finds pages. Ranks them too.

Slow.

Arguments:
  --query <text>      What to look for (required)
  --order <asc|desc>  (default "asc")
  --limit <number>    (1 to 9)
  --deep              (default true; --no-deep for false)
  --tag <text>        (can be repeated)
  --near <json>
`,
    );
  });

  it("lists its commands", async () => {
    const list = await scratch.run(["--list"], { program });
    expect(list).toEqual({ code: 0, stdout: "search-docs  Finds pages.\nping\n", stderr: "" });
    const help = await scratch.run([], { program });
    expect(help.stdout).toContain("Commands:\n  search-docs  Finds pages.\n  ping\n");
    const json = await scratch.run(["--list", "--json"], { program });
    expect(JSON.parse(json.stdout)).toEqual({ server: "docs", tools: embedded.tools });
  });

  it("shows nothing that a terminal would obey, and quotes what a shell would", async () => {
    const evil = "\u001b[2J\u202e$(id)";
    const properties = { [`a${evil}`]: { type: "string" }, [`b${evil}`]: { type: "boolean" } };
    const hostile = {
      name: `docs${evil}`,
      server: embedded.server,
      tools: [
        {
          name: `ping${evil}`,
          description: `Pings ${evil}`,
          parameters: { type: "object", properties, required: Object.keys(properties) },
        },
      ],
    };
    const ways = [["--help"], [`ping${evil}`, "--help"], [`ping${evil}`, "--x"], ["--list"]];
    const shown = await Promise.all(
      ways.map((argv) =>
        scratch.run(argv, { program: (words, io) => runServerCli(hostile, words, "d.mjs", io) }),
      ),
    );
    const all = shown.map(({ stdout, stderr }) => stdout + stderr).join("");
    // oxlint-disable-next-line no-control-regex
    expect(all).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(all).toContain("Usage: d.mjs 'ping$(id)' '--a$(id)' <text> '--b$(id)' [options]");
    expect(all).toContain("d.mjs 'ping$(id)' --help");
  });

  it("says so if somebody has damaged it", async () => {
    const damaged = await scratch.run(["--help"], {
      program: (words, io) => runServerCli({ name: "docs" }, words, "docs.mjs", io),
    });
    expect(damaged).toMatchObject({ code: 2, stdout: "" });
    expect(damaged.stderr).toContain("docs.mjs is damaged");
  });
});
