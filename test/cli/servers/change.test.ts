import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();

const FILE = `{
  // ours
  "mcpServers": {
    "files": { "command": "files" },
    // the web
    "web": { "url": "https://a.example/mcp", "headers": { "Authorization": "Bearer abc" } } // slow
  }
}
`;

beforeEach(() => {
  scratch.file("plugboard.json", FILE);
});

const path = (): string => join(scratch.directory, "plugboard.json");

describe("plugboard remove, enable and disable", () => {
  it("remove a server with its comments, and nothing else", async () => {
    const { code, stdout } = await scratch.run(["remove", "web"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `removed web from ${path()}\n` });
    expect(scratch.read("plugboard.json")).toBe(
      FILE.replace(/,\n\s+\/\/ the web\n.*\/\/ slow/, ""),
    );
  });

  it("say how to get a server back, and show no credentials, neither in a pipe nor on a screen", async () => {
    for (const stderr of [new Sink(), new Sink({ columns: 200, rows: 24 })]) {
      scratch.file("plugboard.json", FILE);
      await scratch.run(["remove", "web"], { stderr });
      expect(stderr.text).toContain("to get it back as it was, with all that is in it:\n");
      expect(stderr.text).toContain("  plugboard undo\n");
      expect(stderr.text).not.toContain("Bearer abc");
    }
    expect(JSON.parse((await scratch.run(["remove", "files", "--json"])).stdout)).toMatchObject({
      server: { command: "files" },
    });
  });

  it("name the stored secrets that nothing in the file needs any more", async () => {
    const [one, shared] = ["secret://file/keys.json#one", "secret://keyring/plugboard/shared"];
    scratch.file("plugboard.json", {
      mcpServers: {
        a: { command: "a", env: { ONE: one, SHARED: shared, OWN: "secret://env/OWN" } },
        b: { command: "b", args: [`--token=\${${shared}}`] },
      },
    });
    const a = await scratch.run(["remove", "a"]);
    expect(a.stderr).toContain(`a secret stays in keys.json, where you can delete it: ${one}\n`);
    expect(a.stderr).not.toMatch(/shared|secret:..env/);
    const b = await scratch.run(["remove", "b", "--json"]);
    expect(JSON.parse(b.stdout)).toMatchObject({ secrets: [shared] });
  });

  it("disable a server and enable it again, byte for byte", async () => {
    expect((await scratch.run(["disable", "files"])).stdout).toBe(`disabled files in ${path()}\n`);
    expect(scratch.read("plugboard.json")).toBe(
      FILE.replace('"command": "files"', '"command": "files", "enabled": false'),
    );
    expect((await scratch.run(["disable", "files"])).stdout).toContain("is disabled already");
    const { stdout, stderr } = await scratch.run(["enable", "files"]);
    expect(stdout).toBe(`enabled files in ${path()}\n`);
    expect(stderr).toContain("This may start from now on:\n  files: files\n");
    expect(scratch.read("plugboard.json")).toBe(FILE);
  });

  it("enable shows what may start, without the credentials that are in the file", async () => {
    const env = { DOCS_TOKEN: "tok-of-mine-123456", MODE: "fast" };
    scratch.file("plugboard.json", {
      mcpServers: { docs: { command: "docs", args: ["--all"], env, enabled: false } },
    });
    const { stderr } = await scratch.run(["enable", "docs"]);
    expect(stderr).toMatch(/docs: docs --all\n[^]*DOCS_TOKEN=\[REDACTED\][^]*MODE=fast/);
    expect(stderr).not.toContain("tok-of-mine");
  });

  it("tell the closest name of a server that is not there", async () => {
    for (const command of ["remove", "enable", "disable", "get"]) {
      const { code, stderr } = await scratch.run([command, "flies"]);
      expect(code).toBe(2);
      expect(stderr).toContain(`there is no server named 'flies' in ${path()}`);
      expect(stderr).toContain("did you mean 'files'?");
    }
    expect(scratch.read("plugboard.json")).toBe(FILE);
  });

  it("find a server in the user's file, unless a file is named", async () => {
    mkdirSync(join(scratch.directory, "home"), { mode: 0o700 });
    scratch.file("home/plugboard.json", { mcpServers: { mine: { command: "mine" } } });
    expect((await scratch.run(["remove", "mine", "-s", "project"])).code).toBe(2);
    expect((await scratch.run(["remove", "mine", "--config", path()])).code).toBe(2);
    const { stdout } = await scratch.run(["remove", "mine", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      name: "mine",
      file: join(scratch.directory, "home/plugboard.json"),
      changed: true,
    });
  });

  it("change your own file for a server of yours, and the project's for one that hides it", async () => {
    mkdirSync(join(scratch.directory, "home"), { mode: 0o700 });
    const own = scratch.file("home/plugboard.json", {
      mcpServers: { mine: { command: "mine" }, files: { command: "mine" } },
    });
    const fileOf = async (...argv: string[]): Promise<string> => {
      const { stdout } = await scratch.run([...argv, "--json"]);
      return (JSON.parse(stdout) as { file: string }).file;
    };
    await scratch.run(["trust", "--yes"]);
    expect((await scratch.run(["disable", "mine"])).stdout).toBe(`disabled mine in ${own}\n`);
    expect(scratch.read("home/plugboard.json")).toContain('"enabled":false');
    expect(await fileOf("get", "mine")).toBe(own);
    expect(await fileOf("disable", "files")).toBe(path());
    expect(await fileOf("disable", "files", "-s", "user")).toBe(own);
    expect(await scratch.run(["remove", "files"])).toMatchObject({
      stdout: `removed files from ${path()}\n`,
      stderr: expect.stringContaining(`\nanother files is still in ${own}\n`),
    });
    expect((await scratch.run(["remove", "mine"])).stderr).not.toContain("another");
    scratch.file("plugboard.json", { mcpServers: { files: { command: "x" } } });
    // What nobody has trusted hides nothing.
    await scratch.run(["trust", "--revoke"]);
    expect(await fileOf("get", "files")).toBe(own);
    expect(await fileOf("get", "files", "-s", "project")).toBe(path());
    const { stderr } = await scratch.run(["get", "fiels"]);
    expect(stderr).toContain(`there is no server named 'fiels' in ${own} or ${path()}`);
    expect(stderr).toContain("did you mean 'files'?");
  });

  it("approve what they have written, and not what somebody has written since", async () => {
    await scratch.run(["trust", "--yes"]);
    await scratch.run(["disable", "files"]);
    // Whoever looks up the home after the change finds another file.
    const home = join(scratch.directory, "home");
    const isChanged = (): boolean => !scratch.read("plugboard.json").includes('"enabled": false');
    const env = {
      get PLUGBOARD_HOME() {
        if (isChanged()) scratch.file("plugboard.json", FILE.replace('"files" }', '"evil" }'));
        return home;
      },
    };
    await scratch.run(["enable", "files"], { env });
    expect(scratch.read("plugboard.json")).toContain("evil");
    expect((await scratch.run(["trust"])).stderr).toContain("has changed since it was trusted");
  });

  it("of an agent change the file that has the agent", async () => {
    mkdirSync(join(scratch.directory, "home"), { mode: 0o700 });
    const own = scratch.file("home/plugboard.json", {
      agents: { list: [{ id: "a", mcp: { servers: { x: { command: "x" } } } }] },
    });
    const { stdout } = await scratch.run(["get", "x", "--agent", "a", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ file: own });
  });

  it("of one agent leave the defaults to all", async () => {
    scratch.file("plugboard.json", {
      agents: { defaults: { mcp: { servers: { x: { command: "x" } } } }, list: [{ id: "a" }] },
    });
    const { code, stderr } = await scratch.run(["remove", "x", "--agent", "a"]);
    expect(code).toBe(2);
    expect(stderr).toContain("'x' is in the defaults, which all agents have");
    expect((await scratch.run(["disable", "x", "--agent", "a"])).code).toBe(0);
    const shown = await scratch.run(["get", "x", "--agent", "a", "--json"]);
    expect(JSON.parse(shown.stdout)).toMatchObject({ enabled: false, server: { command: "x" } });
    expect(JSON.parse((await scratch.run(["get", "x", "--json"])).stdout)).toMatchObject({
      enabled: true,
    });
  });

  it("refuse two names for one file", async () => {
    const { code, stderr } = await scratch.run(["remove", "x", "-s", "user", "--config", path()]);
    expect(code).toBe(2);
    expect(stderr).toContain("--scope and --config both name a file");
  });
});

describe("plugboard get", () => {
  it("shows a server without its credentials, and where it is", async () => {
    const { code, stdout } = await scratch.run(["get", "web"]);
    expect(code).toBe(0);
    expect(stdout).toContain(`web\n${path()}:6:5\n`);
    expect(stdout).toContain('"Authorization": "Bearer [REDACTED]"');
    expect(stdout).toContain("plugboard status web");
    expect(stdout).not.toContain("abc");
  });

  it("shows where a server came from", async () => {
    const provenance = {
      kind: "registry",
      registry: "https://registry.example",
      name: "io.github.someone/docs",
      version: "1.2.0",
      hash: `sha256-${"0".repeat(64)}`,
    };
    scratch.file("plugboard.json", { mcpServers: { docs: { command: "docs", provenance } } });
    const { stdout } = await scratch.run(["get", "docs", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ server: { command: "docs", provenance } });
    expect((await scratch.run(["get", "docs"])).stdout).toContain('"version": "1.2.0"');
  });
});
