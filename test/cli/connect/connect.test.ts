import {
  chmodSync,
  existsSync,
  mkdirSync,
  symlinkSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import { ownBin } from "../../../src/core/config/own-server.ts";
import { parseText } from "../../../src/core/config/text/document.ts";
import { asked, Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

const FIXTURES = fileURLToPath(new URL("../../fixtures/foreign/", import.meta.url));

const at = (path: string): string => join(scratch.directory, path);

function put(path: string, content: string): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), content);
}

/** What a file has under these keys. */
function valueAt(path: string, keys: readonly string[]): unknown {
  const text = readFileSync(at(path), "utf8");
  const document = path.endsWith(".toml")
    ? { kind: "document" as const, value: parse(text) }
    : parseText(text);
  const value: unknown = document.kind === "document" ? document.value : undefined;
  return keys.reduce<unknown>((node, key) => (node as Record<string, unknown>)?.[key], value);
}

const node = expect.stringMatching(/node/) as string;
const serve = (): string[] => [ownBin(), "serve"];
const acp = (): string[] => [ownBin(), "acp"];
const home = (): object => ({ PLUGBOARD_HOME: at("home") });

interface Case {
  application: string;
  file: string;
  /** In test/fixtures/foreign. */
  fixture?: string;
  entries: [keys: string[], value: () => object][];
}

const plain = (): object => ({ command: node, args: serve(), env: home() });

const CASES: Case[] = [
  {
    application: "claude-code",
    file: ".claude.json",
    fixture: "claude-code-user.json",
    entries: [[["mcpServers", "plugboard"], () => ({ type: "stdio", ...plain() })]],
  },
  {
    application: "claude-desktop",
    file: ".config/Claude/claude_desktop_config.json",
    fixture: "claude-desktop.json",
    entries: [[["mcpServers", "plugboard"], plain]],
  },
  {
    application: "cursor",
    file: ".cursor/mcp.json",
    fixture: "cursor.json",
    entries: [[["mcpServers", "plugboard"], plain]],
  },
  {
    application: "windsurf",
    file: ".codeium/windsurf/mcp_config.json",
    fixture: "windsurf.json",
    entries: [[["mcpServers", "plugboard"], plain]],
  },
  {
    application: "cline",
    file: ".cline/data/settings/cline_mcp_settings.json",
    fixture: "cline-cli.json",
    entries: [[["mcpServers", "plugboard"], plain]],
  },
  {
    application: "vscode",
    file: ".config/Code/User/mcp.json",
    fixture: "vscode.json",
    entries: [[["servers", "plugboard"], () => ({ type: "stdio", ...plain() })]],
  },
  {
    application: "zed",
    file: ".config/zed/settings.json",
    fixture: "zed.json",
    entries: [
      [["context_servers", "plugboard"], plain],
      [
        ["agent_servers", "Plugboard"],
        () => ({ type: "custom", command: node, args: acp(), env: home() }),
      ],
    ],
  },
  {
    application: "jetbrains",
    file: ".jetbrains/acp.json",
    entries: [
      [["agent_servers", "Plugboard"], () => ({ command: node, args: acp(), env: home() })],
    ],
  },
  {
    application: "codex",
    file: ".codex/config.toml",
    fixture: "codex.toml",
    entries: [[["mcp_servers", "plugboard"], plain]],
  },
  {
    application: "gemini",
    file: ".gemini/settings.json",
    fixture: "gemini.json",
    entries: [[["mcpServers", "plugboard"], plain]],
  },
  {
    application: "opencode",
    file: ".config/opencode/opencode.jsonc",
    fixture: "opencode.jsonc",
    entries: [
      [
        ["mcp", "plugboard"],
        () => ({
          type: "local",
          command: [node, ...serve()],
          environment: home(),
          enabled: true,
        }),
      ],
    ],
  },
  {
    application: "opencode",
    file: ".config/opencode/opencode.jsonc",
    fixture: "opencode-2.jsonc",
    entries: [
      [
        ["mcp", "servers", "plugboard"],
        () => ({ type: "local", command: [node, ...serve()], environment: home() }),
      ],
    ],
  },
  {
    application: "openclaw",
    file: ".openclaw/openclaw.json",
    fixture: "openclaw.json",
    entries: [
      [
        ["mcp", "servers", "plugboard"],
        () => ({ ...plain(), connectionTimeoutMs: 60_000, requestTimeoutMs: 600_000 }),
      ],
    ],
  },
];

const WITH_SERVERS = CASES.filter(
  ({ fixture, entries }) => fixture !== undefined && entries[0]?.[0].at(-1) === "plugboard",
);

describe.each(WITH_SERVERS)(
  "$application, $fixture",
  ({ application, file, fixture = "", entries }) => {
    const container = entries[0]?.[0].slice(0, -1) ?? [];

    it("gives its own servers to the board, and gets them back byte for byte", async () => {
      const original = readFileSync(join(FIXTURES, fixture), "utf8");
      put(file, original);
      const own = Object.keys(valueAt(file, container) ?? {});
      const moved = await scratch.run(["connect", application, "--move", "--yes"]);
      expect([moved.code, moved.stderr]).toEqual([0, expect.not.stringContaining("stays in")]);
      const board = (): string[] =>
        Object.keys(
          (JSON.parse(readFileSync(at("home/plugboard.json"), "utf8")) as { mcpServers: object })
            .mcpServers,
        );
      const left = Object.keys(valueAt(file, container) as object);
      expect(left).toContain("plugboard");
      // Each is in one place, and none is lost.
      expect([...left.filter((name) => name !== "plugboard"), ...board()].toSorted()).toEqual(
        own.toSorted(),
      );
      expect(board().length).toBeGreaterThan(0);
      const again = await scratch.run(["connect", application, "--yes"]);
      expect(again.stdout).toContain("is connected already");
      const undone = await scratch.run(["connect", application, "--undo", "--yes"]);
      expect(undone.stdout).toContain("is what it was before");
      expect(readFileSync(at(file), "utf8")).toBe(original);
    });
  },
);

describe.each(CASES)("$application, $fixture", ({ application, file, fixture, entries }) => {
  it("gets the board into its file, and --undo restores every byte", async () => {
    const original = fixture === undefined ? "" : readFileSync(join(FIXTURES, fixture), "utf8");
    put(file, original);
    chmodSync(at(file), 0o640);
    const { code, stdout } = await scratch.run(["connect", application, "--yes"]);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(at(file)) });
    for (const [keys, value] of entries) expect(valueAt(file, keys)).toEqual(value());
    expect(statSync(at(file)).mode & 0o777).toBe(0o640);
    const again = await scratch.run(["connect", application, "--yes"]);
    expect(again.stdout).toContain("is connected already");
    const undone = await scratch.run(["connect", application, "--undo", "--yes"]);
    expect(undone.stdout).toContain("is what it was before");
    expect(readFileSync(at(file), "utf8")).toBe(original);
    expect(readdirSync(at("home/connect"))).toEqual([]);
  });

  it("keeps what has changed meanwhile: --undo removes only the board", async () => {
    const original = fixture === undefined ? "{}\n" : readFileSync(join(FIXTURES, fixture), "utf8");
    const comment = file.endsWith(".toml") ? "# later\n" : "// later\n";
    put(file, original);
    await scratch.run(["connect", application, "--yes"]);
    put(file, comment + readFileSync(at(file), "utf8"));
    const { stdout } = await scratch.run(["connect", application, "--undo", "--yes"]);
    expect(stdout).toContain("only the board's own entry is gone");
    const left = readFileSync(at(file), "utf8");
    expect(left).not.toContain(ownBin());
    expect(left.replace(/^\{\s*\}/m, "{}")).toBe(comment + original);
  });

  it("gets a new file, which --undo removes again", async () => {
    mkdirSync(at("real"));
    symlinkSync("real", at("linked"));
    for (const folder of ["new", "linked/new"]) {
      const made = `${folder}/deep/file`;
      await scratch.run(["connect", application, "--yes", "--file", made]);
      expect(statSync(at(made)).mode & 0o777).toBe(0o600);
      await scratch.run(["connect", application, "--undo", "--yes", "--file", made]);
      expect(existsSync(at(folder))).toBe(false);
    }
  });
});

describe("plugboard connect", () => {
  it.each([
    ["to a file that is there", "{}", "would change:"],
    ["to a file that it makes, and removes again", undefined, "was made for this"],
  ])("says which link it follows, before what it does: %s", async (_, text, undone) => {
    mkdirSync(at("dotfiles"));
    if (text !== undefined) put("dotfiles/mcp.json", text);
    mkdirSync(at(".cursor"));
    symlinkSync("../dotfiles/mcp.json", at(".cursor/mcp.json"));
    const [file, target] = [at(".cursor/mcp.json"), at("dotfiles/mcp.json")];
    for (const [option, what] of [
      [[], "would change:"],
      [["--undo"], undone],
    ] as const) {
      const { code, stderr } = await scratch.run(["connect", "cursor", "--yes", ...option]);
      expect(code).toBe(0);
      expect(stderr).toContain(`${file} is behind a link: the file is ${target}\n${file} ${what}`);
    }
    expect(existsSync(target)).toBe(text !== undefined);
  });

  it("says which link it follows to remove what it has made", async () => {
    mkdirSync(at("dotfiles"));
    symlinkSync("dotfiles", at(".cursor"));
    await scratch.run(["connect", "cursor", "--yes"]);
    const { code, stderr } = await scratch.run(["connect", "cursor", "--undo", "--yes"]);
    expect(code).toBe(0);
    expect(stderr).toContain("was made for this, and would be removed");
    expect(stderr).toContain(`is behind a link: the file is ${at("dotfiles/mcp.json")}`);
    expect(existsSync(at("dotfiles/mcp.json"))).toBe(false);
  });

  it.each(["--yes", undefined])("makes nothing behind a link to nowhere (%s)", async (yes) => {
    symlinkSync("none/cursor", at(".cursor"));
    const { code, stderr } = await scratch.run(["connect", "cursor", ...(yes ? [yes] : [])]);
    expect(code).toBe(3);
    expect(stderr).toContain(`is behind a link to ${at("none/cursor/mcp.json")}`);
    expect(stderr).not.toContain("would change");
    expect(existsSync(at("none"))).toBe(false);
    expect(existsSync(at("home/connect"))).toBe(false);
  });

  it.each([
    ["lines", '{ "mcpServers": {\n  "a": { "env": { "KEY": "abc" }, "args": ["abc"] }\n} }'],
    ["one line", '{"mcpServers":{"a":{"command":"abc","args":["--x","abc"]}}}'],
  ])("shows the change to %s, without the values around it, and asks", async (_, text) => {
    put(".cursor/mcp.json", text);
    const original = readFileSync(at(".cursor/mcp.json"), "utf8");
    const { code, stderr } = await scratch.run(["connect", "cursor"]);
    expect(code).toBe(4);
    expect(stderr).toContain("cannot ask whether to write it");
    expect(stderr).toMatch(/^\+.*"plugboard":/m);
    expect(stderr).not.toContain("abc");
    expect(readFileSync(at(".cursor/mcp.json"), "utf8")).toBe(original);
  });

  it.each([
    ["y", 0],
    ["n", 4],
  ])("does what you answer: %s", async (answer, expected) => {
    put(".cursor/mcp.json", "{}");
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const stderr = new Sink({ columns: 200, rows: 24 });
    const { done } = scratch.start(["connect", "cursor"], { stdin, stderr });
    await stderr.until("Write it? [y/N]");
    stdin.write(`${answer}\n`);
    expect((await done).code).toBe(expected);
    expect(scratch.read(".cursor/mcp.json").includes(ownBin())).toBe(answer === "y");
  });

  it.each([
    [
      "brings those of other applications",
      '{"mcpServers":{"a":{"command":"a"}}}',
      "import --write",
    ],
    ["adds one where they have none", "{}", "add files -- npx "],
  ])("names the command that %s, if you have no servers", async (_, cursor, offered) => {
    put(".cursor/mcp.json", cursor);
    const { stderr } = await scratch.run(["connect", "claude-code"]);
    expect(stderr).toContain(`:\n  plugboard ${offered}`);
    expect(stderr.match(/ plugboard (?:import --write|add files)/g)).toHaveLength(1);
  });

  it("names the configuration that is not the user's own, and the agent", async () => {
    scratch.servers({ x: { command: "x", env: { A: "${SOME_KEY}" } } });
    const { stdout, stderr } = await scratch.run(["connect", "codex", "--yes", "--json"]);
    const file = at("servers.json");
    expect(JSON.parse(stdout)).toMatchObject({
      application: "codex",
      changed: true,
      entries: [
        {
          as: "server",
          path: ["mcp_servers", "plugboard"],
          value: { args: [ownBin(), "--config", file, "serve"], env_vars: ["SOME_KEY"] },
        },
      ],
    });
    expect(stderr).toContain(
      "from the environment of Codex, so start it where they are set: SOME_KEY",
    );
    scratch.file("agents.json", { agents: { list: [{ id: "a" }] } });
    const argv = ["--config", "agents.json", "--agent", "a", "connect", "gemini", "--yes"];
    await scratch.run(argv);
    expect(valueAt(".gemini/settings.json", ["mcpServers", "plugboard", "args"])).toEqual([
      ownBin(),
      "--config",
      at("agents.json"),
      "--agent",
      "a",
      "serve",
    ]);
  });

  it("leaves out the home where it is the default one, and the configuration in it", async () => {
    mkdirSync(at(".plugboard"), { mode: 0o700 });
    scratch.file(".plugboard/plugboard.json", { mcpServers: { x: { command: "x" } } });
    await scratch.run(["connect", "cursor", "--yes"], { env: { PLUGBOARD_HOME: "" } });
    expect(valueAt(".cursor/mcp.json", ["mcpServers", "plugboard"])).toEqual({
      command: node,
      args: serve(),
    });
  });

  it("can change its mind, and still knows what the file was", async () => {
    put(".cursor/mcp.json", "{}");
    await scratch.run(["connect", "cursor", "--yes"]);
    scratch.servers({ x: { command: "x" } });
    await scratch.run(["connect", "cursor", "--yes"]);
    expect(valueAt(".cursor/mcp.json", ["mcpServers", "plugboard", "args"])).toHaveLength(4);
    await scratch.run(["connect", "cursor", "--undo", "--yes"]);
    expect(scratch.read(".cursor/mcp.json")).toBe("{}");
  });

  it("knows a Plugboard that has moved, and puts itself in its place", async () => {
    const moved = { command: "node", args: ["/old/clone/dist/bin.cjs", "serve"] };
    put(
      ".cursor/mcp.json",
      JSON.stringify({ mcpServers: { plugboard: moved, a: { command: "a" } } }),
    );
    expect((await scratch.run(["connect"])).stdout).toContain("/old/clone/dist/bin.cjs is gone");
    await scratch.run(["connect", "cursor", "--yes"]);
    expect(valueAt(".cursor/mcp.json", ["mcpServers", "plugboard", "args"])).toEqual(serve());
    await scratch.run(["connect", "cursor", "--undo", "--yes"]);
    expect(valueAt(".cursor/mcp.json", ["mcpServers"])).toEqual({ a: { command: "a" } });
  });

  it("says which servers are on both sides", async () => {
    scratch.servers({
      github: { command: "github" },
      web: { url: "https://a.example/mcp" },
      own: { command: "own" },
    });
    put(
      ".cursor/mcp.json",
      JSON.stringify({
        mcpServers: {
          github: { command: "another" },
          docs: { url: "https://a.example/mcp" },
          more: { command: "more" },
        },
      }),
    );
    const { stdout, stderr } = await scratch.run(["connect", "cursor", "--yes", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ twice: ["github", "docs"] });
    expect(stderr).toContain(
      "github, docs are in Cursor's file and on the board, so their tools would be there twice; --move takes them out of that file\n",
    );
  });

  it("asks whether to move its servers, and says what stays where", async () => {
    const docs = { command: "docs", env: { DOCS_TOKEN: "tok-123456" } };
    const mcpServers = { docs, github: { command: "another" } };
    put(".cursor/mcp.json", JSON.stringify({ mcpServers }, undefined, 2));
    put("home/plugboard.json", JSON.stringify({ mcpServers: { github: { command: "github" } } }));
    const question = "Add docs, github to Plugboard, and remove these 2 from Cursor's file? [y/N] ";
    const no = await asked(
      scratch,
      ["connect", "cursor"],
      {},
      [question, "n\n"],
      ["Write it?", "n\n"],
    );
    expect(no.code).toBe(4);
    expect(valueAt("home/plugboard.json", ["mcpServers"])).toEqual({
      github: { command: "github" },
    });
    expect(no.stderr).toMatch(/nothing has changed\n$/);
    const half = await asked(
      scratch,
      ["connect", "cursor"],
      {},
      [question, "y\n"],
      ["Add them?", "y\n"],
      ["Write it?", "n\n"],
    );
    expect(half.code).toBe(4);
    expect(half.stderr).toMatch(
      /mcp\.json has not changed; Plugboard has docs now \(plugboard undo takes that back\)\n$/,
    );
    expect(half.stderr).not.toContain("nothing has changed");
    await scratch.run(["undo"]);
    const yes = await asked(
      scratch,
      ["connect", "cursor"],
      {},
      [question, "y\n"],
      ["Add them?", "y\n"],
      ["Write it?", "y\n"],
    );
    expect(yes.code).toBe(0);
    expect(yes.stderr).toContain(
      "github stays in Cursor's file, because the board has another one of this name; rename or remove one of the two, or the model sees tools of both\n",
    );
    expect(yes.stderr).not.toContain("--move");
    expect(stripVTControlCharacters(yes.stderr)).toContain(
      [
        '-     "docs": {',
        '-       "command": "docs",',
        '-       "env": {',
        '-         "DOCS_TOKEN": "…"',
        "-       }",
        "-     },",
        '      "github": {',
        "",
      ].join("\n"),
    );
    expect(yes.stderr).not.toContain("tok-123456");
    expect(Object.keys(valueAt(".cursor/mcp.json", ["mcpServers"]) as object)).toEqual([
      "github",
      "plugboard",
    ]);
    expect(valueAt("home/plugboard.json", ["mcpServers", "docs"])).toEqual(docs);
    // What cannot be put back is said.
    put(".cursor/mcp.json", `// later\n${readFileSync(at(".cursor/mcp.json"), "utf8")}`);
    const undone = await scratch.run(["connect", "cursor", "--undo", "--yes"]);
    expect(undone.stderr).toContain("docs was moved onto the board, and is not put back");
  });

  it("moves the servers that Claude Code has for this directory alone, and shows tabs as an indent", async () => {
    const one = { command: "one" };
    const two = { command: "two" };
    const elsewhere = { mcpServers: { other: { command: "other" } } };
    const projects = { [scratch.directory]: { mcpServers: { one } }, "/else/where": elsewhere };
    const original = JSON.stringify({ mcpServers: { two }, projects }, undefined, "\t");
    put(".claude.json", original);
    const moved = await scratch.run(["connect", "claude-code", "--move", "--yes"]);
    expect(moved.code).toBe(0);
    expect(moved.stderr).toContain(
      "one was for this directory alone, and is on the board wherever you use it\n",
    );
    expect(moved.stderr).toContain('-     "two": {\n-       "command": "two"\n');
    expect(moved.stderr).not.toContain("\\u{9}");
    expect(valueAt("home/plugboard.json", ["mcpServers"])).toEqual({ one, two });
    expect(valueAt(".claude.json", ["projects"])).toEqual({
      [scratch.directory]: { mcpServers: {} },
      "/else/where": elsewhere,
    });
    await scratch.run(["connect", "claude-code", "--undo", "--yes"]);
    expect(readFileSync(at(".claude.json"), "utf8")).toBe(original);
  });

  it("can be only a server, or only an agent", async () => {
    await scratch.run(["connect", "zed", "--as", "agent", "--yes"]);
    expect(valueAt(".config/zed/settings.json", [])).toEqual({
      agent_servers: { Plugboard: expect.objectContaining({ args: acp() }) },
    });
    const { code, stderr } = await scratch.run(["connect", "cursor", "--as", "agent", "--yes"]);
    expect(code).toBe(2);
    expect(stderr).toContain("Cursor has no entry for an agent in its file");
  });
});

describe("plugboard connect refuses", () => {
  it.each([
    ["by its command", { command: "npx", args: ["-y", "plugboard", "serve"] }],
    ["by the address of its gateway", { url: "http://127.0.0.1:7584/mcp" }],
  ])("a board inside a board, %s", async (_, me) => {
    scratch.servers({ me });
    const { code, stderr } = await scratch.run(["connect", "cursor", "--yes"]);
    expect(code).toBe(2);
    expect(stderr).toContain("the server 'me' is Plugboard itself");
    expect(existsSync(at(".cursor"))).toBe(false);
  });

  it("the file that the board itself reads", async () => {
    put(".cursor/mcp.json", '{ "mcpServers": { "a": { "command": "a" } } }');
    const argv = ["--config", ".cursor/mcp.json", "connect", "cursor", "--yes"];
    const { code, stderr } = await scratch.run(argv);
    expect(code).toBe(2);
    expect(stderr).toContain("is Cursor's own file, and the board that would be put into it");
  });

  it("a file in this directory that nobody has trusted", async () => {
    scratch.file("plugboard.json", { mcpServers: { x: { command: "x" } } });
    const { code, stderr } = await scratch.run(["connect", "cursor", "--yes"]);
    expect(code).toBe(2);
    expect(stderr).toContain("is not trusted yet");
    await scratch.run(["trust", "--yes"]);
    expect((await scratch.run(["connect", "cursor", "--yes"])).code).toBe(0);
  });

  it("a project's file for all directories: your own board is put in, and the project's where you name a file", async () => {
    put("home/plugboard.json", '{ "mcpServers": { "mine": { "command": "mine" } } }');
    chmodSync(at("home"), 0o700);
    scratch.file("plugboard.json", { mcpServers: { x: { command: "x" } } });
    const args = ["mcpServers", "plugboard", "args"];
    const alone = [ownBin(), "--config", at("plugboard.json"), "serve"];
    for (const isTrusted of [false, true]) {
      if (isTrusted) await scratch.run(["trust", "--yes"]);
      const { code, stderr } = await scratch.run(["connect", "cursor"]);
      expect(code, stderr).toBe(4);
      expect(stderr).toContain(
        `The board would have the servers of ${at("home/plugboard.json")}, and those of a trusted`,
      );
      expect(stderr).toContain("\n  plugboard --config plugboard.json connect cursor\n");
      await scratch.run(["connect", "cursor", "--yes"]);
      expect(valueAt(".cursor/mcp.json", args)).toEqual(serve());
      await scratch.run(["connect", "cursor", "--undo", "--yes"]);
    }
    await scratch.run(["--config", "plugboard.json", "connect", "cursor", "--yes"]);
    expect(valueAt(".cursor/mcp.json", args)).toEqual(alone);
    const { stderr } = await scratch.run(["connect", "cursor", "--file", "its.json", "--yes"]);
    expect(stderr).toContain(`The board would have the servers of ${at("plugboard.json")} alone.`);
    expect(valueAt("its.json", args)).toEqual(alone);
  });

  it("to replace what somebody else has put there", async () => {
    put(".cursor/mcp.json", '{ "mcpServers": { "plugboard": { "command": "other" } } }');
    const { code, stderr } = await scratch.run(["connect", "cursor", "--yes"]);
    expect(code).toBe(2);
    expect(stderr).toContain("has something else under mcpServers.plugboard");
    expect((await scratch.run(["connect", "cursor", "--undo", "--yes"])).stderr).toContain(
      `the board is not in ${at(".cursor/mcp.json")}`,
    );
  });

  it.each([
    [".cursor/mcp.json", "cursor", "{ broken", /mcp\.json:1:9 {2}the file ends here/],
    [".codex/config.toml", "codex", "[", /config\.toml:1:\d+ {2}is not TOML/],
    [".cursor/mcp.json", "cursor", '{ "mcpServers": [] }', /mcpServers {2}is not an object/],
    [".openclaw/openclaw.json", "openclaw", '{ mcp: { $include: "./x.json5" } }', /by \$include/],
  ])("%s, which cannot be changed", async (file, application, text, expected) => {
    put(file, text);
    const { code, stderr } = await scratch.run(["connect", application, "--yes"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(expected);
    expect(scratch.read(file)).toBe(text);
  });

  it("an application that it does not know", async () => {
    const { code, stderr } = await scratch.run(["connect", "curser"]);
    expect(code).toBe(2);
    expect(stderr).toContain("did you mean 'cursor'?");
  });
});

describe("plugboard connect without an application", () => {
  it("shows what is here, and what is connected", async () => {
    put(".config/zed/settings.json", "{}");
    mkdirSync(at(".gemini"));
    put(".codeium/windsurf/mcp_config.json", "{ broken");
    const gone =
      '{ "mcpServers": { "plugboard": { "command": "/gone/plugboard", "args": ["serve"] } } }';
    put(".cursor/mcp.json", gone);
    await scratch.run(["connect", "zed", "--yes"]);
    const env = { PATH: "" };
    const { stdout } = await scratch.run(["connect"], { env });
    expect(stdout).toMatch(/^cursor +connected, but broken/m);
    expect(stdout).toContain("/gone/plugboard is gone");
    expect(stdout).toMatch(/^zed +connected as server and agent/m);
    expect(stdout).toMatch(/^gemini +not connected/m);
    expect(stdout).toMatch(/^windsurf +cannot be read/m);
    expect(stdout).toMatch(/^not here: .*claude-desktop.*vscode.*jetbrains.*codex/m);
    const { stdout: json } = await scratch.run(["connect", "--json"], { env });
    expect(JSON.parse(json)).toContainEqual({
      application: "zed",
      file: at(".config/zed/settings.json"),
      installed: true,
      state: "connected",
      as: ["server", "agent"],
    });
  });
});
