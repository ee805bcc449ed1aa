import { describe, expect, it } from "vitest";
import type { Finding } from "../../../../src/cli/doctor/finding.ts";
import type { Examined } from "../../../../src/cli/doctor/servers/examine.ts";
import { judge, type JudgeOptions } from "../../../../src/cli/doctor/servers/judge.ts";
import type { ToolRules } from "../../../../src/core/types/guard-settings.ts";
import { PlugboardError } from "../../../../src/core/types/errors.ts";
import type { ServerState } from "../../../../src/core/types/server-state.ts";
import { definition } from "../../../support/definition.ts";
import { ready, status } from "../../status/status.ts";
import { tool } from "../../tool.ts";

const options: JudgeOptions = { toolNames: "mcp__{server}__{tool}" };
const MIB = 1024 ** 2;
const slow: ServerState = {
  kind: "ready",
  since: 0,
  startMs: 17_000,
  protocolVersion: "2025-11-25",
  pid: 42,
};

function examined(more: Partial<Examined> = {}, state: ServerState = ready): Examined {
  return {
    definition: definition(),
    entry: "its entry in board.json",
    status: status("github", state),
    tools: [tool("github", "search")],
    content: { resources: 0, prompts: 0 },
    ...more,
  };
}

function remarks(more: Partial<Examined>, given: Partial<JudgeOptions> = {}): Finding[] {
  return judge(examined(more), { ...options, ...given }).filter(({ level }) => level !== "ok");
}

describe("a server that is ready", () => {
  it.each<[string, Partial<Examined>, string]>([
    ["as it is", {}, "ready in 250 ms, MCP 2025-11-25, 2 tools"],
    [
      "with what it has and takes",
      { content: { resources: 3, prompts: 1 }, memory: 62.3 * MIB },
      "ready in 250 ms, MCP 2025-11-25, 2 tools, 3 resources, 1 prompt, 62 MiB",
    ],
    [
      "for the first time",
      { package: { runner: "npx", spec: "a@1", name: "a", wasCached: false } },
      "ready in 250 ms, npx had to download it, MCP 2025-11-25, 2 tools",
    ],
    ["in a gateway", { gateway: {} }, "ready in the gateway, MCP 2025-11-25, 2 tools"],
  ])("is described %s", (_, more, text) => {
    expect(judge(examined(more), options)).toEqual([
      { level: "ok", check: "server", subject: "github", message: `github: ${text}` },
    ]);
  });

  it("is left alone when it is disabled", () => {
    expect(judge(examined({}, { kind: "disabled" }), options)).toEqual([
      { level: "ok", check: "server", subject: "github", message: "github: disabled" },
    ]);
  });

  it.each<[string, Partial<Examined>, check: string, remedy: RegExp]>([
    [
      "starts slowly",
      { status: status("github", slow) },
      "slow-start",
      /^give it more time, with "timeout": 60000 in its entry in board\.json$/,
    ],
    [
      "is a package that starts slowly",
      {
        status: status("github", slow),
        package: { runner: "npx", spec: "@a/b@1.0", name: "@a/b", wasCached: true },
      },
      "slow-start",
      /\n {2}npm install -g @a\/b@1\.0\n/,
    ],
    ["takes much memory", { memory: 1500 * MIB }, "memory", /"lazy": true/],
    ["writes to stdout", { noise: { lines: 2, first: "hello" } }, "stdout-noise", /stderr/],
    [
      "does not list its resources",
      {
        content: {
          resources: 0,
          prompts: 0,
          failure: new PlugboardError("TIMEOUT", "no answer within 30 s"),
        },
      },
      "content-not-listed",
      /"resources": false/,
    ],
    [
      "is down in the gateway",
      { gateway: { failure: new PlugboardError("CONNECTION_CLOSED", "it crashed") } },
      "not-ready-in-gateway",
      /: plugboard restart github$/,
    ],
    [
      "has a name that models do not take",
      { tools: [tool("github", "a b", { name: "mcp__github__a_b_0a1b2c3d" })] },
      "tool-names-changed",
      /^there is nothing to do; in rules, .*: github\/a b$/,
    ],
    [
      "has a list that is cut",
      {
        status: status("github", ready, {
          diagnostics: [{ server: "github", message: "the tool list is cut at 2000 tools" }],
        }),
      },
      "unusual",
      /: plugboard status github$/,
    ],
  ])("but %s: that is told", (_, more, check, remedy) => {
    const found = remarks(more);
    expect(found).toMatchObject([{ check, remedy: expect.stringMatching(remedy) }]);
    expect(found[0]?.message).toMatch(/^github: /);
  });

  it.each<[string, Partial<Examined>]>([
    [
      "a first start that had to download a package",
      {
        status: status("github", slow),
        package: { runner: "uvx", spec: "a", name: "a", wasCached: false },
      },
    ],
    [
      "no tools, but resources",
      {
        tools: [],
        status: status("github", ready, { tools: 0 }),
        content: { resources: 1, prompts: 0 },
      },
    ],
    [
      "tools that rules hide, which the rules tell",
      { status: status("github", ready, { tools: 0, hiddenByRules: 3 }) },
    ],
    [
      "what other groups tell: pins and rules",
      {
        status: status("github", ready, {
          diagnostics: [
            { server: "github", message: "changed", kind: "pins" },
            { server: "github", message: "matches nothing", kind: "rule" },
          ],
        }),
      },
    ],
  ])("needs no word about %s", (_, more) => {
    expect(remarks(more)).toEqual([]);
  });

  it("names the tools that the configured model does not get, and why", () => {
    const tools = [tool("github", "odd", { parameters: { type: "array" } })];
    const model = {
      id: "ollama/qwen3",
      schemas: "generic",
      maxTools: 9,
      contextWindow: 9,
    } as const;
    const [first, second] = remarks({ tools }, { model });
    expect(first).toMatchObject({ level: "warning", check: "tool-not-offered" });
    expect(first?.message).toMatch(/^github: odd: not offered to ollama\/qwen3: its schema/);
    expect(second?.message).toMatch(
      /^github: odd is not offered to models of OpenAI, Anthropic and Google: /,
    );
  });
});

describe("a server that failed", () => {
  it.each<[string, ServerState, Partial<Examined>, check: string, remedy: string]>([
    [
      "with a hint of its own",
      {
        kind: "failed",
        error: new PlugboardError("SPAWN_FAILED", "not found", { hint: "install it" }),
      },
      {},
      "command-not-startable",
      "install it",
    ],
    [
      "and says nothing",
      { kind: "failed", error: new PlugboardError("CONNECTION_CLOSED", "it exited with code 1") },
      {
        definition: definition({
          target: { kind: "stdio", command: "node", args: ["my server.js"], env: {} },
        }),
      },
      "exits-at-start",
      "run it by hand to see what it says:\n  node 'my server.js'",
    ],
    [
      "because its program is not installed",
      { kind: "failed", error: new PlugboardError("SPAWN_FAILED", "not found", { hint: "…" }) },
      {
        definition: definition({ target: { kind: "stdio", command: "uvx", args: [], env: {} } }),
        isCommandMissing: true,
      },
      "command-not-startable",
      'install uv as https://docs.astral.sh/uv says, or write its full path into "command" of its entry in board.json',
    ],
    [
      "because its program is mistyped",
      {
        kind: "failed",
        error: new PlugboardError("SPAWN_FAILED", "not found", {
          hint: "did you mean 'npx'? Otherwise install it or give an absolute path",
        }),
      },
      {
        definition: definition({ target: { kind: "stdio", command: "npxx", args: [], env: {} } }),
        isCommandMissing: true,
      },
      "command-not-startable",
      "did you mean 'npx'? Otherwise install it, or write its full path into \"command\" of its entry in board.json",
    ],
    [
      "for want of two variables",
      {
        kind: "failed",
        error: new PlugboardError("CONNECTION_CLOSED", "exited", {
          hint: "set both variables",
          lacks: ["A_KEY", "B_KEY"],
        }),
      },
      {},
      "exits-at-start",
      'add this to its entry in board.json; variables of your shell are not passed on by themselves:\n  "env": { "A_KEY": "…", "B_KEY": "…" }',
    ],
    [
      "while it was downloaded",
      { kind: "failed", error: new PlugboardError("TIMEOUT", "no answer", { hint: "wait" }) },
      { package: { runner: "npx", spec: "a", name: "a", wasCached: false } },
      "no-answer",
      'npx may still have been downloading a; run it once by hand, until it waits for input:\n  node server.js\nif it only needs longer, write "timeout": 120000 into its entry in board.json',
    ],
    [
      "at a URL",
      { kind: "failed", error: new PlugboardError("HTTP_STATUS", "HTTP 500", { status: 500 }) },
      {
        definition: definition({
          target: {
            kind: "remote",
            url: "https://a.example/mcp",
            headers: {},
            allowInsecure: false,
            allowPrivate: false,
          },
        }),
      },
      "http-error",
      "check \"url\" in its entry in board.json, and whether somebody answers there:\n  curl -i 'https://a.example/mcp?key=[REDACTED]'",
    ],
  ])("%s is broken, with what to do", (_, state, more, check, remedy) => {
    const { target } = more.definition ?? definition();
    const shown = target.kind === "remote" ? `${target.url}?key=[REDACTED]` : "node server.js";
    const quoted = target.kind === "stdio" && target.args.length > 0 ? "node my server.js" : shown;
    const given = { ...more, status: status("github", state, { target: quoted }) };
    expect(judge(examined(given), options)).toEqual([
      {
        level: "broken",
        check,
        subject: "github",
        message: expect.stringMatching(/^github: /),
        remedy,
      },
    ]);
  });
});

it("the schemas of a server have only so much time, however many there are", () => {
  const read = new Set<string>();
  const tools = Array.from({ length: 100 }, (_, at) => {
    const each = tool("github", `t${at}`);
    const { parameters } = each;
    return Object.defineProperty({ ...each }, "parameters", {
      get: () => (read.add(each.name), parameters),
    });
  });
  let now = 0;
  // Each look at the clock is half a second after the last.
  remarks({ tools }, { monotonic: () => (now += 500) });
  expect(read.size).toBeGreaterThan(0);
  expect(read.size).toBeLessThan(10);
});

describe("rules that hide tools", () => {
  const hiding = (
    hiddenByRules: number,
    resources: number,
    prompts: number,
  ): Partial<Examined> => ({
    status: { ...status("github", ready), hiddenByRules },
    content: { resources, prompts },
  });

  it.each<[string, Partial<Examined>, ToolRules[], string | undefined]>([
    ["and there is nothing else", hiding(2, 0, 0), [], undefined],
    ["none, and there is content", hiding(0, 3, 1), [], undefined],
    [
      "and leave content open",
      hiding(2, 3, 1),
      [{ allow: ["github/x"] }],
      "3 resources and 1 prompt",
    ],
    ["and are about resources too", hiding(2, 3, 1), [{ deny: ["*/resource:file:*"] }], "1 prompt"],
    ["and are about both", hiding(2, 3, 1), [{ deny: ["resource:*", "prompt:*"] }], undefined],
  ])("%s", (_, more, rules, open) => {
    const found = remarks(more, { rules }).filter(({ check }) => check === "content-left-open");
    expect(found.map(({ message }) => message)).toEqual(
      open === undefined ? [] : [`github: the rules hide 2 tools and leave open its ${open}`],
    );
  });
});
