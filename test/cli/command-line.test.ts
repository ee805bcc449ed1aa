import { describe, expect, it } from "vitest";
import type { Command } from "../../src/cli/command.ts";
import { readCommandLine } from "../../src/cli/command-line.ts";
import { loadCommands } from "../../src/cli/commands.ts";
import type { GlobalOptions } from "../../src/cli/context.ts";
import { packageVersion } from "../../src/util/version.ts";

const read = (...argv: string[]) => readAt(80, argv);

async function readAt(width: number, argv: readonly string[]) {
  let out = "";
  let err = "";
  const invocation = await readCommandLine(argv, {
    out: (text) => (out += text),
    err: (text) => (err += text),
    width,
  });
  return { invocation, out, err };
}

/** The name of the command, what it is asked to do, and the options of every command. */
async function asked(...argv: string[]): Promise<{ command: object; options: GlobalOptions }> {
  const { invocation } = await read(...argv);
  if (invocation.kind !== "run") throw new Error(`answered: ${argv.join(" ")}`);
  const { name, request, options } = invocation;
  return { command: { kind: name, ...(request as object | undefined) }, options };
}

const everyCommand = await loadCommands();

const globals: GlobalOptions = {
  agents: [],
  json: false,
  color: true,
  logLevel: "warn",
  isLogLevelGiven: false,
  owner: false,
  exitWithStdin: false,
  standalone: false,
};

describe("a command line asks for", () => {
  it.each<[string[], object]>([
    [[], { kind: "list", check: false, refresh: false }],
    [["tools"], { kind: "tools", query: [], refresh: false, long: false, all: false }],
    [
      ["tools", "a", "b"],
      { kind: "tools", query: ["a", "b"], refresh: false, long: false, all: false },
    ],
    [
      ["tools", "--server", "x", "--refresh", "-l"],
      { kind: "tools", query: [], server: "x", refresh: true, long: true, all: false },
    ],
    [["tools", "--schema"], { kind: "tools", query: [], refresh: false, long: true, all: false }],
    [["restart", "s"], { kind: "restart", server: "s" }],
    [
      ["import"],
      {
        kind: "import",
        names: [],
        from: [],
        write: false,
        references: false,
        force: false,
        yes: false,
        check: true,
      },
    ],
    [["connect"], { kind: "connect", action: "list" }],
    [
      ["connect", "zed", "--as", "agent", "--file", "f", "--yes"],
      {
        kind: "connect",
        action: "connect",
        application: "zed",
        file: "f",
        as: "agent",
        move: false,
        yes: true,
      },
    ],
    [
      ["connect", "zed", "--undo"],
      { kind: "connect", action: "undo", application: "zed", move: false, yes: false },
    ],
    [["down"], { kind: "down" }],
    [["call", "t"], { kind: "call", tool: "t", args: [], yes: false }],
    [
      ["call", "t", "--title", "x", "--yes", "--draft", "--top=3"],
      { kind: "call", tool: "t", args: ["--title", "x", "--draft", "--top=3"], yes: true },
    ],
    [["call", "t", "--yes"], { kind: "call", tool: "t", args: [], yes: true }],
    [["call", "t", "--help"], { kind: "call", words: ["t"] }],
    [["call", "-h", "t", "a=1"], { kind: "call", words: ["t", "a=1"] }],
    [
      ["call", "t", "a=1", "-", "--timeout", "500", "b=-2", "--output", "d"],
      {
        kind: "call",
        tool: "t",
        args: ["a=1", "-", "b=-2"],
        timeout: 500,
        output: "d",
        yes: false,
      },
    ],
    [["resources"], { kind: "resources", query: [] }],
    [
      ["resources", "a", "b", "--server", "s"],
      { kind: "resources", query: ["a", "b"], server: "s" },
    ],
    [["read", "a:1"], { kind: "read", uri: "a:1", yes: false }],
    [["read", "s", "a:1"], { kind: "read", uri: "a:1", server: "s", yes: false }],
    [
      ["read", "a:1", "--server", "s", "--output", "d", "--yes"],
      { kind: "read", uri: "a:1", server: "s", output: "d", yes: true },
    ],
    [["prompts", "a"], { kind: "prompts", query: ["a"] }],
    [["prompt", "s/p", "a=1"], { kind: "prompt", name: "s/p", args: ["a=1"], yes: false }],
    [["prompt", "s/p", "--yes"], { kind: "prompt", name: "s/p", args: [], yes: true }],
    [["trace", "s"], { kind: "trace", server: "s", args: [], yes: false, full: false }],
    [
      ["trace", "s", "t", "a=1", "--full", "--yes"],
      { kind: "trace", server: "s", tool: "t", args: ["a=1"], yes: true, full: true },
    ],
    [
      ["trace", "s/t", "a=1"],
      { kind: "trace", server: "s", tool: "t", args: ["a=1"], yes: false, full: false },
    ],
    [
      ["record", "s", "f.jsonl"],
      { kind: "record", server: "s", file: "f.jsonl", args: [], yes: false, force: false },
    ],
    [
      ["record", "s", "f.jsonl", "t", "a=1", "--force"],
      {
        kind: "record",
        server: "s",
        file: "f.jsonl",
        tool: "t",
        args: ["a=1"],
        yes: false,
        force: true,
      },
    ],
    [["replay", "f.jsonl"], { kind: "replay", file: "f.jsonl" }],
    [["status"], { kind: "status" }],
    [["status", "s"], { kind: "status", server: "s" }],
    [["trust"], { kind: "trust", action: "approve", yes: false }],
    [["trust", "--yes"], { kind: "trust", action: "approve", yes: true }],
    [["trust", "--list"], { kind: "trust", action: "list" }],
    [["trust", "--revoke"], { kind: "trust", action: "revoke" }],
    [["trust", "--revoke", "f"], { kind: "trust", action: "revoke", file: "f" }],
    [["acp"], { kind: "acp", mcpOverAcp: false }],
    [["acp", "--mcp-over-acp"], { kind: "acp", mcpOverAcp: true }],
    [
      ["acp", "--", "npx", "-y", "a", "--json"],
      { kind: "acp", mcpOverAcp: false, agent: ["npx", "-y", "a", "--json"] },
    ],
    [["acp", "a"], { kind: "acp", mcpOverAcp: false, agent: ["a"] }],
    [
      ["acp", "--agent-config", "tsagent", "--model", "p/m", "--", "a", "--", "b"],
      {
        kind: "acp",
        mcpOverAcp: false,
        agentConfig: "tsagent",
        model: "p/m",
        agent: ["a", "--", "b"],
      },
    ],
    [
      ["acp", "--openclaw"],
      { kind: "acp", mcpOverAcp: false, openclaw: true, agent: ["openclaw", "acp"] },
    ],
    [["demo"], { kind: "demo" }],
    [["list"], { kind: "list", check: false, refresh: false }],
    [["ls"], { kind: "list", check: false, refresh: false }],
    [["rm", "a", "-s", "user"], { kind: "remove", name: "a", scope: "user", yes: false }],
    [["undo"], { kind: "undo", action: "undo", number: 1, yes: false }],
    [["undo", "2", "--yes"], { kind: "undo", action: "undo", number: 2, yes: true }],
    [["undo", "--list"], { kind: "undo", action: "list" }],
    [["enable", "a"], { kind: "enable", name: "a", scope: undefined }],
    [["get", "a"], { kind: "get", name: "a", scope: undefined }],
    [["init"], { kind: "init", scope: undefined }],
    [
      ["add", "-e", "A=1", "x", "-t", "stdio", "-e", "B=2", "--yes", "--", "npx", "-y", "--", "z"],
      {
        kind: "add",
        name: "x",
        words: ["npx", "-y", "--", "z"],
        env: ["A=1", "B=2"],
        headers: [],
        transport: "stdio",
        clientSecret: false,
        scope: undefined,
        yes: true,
        check: true,
        force: false,
        set: [],
        way: undefined,
        registry: undefined,
      },
    ],
    [
      ["add", "x", "https://a.example", "-H", "A: 1", "--no-check", "--force", "-s", "local"],
      {
        kind: "add",
        name: "x",
        words: ["https://a.example"],
        env: [],
        headers: ["A: 1"],
        transport: undefined,
        clientSecret: false,
        scope: "local",
        yes: false,
        check: false,
        force: true,
        set: [],
        way: undefined,
        registry: undefined,
      },
    ],
    [
      ["registry", "a", "b", "--limit", "5", "--registry", "https://r.example"],
      { kind: "registry", words: ["a", "b"], limit: 5, registry: "https://r.example" },
    ],
    [["outdated"], { kind: "outdated", scope: undefined, registry: undefined }],
    [
      ["update", "a", "b@1.0.0", "--set", "A=1", "--yes", "--no-check"],
      {
        kind: "update",
        names: ["a", "b@1.0.0"],
        set: ["A=1"],
        yes: true,
        check: false,
        scope: undefined,
        registry: undefined,
      },
    ],
    [["pins"], { kind: "pins", action: { kind: "list", all: false } }],
    [["pins", "list"], { kind: "pins", action: { kind: "list", all: false } }],
    [["pins", "list", "--all"], { kind: "pins", action: { kind: "list", all: true } }],
    [["pins", "show", "a/b"], { kind: "pins", action: { kind: "show", target: "a/b" } }],
    [["pins", "approve", "a"], { kind: "pins", action: { kind: "approve", target: "a" } }],
    [["pins", "forget", "a/b"], { kind: "pins", action: { kind: "forget", target: "a/b" } }],
    [["approvals"], { kind: "approvals", action: { kind: "list" } }],
    [["tokens"], { kind: "tokens", action: { kind: "list" } }],
    [["tokens", "list"], { kind: "tokens", action: { kind: "list" } }],
    [["tokens", "add", "ci"], { kind: "tokens", action: { kind: "add", name: "ci" } }],
    [["tokens", "revoke", "ci"], { kind: "tokens", action: { kind: "revoke", token: "ci" } }],
    [["approvals", "list"], { kind: "approvals", action: { kind: "list" } }],
    [
      ["approvals", "forget", "a/*"],
      { kind: "approvals", action: { kind: "forget", pattern: "a/*" } },
    ],
    [["approvals", "forget", "--all"], { kind: "approvals", action: { kind: "forget-all" } }],
    [["pins", "forget", "--all"], { kind: "pins", action: { kind: "forget-all" } }],
    [["audit"], { kind: "audit", follow: false }],
    [
      ["audit", "-f", "--server", "s", "--tool", "t*", "--since", "1h", "--limit", "0"],
      {
        kind: "audit",
        follow: true,
        server: "s",
        tool: "t*",
        since: { kind: "ago", ms: 3_600_000 },
        limit: 0,
      },
    ],
  ])("%j", async (argv, command) => {
    expect(await asked(...argv)).toEqual({ command, options: globals });
  });

  it.each<[string[], Partial<GlobalOptions>]>([
    [["--json"], { json: true }],
    [["--config", "f"], { config: "f" }],
    [["--agent", "a"], { agent: "a", agents: ["a"] }],
    [["--agent", "a", "--agent", "b"], { agent: "b", agents: ["a", "b"] }],
    [["--verbose"], { logLevel: "info" }],
    [["--log-level", "debug"], { logLevel: "debug" }],
    [["--verbose", "--log-level", "error"], { logLevel: "error" }],
    [["--no-color"], { color: false }],
    [["--exit-with-stdin"], { exitWithStdin: true }],
    [["--standalone"], { standalone: true }],
  ])("%j before and after the command", async (flags, expected) => {
    const isLogLevelGiven = "logLevel" in expected;
    const options = { ...globals, isLogLevelGiven, ...expected };
    expect(await asked(...flags, "status")).toMatchObject({ options });
    expect(await asked("status", ...flags)).toMatchObject({ options });
    expect(await asked(...flags)).toMatchObject({
      command: { kind: "list", check: false, refresh: false },
      options,
    });
  });

  it.each([["--version"], ["-v"], ["-V"], ["--json", "--version"]])(
    "the version: %s",
    async (...argv) => {
      const { invocation, out, err } = await read(...argv);
      expect(invocation).toEqual({ kind: "answered", exitCode: 0 });
      expect(out).toBe(`${packageVersion()}\n`);
      expect(err).toBe("");
    },
  );

  it.each([
    [["--help"], "Usage: plugboard [options] [command]"],
    [["-h"], "Exit codes:"],
    [["--help"], "\nYour servers:\n  add "],
    [["call", "--help"], "Ways to give arguments:"],
    [["help"], "Usage: plugboard [options] [command]"],
    [["help", "tools"], "Usage: plugboard tools"],
    [["help", "pins", "show"], "Usage: plugboard pins show"],
    [["status", "--help"], "such as --config and --json, are in:\n  plugboard --help\n"],
    [["pins", "--help"], "Usage: plugboard pins"],
    [["pins", "approve", "--help"], "Usage: plugboard pins approve"],
    [["audit", "--help"], "--follow"],
  ])("help: %j", async (argv, expected) => {
    const { invocation, out, err } = await read(...argv);
    expect(invocation).toEqual({ kind: "answered", exitCode: 0 });
    expect(out).toContain(expected);
    expect(err).toBe("");
  });

  it("help with a line for each command, and the options after them", async () => {
    const { out } = await read("--help");
    const lines = out.slice(0, out.indexOf("\nOptions:\n")).split("\n");
    const names = lines.flatMap((line) => /^ {2}(\S+) {2,}\S/.exec(line)?.[1] ?? []);
    expect(names).toEqual(everyCommand.map(({ name }) => name));
  });

  it.each([[], ...pathsOf(everyCommand)])(
    "help that fits the terminal, with an example: %j",
    async (...command) => {
      const { out } = await read(...command, "--help");
      expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
      expect(out).toMatch(/\nExamples:\n(?: {2}\S.*\n)+/);
    },
  );
});

/** The words that name each command. */
function pathsOf(commands: readonly Command[], before: readonly string[] = []): string[][] {
  return commands.flatMap(({ name, commands: within }) => {
    const words = [...before, name];
    return [words, ...pathsOf(within, words)];
  });
}

describe("an option can be written", () => {
  it.each<[string, object, Partial<GlobalOptions>]>([
    ["tools --limit 3", { limit: 3 }, {}],
    ["tools --limit=3", { limit: 3 }, {}],
    ["tools -la x", { long: true, all: true, query: ["x"] }, {}],
    ["remove -suser a", { name: "a", scope: "user" }, {}],
    ["audit --server=a=b", { server: "a=b" }, {}],
    ["audit --server=--json", { server: "--json" }, { json: false }],
    ["audit --server -x", { server: "-x" }, {}],
    ["call t -1 -2.5 .5", { args: ["-1", "-2.5", ".5"] }, {}],
    ["ask -- why --json", { prompt: ["why", "--json"] }, { json: false }],
    ["trust --revoke --json", { action: "revoke", file: undefined }, { json: true }],
    ["acp --sign-in", { signIn: "servers" }, {}],
    ["import --secrets=keyring", { secrets: { to: "keyring" } }, {}],
    ["--config call call a/b --yes", { kind: "call", tool: "a/b", yes: true }, { config: "call" }],
    ["--agent tools add x -- npx", { kind: "add", words: ["npx"] }, { agents: ["tools"] }],
    ["-- tools", { kind: "tools" }, {}],
    ["call call call", { tool: "call", args: ["call"] }, {}],
  ])("%s", async (line, command, options) => {
    expect(await asked(...line.split(" "))).toMatchObject({ command, options });
  });

  it.each([
    ["audit --server --json", "option '--server <server>' needs a value"],
    ["call t -e -- npx", "option '-e, --env <KEY[=value]>' needs a value"],
    ["status --json=1", "option '--json' takes no value"],
    ["tools -lx", "unknown option '-x'"],
    ["--yes call t", "unknown option '--yes'"],
    ["-1", "unknown option '-1'"],
    ["trust --list --yes", "option '--list' cannot be used with option '--yes'"],
    [
      "import --secrets --references",
      "option '--secrets [provider]' cannot be used with option '--references'",
    ],
    ["completion csh", "shell cannot be 'csh'; expected bash, zsh or fish"],
    ["pins show a b", "too many arguments for 'show'; expected 1 argument but got 2"],
  ])("but not like this: %s", async (line, message) => {
    const { invocation, err } = await read(...line.split(" "));
    expect(invocation).toMatchObject({ kind: "answered", exitCode: 2 });
    expect(err.split("\n")[0]).toMatch(`plugboard: ${message}`);
  });

  it("wrongly and still get help with --help", async () => {
    const { invocation, out, err } = await read("tools", "--bogus", "--help");
    expect(invocation).toEqual({ kind: "answered", exitCode: 0 });
    expect([out.split("\n")[0], err]).toEqual(["Usage: plugboard tools [options] [query...]", ""]);
  });
});

describe("a server on the command line", () => {
  const none = { env: [], headers: [] };
  const url = "https://a.example/mcp";

  it.each<[string[], object, GlobalOptions["typed"]]>([
    [
      ["tools", "x", "--", "npx", "--json"],
      { query: ["x"] },
      { words: ["npx", "--json"], ...none },
    ],
    [["tools", url, "x"], { query: ["x"] }, { url, ...none }],
    [
      ["call", "t", "-e", "A", "--env", "B=1", "--", "npx"],
      { kind: "call", tool: "t" },
      { words: ["npx"], env: ["A", "B=1"], headers: [] },
    ],
    [
      ["call", "t", "--help", "--", "npx"],
      { kind: "call", words: ["t"] },
      { words: ["npx"], ...none },
    ],
    [["call", url, "t", "-H", "A: 1"], { tool: "t" }, { url, env: [], headers: ["A: 1"] }],
    [["resources", url], { query: [] }, { url, ...none }],
    [["read", "a:b", "--", "npx"], { uri: "a:b" }, { words: ["npx"], ...none }],
    [["read", url, "a:b"], { uri: "a:b" }, { url, ...none }],
    [["read", url], { uri: url }, undefined],
    [["prompts", "--", "npx"], { kind: "prompts" }, { words: ["npx"], ...none }],
    [["trace", "--", "npx"], { kind: "trace", args: [] }, { words: ["npx"], ...none }],
    [
      ["trace", "t", "a=1", "--", "npx"],
      { kind: "trace", tool: "t", args: ["a=1"] },
      { words: ["npx"], ...none },
    ],
    [["trace", "https://h/mcp", "t"], { tool: "t" }, { url: "https://h/mcp", ...none }],
    [
      ["record", "https://h/mcp", "f", "t"],
      { file: "f", tool: "t" },
      { url: "https://h/mcp", ...none },
    ],
    [["record", "f", "t", "--", "npx"], { file: "f", tool: "t" }, { words: ["npx"], ...none }],
    [["prompt", url, "p", "a=b"], { name: "p", args: ["a=b"] }, { url, ...none }],
    [["login", url], { kind: "login", server: undefined }, { url, ...none }],
    [
      ["login", "--allow-private", url],
      { kind: "login", server: undefined },
      { url, ...none, allowPrivate: true },
    ],
    [["tools", "--allow-insecure", url], { kind: "tools" }, { url, ...none, allowInsecure: true }],
    [["logout", url], { kind: "logout", server: undefined }, { url, ...none }],
    [["login", "docs"], { kind: "login", server: "docs" }, undefined],
  ])("%j", async (argv, command, typed) => {
    const { command: found, options } = await asked(...argv);
    expect(found).toMatchObject(command);
    expect(options.typed).toEqual(typed);
  });

  it.each([
    [["call", url], "missing required argument 'tool'"],
    [["call", "t", "--", "a=1", "b:=2"], "'a=1' looks like an argument of the tool"],
    [["call", "t", "--", "--text", "hi"], "'--text' looks like an argument of the tool"],
    [["call", "--", "npx"], "missing required argument 'tool'"],
    [["prompt", url], "missing required argument 'name'"],
    [["read", "s", "a:b", "c:d"], "'c:d' is one word too many"],
    [["read", "s", "a:b", "--server", "s"], "the server is named twice"],
    [["call", "--check", "t"], "unknown option '--check'"],
    [["login", "x", "--", "npx"], "there is nothing to sign in to"],
    [["login", "--", "npx", "x"], "there is nothing to sign in to; pass its credentials with -e"],
    [["logout", "--", "npx", "x"], "there is nothing to sign in to"],
    [["login"], "missing required argument 'server'"],
    [["status", "--", "npx", "x"], "too many arguments"],
  ])("%j is refused", async (argv, message) => {
    const { invocation, err } = await read(...argv);
    expect(invocation).toMatchObject({ kind: "answered", exitCode: 2 });
    expect(err).toContain(message);
  });
});

describe("a command line is refused", () => {
  it.each([
    [["tols"], "plugboard: unknown command 'tols'; did you mean 'tools'?"],
    [["lst"], "plugboard: unknown command 'lst'; did you mean 'list'?"],
    [["install", "x"], "plugboard: unknown command 'install'; did you mean 'add'?"],
    [["mcp", "add", "x"], "plugboard: unknown command 'mcp'; did you mean 'add'?"],
    [["search", "x"], "plugboard: unknown command 'search'; did you mean 'registry'?"],
    [["emit-ts", "x"], "plugboard: unknown command 'emit-ts'; did you mean 'types'?"],
    [["remove"], "plugboard: missing required argument 'server'"],
    [["connect", "--undo"], "plugboard: missing required argument 'application'"],
    [["daemon", "start"], "plugboard: unknown command 'daemon'; did you mean 'up'?"],
    [["inspect", "docs"], "plugboard: unknown command 'inspect'; did you mean 'status'?"],
    [
      ["list", "docs"],
      "plugboard: 'docs' is one word too many: plugboard list shows all servers; for one, use plugboard tools or plugboard status",
    ],
    [["auth", "docs"], "plugboard: unknown command 'auth'; did you mean 'login'?"],
    [["pins", "ls"], "plugboard: unknown command 'ls'"],
    [["zzzzzzz"], "plugboard: unknown command 'zzzzzzz'"],
    [["help", "tols"], "plugboard: unknown command or error code 'tols'; did you mean 'tools'?"],
    [["help", "pins", "shw"], "plugboard: unknown command 'shw'; did you mean 'show'?"],
    [["--jsn"], "plugboard: unknown option '--jsn'; did you mean '--json'?"],
    [["tools", "--serve", "x"], "plugboard: unknown option '--serve'; did you mean '--server'?"],
    [["call"], "plugboard: missing required argument 'tool'"],
    [["call", "--title", "x"], "plugboard: unknown option '--title'"],
    [["call", "t", "-x"], "plugboard: unknown option '-x'"],
    [
      ["status", "a", "b"],
      "plugboard: too many arguments for 'status'; expected 1 argument but got 2",
    ],
    [["pins", "aprove"], "plugboard: unknown command 'aprove'; did you mean 'approve'?"],
    [["pins", "approve"], "plugboard: missing required argument 'target'"],
    [["approvals", "forget"], "plugboard: say what to forget: server/tool, a server, or --all"],
    [["approvals", "lst"], "plugboard: unknown command 'lst'; did you mean 'list'?"],
    [["pins", "forget"], "plugboard: say what to forget: server/tool, a server, or --all"],
    [
      ["pins", "forget", "a", "--all"],
      "plugboard: say what to forget: server/tool, a server, or --all",
    ],
    [
      ["audit", "--since", "yesterday"],
      "plugboard: option '--since <when>' cannot be 'yesterday'; expected a time such as 15m, 1h, 2d or 2026-11-15",
    ],
    [
      ["audit", "--limit", "-1"],
      "plugboard: option '--limit <n>' cannot be '-1'; expected a whole number",
    ],
    [["--config"], "plugboard: option '--config <file>' needs a value"],
    [
      ["--log-level", "loud"],
      "plugboard: option '--log-level <level>' cannot be 'loud'; expected debug, info, warn, error or silent",
    ],
    [
      ["--log-level", "wran"],
      "plugboard: option '--log-level <level>' cannot be 'wran'; expected debug, info, warn, error or silent; did you mean 'warn'?",
    ],
    [
      ["--log-level", "a'. Expected b"],
      "plugboard: option '--log-level <level>' cannot be 'a'. Expected b'; expected debug, info, warn, error or silent",
    ],
    [
      ["connect", "zed", "--as", "servr"],
      "plugboard: option '--as <what>' cannot be 'servr'; expected server or agent; did you mean 'server'?",
    ],
    ...["abc", "0", "-5", "1.5", "99999999999"].map((value): [string[], string] => [
      ["call", "t", `--timeout=${value}`],
      `plugboard: option '--timeout <ms>' cannot be '${value}'; expected a whole number of milliseconds`,
    ]),
  ])("%j", async (argv, message) => {
    const { invocation, out, err } = await read(...argv);
    expect(invocation).toEqual({ kind: "answered", exitCode: 2 });
    expect(err.split("\n")[0]).toBe(message);
    expect(err).toMatch(/\nhint: .*: plugboard (\w+ ){0,2}--help\n$/);
    expect(out).toBe("");
  });

  it.each([
    [
      ["--json", "tols"],
      "unknown command 'tols'; did you mean 'tools'?",
      "for commands and options: plugboard --help",
    ],
    [
      ["call", "--json"],
      "missing required argument 'tool'",
      "arguments of a tool are written key=value; to see how: plugboard call --help",
    ],
    [
      ["--bogus", "--json"],
      "unknown option '--bogus'",
      "for commands and options: plugboard --help",
    ],
    [["tools", "a", "--bogus", "--", "--json"], undefined, undefined],
  ])(
    "with the error and the hint for a program that asks for JSON: %j",
    async (argv, error, hint) => {
      expect((await read(...argv)).invocation).toEqual({
        kind: "answered",
        exitCode: 2,
        error,
        hint,
      });
    },
  );

  it.each([
    [["acp", "--"], "the command of the agent after -- is empty"],
    [["acp", "--", ""], "the command of the agent after -- is empty"],
    [["acp", "npx", "-y", "a"], "unknown option '-y'"],
    [
      ["acp", "--agent-config", "tsagent"],
      "--agent-config needs the command of the agent after --",
    ],
    [
      ["acp", "--agent-config", "t", "--openclaw", "--", "a"],
      "--agent-config and --openclaw do not go together: OpenClaw gets the servers through its gateway",
    ],
    [
      ["acp", "--sign-in", "--", "a"],
      "--sign-in is for the servers and models of Plugboard; sign in to another agent with its own command",
    ],
  ])("of an agent behind the front: %j", async (argv, message) => {
    const { invocation, err } = await read(...argv);
    expect(invocation).toEqual({ kind: "answered", exitCode: 2 });
    expect(err).toBe(
      `plugboard: ${message}\n` +
        "hint: what belongs to another agent comes after --, as in: plugboard acp -- npx -y some-agent\n",
    );
  });

  it.each([
    [["--bogus"], "for commands and options: plugboard --help"],
    [
      ["add", "a", "-s", "global", "--", "a"],
      "project is plugboard.json in this directory, and user or local the one in Plugboard's home",
    ],
    [["audit", "--bogus"], "to see how to use it: plugboard audit --help"],
    [["pins", "show"], "to see how to use it: plugboard pins show --help"],
    [
      ["tools", "npx", "-y", "x"],
      "the command of a server comes after --, as in:\n  plugboard tools -- npx -y x",
    ],
    [
      ["--json", "tools", "npx", "-y", "x"],
      "the command of a server comes after --, as in:\n  plugboard tools -- npx -y x",
    ],
    [["npx", "-y", "x"], "to see the tools of a server:\n  plugboard tools -- npx -y x"],
    [["add", "--log-level", "x"], "for commands and options: plugboard --help"],
    [
      ["call", "--", "npx", "x"],
      "name a tool before --; to see which it has:\n  plugboard tools -- npx x",
    ],
    [
      ["call", "http://a.example"],
      "name a tool after the URL; to see which it has:\n  plugboard tools http://a.example",
    ],
    [["npx", "x"], "to see the tools of a server:\n  plugboard tools -- npx x"],
  ])("with a hint: %j", async (argv, hint) => {
    expect((await read(...argv)).err).toContain(`\nhint: ${hint}\n`);
  });
});

describe("help on a narrow terminal", () => {
  it.each([["--help"], ["tools --help"], ["call --help"], ["up --help"]])(
    "fits: %s",
    async (line) => {
      const { out } = await readAt(40, line.split(" "));
      // What can be copied, and lists in columns, stay as they are.
      const [prose = ""] = out.split(/^(?:Ways to give|Examples:|Exit codes:)/m);
      const lines = prose
        .split("\n")
        .filter((each) => !/^(?:Usage:)? +plugboard|^Usage/.test(each));
      expect(lines.filter((each) => each.length > 40)).toEqual([]);
      expect(out).toContain("\n  -h, --help\n      show help");
    },
  );
});
