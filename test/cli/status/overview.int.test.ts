import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { MovableClock } from "../../support/movable-clock.ts";
import { fixture } from "../../support/boards.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

/** What is remembered for so long is asked for again. */
const DAY_AND_MORE = 25 * 3_600_000;

const some = () => ({
  echo: fixture("echo"),
  missing: { command: "no-such-command" },
  dies: fixture("exit-at-once", "--code=3"),
  off: { command: "node", enabled: false },
});

const well = {
  id: "well",
  mcp: { servers: { missing: { enabled: false }, dies: { enabled: false } } },
};

describe("plugboard", () => {
  it("shows every server with its state, tools and prompt tokens, and why one is not ready", async () => {
    scratch.servers({ ...some(), dies: { ...some().dies, maxRestarts: 0 } });
    const { code, stdout } = await scratch.run([]);
    const [head, , titles, ...lines] = stdout.split("\n");
    expect(code).toBe(0);
    expect(head).toBe(
      `${join(scratch.directory, "servers.json")}, servers started for this command`,
    );
    expect(titles).toMatch(/^server +state +tools +start +prompt tokens$/);
    expect(lines[0]).toMatch(/^echo +✓ ready +11 +[\d.]+ m?s +~\d+$/);
    expect(lines[1]).toMatch(/^missing +✗ failed$/);
    expect(lines[2]).toMatch(/^ {4}.*no-such-command.*not found/i);
    expect(stdout).toMatch(
      /^dies +✗ failed\n {4}.*code 3\n {4}the next command starts it again\n/m,
    );
    expect(stdout).toMatch(/^off +○ disabled$/m);
    expect(stdout).toMatch(/^4 servers, 11 tools, ~\d+ tokens in a prompt, 2 not ready$/m);
    expect(stdout).toMatch(/\n\nplugboard doctor says what to do\.\n$/);
  });

  it("without a configuration says whose servers it would bring, if there are any", async () => {
    const nowhere = { env: { PLUGBOARD_CONFIG: "" } };
    expect((await scratch.run([], nowhere)).stdout).toMatch(
      /import --write +bring the servers of /,
    );
    scratch.file(".claude.json", { mcpServers: { echo: { command: "node" } } });
    const { stdout } = await scratch.run([], nowhere);
    expect(stdout).toMatch(/import --write +bring your servers of Claude Code$/m);
    const { stderr } = await scratch.run(["connect", "claude-code", "--yes"], nowhere);
    expect(stderr).toContain("To bring yours:\n  plugboard import --write");
  });

  it.each([
    [["--check"], 3],
    [["list", "--check", "--json"], 3],
    [["--check", "--agent", "well"], 0],
  ])("%j exits with 3 if a server failed", async (argv, code) => {
    const agents = { defaults: { mcp: { servers: some() } }, list: [well] };
    const file = scratch.file("agents.json", { agents });
    expect((await scratch.run(["--config", file, ...argv])).code).toBe(code);
  });

  it("says where to read more about each that failed, but not about many", async () => {
    const missing = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`s${at}`, { command: "no-such-command" }]),
      );
    scratch.servers(missing(3));
    expect((await scratch.run([])).stdout.match(/more: plugboard help SPAWN_FAILED/g)).toHaveLength(
      3,
    );
    scratch.servers(missing(4));
    expect((await scratch.run([])).stdout).not.toContain("more:");
  });

  it("says how long everything took to be ready", async () => {
    scratch.servers({ echo: fixture("echo") });
    const { stdout } = await scratch.run([]);
    expect(stdout).toMatch(/^1 server, 11 tools, ~\d+ tokens in a prompt, ready in [\d.]+ m?s\n$/m);
  });

  it("fits a terminal", async () => {
    scratch.servers(some());
    const stdout = new Sink({ columns: 40 });
    await scratch.run([], { stdout, env: { NO_COLOR: "1" } });
    const table = stdout.text.split("\n").slice(2, -5);
    expect(Math.max(...table.map((line) => line.length))).toBeLessThanOrEqual(40);
  });

  it("shows rules that match no tool, in words and in JSON", async () => {
    const file = scratch.file("rules.json", {
      agents: {
        defaults: {
          tools: { deny: ["mcp_echo_crahs", "mcp_echo_crash"] },
          mcp: { servers: { echo: fixture("echo") } },
        },
      },
    });
    const problem = "matches no tool; did you mean echo/crash?";
    const { stdout, stderr } = await scratch.run(["--config", file]);
    expect(stdout).toMatch(
      `\n\n! the rule "mcp_echo_crahs" in agents.defaults.tools.deny ${problem}\n`,
    );
    expect(stderr).not.toContain("crahs");
    const json = await scratch.run(["--config", file, "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      unmatchedRules: [{ rule: "mcp_echo_crahs", setting: "agents.defaults.tools.deny", problem }],
    });
  });

  it("waits for the first attempt of each server, and calls those that did not make it failed", async () => {
    const state = join(scratch.directory, "starts");
    scratch.servers({
      flaky: fixture("flaky-start", "--fail=1", `--state=${state}`),
      mute: { ...fixture("never-initialize"), timeout: 1500 },
    });
    const { code, stdout } = await scratch.run(["--log-level", "silent"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^flaky +✗ failed\n {4}the server exited with code 1/m);
    expect(stdout).toMatch(/^mute +✗ failed\n {4}the server did not answer within 1.5 s/m);
    expect(scratch.read("starts")).toBe("1");
  });

  it("prints JSON with --json", async () => {
    scratch.servers(some());
    const { code, stdout } = await scratch.run(["--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      config: { source: "environment", file: join(scratch.directory, "servers.json") },
      agent: "default",
      servers: [
        {
          name: "echo",
          state: { kind: "ready", startMs: expect.any(Number), pid: expect.any(Number) },
          tools: 11,
          cached: false,
          promptTokens: expect.any(Number),
        },
        { name: "missing", state: { kind: "failed", error: { code: "SPAWN_FAILED" } }, tools: 0 },
        { name: "dies", state: { kind: "failed", error: { code: expect.any(String) } } },
        { name: "off", state: { kind: "disabled" }, promptTokens: 0 },
      ],
      totals: { servers: 4, ready: 1, tools: 11, promptTokens: expect.any(Number) },
    });
  });

  it("counts the tools of a server whose password is its name", async () => {
    scratch.servers({ postgres: fixture("echo", "postgres://postgres:postgres@localhost/x") });
    const { stdout, stderr } = await scratch.run([]);
    expect(stdout).toMatch(/^postgres +✓ ready +11 /m);
    expect(stderr.split("\n")).toEqual([
      expect.stringContaining("MCP server 'postgres' has plaintext credentials in config"),
      "warn  postgres: the credential in args is too short or too common to protect: results that contain it are not redacted",
      "",
    ]);
    const status = await scratch.run(["status"]);
    expect(status.stdout).toContain("postgres://postgres:[REDACTED]@localhost/x");
  });

  it("names a credential that is written out once, with the command that puts it away", async () => {
    const secret = { ...fixture("echo"), env: { API_KEY: "k3y-of-mine-that-is-long" } };
    mkdirSync(join(scratch.directory, "home"), { recursive: true });
    scratch.servers({ one: secret, two: secret });
    const warned = async (...argv: string[]): Promise<string> => (await scratch.run(argv)).stderr;
    expect(await warned("call", "one/echo", "text=hi")).toMatch(
      /'one' has plaintext [^\n]*:\n +plugboard secrets move one env\.API_KEY\n$/,
    );
    expect(await warned()).toMatch(/'two' has plaintext [^\n]*:\n +plugboard [^\n]*\n$/);
    expect(await warned()).not.toContain("plaintext");
    const { stdout } = await scratch.run(["doctor"]);
    for (const name of ["one", "two"]) expect(stdout).toContain(`'${name}' has plaintext`);
  });

  it("uses the agent given with --agent", async () => {
    const file = scratch.file("agents.json", {
      agents: {
        defaults: { mcp: { servers: { echo: fixture("echo") } } },
        list: [{ id: "quiet", mcp: { servers: { echo: { enabled: false } } } }],
      },
    });
    const { stdout } = await scratch.run(["--config", file, "--agent", "quiet"]);
    expect(stdout.split("\n")[0]).toBe(`${file}, agent quiet, servers started for this command`);
    expect(stdout).toContain("echo    ○ disabled");
  });

  it("does not start what an earlier run knows and says so, unless you ask or the last start failed", async () => {
    const ran = join(scratch.directory, "starts");
    const isTime = scratch.file("is-time", {});
    const starts = (): number => (existsSync(ran) ? Number(scratch.read("starts")) : 0);
    scratch.servers({
      counted: fixture("flaky-start", "--fail=0", `--state=${ran}`),
      lazy: { ...fixture("slow-start", "--ms=0"), lazy: true },
      gone: { ...fixture("slow-start", `--until=${isTime}`), timeout: 1500 },
    });
    const shown = async (...argv: string[]): Promise<string> => (await scratch.run(argv)).stdout;
    expect(await shown()).toMatch(/^counted +✓ ready[^]*^lazy +✓ ready[^]*^gone +✓ ready/m);
    expect(starts()).toBe(1);
    const warm = await shown();
    expect(warm.split("\n")[0]).toMatch(/, no server started for this command$/);
    expect(warm).toMatch(
      /^counted +○ idle +\d+ +~\d+ +remembered\nlazy +○ idle +1 +~\d+ +remembered\ngone +○ idle/m,
    );
    expect(warm).toMatch(
      /in a prompt\n\n3 servers not started: you see what an earlier run knew. To ask now:\n {2}plugboard --refresh\n$/,
    );
    expect(starts()).toBe(1);

    rmSync(isTime);
    expect(await shown("--check")).toMatch(
      /^counted +✓ ready[^]*^lazy +○ idle[^]*^gone +✗ failed/m,
    );
    expect(starts()).toBe(2);
    // Nothing is remembered as well that has failed since.
    expect(await shown()).toMatch(/^counted +○ idle[^]*^gone +✗ failed/m);
    scratch.file("is-time", {});
    expect(await shown()).toMatch(/^counted +○ idle[^]*^gone +✓ ready/m);
    expect(await shown()).toMatch(/^gone +○ idle/m);
    expect(starts()).toBe(2);
    expect(await shown("list", "--refresh")).toMatch(
      /^counted +✓ ready[^]*^lazy +✓ ready[^]*^gone +✓ ready/m,
    );
    expect(starts()).toBe(3);
  });

  it("asks a server again that could not list its tools the last time", async () => {
    const isTime = scratch.file("is-time", {});
    const refuses = ["--refuses=tools/list", `--until=${isTime}`];
    scratch.servers({
      listing: fixture("advertises-then-refuses", ...refuses),
      none: fixture("no-tools"),
    });
    const shown = async (...argv: string[]): Promise<string> =>
      (await scratch.run(["--log-level", "silent", ...argv])).stdout;
    await shown();
    expect(await shown()).toMatch(
      /^listing +○ idle +1 +~\d+ +remembered\nnone +○ idle +0 +remembered$/m,
    );
    rmSync(isTime);
    const failing = /^listing +✓ ready[^]*\n {4}.*tools/m;
    expect(await shown("--refresh")).toMatch(failing);
    expect(await shown()).toMatch(failing);
    scratch.file("is-time", {});
    expect(await shown()).toMatch(/^listing +✓ ready +1 /m);
    expect(await shown()).toMatch(/^listing +○ idle +1 /m);
  });

  it("does not show as remembered what would fail now, because a variable is not set", async () => {
    scratch.servers({ echo: { ...fixture("echo"), env: { KEY: "${KEY_OF_MINE}" } } });
    const shown = async (env: Record<string, string>): Promise<string> =>
      (await scratch.run([], { env })).stdout;
    await shown({ KEY_OF_MINE: "k" });
    expect(await shown({ KEY_OF_MINE: "k" })).toMatch(/^echo +○ idle/m);
    expect(await shown({})).toMatch(/^echo +✗ failed[^]*KEY_OF_MINE/m);
  });

  it("says how old what it remembers is, and starts what is older than a day", async () => {
    scratch.servers({ echo: fixture("echo") });
    const clock = new MovableClock();
    const shown = async (): Promise<string> => (await scratch.run([], { clock })).stdout;
    await shown();
    clock.forward(3 * 3_600_000);
    expect(await shown()).toMatch(/^echo +○ idle +11 +~\d+ +remembered, 3 h old$/m);
    clock.forward(DAY_AND_MORE);
    expect(await shown()).toMatch(/^echo +✓ ready +11 /m);
  });

  it("does not wait longer than startupWait", async () => {
    const file = scratch.file("hasty.json", {
      agents: {
        defaults: {
          mcp: { servers: { mute: fixture("never-initialize") }, startupWait: 100 },
        },
      },
    });
    const { code, stdout } = await scratch.run(["--config", file]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^mute +◌ starting\n {4}still starting; it did not become ready in time/m,
    );
  });

  it("does not wait for a server that hangs where earlier runs know its tools, unless it checks", async () => {
    const isTime = scratch.file("is-time", {});
    scratch.servers({ slow: fixture("slow-start", `--until=${isTime}`) });
    await scratch.run([]);
    rmSync(isTime);
    const clock = new MovableClock();
    clock.forward(DAY_AND_MORE);
    const running = scratch.start([], { clock });
    const checking = scratch.start(["--check", "--json"]);
    const moves = setInterval(() => clock.forward(1000), 100);
    const { stdout } = await running.done.finally(() => clearInterval(moves));
    expect(stdout).toMatch(/^slow +◌ starting +1 +~\d+ +remembered, 25 h old\n/m);
    expect(stdout).toMatch(/1 not ready\n\nplugboard --check waits for every server\.\n$/);
    scratch.file("is-time", {});
    expect(JSON.parse((await checking.done).stdout)).toMatchObject({ totals: { ready: 1 } });
  });

  it("says that there are no servers, and how to add one", async () => {
    scratch.servers({});
    expect((await scratch.run([])).stdout).toBe(
      `${join(scratch.directory, "servers.json")}\n\nno servers are configured; to add one:\n  plugboard add <name> -- <command>\n`,
    );
    expect((await scratch.run(["status"])).stdout).toBe("no servers are configured\n");
  });

  it("shows on a terminal how servers start, and clears it away", async () => {
    scratch.servers({ echo: fixture("echo"), slow: fixture("slow-start", "--ms=1000") });
    const stderr = new Sink({ columns: 80, rows: 24 });
    const { code, stdout } = await scratch.run([], { stderr, env: { NO_COLOR: "1" } });
    expect(code).toBe(0);
    expect(stderr.text).toMatch(/\[2Kslow +[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] starting/);
    expect(stderr.text.endsWith("\u001b[3A\r\u001b[J")).toBe(true);
    expect(stdout).toMatch(/^slow +✓ ready/m);
  });

  it("shows on a terminal at once what earlier runs know, and the states as they come", async () => {
    const isTime = scratch.file("is-time", {});
    scratch.servers({ echo: fixture("echo"), slow: fixture("slow-start", `--until=${isTime}`) });
    await scratch.run([]);
    rmSync(isTime);
    const stderr = new Sink({ columns: 80, rows: 24 });
    const clock = new MovableClock();
    clock.forward(DAY_AND_MORE);
    const running = scratch.start([], { stderr, clock, env: { NO_COLOR: "1" } });
    await stderr.until(/\[2Kslow +\S starting +1 +~\d+ +remembered, 25 h old/);
    await stderr.until(/\[2Kecho +✓ ready +\d+ +\d.*s +~\d/);
    scratch.file("is-time", {});
    expect((await running.done).stdout).toMatch(/^slow +✓ ready +1 +\d/m);
  });
});
