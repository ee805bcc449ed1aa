import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { asked, Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

const FIXTURES = fileURLToPath(new URL("../../fixtures/foreign/", import.meta.url));

const TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

const at = (path: string): string => join(scratch.directory, path);

function put(path: string, content: string | object): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), typeof content === "string" ? content : JSON.stringify(content));
}

const github = { command: "npx", args: ["-y", "server-github"], env: { GITHUB_TOKEN: TOKEN } };

const OWN = "home/plugboard.json";

/** What would become of each server, by application. */
async function standings(...argv: string[]): Promise<Record<string, Record<string, string>>> {
  const { stdout } = await scratch.run(["import", "--json", ...argv]);
  const { found } = JSON.parse(stdout) as {
    found: { application: string; servers: { name: string; standing: string }[] }[];
  };
  return Object.fromEntries(
    found.map(({ application, servers }) => [
      application,
      Object.fromEntries(servers.map(({ name, standing }) => [name, standing])),
    ]),
  );
}

const write = (...argv: string[]) =>
  scratch.run(["import", "--write", "--yes", "--no-check", ...argv]);

describe("what VS Code asks its user for", () => {
  const inputs = [
    { id: "key", type: "promptString", description: "The API key", password: true },
    { id: "region", type: "pickString", description: "Region", options: ["eu", "us"] },
    { id: "unused", type: "promptString", password: true },
  ];
  const headers = { Authorization: "Bearer ${input:key}", "X-Region": "${input:region}" };
  const search = { type: "http", url: "https://mcp.example.com/", headers };
  const TYPED = "k3y-that-was-typed";

  it("is asked for, and its secrets are stored", async () => {
    put(".vscode/mcp.json", { inputs, servers: { search } });
    const argv = ["import", "--write", "--no-check", "--scope", "user"];
    const { code, stderr } = await asked(
      scratch,
      argv,
      { NO_COLOR: "1", PATH: "/nonexistent" },
      ["(Enter alone for your variable KEY) > ", `${TYPED}\r`],
      ["2) us\n  > ", "us\n"],
      ["Add them? [y/N] ", "y\n"],
    );
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("The API key");
    expect(stderr).not.toContain(TYPED);
    expect(stderr).not.toContain("unused");
    const { mcpServers } = JSON.parse(scratch.read(OWN)) as { mcpServers: object };
    expect(mcpServers).toEqual({
      search: {
        url: search.url,
        transport: "http",
        headers: {
          Authorization: expect.stringMatching(/^Bearer \$\{secret:\/\/file\/.*vscode-key\}$/),
          "X-Region": "us",
        },
      },
    });
    const checked = await scratch.run(["secrets", "check", "--json"]);
    expect(JSON.parse(checked.stdout)).toMatchObject({ failed: 0, references: [{ ok: true }] });
  });

  it("is named where nobody can be asked", async () => {
    put(".vscode/mcp.json", { inputs, servers: { search } });
    const { code, stderr } = await write("--scope", "user");
    expect(code).toBe(0);
    expect(stderr).toContain(
      "These variables must be set where the servers start. The application asks for their values:\n  export KEY=\n  export REGION=\n",
    );
  });
});

describe("plugboard import shows", () => {
  it("the servers of every application, and changes nothing", async () => {
    const files: Record<string, string> = {
      ".claude.json": "claude-code-user.json",
      ".config/Claude/claude_desktop_config.json": "claude-desktop.json",
      ".cursor/mcp.json": "cursor.json",
      ".codeium/windsurf/mcp_config.json": "windsurf.json",
      ".config/Code/User/mcp.json": "vscode.json",
      ".config/zed/settings.json": "zed.json",
      ".codex/config.toml": "codex.toml",
      ".gemini/settings.json": "gemini.json",
      ".config/opencode/opencode.jsonc": "opencode.jsonc",
      ".openclaw/openclaw.json": "openclaw.json",
      "tsagent.json": "tsagent.json",
    };
    for (const [path, fixture] of Object.entries(files)) {
      put(path, readFileSync(join(FIXTURES, fixture), "utf8"));
    }
    const found = await standings();
    expect(Object.keys(found).toSorted()).toEqual([
      "claude-code",
      "claude-desktop",
      "codex",
      "cursor",
      "gemini",
      "openclaw",
      "opencode",
      "tsagent",
      "vscode",
      "windsurf",
      "zed",
    ]);
    for (const servers of Object.values(found)) expect(servers).not.toEqual({});
    for (const [path, fixture] of Object.entries(files)) {
      expect(scratch.read(path)).toBe(readFileSync(join(FIXTURES, fixture), "utf8"));
    }
    expect(() => scratch.read(OWN)).toThrow();
  });

  it.each([
    [["--from", "nobody"], "'nobody' is neither an application nor a file", "one of claude-code, "],
    [["--from", "curser"], "'curser' is neither", "did you mean 'cursor'?"],
    [["--from", "./no.json"], "there is no file ", "expected a file"],
    [["nothing"], "there is no server named 'nothing' in the files", "the servers are: a"],
  ])("not what is not there: %j", async (argv, message, hint) => {
    put(".cursor/mcp.json", { mcpServers: { a: { command: "a" } } });
    const { code, stderr } = await scratch.run(["import", ...argv]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
  });

  it("what is new, what is there, and what conflicts", async () => {
    scratch.file("plugboard.json", {
      mcpServers: { there: { command: "there" }, changed: { command: "ours" } },
    });
    put(".cursor/mcp.json", {
      mcpServers: {
        github,
        there: { type: "stdio", command: "there", args: [] },
        changed: { command: "theirs" },
        disputed: { command: "one" },
      },
    });
    put(".config/zed/settings.json", {
      context_servers: { github, disputed: { command: "two" }, only: { command: "only" } },
    });
    expect(await standings()).toEqual({
      cursor: { github: "new", there: "present", changed: "different", disputed: "new" },
      zed: { github: "repeated", "disputed-zed": "renamed", only: "new" },
    });
    const { stdout } = await scratch.run(["import"]);
    expect(stdout).toContain("the same as in Cursor");
    expect(stdout).toContain("new; another disputed is in Cursor, and --from chooses one");
    expect(stdout).toContain("To add 4 servers:\n  plugboard import --write\n");
    expect(stdout).not.toContain(TOKEN);
    // Who says where from has chosen.
    expect(await standings("--from", "zed")).toEqual({
      zed: { github: "new", disputed: "new", only: "new" },
    });
    expect(await standings("--from", "zed", "only")).toEqual({ zed: { only: "new" } });
  });

  it.each([
    [["--scope", "project", "--secrets"], "--write --scope project --secrets"],
    [["--force", "--references"], "--write --force --references"],
    [["--from", "my files/mcp.json", "a b"], "'a b' --from 'my files/mcp.json' --write"],
  ])("the command that adds what is shown, with the same options: %j", async (given, offered) => {
    put("my files/mcp.json", { mcpServers: { "a b": { command: "a" } } });
    put(".cursor/mcp.json", { mcpServers: { c: { command: "c" } } });
    const { stdout } = await scratch.run(["import", ...given]);
    expect(stdout).toContain(`To add 1 server:\n  plugboard import ${offered}\n`);
  });

  it("a file that cannot be read beside those that can, and one without servers", async () => {
    put(".cursor/mcp.json", "{ broken");
    put(".config/zed/settings.json", { theme: "One" });
    put(".gemini/settings.json", { mcpServers: { a: { command: "a" } } });
    const { code, stdout } = await scratch.run(["import"]);
    expect(code).toBe(0);
    expect(stdout).toContain("cannot be read: ");
    expect(stdout).toMatch(/Zed .*settings\.json\n {2}no servers/);
    expect(stdout).toMatch(/ {2}a {2}a {2}new/);
  });

  it("nothing of Plugboard itself", async () => {
    put(".cursor/mcp.json", {
      mcpServers: { a: { command: "a" }, board: { url: "http://127.0.0.1:7584/mcp" } },
    });
    await scratch.run(["connect", "cursor", "--yes"]);
    expect(await standings()).toEqual({ cursor: { a: "new" } });
  });
});

describe("plugboard import --write", () => {
  it("asks, adds what is new, and keeps the comments and the order of the file", async () => {
    const before = `{
  // mine
  "mcpServers": {
    "own": { "command": "own" }, // first
  },
}
`;
    scratch.file("plugboard.json", before);
    await scratch.run(["trust", "--yes"]);
    put(".cursor/mcp.json", {
      mcpServers: { a: { command: "a" }, b: { url: "https://b.example" } },
    });
    const unasked = await scratch.run(["import", "--write"]);
    expect(unasked.code).toBe(4);
    expect(unasked.stderr).toContain("This would be added to ");
    expect(unasked.stderr).toContain("  a: a\n  b: https://b.example\n");
    expect(scratch.read("plugboard.json")).toBe(before);
    const { code, stdout } = await write();
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `added a, b to ${at("plugboard.json")}\n`,
    });
    expect(scratch.read("plugboard.json")).toBe(
      before.replace(
        " // first\n",
        ' // first\n    "a": {\n      "command": "a",\n    },\n    "b": {\n      "url": "https://b.example",\n    },\n',
      ),
    );
    expect((await scratch.run(["import", "--json"])).stdout).not.toContain('"new"');
    expect((await write()).stdout).toContain("nothing to import into");
  });

  it("renews the trust of a file that was trusted, and of no other", async () => {
    scratch.file("plugboard.json", { mcpServers: { cloned: { command: "cloned" } } });
    put(".cursor/mcp.json", { mcpServers: { a: { command: "a" } } });
    const first = await write("--json");
    expect(JSON.parse(first.stdout)).toMatchObject({ written: ["a"], trusted: false });
    await scratch.run(["trust", "--yes"]);
    put(".cursor/mcp.json", { mcpServers: { b: { command: "b" } } });
    const second = await write("--json");
    expect(JSON.parse(second.stdout)).toMatchObject({ written: ["b"], trusted: true });
  });

  it("makes the user's own file where there is none, for this user alone", async () => {
    put(".mcp.json", {
      mcpServers: { here: { command: "./here" }, web: { url: "https://w.example" } },
    });
    await write();
    // A program of a project goes on working there.
    expect(JSON.parse(scratch.read(OWN))).toEqual({
      $schema: "./plugboard.schema.json",
      mcpServers: {
        here: { cwd: scratch.directory, command: "./here" },
        web: { url: "https://w.example" },
      },
    });
    expect(statSync(at(OWN)).mode & 0o777).toBe(0o600);
    await write("-s", "project");
    expect(JSON.parse(scratch.read("plugboard.json"))).toMatchObject({
      mcpServers: { here: { command: "./here" } },
    });
  });

  it("writes credentials as they are with a warning, or as references", async () => {
    put(".cursor/mcp.json", {
      mcpServers: {
        github,
        web: { url: "https://w.example", headers: { Authorization: `Bearer ${TOKEN}` } },
      },
    });
    const plain = await write("-s", "user");
    expect(plain.stderr).toContain("the credentials of github, web would be written to the file");
    expect(plain.stderr).toContain("--references");
    expect(scratch.read(OWN)).toContain(TOKEN);
    const { stdout, stderr } = await write("-s", "project", "--references");
    expect(stderr).toContain("  export GITHUB_TOKEN=\n  export WEB_TOKEN=\n");
    expect(stdout + stderr).not.toContain(TOKEN);
    expect(JSON.parse(scratch.read("plugboard.json"))).toMatchObject({
      mcpServers: {
        github: { env: { GITHUB_TOKEN: "${GITHUB_TOKEN}" } },
        web: { headers: { Authorization: "Bearer ${WEB_TOKEN}" } },
      },
    });
    // The same server, whether its credential is written out or not.
    expect(await standings("-s", "project")).toEqual({
      cursor: { github: "present", web: "present" },
    });
  });

  it.each<[string, string[], number | undefined, number]>([
    ["a new file of the project", [], undefined, 2],
    ["one that others can read", [], 0o644, 2],
    ["one that a group can read", [], 0o640, 2],
    ["one that only you can read", [], 0o600, 0],
    ["a new file, as references", ["--references"], undefined, 0],
  ])("writes no credential to a file that others can read: %s", async (_, argv, mode, code) => {
    put(".cursor/mcp.json", { mcpServers: { github } });
    if (mode !== undefined) {
      put("plugboard.json", { servers: {} });
      chmodSync(at("plugboard.json"), mode);
    }
    const { code: ended, stderr } = await write("--scope", "project", ...argv);
    expect(ended, stderr).toBe(code);
    const written = existsSync(at("plugboard.json"))
      ? readFileSync(at("plugboard.json"), "utf8")
      : "";
    expect(written.includes(TOKEN)).toBe(mode === 0o600);
    if (code === 0) return;
    expect(stderr).toContain(
      "can be read by others, so the credentials of github were not written",
    );
    expect(stderr).toContain("--secrets stores them elsewhere");
    expect(written).not.toContain("github");
  });

  it("says of a server that it has left out why it cannot be imported", async () => {
    const bad = { ...github, env: { NODE_OPTIONS: "--require ./x.js" } };
    put(".cursor/mcp.json", { mcpServers: { bad, github } });
    const { code, stderr } = await write("bad");
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^plugboard: 'bad' of Cursor cannot be imported: 1:\d+ {2}mcpServers\.bad\.env\.NODE_OPTIONS {2}loads modules into every program of Node\.js or Deno, which only your own file may have; the server is left out$/m,
    );
    expect(stderr).toMatch(/^hint: to add it in your own words:\n +plugboard add$/m);
  });

  const KEY = "NjQ3ZmE1YzgtMmQ0Yi00OGIzLTlkZmQ6Zjg0";

  it.each<[string, string, boolean]>([
    ["a key", `https://mcp.zapier.com/api/mcp/s/${KEY}/mcp`, true],
    ["a UUID", "https://a.example/aa0e8400-e29b-41d4-a716-446655440000/mcp", true],
    ["words", "https://a.example/internationalization-of-documents2-v2/mcp", false],
    ["a name and a date", "https://a.example/model-context-protocol-2025-06-18", false],
    ["a short id", "https://a.example/u/12ab34/mcp", false],
  ])(
    "takes for a credential what looks like one in the path of a URL: %s",
    async (_, url, isKey) => {
      const bridge = { command: "npx", args: ["-y", "mcp-remote", url] };
      put(".cursor/mcp.json", { mcpServers: { web: { url }, bridge } });
      const { code, stderr } = await write("--scope", "project");
      expect(code).toBe(isKey ? 2 : 0);
      if (!isKey) return;
      expect(stderr).toContain("so the credentials of web, bridge were not written to it");
      expect((await write("--scope", "project", "--references")).code).toBe(0);
      const written = scratch.read("plugboard.json");
      expect(written).not.toMatch(new RegExp(`${KEY}|446655440000`));
      expect(written).toContain("/${WEB_URL_SECRET}/mcp");
    },
  );

  it("puts credentials away, and writes references to them", async () => {
    const web = { url: "https://w.example", headers: { Authorization: `Bearer ${TOKEN}2` } };
    const twice = { command: "x", args: ["--token", `${TOKEN}3`, "--token", `${TOKEN}4`] };
    put(".cursor/mcp.json", { mcpServers: { github, web, twice } });
    const offered = await scratch.run(["import", "--secrets", "file"]);
    expect(offered.stdout).toContain("\n  plugboard import --write --secrets file\n");
    const { code, stdout, stderr } = await write("--secrets", "file");
    expect(code).toBe(0);
    expect(stderr).toContain("These values would be stored as secrets:\n");
    expect(stderr).not.toContain("would be written to the file");
    expect(stdout + stderr).not.toContain(TOKEN);
    const store = `secret://file/${at("home/secrets.json")}`;
    expect(JSON.parse(scratch.read(OWN))).toEqual({
      $schema: "./plugboard.schema.json",
      mcpServers: {
        github: { ...github, env: { GITHUB_TOKEN: `${store}#github-GITHUB_TOKEN` } },
        web: { ...web, headers: { Authorization: `Bearer \${${store}#web-token}` } },
        twice: {
          ...twice,
          args: ["--token", `${store}#twice-token`, "--token", `${store}#twice-token-2`],
        },
      },
    });
    expect(JSON.parse(scratch.read("home/secrets.json"))).toEqual({
      "github-GITHUB_TOKEN": TOKEN,
      "web-token": `${TOKEN}2`,
      "twice-token": `${TOKEN}3`,
      "twice-token-2": `${TOKEN}4`,
    });
    // It is the same server, with its credential or without.
    for (const argv of [[], ["--secrets", "file"], ["--references"]]) {
      expect(await standings(...argv)).toEqual({
        cursor: { github: "present", web: "present", twice: "present" },
      });
    }
    put(".cursor/mcp.json", { mcpServers: { github: { ...github, command: "other" } } });
    expect(await standings()).toEqual({ cursor: { github: "different" } });
  });

  it("takes two servers of one name under two names, each with its own secrets, and says what it leaves", async () => {
    const server = (command: string, key: string) => ({ command, env: { API_KEY: key } });
    put(".cursor/mcp.json", {
      mcpServers: { github: server("one", "ghp_1111111111111111111111"), mine: { command: "x" } },
    });
    put(".config/zed/settings.json", {
      context_servers: { github: server("two", "ghp_2222222222222222222222") },
    });
    scratch.file("plugboard.json", { mcpServers: { mine: { command: "mine" } } });
    await scratch.run(["trust", "--yes"]);
    const { stdout, stderr } = await write("--secrets", "file");
    expect(stdout).toBe(`added github, github-zed to ${at("plugboard.json")}\n`);
    expect(stderr).toContain(
      "not added: mine of Cursor, because you have another one of this name; import --force replaces it\n",
    );
    const { mcpServers } = JSON.parse(scratch.read("plugboard.json")) as {
      mcpServers: Record<string, ReturnType<typeof server>>;
    };
    expect(mcpServers).toMatchObject({
      github: { command: "one" },
      "github-zed": { command: "two" },
    });
    const references = ["github", "github-zed"].map((name) => mcpServers[name]?.env.API_KEY);
    expect(new Set(references).size).toBe(2);
    expect((await write("--secrets", "file")).stdout).toContain("nothing to import into");
    // A terminal that is narrow cuts nothing of it.
    const narrow = await scratch.run(["import"], {
      stdout: new Sink({ columns: 60 }),
      env: { NO_COLOR: "1" },
    });
    expect(narrow.stdout.replace(/\s+/g, " ")).toContain(
      "you have another one of this name; import --force replaces it",
    );
  });

  it("puts no credential in the place of another one, and then writes nothing", async () => {
    mkdirSync(at("home"), { mode: 0o700 });
    put("home/secrets.json", { "github-GITHUB_TOKEN": "another" });
    put(".cursor/mcp.json", { mcpServers: { github } });
    const { code, stderr } = await write("--secrets", "file");
    expect(code).toBe(2);
    expect(stderr).toContain("#github-GITHUB_TOKEN has another value already");
    expect(() => scratch.read(OWN)).toThrow();
    const both = await write("--secrets", "--references");
    expect(both.code).toBe(2);
    expect(both.stderr).toContain("cannot be used with option");
  });

  it("replaces a server of the same name only with --force", async () => {
    scratch.file("plugboard.json", { mcpServers: { a: { command: "ours" } } });
    put(".cursor/mcp.json", { mcpServers: { a: { command: "theirs" } } });
    expect((await write()).stdout).toContain("nothing to import");
    await write("--force");
    expect(JSON.parse(scratch.read("plugboard.json"))).toEqual({
      mcpServers: { a: { command: "theirs" } },
    });
  });

  it("takes any file, with its relative paths", async () => {
    put("else/where.json", { mcpServers: { a: { command: "a", cwd: "sub" } } });
    await write("--from", "else/where.json");
    expect(JSON.parse(scratch.read(OWN))).toMatchObject({
      mcpServers: { a: { command: "a", cwd: at("else/sub") } },
    });
  });
});

describe("plugboard import refuses", () => {
  it.each([
    ["an application that nobody knows", ["--from", "curser"], "did you mean 'cursor'?"],
    ["a server that nobody has", ["githob"], "did you mean 'github'?"],
    ["a file without servers", ["--from", "empty.json"], "has no servers that Plugboard can find"],
  ])("%s", async (_, argv, expected) => {
    put(".cursor/mcp.json", { mcpServers: { github } });
    put("empty.json", { theme: "One" });
    const { code, stderr } = await scratch.run(["import", ...argv]);
    expect(code).toBe(2);
    expect(stderr).toContain(expected);
  });
});
