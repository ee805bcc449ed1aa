// Commands in a directory with a plugboard.json, run by somebody who has a file of their own too.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { ServerConfig } from "../../../src/core/types/server-config.ts";
import { fixture } from "../../support/boards.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

const own = (): string => join(scratch.directory, "home/plugboard.json");
const project = (): string => join(scratch.directory, "plugboard.json");

function write(path: string, servers: Record<string, ServerConfig>, settings: object = {}): void {
  writeFileSync(path, JSON.stringify({ agents: { defaults: { ...settings, mcp: { servers } } } }));
}

const echo = (): ServerConfig => fixture("echo");
const off = (): ServerConfig => ({ ...fixture("echo"), enabled: false });

beforeEach(() => {
  mkdirSync(join(scratch.directory, "home"), { mode: 0o700 });
  write(own(), { mine: echo(), both: off() });
});

const json = async (argv: string[]): Promise<Record<string, never>> =>
  JSON.parse((await scratch.run([...argv, "--json"])).stdout) as Record<string, never>;

interface Overview {
  config: object;
  servers: { name: string; from?: object; state: { kind: string } }[];
}

async function overview(...argv: string[]): Promise<Overview> {
  return (await json(argv)) as unknown as Overview;
}

describe("a project's file that is not trusted", () => {
  beforeEach(() => write(project(), { theirs: echo(), both: echo() }, { tools: { allow: [] } }));

  it("is told about, and your own servers are used", async () => {
    const { code, stdout, stderr } = await scratch.run(["call", "mine/echo", "text=hi"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "hi\n" });
    const lines = stderr.split("\n");
    expect(lines[0]).toBe(
      `plugboard: ${project()} is not trusted yet, so only your own servers are used.`,
    );
    expect(lines[1]).toBe("It would start or use:");
    expect(lines[2]).toMatch(/^ {2}theirs: .*echo\.mjs$/);
    expect(lines.slice(4)).toEqual([
      "It would also set:",
      "  tools.allow: []",
      "if you trust it:",
      "  plugboard trust",
      "to use it just once:",
      "  plugboard --config plugboard.json call mine/echo text=hi",
      "",
    ]);
  });

  it("can only be stricter than yours: trust shows what it sets besides, and refuses what is looser", async () => {
    const strict = { tools: { deny: ["*/x"] }, limits: { sessionServers: 3 } };
    const docs = { ...echo(), maxResultBytes: 5000 };
    write(project(), { theirs: docs }, strict);
    const approved = await scratch.run(["trust", "--yes"]);
    expect(approved.code).toBe(0);
    expect(approved.stderr).toContain(
      [
        "It would also set:",
        '  tools.deny: ["*/x"]',
        '  limits: {"sessionServers":3}',
        "  theirs.maxResultBytes: 5000",
      ].join("\n"),
    );
    write(project(), { theirs: docs }, { ...strict, limits: { sessionServers: 1000 } });
    for (const argv of [["trust", "--yes"], ["tools"], ["audit"]]) {
      const { code, stderr } = await scratch.run(argv);
      expect(code).toBe(2);
      expect(stderr).toContain(
        `agents.defaults.limits.sessionServers  is 1000, looser than 10, which holds without it; remove it here, or write it into your own file, ${own()}`,
      );
    }
    await scratch.run(["trust", "--revoke"]);
    const { stdout } = await scratch.run(["doctor"]);
    expect(stdout).toContain("agents.defaults.limits.sessionServers  is 1000, looser than 10");
  });

  it("has its servers shown, except one whose name you use yourself", async () => {
    const { config, servers } = await overview("list");
    expect(config).toEqual({ source: "home", file: own() });
    expect(servers.map(({ name, from, state: { kind } }) => [name, from, kind])).toEqual([
      ["mine", { file: own() }, "ready"],
      ["both", { file: own() }, "disabled"],
      ["theirs", { file: project() }, "untrusted"],
    ]);
    for (const argv of [
      ["call", "theirs/echo", "text=hi"],
      ["tools", "--server", "theirs"],
    ]) {
      const { code, stderr } = await scratch.run(argv);
      expect(code).toBe(2);
      expect(stderr).toContain(`server 'theirs' is not started: ${project()} is not trusted`);
    }
  });

  it("that is not valid is told about too, and is an error once it was trusted", async () => {
    await scratch.run(["trust", "--yes"]);
    writeFileSync(project(), "{ agents: 3 }");
    expect((await scratch.run(["tools"])).code).toBe(2);
    await scratch.run(["trust", "--revoke"]);
    const { code, stdout, stderr } = await scratch.run(["tools"]);
    expect(code).toBe(0);
    expect(stdout).toContain("mine/echo");
    expect(stderr).toContain("plugboard: only your own servers are used: the configuration has 1");
    expect(stderr).toContain(project());
    writeFileSync(project(), Buffer.from([0xff]));
    const unreadable = await scratch.run(["tools"]);
    expect(unreadable.stdout).toContain("mine/echo");
    expect(unreadable.stderr).toContain("is not UTF-8 text");
  });

  it("is an error where you have no file of your own", async () => {
    const { code, stderr } = await scratch.run(["tools"], {
      env: { PLUGBOARD_HOME: join(scratch.directory, "none") },
    });
    expect(code).toBe(2);
    expect(stderr).toContain("so nothing was started");
  });

  it("is what plugboard trust is about, also if it starts nothing", async () => {
    expect(await json(["trust", "--yes"])).toMatchObject({ file: project() });
    write(project(), {}, { tools: { allow: [] } });
    await scratch.run(["trust", "--revoke"]);
    const { stderr } = await scratch.run(["tools"]);
    expect(stderr).toContain("It starts nothing.");
    const { stdout } = await scratch.run(["trust", "--yes"]);
    expect(stdout).toContain(`${project()} is now trusted`);
    expect((await scratch.run(["tools"])).stderr).not.toContain("trust");
  });

  it("is not approved as a whole by adding a server to it, even if it starts nothing", async () => {
    write(project(), { both: off() }, { tools: { allow: [] } });
    const { stderr } = await scratch.run(["add", "new", "--yes", "--no-check", "--", "new"]);
    expect(stderr).toContain("is not trusted, so nothing in it starts");
    expect((await scratch.run(["tools"])).stderr).toContain("is not trusted yet");
  });
});

it("an agent that only a file has that waits for trust is not a mistake in yours", async () => {
  const agents = { list: [{ id: "r", tools: { allow: ["@readOnly"] } }] };
  scratch.file("plugboard.json", { agents, mcpServers: { theirs: echo() } });
  const { code, stderr } = await scratch.run(["tools", "--agent", "r"]);
  expect(code).toBe(2);
  expect(stderr).toContain(`${project()} is not trusted`);
  expect(stderr).toContain("more: plugboard help UNTRUSTED");
  expect((await scratch.run(["tools", "--agent", "x"])).stderr).toContain("CONFIG_INVALID");
});

describe("a project's file that is trusted", () => {
  beforeEach(async () => {
    write(project(), { theirs: echo(), both: echo() });
    await scratch.run(["trust", "--yes"]);
  });

  it("has its servers beside yours, each with its file, and says what it hides", async () => {
    const { code, stdout, stderr } = await scratch.run(["list"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`${project()} over ${own()}, servers started for this command\n`);
    expect(stdout).toMatch(/^server +state +file +tools/m);
    expect(stdout).toMatch(/^mine +✓ ready +home\/plugboard\.json /m);
    expect(stdout).toMatch(/^theirs +✓ ready +plugboard\.json /m);
    expect(stdout).toMatch(
      /^both +✓ ready +plugboard\.json .*\n +hides the server of this name in home\/plugboard\.json$/m,
    );
    const { config, servers } = await overview("list");
    expect(config).toEqual({ source: "directory", file: project(), base: own() });
    expect(servers.map(({ name, from }) => [name, from])).toEqual([
      ["mine", { file: own() }],
      ["theirs", { file: project() }],
      ["both", { file: project(), hides: own() }],
    ]);
    const page = await scratch.run(["status", "both"]);
    expect(page.stdout).toContain(`hides      the server of this name in ${own()}`);
  });

  it("has only the server waiting that has changed since, and the overview says so in one line", async () => {
    write(project(), { theirs: echo(), more: { command: "evil" }, other: { command: "evil" } });
    const { stdout, stderr } = await scratch.run(["list"]);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^theirs +✓ ready /m);
    expect(stdout.split("\n").filter((line) => /\bmore\b|\bother\b/.test(line))).toEqual([
      `more, other: not used; ${project()} has changed since you trusted it; to look at the change, and to approve it, run in its directory: plugboard trust`,
    ]);
    const { servers } = await overview("list");
    expect(servers.map(({ name, from, state: { kind } }) => [name, from, kind])).toEqual([
      ["mine", { file: own() }, "ready"],
      // What the project no longer has, your own file has.
      ["both", { file: own() }, "disabled"],
      ["theirs", { file: project() }, "ready"],
      ["more", { file: project() }, "untrusted"],
      ["other", { file: project() }, "untrusted"],
    ]);
    const used = await scratch.run(["call", "theirs/echo", "text=hi"]);
    expect([used.code, used.stdout]).toEqual([0, "hi\n"]);
    expect(used.stderr).toContain("  more: evil\n");
    expect(used.stderr).not.toContain("theirs:");
    const refused = await scratch.run(["call", "more/x"]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(
        /^plugboard: server 'more' is not started: .* has changed since you trusted it;/,
      ),
    ]);
    // What you add beside it is yours, and what waits goes on waiting; so it does if you change something else in it.
    await scratch.run(["add", "new", "--yes", "--no-check", "--", "new"]);
    await scratch.run(["disable", "other"]);
    const after = await overview("list");
    expect(
      Object.fromEntries(after.servers.map(({ name, state: { kind } }) => [name, kind])),
    ).toMatchObject({
      theirs: "ready",
      more: "untrusted",
      other: "disabled",
      new: "failed",
    });
    await scratch.run(["enable", "other"]);
    const { stdout: trusted } = await scratch.run(["trust", "--list", "--json"]);
    expect(JSON.parse(trusted)).toMatchObject([
      { trusted: ["server theirs", "server other", "server new", "server both"] },
    ]);
  });

  it.each([
    ["--config", ["--config", "plugboard.json"], {}],
    ["$PLUGBOARD_CONFIG", [], { PLUGBOARD_CONFIG: "plugboard.json" }],
  ])("is used alone if it is named by %s", async (_, argv, env) => {
    const { stdout } = await scratch.run([...argv, "list", "--json"], { env });
    const { config, servers } = JSON.parse(stdout) as Overview;
    expect(config).not.toHaveProperty("base");
    expect(servers.map(({ name, from }) => [name, from])).toEqual([
      ["theirs", undefined],
      ["both", undefined],
    ]);
  });

  it("leaves your deny rules in force", async () => {
    write(own(), { mine: echo(), both: { ...echo(), tools: { deny: ["echo"] } } });
    for (const argv of [["call", "both/echo", "text=hi"]]) {
      const { code, stderr } = await scratch.run(argv);
      expect(code).not.toBe(0);
      expect(stderr).toContain(`${own()}: agents.defaults.mcp.servers.both.tools.deny`);
    }
  });

  it("is an error together with a broken file of yours, which is named", async () => {
    writeFileSync(own(), "{ agents: 3 }");
    for (const argv of [["tools"], ["get", "nothing"]]) {
      const { code, stderr } = await scratch.run(argv);
      expect(code).toBe(2);
      expect(stderr).toContain(`${own()}:1:11  agents`);
    }
  });

  it("gives its rules to a server that is typed, beside yours", async () => {
    write(own(), {}, { tools: { deny: ["*/echo"] } });
    write(project(), { theirs: echo(), both: echo() }, { tools: { deny: ["*/add"] } });
    const { command = "", args = [] } = echo();
    for (const tool of [
      ["echo", "text=hi"],
      ["add", "a=1", "b=2"],
    ]) {
      const { code, stderr } = await scratch.run(["call", ...tool, "--", command, ...args]);
      expect(code).not.toBe(0);
      expect(stderr).toContain("tools.deny");
    }
  });
});
