import { readFile, mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { APPLICATIONS } from "../../../src/core/config/foreign/applications.ts";
import { formatProblem } from "../../../src/core/config/issue.ts";
import { loadConfig } from "../../../src/core/config/load.ts";
import { readLaunches } from "../../../src/core/config/trust/trust.ts";
import { readDocument } from "../../../src/core/config/text/read.ts";
import type { AgentConfig } from "../../../src/core/types/agent-config.ts";
import { isJsonObject } from "../../../src/core/types/json.ts";
import { isRemote, type ServerDefinition } from "../../../src/core/types/server-definition.ts";
import { failure, problemLines } from "./files.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const FIXTURES = fileURLToPath(new URL("../../fixtures/foreign", import.meta.url));

const ENV_FILE_UNREAD = `is not read; for each NAME in it write "NAME": "\${NAME}" into "env", and export them before Plugboard starts, as with: set -a; . FOLDER/.env; set +a`;

/** What differs from a server that has nothing but its command or URL. */
type Shown = Partial<{
  off: true;
  run: string[];
  env: Record<string, string>;
  cwd: string;
  url: string;
  as: "http" | "sse";
  headers: Record<string, string>;
  oauth: unknown;
  tls: unknown;
  start: number;
  call: number;
  allow: string[];
  deny: string[];
  include: unknown;
  approval: unknown;
  toolPrefix: string;
}>;

function show(server: ServerDefinition): Shown {
  const { target, timeout, toolTimeout, include, guard, toolPrefix } = server;
  const [rules] = guard?.rules ?? [];
  const shown: Record<string, unknown> = {
    off: server.enabled ? undefined : true,
    ...(target.kind === "stdio"
      ? { run: [target.command, ...target.args], env: unlessEmpty(target.env), cwd: target.cwd }
      : isRemote(target) && {
          url: target.url,
          as: target.kind === "remote" ? undefined : target.kind,
          headers: unlessEmpty(target.headers),
          oauth: target.oauth,
          tls: target.tls,
        }),
    start: timeout === 30_000 ? undefined : timeout,
    call: toolTimeout === 60_000 ? undefined : toolTimeout,
    allow: rules?.allow,
    deny: rules?.deny,
    include,
    approval: guard?.approval,
    toolPrefix,
  };
  return Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined));
}

function unlessEmpty(map: Record<string, string>): Record<string, string> | undefined {
  return Object.keys(map).length === 0 ? undefined : { ...map };
}

function showAll({ servers }: AgentConfig): Record<string, Shown> {
  return Object.fromEntries(servers.map((server) => [server.name, show(server)]));
}

function lines(problems: AgentConfig["warnings"] = []): string[] {
  return problems.map((problem) => formatProblem({ ...problem, file: undefined }));
}

/** The content of a fixture, or a text, in a file of this name. */
async function fileOf(content: string, name: string): Promise<string> {
  const file = join(temporaryDirectory(), name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  return file;
}

async function fixture(name: string): Promise<string> {
  return readFile(join(FIXTURES, name), "utf8");
}

const FILES = "@modelcontextprotocol/server-filesystem";
const EVENTS: Shown = { url: "https://example.com/sse", as: "sse" };

interface Case {
  fixture: string;
  application: string;
  servers: Record<string, Shown>;
  warnings?: string[];
  notes?: string[];
}

function plaintext(server: string): string {
  return `MCP server '${server}' has plaintext credentials in config — consider using secret:// references`;
}

const CASES: Case[] = [
  {
    fixture: "claude-desktop.json",
    application: "Claude Desktop",
    servers: {
      files: { run: ["npx", "-y", FILES, "/Users/anna/Desktop"] },
      github: {
        run: [
          "docker",
          "run",
          "-i",
          "--rm",
          "-e",
          "GITHUB_TOKEN",
          "ghcr.io/github/github-mcp-server",
        ],
        env: { GITHUB_TOKEN: "ghp_example" },
      },
    },
    warnings: [`10:16  mcpServers.github.env.GITHUB_TOKEN  ${plaintext("github")}`],
    notes: ['1:1  has keys without a meaning here, ignored: "globalShortcut"'],
  },
  {
    fixture: "claude-code.mcp.json",
    application: "Claude Desktop",
    servers: {
      files: { run: ["npx", "-y", FILES, "."], env: { ROOT: "${HOME}" } },
      docs: {
        url: "https://example.com/mcp",
        as: "http",
        headers: { Authorization: "Bearer ${DOCS_KEY:-none}" },
      },
      events: EVENTS,
    },
  },
  {
    fixture: "claude-code-user.json",
    application: "Claude Code",
    servers: { memory: { run: ["npx", "-y", "@modelcontextprotocol/server-memory"] } },
    notes: [
      '1:1  has keys without a meaning here, ignored: "firstStartTime", "machineID", "opusProMigrationComplete", "sonnet1m45MigrationComplete", "seenNotifications", "migrationVersion", "userID"',
      '24:7  projects["/home/anna/shop"].mcpServers  is ignored: these servers are for the project "/home/anna/shop"',
    ],
  },
  {
    fixture: "cursor.json",
    application: "Cursor",
    servers: {
      files: {
        run: ["npx", "-y", FILES, "FOLDER/docs"],
        env: { CACHE: "${HOME}/.cache", TOKEN: "${FILES_TOKEN}" },
      },
      docs: {
        url: "https://example.com/mcp",
        headers: { Authorization: "Bearer ${DOCS_KEY}" },
        oauth: {
          clientId: "${DOCS_CLIENT}",
          clientSecret: "${DOCS_SECRET}",
          scope: "read write",
        },
      },
    },
    warnings: [`9:7  mcpServers.files.envFile  ${ENV_FILE_UNREAD}`],
  },
  {
    fixture: "windsurf.json",
    application: "Windsurf",
    servers: {
      docs: { url: "https://example.com/mcp", headers: { Authorization: "Bearer ${DOCS_KEY}" } },
      files: { run: ["npx", "-y", FILES, "."], deny: ["write_file", "edit_file"] },
      git: { off: true, run: ["uvx", "mcp-server-git"] },
    },
    warnings: [
      '20:20  mcpServers.notes.headers.Authorization  needs "${file:/home/anna/.notes-token}", which only the application knows; the server is left out',
    ],
  },
  {
    fixture: "cline.json",
    application: "Cline",
    servers: {
      "github.com-modelcontextprotocol-servers-tree-main-src-filesystem": {
        run: ["npx", "-y", FILES, "/home/anna"],
        call: 120_000,
      },
      docs: {
        off: true,
        url: "https://example.com/mcp",
        as: "http",
        headers: { Authorization: "Bearer ${DOCS_KEY}" },
      },
      events: { ...EVENTS, call: 3_600_000 },
    },
    notes: [
      '4:5  mcpServers["github.com/modelcontextprotocol/servers/tree/main/src/filesystem"]  is called "github.com-modelcontextprotocol-servers-tree-main-src-filesystem" here',
      '4:5  mcpServers["github.com/modelcontextprotocol/servers/tree/main/src/filesystem"]  has keys without a meaning here, ignored: "autoApprove"',
      '12:5  mcpServers.docs  has keys without a meaning here, ignored: "autoApprove"',
    ],
  },
  {
    fixture: "cline-cli.json",
    application: "Cline",
    servers: {
      files: { run: ["npx", "-y", FILES, "/home/anna"] },
      docs: {
        url: "https://example.com/mcp",
        as: "http",
        headers: { Authorization: "Bearer abc" },
      },
      events: EVENTS,
    },
    warnings: [`19:11  mcpServers.docs.transport.headers.Authorization  ${plaintext("docs")}`],
  },
  {
    fixture: "vscode.json",
    application: "VS Code",
    servers: {
      github: {
        url: "https://api.githubcopilot.com/mcp/",
        as: "http",
        headers: { Authorization: "Bearer ${GITHUB_TOKEN}", "X-Region": "${REGION:-eu}" },
      },
      files: {
        run: ["node", "FOLDER/server.js", "--home", "${HOME}"],
        env: { DEBUG: "1", TOKEN: "${FILES_TOKEN}" },
        cwd: "packages/server",
      },
    },
    warnings: [
      `25:7  servers.files.envFile  ${ENV_FILE_UNREAD}`,
      '31:7  servers.picked.command  needs "${command:my.extension.pickServer}", which only the application knows; the server is left out',
    ],
    notes: [
      '6:7  inputs[0].id  the input "github-token" is read from the variable GITHUB_TOKEN; to set it, export GITHUB_TOKEN: A token of GitHub',
      '10:29  inputs[1].id  the input "region" is read from the variable REGION; to set it, export REGION: Region',
      '13:5  servers.github  has keys without a meaning here, ignored: "gallery", "version"',
      '20:5  servers.files  has keys without a meaning here, ignored: "dev"',
    ],
  },
  {
    fixture: "zed.json",
    application: "Zed",
    servers: {
      files: { run: ["npx", "-y", FILES, "$${HOME}"], env: { LOG: "info" }, call: 90_000 },
      older: { run: ["uvx", "mcp-server-git"], env: { GIT_PAGER: "cat" } },
      docs: {
        off: true,
        url: "https://example.com/mcp",
        headers: { Authorization: "Bearer abc" },
        oauth: { clientId: "plug" },
      },
    },
    warnings: [
      `21:20  context_servers.docs.headers.Authorization  ${plaintext("docs")}`,
      "24:5  context_servers.mcp-server-postgres  is a server of an extension, which only Zed can start; the server is left out",
    ],
    notes: ['1:1  has keys without a meaning here, ignored: "theme", "buffer_font_size"'],
  },
  {
    fixture: "codex.toml",
    application: "Codex",
    servers: {
      files: { run: ["npx", "-y", FILES, "."], env: { ROOT: "/srv" } },
      docs: {
        url: "https://example.com/mcp",
        as: "http",
        headers: { Authorization: "Bearer ${DOCS_KEY}" },
      },
    },
  },
  {
    fixture: "codex-all.toml",
    application: "Codex",
    servers: {
      files: {
        run: ["npx", "-y", FILES, "$${HOME}"],
        env: { GITHUB_TOKEN: "${GITHUB_TOKEN:-}", LANG: "${LANG:-}", LOG: "info" },
        cwd: "/srv",
        start: 20_500,
        call: 90_000,
        allow: ["read_text_file", "write_file"],
        deny: ["write_file"],
        approval: { default: "ask", tools: { read_text_file: "never" } },
      },
      "docs.example": {
        off: true,
        url: "https://example.com/mcp",
        as: "http",
        headers: {
          Authorization: "Bearer ${DOCS_KEY}",
          "X-Team": "shop",
          "X-User": "${USER_ID}",
        },
        oauth: { clientId: "plug", scope: "read write" },
        start: 5000,
      },
    },
    notes: [
      '1:1  has keys without a meaning here, ignored: "model", "approval_policy", "profiles"',
      '5:2  mcp_servers.files  has keys without a meaning here, ignored: "required"',
    ],
  },
  {
    fixture: "opencode.jsonc",
    application: "OpenCode",
    servers: {
      files: { run: ["npx", "-y", FILES, "."], env: { ROOT: "/srv" } },
      docs: { url: "https://example.com/mcp", headers: { Authorization: "Bearer ${DOCS_KEY}" } },
    },
  },
  {
    fixture: "opencode-all.jsonc",
    application: "OpenCode",
    servers: {
      files: {
        run: ["npx", "-y", FILES, "${WORK_ROOT}"],
        env: { TOKEN: "${FILES_TOKEN}", LITERAL: "$${NOT_A_VARIABLE}" },
        start: 20_000,
        call: 20_000,
        deny: ["write*"],
      },
      docs: {
        off: true,
        url: "https://example.com/mcp",
        headers: { Authorization: "Bearer ${DOCS_KEY}" },
        oauth: { clientId: "${DOCS_CLIENT}", scope: "read" },
        deny: ["*"],
      },
    },
    warnings: [
      '23:20  mcp.sealed.headers.X-Key  needs "{file:~/.sealed}", which only the application knows; the server is left out',
      "26:5  mcp.jira  has no type, so it is defined elsewhere; the server is left out",
    ],
    notes: ['1:1  has keys without a meaning here, ignored: "model"'],
  },
  {
    fixture: "opencode-2.jsonc",
    application: "OpenCode",
    servers: {
      everything: {
        off: true,
        run: ["npx", "-y", "@modelcontextprotocol/server-everything"],
        cwd: ".",
      },
    },
  },
  {
    fixture: "gemini.json",
    application: "Gemini CLI",
    servers: {
      files: {
        run: ["npx", "-y", FILES, "."],
        env: { ROOT: "${WORK_ROOT}" },
        call: 30_000,
        allow: ["read_text_file", "list_directory"],
        deny: ["write_file"],
      },
      docs: {
        url: "https://example.com/mcp",
        as: "http",
        headers: { Authorization: "Bearer ${DOCS_KEY}" },
      },
      events: EVENTS,
    },
    notes: ['3:5  mcpServers.files  has keys without a meaning here, ignored: "trust"'],
  },
  {
    fixture: "tsagent.json",
    application: "tsagent",
    servers: {
      files: {
        run: ["npx", "-y", FILES, "."],
        include: { default: "manual", tools: { read_text_file: "always", search_files: "agent" } },
        approval: { default: "ask", tools: { read_text_file: "never" } },
      },
      docs: {
        url: "https://example.com/mcp",
        as: "http",
        include: { default: "always", tools: { delete_page: "manual" } },
        approval: { default: "never", tools: { delete_page: "ask" } },
      },
    },
    warnings: [
      '19:22  mcpServers.supervision.type  is "internal", a transport that Plugboard does not have; the server is left out',
    ],
    notes: [
      '1:1  has keys without a meaning here, ignored: "metadata", "settings", "systemPrompt"',
    ],
  },
  {
    fixture: "mcptools.json",
    application: "MCPtools",
    servers: {
      files: { run: ["npx", "-y", FILES], env: { LOG: "info" }, cwd: "/srv" },
      docs: {
        url: "https://example.com/mcp",
        as: "http",
        headers: { "X-Team": "shop", Authorization: "Bearer ${DOCS_KEY}" },
      },
    },
  },
  {
    fixture: "openclaw.json",
    application: "OpenClaw",
    servers: {
      files: {
        run: ["npx", "-y", FILES, "."],
        env: { ROOT: "${WORK_ROOT}" },
        cwd: "/srv",
        start: 5000,
        call: 120_000,
      },
      docs: {
        url: "https://example.com/mcp",
        as: "http",
        headers: { Authorization: "Bearer ${DOCS_KEY}" },
        allow: ["search_*"],
        deny: ["search_private"],
      },
      events: {
        off: true,
        url: "https://example.com/sse",
        as: "sse",
        oauth: { scope: "docs.read" },
      },
    },
    notes: ['1:1  has keys without a meaning here, ignored: "plugins", "meta"'],
  },
  {
    fixture: "openclaw-all.json5",
    application: "OpenClaw",
    servers: {
      files: {
        run: ["npx", "-y", FILES, "${WORK_ROOT}"],
        env: { DEBUG: "true", LEVEL: "3" },
        cwd: "/srv",
        start: 5000,
        call: 120_000,
      },
      docs: {
        url: "https://example.com/mcp",
        as: "http",
        oauth: { scope: "docs.read", redirectUri: "http://127.0.0.1:8123/callback" },
        tls: { cert: "cert.pem", key: "key.pem" },
        allow: ["search_*"],
        deny: ["search_private"],
      },
      events: { ...EVENTS, off: true },
    },
    notes: [
      '1:1  has keys without a meaning here, ignored: "meta", "channels"',
      '5:3  gateway  has keys without a meaning here, ignored: "port", "mode", "auth"',
      '6:3  tools  has keys without a meaning here, ignored: "profile"',
      "6:31  tools.deny  ignored, tools of OpenClaw itself: exec, group:fs",
      '7:3  mcp  has keys without a meaning here, ignored: "sessionIdleTtlMs"',
      '10:7  mcp.servers.files  has keys without a meaning here, ignored: "supportsParallelToolCalls"',
      '23:9  mcp.servers.docs.oauth  has keys without a meaning here, ignored: "identity"',
      '32:5  agents.defaults  has keys without a meaning here, ignored: "model", "workspace"',
      '33:12  agents.list[0]  has keys without a meaning here, ignored: "default"',
    ],
  },
  {
    fixture: "openclaw-planned.json",
    application: "OpenClaw",
    servers: {
      linkedin: {
        run: ["uvx", "--from", "git+https://github.com/adhikasp/mcp-linkedin", "mcp-linkedin"],
        env: {
          LINKEDIN_EMAIL: "secret://gcp/linkedin-email",
          LINKEDIN_PASSWORD: "secret://gcp/linkedin-password",
        },
      },
      filesystem: { run: ["npx", "-y", FILES, "/home/user/docs"], toolPrefix: "fs" },
    },
  },
];

describe("a file of another application", () => {
  it.each(CASES)(
    "$fixture is read as one of $application, whatever its name and place",
    async ({ fixture: name, application, servers, warnings = [], notes = [] }) => {
      const file = await fileOf(await fixture(name), "some-file");
      const agent = await loadConfig(file, undefined, { cwd: "/" });
      const shown = { servers: showAll(agent), warnings: lines(agent.warnings) };
      const text = JSON.stringify(shown).replaceAll(dirname(file), "FOLDER");
      expect(JSON.parse(text)).toEqual({ servers, warnings });
      const isGuess = application === "Claude Desktop" || application === "MCPtools";
      const first = `1:1  is read ${isGuess ? "like" : "as"} a file of ${application}`;
      expect(lines(agent.notes)).toEqual([first, ...notes]);
    },
  );

  it("has a fixture for every application, and a word on how each was made", async () => {
    const names = new Set(CASES.map(({ application }) => application));
    expect(APPLICATIONS.filter(({ name }) => !names.has(name))).toEqual([]);
    const readme = await fixture("README.md");
    expect(CASES.filter((each) => !readme.includes(`\`${each.fixture}\``))).toEqual([]);
  });
});

describe("the place of a file", () => {
  const server = '{ "x": { "command": "x", "env": { "A": "1$B" }, "timeout": 30 } }';
  it.each([
    [".mcp.json", "Claude Code"],
    ["claude_desktop_config.json", "Claude Desktop"],
    [".cursor/mcp.json", "Cursor"],
    [".codeium/windsurf/mcp_config.json", "Windsurf"],
    ["cline_mcp_settings.json", "Cline"],
    ["tsagent.json", "tsagent"],
  ])("decides where the content fits several applications: %s", async (name, application) => {
    const file = await fileOf(`{ "mcpServers": { "x": { "command": "x" } } }`, name);
    const { notes } = await loadConfig(file);
    expect(lines(notes)).toEqual([`1:1  is read as a file of ${application}`]);
  });

  it("decides on the unit of a timeout and on the variables", async () => {
    const timeouts = async (name: string) =>
      showAll(await loadConfig(await fileOf(`{ "mcpServers": ${server} }`, name)))["x"];
    expect(await timeouts("cline_mcp_settings.json")).toMatchObject({ call: 30_000 });
    expect(await timeouts(".gemini/settings.json")).toMatchObject({ env: { A: "1${B}" } });
  });

  it("tells VS Code from MCPtools", async () => {
    const content = `{ "servers": { "x": { "type": "http", "url": "https://example.com" } } }`;
    const noted = async (name: string) =>
      lines((await loadConfig(await fileOf(content, name))).notes);
    expect(await noted(".vscode/mcp.json")).toEqual(["1:1  is read as a file of VS Code"]);
    expect(await noted("mcp.json")).toEqual(["1:1  is read like a file of MCPtools"]);
  });

  it("is the project's directory for what is relative to the project", async () => {
    const content = `{ "servers": { "x": {
      "command": "node", "args": ["\${workspaceFolder}/a.js"], "cwd": "sub", "gallery": true } } }`;
    const file = await fileOf(content, ".vscode/mcp.json");
    const project = dirname(dirname(file));
    const [x] = (await loadConfig(file)).servers;
    expect(x?.target).toMatchObject({
      args: [`${project}/a.js`],
      cwd: "../sub",
      baseDir: join(project, ".vscode"),
    });
  });
});

describe("Claude Code's file of a user", () => {
  it.each([
    ["/home/anna/shop", ["memory", "tickets"]],
    ["/home/anna/shop/src/api", ["memory", "tickets"]],
    ["/home/anna", ["memory"]],
  ])("has the servers of all projects and those of the project at %s", async (cwd, names) => {
    const file = await fileOf(await fixture("claude-code-user.json"), ".claude.json");
    const { servers, isOfDirectory } = await loadConfig(file, undefined, { cwd });
    expect(servers.map(({ name }) => name)).toEqual(names);
    // So a command in another project does not use the servers of a gateway in this one.
    expect(isOfDirectory).toBe(true);
  });

  it("has a project's server in place of the user's, and switches servers off", async () => {
    const content = JSON.stringify({
      mcpServers: { a: { command: "a" }, b: { command: "b" } },
      projects: { "/p": { mcpServers: { a: { command: "own" } }, disabledMcpServers: ["b", "z"] } },
    });
    const agent = await loadConfig(await fileOf(content, "x"), undefined, { cwd: "/p" });
    expect(showAll(agent)).toEqual({ a: { run: ["own"] }, b: { off: true, run: ["b"] } });
  });
});

describe("rules of OpenClaw", () => {
  const rulesOf = async (content: string) =>
    (await loadConfig(await fileOf(content, "openclaw.json"))).guard?.rules;

  it("are read from gateway.tools and tools, with every deny, and what both lists allow", async () => {
    expect(
      await rulesOf(`{ mcp: { servers: {} },
        gateway: { tools: { allow: ["docs__*", "files__read"], deny: ["a__b"] } },
        tools: { allow: ["files__read", "web_search"], deny: ["c__d"] } }`),
    ).toEqual([{ place: "gateway.tools", allow: ["files__read"], deny: ["a__b", "c__d"] }]);
    expect(
      await rulesOf(`{ gateway: { tools: { allow: ["*"] } }, tools: { allow: ["bundle-mcp"] } }`),
    ).toEqual([{ place: "gateway.tools", allow: ["*"] }]);
  });

  it("name their place as it is written there", async () => {
    expect(await rulesOf(await fixture("openclaw-planned.json"))).toEqual([
      {
        place: "gateway.tools",
        allow: ["mcp_linkedin_*", "mcp_fs_read_*"],
        deny: ["mcp_filesystem_write_file"],
      },
    ]);
  });

  it("hold for single agents, whose servers are laid over the defaults", async () => {
    const planned = await fileOf(await fixture("openclaw-planned.json"), "x");
    const research = await loadConfig(planned, "research");
    expect(showAll(research)).toMatchObject({
      linkedin: { off: true },
      tavily: { as: "sse", headers: { Authorization: "Bearer ${TAVILY_API_KEY}" } },
    });
    const all = await fileOf(await fixture("openclaw-all.json5"), "x");
    expect((await loadConfig(all, "main")).guard?.rules).toEqual([
      { place: "gateway.tools", deny: ["docs__delete_*", "files__write_file"] },
      { place: "agents.list[0].tools", deny: ["*"] },
    ]);
    const keyed = await fileOf(
      `{ agents: { entries: { ops: { tools: { deny: ["x__*"] } } } }, mcp: { servers: {} } }`,
      "x",
    );
    expect((await loadConfig(keyed, "ops")).guard?.rules).toEqual([
      { place: "agents.entries.ops.tools", deny: ["x__*"] },
    ]);
  });
});

describe("meanings of single keys", () => {
  const oneServer = async (content: string, name = "x") =>
    showAll(await loadConfig(await fileOf(content, name)))["a"];

  it.each<[string, string, Shown | undefined]>([
    [
      "Gemini's httpUrl comes before url",
      `{ mcpServers: { a: { url: "https://example.com/a", httpUrl: "https://example.com/b" } } }`,
      { url: "https://example.com/b", as: "http" },
    ],
    [
      "Gemini's list of allowed servers",
      `{ mcpServers: { a: { command: "a" } }, mcp: { allowed: ["b"] } }`,
      { off: true, run: ["a"] },
    ],
    [
      "Gemini's list of excluded servers",
      `{ mcpServers: { a: { command: "a" } }, mcp: { allowed: ["a"], excluded: ["a"] } }`,
      { off: true, run: ["a"] },
    ],
    [
      "arguments in Gemini's includeTools",
      `{ mcpServers: { a: { command: "a", includeTools: ["run(ls)", "b"] } } }`,
      { run: ["a"], allow: ["run", "b"] },
    ],
    [
      "milliseconds where Cline has seconds",
      `{ mcpServers: { a: { command: "a", alwaysAllow: [], timeout: 60000, disabledTools: ["t"] } } }`,
      { run: ["a"], deny: ["t"] },
    ],
    [
      "a timeout of more than a day",
      `{ mcpServers: { a: { command: "a", timeout: 100800000 } } }`,
      { run: ["a"], call: 86_400_000 },
    ],
    [
      "keys of ours in a file that may be ours under another name",
      `{ mcpServers: { a: { command: "a", toolPrefix: "p", tools: { deny: ["t"] } } } }`,
      { run: ["a"], toolPrefix: "p", deny: ["t"] },
    ],
    [
      "Copilot's list of tools and its word for a program",
      `{ mcpServers: { a: { type: "local", command: "a", tools: ["t"] } } }`,
      { run: ["a"], allow: ["t"] },
    ],
    [
      "two lists of what is refused",
      `{ mcpServers: { a: { command: "a", disabledTools: ["t"], tools: { deny: ["u"], allow: ["*"] } } } }`,
      { run: ["a"], allow: ["*"], deny: ["t", "u"] },
    ],
    [
      "a sign-in that Cline has kept",
      `{ mcpServers: { a: { transport: { type: "sse", url: "https://x" }, oauth: { tokens: {} }, oauthClient: { clientId: "c" } } } }`,
      { url: "https://x", as: "sse", oauth: { clientId: "c" } },
    ],
    [
      "timeouts of OpenCode in an object",
      `{ mcp: { a: { type: "local", command: ["a"], timeout: { startup: 1 } } } }`,
      { run: ["a"] },
    ],
    [
      "a variable that loads code into the program",
      `{ mcpServers: { a: { command: "a", env: { NODE_OPTIONS: "-r x" } } } }`,
      undefined,
    ],
    [
      "a transport that we do not have",
      `{ mcpServers: { a: { type: "ws", url: "wss://x" } }, "projects": { "/p": { mcpServers: {} } } }`,
      undefined,
    ],
    [
      "the older block in the settings of VS Code",
      `{ "editor.fontSize": 12, mcp: { servers: { a: { command: "\${input:my key}" } } } }`,
      { run: ["${MY_KEY}"] },
    ],
  ])("%s", async (_, content, expected) => {
    expect(await oneServer(content)).toEqual(expected);
  });

  it("gives names that we do not allow others, each of its own", async () => {
    const content = `{ mcpServers: {
      "a/b": { command: "1" }, "a-b": { command: "2" }, native: { command: "3" }, " x ": { command: "4" },
      "${"n".repeat(80)}": { command: "5" }, "a/b/": { command: "7" },
    } }`;
    const { servers } = await loadConfig(await fileOf(content, "x"));
    expect(
      servers.map(({ name, target }) => [name, target.kind === "stdio" && target.command]),
    ).toEqual([
      ["a-b-2", "1"],
      ["a-b", "2"],
      ["native-mcp", "3"],
      ["x", "4"],
      ["n".repeat(64), "5"],
      ["a-b-", "7"],
    ]);
  });
});

it("many names that become the same one cost no more than others", async () => {
  // Of the invisible characters none remains.
  const names = Array.from({ length: 6000 }, (_, index) =>
    index.toString(4).replace(/\d/g, (digit) => String.fromCodePoint(0x200b + Number(digit))),
  );
  const servers = Object.fromEntries(names.map((name) => [`a${name}`, { command: "a" }]));
  const file = await fileOf(JSON.stringify({ mcpServers: servers }), "x");
  const read = (await loadConfig(file)).servers.map(({ name }) => name);
  expect(new Set(read).size).toBe(names.length);
  expect(read.at(-1)).toBe("a-6000");
});

describe("what is wrong", () => {
  it.each<[string, string, string[]]>([
    [
      "mcp.json",
      `{ "mcpServers": { "a": { "command": 1, "args": "x" }, "b": 2, "c": {} } }`,
      [
        "FILE:1:37  mcpServers.a.command  is a number; expected a string",
        "FILE:1:48  mcpServers.a.args  is a string; expected a list",
        "FILE:1:60  mcpServers.b  is not an object; expected a server",
        'FILE:1:63  mcpServers.c  has neither "command" nor "url"; expected one of them',
      ],
    ],
    [
      "windsurf.json",
      `{ "mcpServers": { "a": { "serverUrl": "example", "disabledTools": "x", "disabled": "no" } } }`,
      [
        "FILE:1:39  mcpServers.a.serverUrl  is not a URL; expected one such as https://example.com/mcp",
        "FILE:1:67  mcpServers.a.disabledTools  is a string; expected a list",
        "FILE:1:84  mcpServers.a.disabled  is a string; expected true or false",
      ],
    ],
    [
      "config.toml",
      `[mcp_servers.a]
command = "x"
startup_timeout_sec = "long"

[mcp_servers.a.env]
A = ["b"]

[mcp_servers."b.c"]
url = "example"
http_headers = "x"
env_vars = ["1"]
bearer_token_env_var = "not a name"
`,
      [
        "FILE:3:1  mcp_servers.a.startup_timeout_sec  is not a number of seconds above 0",
        "FILE:6:1  mcp_servers.a.env.A  is a list; expected a string",
        'FILE:9:1  mcp_servers["b.c"].url  is not a URL; expected one such as https://example.com/mcp',
        'FILE:10:1  mcp_servers["b.c"].http_headers  is a string; expected an object',
        'FILE:11:1  mcp_servers["b.c"].env_vars[0]  is not the name of a variable',
        'FILE:12:1  mcp_servers["b.c"].bearer_token_env_var  is not the name of a variable',
      ],
    ],
    [
      "opencode.json",
      `{ "mcp": { "a": { "type": "local", "command": "npx" }, "b": { "type": "local", "command": ["x", 1, {}] }, "c": { "type": "ssh" } } }`,
      [
        "FILE:1:47  mcp.a.command  is not a list with a program in it; expected the program and its arguments",
        "FILE:1:97  mcp.b.command[1]  is a number; expected a string",
        "FILE:1:100  mcp.b.command[2]  is an object; expected a string",
        'FILE:1:107  mcp.c  has neither "command" nor "url"; expected one of them',
        "FILE:1:122  mcp.c.type  is not a kind of server; expected local or remote",
      ],
    ],
    [
      "settings.json",
      `{ "context_servers": { "a": { "command": { "path": 1, "args": ["x", null] } } } }`,
      [
        "FILE:1:52  context_servers.a.command.path  is a number; expected a string",
        "FILE:1:69  context_servers.a.command.args[1]  is null; expected a string",
      ],
    ],
    [
      "openclaw.json",
      `{ "mcp": { "servers": { "a": { "command": "x", "connectionTimeoutMs": 0.2 } } }, "agents": { "list": [{}] } }`,
      [
        "FILE:1:71  mcp.servers.a.connectionTimeoutMs  is 0; expected a whole number of milliseconds from 1 to 86400000",
        "FILE:1:103  agents.list[0].id  is missing; expected a string",
      ],
    ],
    [
      "mcptools.json",
      `{ "servers": { "a": { "type": "stdio", "comand": "x" } } }`,
      ['FILE:1:40  servers.a.comand  unknown key; did you mean "command"?'],
    ],
    [
      "transports.json",
      `{ "mcpServers": { "a": { "type": "ws", "url": "https://x.example" }, "b": { "transport": "htp", "url": "https://x.example" } } }`,
      [
        'FILE:1:34  mcpServers.a.type  is "ws"; expected one of stdio, http, sse, streamable-http',
        'FILE:1:90  mcpServers.b.transport  is "htp"; expected one of stdio, http, sse, streamable-http; did you mean "http"?',
      ],
    ],
    [
      "nameless.json",
      `{ "mcpServers": { "": { "command": "x" }, " \u200b": { "command": "x" } } }`,
      [
        'FILE:1:19  mcpServers[""]  has no name; expected one that can be read, before the server',
        'FILE:1:43  mcpServers[" \\u{200b}"]  has no name; expected one that can be read, before the server',
      ],
    ],
    [
      "guarded.json",
      `{ "mcpServers": { "a": { "command": "x" } }, "approval": "destructive" }`,
      ["FILE:1:46  approval  unknown key; it belongs in agents.defaults.tools.approval"],
    ],
    [
      "ruled.json",
      `{ "mcpServers": { "a": { "command": "x", "deny": ["write_*"] } } }`,
      ["FILE:1:42  mcpServers.a.deny  unknown key; it belongs in tools.deny"],
    ],
    ["broken.toml", `[mcp_servers.a]\ncommand = \n`, ["FILE:2:11  is not TOML: invalid value"]],
    [
      "nobodys.json",
      `{ "plugins": [] }`,
      [
        'FILE:1:1  has no servers that Plugboard can find; expected "mcpServers", or a file of Codex, Zed, OpenCode, VS Code, OpenClaw, Claude Code, tsagent, Gemini CLI, Cline, Windsurf, Cursor, Claude Desktop or MCPtools',
        "FILE:1:3  plugins  unknown key; expected mcpServers, servers, agents, gateway, secrets, network, acp, registry, audit or models",
      ],
    ],
    [
      "plugboard.json",
      `{ "context_servers": { "a": { "command": "x" } } }`,
      [
        "FILE:1:3  context_servers  unknown key; servers belong in mcpServers, or in agents.defaults.mcp.servers",
      ],
    ],
  ])("is told at its place in %s, in the words of the file", async (name, content, expected) => {
    const file = await fileOf(content, name);
    const error = await failure(() => loadConfig(file));
    expect(error.code).toBe("CONFIG_INVALID");
    expect(problemLines(error, file)).toEqual(expected);
  });

  it("is a warning if a key was misspelled, since other keys are ignored", async () => {
    const file = await fileOf(
      `{ mcpServers: { a: { command: "a", headrs: {}, icon: "x" } } }`,
      "x",
    );
    const agent = await loadConfig(file);
    expect(lines(agent.warnings)).toEqual([
      '1:36  mcpServers.a.headrs  is ignored; did you mean "headers"?',
    ]);
    expect(lines(agent.notes).at(-1)).toBe(
      '1:17  mcpServers.a  has keys without a meaning here, ignored: "icon"',
    );
  });
});

describe("a block of ours", () => {
  const BLOCKS: Record<string, unknown> = {
    agents: { defaults: { tools: { deny: ["*/write"], approval: "ask" } } },
    gateway: { port: 7000, limits: { sessions: 1 } },
    secrets: { vault: { address: "https://vault.example" } },
    network: { allow: [] },
    acp: { owner: false },
    registry: "https://registry.example",
    audit: { arguments: true },
    models: { providers: { lab: { type: "openai" } } },
    tools: { approval: "ask" },
    pins: "block",
  };
  /** As deep as our blocks go. */
  const merged = (one: unknown, other: unknown): unknown =>
    isJsonObject(one) && isJsonObject(other)
      ? Object.fromEntries(
          [...new Set([...Object.keys(one), ...Object.keys(other)])].map((key) => [
            key,
            Object.hasOwn(one, key) && Object.hasOwn(other, key)
              ? merged(one[key], other[key])
              : (other[key] ?? one[key]),
          ]),
        )
      : other;

  const contentOf = async (name: string): Promise<unknown> =>
    (await readDocument(join(FIXTURES, name))).value;

  it.each(
    CASES.flatMap(({ fixture: name }) =>
      Object.keys(BLOCKS).map((block): [string, string] => [block, name]),
    ),
  )("%s in %s, with a key that nobody knows, is never ignored", async (block, name) => {
    const content = merged(await contentOf(name), { [block]: BLOCKS[block], _comment: "x" });
    const read = loadConfig(await fileOf(JSON.stringify(content), "some-file"));
    // OpenClaw has a block of this name with providers in it.
    if (block === "models" && name.startsWith("openclaw"))
      await expect(read).resolves.toBeDefined();
    else await expect(read).rejects.toThrow("_comment  unknown key");
  });

  it.each([
    ["a rule of an agent", { agents: { defaults: { pins: "block" } } }, "agents.defaults.pins"],
    [
      "a rule of one agent",
      { agents: { list: [{ id: "a", tools: { ownerOnly: true } }] } },
      "agents.list[0].tools.ownerOnly",
    ],
    ["a setting of the gateway", { gateway: { quotas: {} } }, "gateway.quotas"],
  ])("%s in a file of OpenClaw is named", async (_, ours, place) => {
    const content = { channels: {}, mcp: { servers: {} }, ...ours };
    const file = await fileOf(JSON.stringify(content), "openclaw.json");
    const error = await failure(() => loadConfig(file));
    const message =
      "is a key of Plugboard's own file, so this is not read as a file of OpenClaw; put it into a file of its own, or take it out";
    expect(error.problems).toContainEqual(expect.objectContaining({ path: place, message }));
  });

  it.each([
    ["claude-code.mcp.json", "gatewy", "gateway"],
    ["cursor.json", "agnets", "agents"],
    ["gemini.json", "netwrok", "network"],
    ["mcptools.json", "agent", "agents"],
    ["windsurf.json", "Audit", "audit"],
  ])("that is misspelled in %s, %s, is a warning of its own", async (name, key, meant) => {
    const content = merged(await contentOf(name), { [key]: {}, strange: 1 });
    const { warnings } = await loadConfig(await fileOf(JSON.stringify(content), "some-file"));
    expect(warnings).toContainEqual(
      expect.objectContaining({ path: key, suggestion: meant, isMisspelledBlock: true }),
    );
    expect(lines(warnings)).toContainEqual(
      expect.stringMatching(/ has keys that neither Plugboard nor .* knows, ignored: "strange"$/),
    );
  });

  it("is not looked for in a file with all settings of an application, or at its own place", async () => {
    for (const [content, name] of [
      ['{ "context_servers": {}, "audio": {}, "strange": 1 }', "settings.json"],
      ['{ "mcpServers": {}, "strange": 1 }', ".cursor/mcp.json"],
      ['{ "mcpServers": {}, "agents": { "overrides": {} } }', ".gemini/settings.json"],
    ] as const) {
      expect((await loadConfig(await fileOf(content, name))).warnings).toEqual([]);
    }
  });
});

describe("trust in a file of another application", () => {
  it.each(CASES)("covers what $fixture starts", async ({ fixture: name, servers }) => {
    const file = join(FIXTURES, name);
    const agent = await loadConfig(file);
    const { all } = await readLaunches(file);
    const started = Object.entries(servers).filter(([, { off }]) => off !== true);
    const launches = all.filter(({ kind, name: path }) => kind === "server" && !path.includes("/"));
    expect(launches.map((launch) => launch.name)).toEqual(started.map(([server]) => server));
    expect(basename(agent.file ?? "")).toBe(name);
  });
});
