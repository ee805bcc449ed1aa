import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { ownerName } from "../../../src/core/state/process-owner.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

/** No shell is asked for its PATH, and no key of whoever runs the test is used. */
const env = { SHELL: "/bin/false" };

interface ShownFinding {
  group: string;
  level: string;
  check: string;
  subject?: string;
  message: string;
  remedy?: string;
  fix?: string;
  fixed?: string;
}

interface Doctor {
  code: number;
  ok: boolean;
  findings: ShownFinding[];
  /** Those that are not all right, as `level check`. */
  wrong: string[];
  stdout: string;
}

async function doctor(...argv: string[]): Promise<Doctor> {
  return examine(argv);
}

async function examine(
  argv: readonly string[],
  more: Parameters<typeof scratch.run>[1] = {},
): Promise<Doctor> {
  const { code, stdout } = await scratch.run(["doctor", "--json", ...argv], {
    ...more,
    env: { ...env, ...more.env },
  });
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: ShownFinding[] };
  // Another test that runs now may have left processes behind.
  const wrong = findings.filter((each) => each.level !== "ok" && each.check !== "stale-processes");
  return {
    code,
    ok,
    findings,
    wrong: wrong.map(({ level, check }) => `${level} ${check}`),
    stdout,
  };
}

function put(name: string, content: string | object): string {
  mkdirSync(dirname(join(scratch.directory, name)), { recursive: true });
  return scratch.file(name, content);
}

/** A process that has ended: its id is this one's, and it was started at another time. */
const ENDED = ownerName().replace(/-\d+$/, "-1");

describe("plugboard doctor", () => {
  it("says without a configuration what to do first, and that nothing is broken", async () => {
    const { code, ok, wrong, findings } = await doctor();
    expect({ code, ok, wrong }).toEqual({
      code: 0,
      ok: true,
      wrong: ["note no-config", "note no-model"],
    });
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining(["node-version", "platform", "npm", "state-directory"]),
    );
  });

  it("names every mistake of a file with its place, and goes on with what needs no file", async () => {
    const file = put("plugboard.json", {
      mcpServers: { docs: { url: "not a url" }, files: { commnd: "npx" } },
    });
    put(".cursor/mcp.json", { mcpServers: { other: { command: "other" } } });
    const { code, wrong, findings } = await doctor("--config", file);
    expect({ code, wrong }).toEqual({
      code: 1,
      wrong: [
        "broken config-invalid",
        "broken config-invalid",
        "note no-model",
        "note application-not-connected",
        "note servers-to-import",
      ],
    });
    const [url, key] = findings.filter(({ check }) => check === "config-invalid");
    expect(url).toMatchObject({ message: expect.stringMatching(/plugboard\.json:1:\d+ .*url/) });
    expect(key).toMatchObject({
      message: expect.stringContaining('did you mean "command"?'),
      remedy: `write "command" in line 1 of ${file}`,
    });
  });

  it("says that a file of another application is fine as it is", async () => {
    const file = put("claude_desktop_config.json", { mcpServers: {} });
    const { findings } = await doctor("--config", file);
    expect(findings.find(({ check }) => check === "config-note")).toMatchObject({
      message: expect.stringContaining("a file of Claude Desktop"),
      remedy: "you need to do nothing: Plugboard uses its servers as they are",
    });
  });

  it("says what keeps a named file from being used", async () => {
    const { code, findings } = await doctor("--config", "nowhere.json");
    expect(code).toBe(1);
    expect(findings.find(({ level }) => level === "broken")).toMatchObject({
      check: "config-invalid",
      message: expect.stringContaining("there is no such file; it was named by --config"),
    });
  });

  it("tells a file that is not trusted from one that is used without it", async () => {
    put("plugboard.json", { mcpServers: { docs: { command: "docs" } } });
    expect(await doctor()).toMatchObject({
      code: 1,
      wrong: ["broken config-untrusted", "note no-model"],
    });
    put("home/plugboard.json", { mcpServers: {} });
    expect(await doctor()).toMatchObject({
      code: 0,
      wrong: ["note no-servers", "warning config-untrusted", "note no-model"],
    });
  });

  it.each<[string, object, object, boolean]>([
    ["nothing", {}, {}, true],
    ["never", { tools: { approval: "never" } }, {}, false],
    ["ask", { tools: { approval: "ask" } }, {}, false],
    ["ask for one server", {}, { approval: "ask" }, false],
    ["ask for one tool", {}, { approval: { tools: { x: "ask" } } }, false],
    ["ask for a server that is off", {}, { approval: "ask", enabled: false }, true],
  ])(
    "offers the line for approval where the file says %s: %j %j",
    async (_, agent, server, isOffered) => {
      const off = { command: "node", args: ["--version"], enabled: false };
      const servers = { off, docs: { ...off, enabled: true, ...server } };
      const file = put("plugboard.json", { agents: { defaults: { ...agent, mcp: { servers } } } });
      const { findings } = await doctor("--config", file);
      const found = findings.filter(({ check }) => check === "approval-unset");
      const remedy = `to be asked, put "tools": { "approval": "ask" } into agents.defaults of ${file};`;
      expect(found).toEqual(
        isOffered
          ? [
              expect.objectContaining({
                level: "note",
                message: expect.stringContaining("runs its calls unasked"),
                remedy: expect.stringContaining(remedy),
              }),
            ]
          : [],
      );
    },
  );

  it("names secrets that cannot be had, and credentials that are written out, without their values", async () => {
    const key = "sk-abcdefghijklmnopqrstuvwxyz0123456789";
    const file = put("plugboard.json", {
      mcpServers: {
        docs: { url: "https://127.0.0.1:9/mcp", headers: { Authorization: "Bearer ${UNSET}" } },
        plain: { command: "node", args: ["--version"], env: { API_TOKEN: key }, enabled: false },
      },
      models: { providers: { own: { type: "openai", apiKey: "${NO_KEY}" } } },
    });
    const { code, findings, stdout } = await doctor("--config", file);
    expect(code).toBe(1);
    expect(findings.find(({ check }) => check === "config-warning")).toMatchObject({
      level: "warning",
      message: expect.stringContaining("plaintext credentials"),
      remedy: "to put it where only you can read it: plugboard secrets move plain env.API_TOKEN",
    });
    // It is also why the server does not start, and is told once.
    expect(findings.filter(({ message }) => message.includes("UNSET"))).toEqual([
      expect.objectContaining({ level: "broken", subject: "docs", group: "Servers" }),
    ]);
    expect(findings.filter(({ check }) => check === "secret")).toEqual([
      expect.objectContaining({
        level: "broken",
        subject: "models.providers.own.apiKey",
        message: expect.stringContaining("NO_KEY, which is not set"),
      }),
    ]);
    expect(stdout).not.toContain(key);
  });

  it("works where the working directory is gone, and says so", async () => {
    const gone = (): never => {
      throw Object.assign(new Error("no such directory"), { code: "ENOENT", syscall: "uv_cwd" });
    };
    expect(await examine([], { cwd: gone })).toMatchObject({
      code: 1,
      wrong: ["broken working-directory", "note no-config", "note no-model"],
    });
  });

  it("works without a PATH, and says so", async () => {
    expect(await examine([], { env: { PATH: "" } })).toMatchObject({
      code: 1,
      wrong: ["broken path", "note no-config", "note no-model"],
    });
  });

  it("works where something else is in the place of Plugboard's home", async () => {
    put("home", "not a directory");
    const { code, findings } = await doctor();
    expect(code).toBe(1);
    expect(findings.find(({ check }) => check === "state-directory")).toMatchObject({
      level: "broken",
      message: expect.stringContaining("is not a directory"),
      remedy: expect.stringContaining("PLUGBOARD_HOME"),
    });
  });

  it("uses nothing of a configuration that others could have written, until --fix has ended that", async () => {
    put("home/plugboard.json", {
      mcpServers: { docs: { command: "docs", env: { A: "${UNSET}" } } },
    });
    const home = join(scratch.directory, "home");
    chmodSync(home, 0o777);
    expect((await doctor()).wrong).toEqual([
      "broken state-writable",
      "note config-withheld",
      "note no-model",
    ]);
    const mended = await doctor("--fix");
    expect(mended.wrong).toContain("broken variable-not-set");
    expect(mended.findings.find(({ check }) => check === "state-writable")).toMatchObject({
      level: "ok",
      fixed: expect.stringContaining(`only you can write ${home} now`),
    });
    expect(statSync(home).mode & 0o777).toBe(0o755);
  });

  it("removes with --fix what processes left that no longer run, and nothing of others", async () => {
    const lock = put("home/auth/grant-1.json.lock", { token: "t", owner: ENDED });
    const held = put("home/pins/docs.lock", { token: "t", owner: ownerName() });
    // As packages have them, and as old as can be.
    const foreign = ["home/yarn.lock", "home/bundles/tool/poetry.lock"].map((name) =>
      put(name, "{}"),
    );
    for (const path of foreign) utimesSync(path, 0, 0);
    const note = put("home/gateway/0123.json", {
      pid: 1,
      since: 1,
      version: "0.1.0",
      owner: ENDED,
    });
    const key = put("home/auth/grant-1.json", { tokens: {} });
    chmodSync(key, 0o644);
    const half = put("home/pins/docs.json.0123456789ab.tmp", "{");
    const writing = put("home/pins/docs.json.ba9876543210.tmp", "{");
    utimesSync(half, 0, 0);
    const before = await doctor();
    expect(before.wrong).toEqual([
      "warning state-readable",
      "note stale-locks",
      "note stale-gateways",
      "note stale-files",
      "note no-config",
      "note no-model",
    ]);
    expect(before.findings.flatMap(({ fix }) => fix ?? [])).toEqual([
      `make ${key} readable for you alone`,
      `remove ${lock}`,
      `remove ${note}`,
      `remove ${half}`,
    ]);
    expect([lock, note].map(existsSync)).toEqual([true, true]);
    const after = await doctor("--fix");
    expect(after.wrong).toEqual(["note no-config", "note no-model"]);
    expect(after.findings.flatMap(({ fixed }) => fixed ?? [])).toEqual([
      `only you can read ${key} now`,
      "removed 1 lock",
      "removed 1 record",
      "removed 1 file",
    ]);
    expect([half, writing].map(existsSync)).toEqual([false, true]);
    expect([lock, note, held, key].map(existsSync)).toEqual([false, false, true, true]);
    expect(foreign.map(existsSync)).toEqual([true, true]);
    expect(statSync(key).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["a link", "outside.json", "trust.json"],
    ["a link to the directory around it", "", "pins"],
  ])("does not follow %s to change the rights of what is behind it", async (_, target, link) => {
    const outside = put("elsewhere/outside.json", {});
    chmodSync(outside, 0o666);
    mkdirSync(join(scratch.directory, "home"));
    const behind = join(scratch.directory, "elsewhere", target);
    symlinkSync(behind, join(scratch.directory, "home", link));
    const { code, wrong } = await doctor("--fix");
    expect({ code, wrong: wrong[0] }).toEqual({ code: 1, wrong: "broken state-writable" });
    expect(statSync(outside).mode & 0o777).toBe(0o666);
  });

  it("finds an application whose entry names a program that is gone", async () => {
    put(".claude.json", {
      mcpServers: { plugboard: { command: "/gone/node", args: ["/gone/dist/bin.cjs", "serve"] } },
    });
    const { code, findings } = await doctor();
    expect(code).toBe(1);
    expect(findings.find(({ level }) => level === "broken")).toMatchObject({
      check: "application-broken",
      message: expect.stringContaining("/gone/node is gone"),
      remedy: "to connect it again: plugboard connect claude-code",
    });
  });

  it.each([
    ["the provider", "nosuch/model", "no model provider is named 'nosuch'"],
    ["the key", "anthropic/claude-sonnet-5", "ANTHROPIC_API_KEY is not set"],
    ["Ollama", "ollama/llama", "ollama cannot be reached"],
  ])("says of a configured model that it lacks %s", async (_, model, message) => {
    const file = put("plugboard.json", { agents: { defaults: { model } } });
    const { code, findings } = await doctor("--config", file);
    expect(code).toBe(1);
    expect(findings.filter(({ group }) => group === "Model")).toEqual([
      expect.objectContaining({ level: "broken", message: expect.stringContaining(message) }),
    ]);
  });

  it("looks at one server alone, and refuses one that is not there", async () => {
    const file = put("plugboard.json", {
      mcpServers: {
        docs: { command: "docs", enabled: false },
        db: { command: "db", enabled: false },
      },
    });
    const { code, findings } = await doctor("docs", "--config", file);
    expect(code).toBe(0);
    expect(new Set(findings.map(({ group }) => group))).toEqual(
      new Set(["Plugboard's own files", "Configuration", "Servers"]),
    );
    const { code: usage, stderr } = await scratch.run(["doctor", "dosc", "--config", file], {
      env,
    });
    expect({ usage, stderr }).toMatchObject({
      usage: 2,
      stderr: expect.stringContaining("did you mean 'docs'?"),
    });
  });

  it.each([40, 80, 120])("fits a terminal of %i columns, except for commands", async (columns) => {
    const file = put("plugboard.json", { mcpServers: { docs: { commnd: "docs" } } });
    const { stdout } = await scratch.run(["doctor", "--no-color", "--config", file], {
      env,
      stdout: new Sink({ columns }),
    });
    const lines = stdout.split("\n").filter((line) => !/^ +plugboard /.test(line));
    expect(lines).toContain("1 broken, 1 note");
    // A path is one word, and stays whole so that it can be copied.
    const long = lines.filter((line) => line.length > columns);
    expect(long.filter((line) => !line.includes(scratch.directory))).toEqual([]);
  });
});
