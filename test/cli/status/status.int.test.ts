import { describe, expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

describe("plugboard status", () => {
  it("has a row for every server", async () => {
    scratch.servers({
      echo: fixture("echo"),
      odd: fixture("malformed-tools"),
      missing: { command: "no-such-command" },
    });
    const { code, stdout } = await scratch.run(["status", "--log-level", "silent"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^server +state +tools +prompt tokens +pid +protocol +transport +target$/m,
    );
    expect(stdout).toMatch(/^echo +✓ ready +11 +~\d+ +\d+ +2025-11-25 +stdio +.*echo\.mjs$/m);
    expect(stdout).toMatch(/^odd +✓ ready/m);
    expect(stdout).toMatch(/^ {4}.*: .*(left out|excluded)/m);
    expect(stdout).toMatch(/^missing +✗ failed +0 +stdio +no-such-command\n {4}.+\n {4}hint: /m);
  });

  it("does not say of a disabled server that it was started", async () => {
    const off = { ...fixture("echo"), enabled: false };
    scratch.servers({ off });
    for (const argv of [["status"], ["status", "off"]]) {
      const { code, stdout } = await scratch.run(argv);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^off +○ disabled/m);
      expect(stdout).not.toContain("started for this command");
    }
  });

  it("says when the agent's model searches for tools, as the overview does", async () => {
    const include = { tools: { tool_0: "manual" } };
    const mcp = { servers: { some: { ...fixture("many-tools", "--count=40"), include } } };
    const baseUrl = "http://127.0.0.1:9/v1";
    const tiny = { type: "openai-compatible", baseUrl, contextWindow: 8000 };
    const models = { providers: { tiny } };
    const file = scratch.file("small.json", {
      agents: { defaults: { model: "tiny/m", mcp } },
      models,
    });
    const line =
      /^Tool search is on, since their definitions take more than a tenth of the model's 8k tokens: a model gets 0 of 39 tools \(~160 instead of ~[\d.]+k tokens\) and searches for the rest; mcp\.toolSearch: "off" puts all of them into the prompt$/m;
    expect((await scratch.run(["status", "--config", file])).stdout).toMatch(line);
    const { stdout } = await scratch.run(["--config", file]);
    expect(stdout).toMatch(line);
    expect(stdout).toMatch(/40 tools \(1 not for models\), ~[\d.]+k tokens in their definitions/);
    const json = await scratch.run(["status", "--json", "--config", file]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      toolSearch: { mode: "search", before: { tools: 39 }, after: { tools: 0, tokens: 160 } },
    });
    const off = scratch.file("off.json", {
      agents: { defaults: { model: "tiny/m", mcp: { ...mcp, toolSearch: "off" } } },
      models,
    });
    expect((await scratch.run(["status", "--config", off])).stdout).not.toContain("Tool search");
  });

  it("names the tools that are too large for the agent's model", async () => {
    const mcp = { servers: { big: fixture("huge-list", "--mb=0.05", "--count=1") } };
    const file = scratch.file("model.json", {
      agents: { defaults: { model: "ollama/qwen3", mcp } },
    });
    const { stdout } = await scratch.run(["status", "--config", file]);
    expect(stdout).toContain(
      "tool_0: not offered to ollama/qwen3: its definition takes about 12.1k",
    );
    const { stdout: json } = await scratch.run(["status", "--json", "--config", file]);
    expect(JSON.parse(json)).toMatchObject({
      servers: [{ diagnostics: [{ server: "big", subject: "tool_0" }] }],
    });
  });

  it("shows rules that match no tool with the server they name, and the others below", async () => {
    const file = scratch.file("rules.json", {
      agents: {
        defaults: {
          tools: { deny: ["echo/crahs"], ownerOnly: ["ecco/*", "crahs"] },
          mcp: { servers: { echo: fixture("echo") } },
        },
      },
    });
    const rule = (text: string, key: string, problem: string): string =>
      `the rule "${text}" in agents.defaults.tools.${key} matches no tool${problem}`;
    const all = await scratch.run(["status", "--config", file]);
    expect(all.stdout.split("\n").slice(2)).toEqual([
      `    ${rule("echo/crahs", "deny", "; did you mean echo/crash?")}`,
      "",
      `! ${rule("ecco/*", "ownerOnly", ": there is no such server; did you mean echo/*?")}`,
      `! ${rule("crahs", "ownerOnly", "; did you mean echo/crash?")}`,
      "",
      "This server was started for this command.",
      "",
    ]);
    expect(all.stderr).not.toContain("crahs");
    const one = await scratch.run(["status", "echo", "--config", file]);
    expect(one.stdout).toContain(`  ${rule("echo/crahs", "deny", "")}`);
  });

  it("shows everything about one server, and starts no other", async () => {
    const state = scratch.file("starts", "0");
    scratch.servers({
      talks: fixture("stderr-then-exit"),
      other: fixture("flaky-start", `--state=${state}`),
    });
    const { code, stdout } = await scratch.run(["status", "talks", "--log-level", "silent"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^talks {2}✗ failed\n {2}reason +/);
    expect(stdout).toMatch(/\n\nstderr, last lines\n {2}\S/);
    expect(scratch.read("starts")).toBe("0");
  });

  it("prints JSON with --json", async () => {
    scratch.servers({ echo: fixture("echo"), missing: { command: "no-such-command" } });
    const { stdout } = await scratch.run(["status", "--json", "--log-level", "silent"]);
    const shown = JSON.parse(stdout) as { servers: unknown[] };
    // As with a gateway, which adds what it says about itself.
    expect(Object.keys(shown)).toEqual(["servers", "toolSearch"]);
    const [echo, missing] = shown.servers;
    expect(echo).toMatchObject({
      name: "echo",
      origin: "defaults",
      transport: "stdio",
      target: expect.stringContaining("echo.mjs"),
      state: { kind: "ready", pid: expect.any(Number) },
      tools: 11,
      promptTokens: expect.any(Number),
      cached: false,
      available: true,
      restarts: 0,
      identity: { name: "echo", protocolVersion: "2025-11-25", era: "legacy" },
      calls: { total: 0, failed: 0, inFlight: 0 },
      diagnostics: [],
      stderr: [],
    });
    expect(missing).toMatchObject({
      name: "missing",
      state: {
        kind: "failed",
        error: { code: "SPAWN_FAILED", message: expect.any(String), hint: expect.any(String) },
      },
    });
  });

  it("refuses an unknown server", async () => {
    scratch.servers({ echo: fixture("echo") });
    const { code, stdout, stderr } = await scratch.run(["status", "ech"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe(
      "plugboard: there is no server named 'ech'\nhint: did you mean 'echo'?\nmore: plugboard help UNKNOWN_SERVER\n",
    );
  });
});
