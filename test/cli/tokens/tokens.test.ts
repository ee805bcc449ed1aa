import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { TokenFiles } from "../../../src/core/state/files/token-files.ts";
import { localTime } from "../../../src/cli/terminal/local-time.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { Sink, useScratch } from "../harness.ts";

const scratch = useScratch();
const clock = new ManualClock();

const store = (): TokenFiles =>
  new TokenFiles({ stateDir: join(scratch.directory, "home"), clock, random: randomBytes });

const run = (...argv: string[]) => scratch.run(["tokens", ...argv], { clock });

async function runJson(...argv: string[]): Promise<Record<string, unknown>> {
  return JSON.parse((await run(...argv, "--json")).stdout);
}

const cells = (stdout: string): string[] =>
  stdout.split("\n").map((line) => line.trimEnd().replace(/ {2,}/g, " | "));

describe("plugboard tokens add", () => {
  it("prints the line that a client needs, once", async () => {
    const { code, stdout, stderr } = await run("add", "ci");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Authorization: Bearer plug_[\w-]{43}\n$/);
    const start =
      "the token ci is for every agent; it is shown only now\nno gateway is running here; plugboard up starts it at http://127.0.0.1:7584/mcp\nClaude Code:\n  claude mcp add ";
    expect(stderr.slice(0, start.length)).toBe(start);
    // What programs write to stderr is often kept, so the token is on stdout alone.
    expect(stderr).toContain('--header "Authorization: Bearer <token>"');
    expect(stderr).not.toContain("plug_");
    expect(store().find(stdout.trim().slice("Authorization: Bearer ".length))?.name).toBe("ci");
    expect((await run("list")).stdout).not.toContain("plug_");
  });

  it("shows a person where the gateway is, and a ready entry for each client", async () => {
    const gateway = { publicUrl: "https://gateway.example.com" };
    const file = scratch.file("c.json", { agents: { list: [{ id: "a" }] }, gateway });
    const stderr = new Sink({ columns: 80, rows: 24 });
    const argv = ["tokens", "add", "ci", "--config", file, "--agent", "a"];
    const { stdout } = await scratch.run(argv, { clock, stderr });
    const url = "https://gateway.example.com/agents/a/mcp";
    const [, token = ""] = /Bearer (\S+)/.exec(stdout) ?? [];
    expect(stderr.text).toContain(`the gateway is at ${url}\nClaude Code:\n  claude mcp add `);
    const docs = readFileSync(new URL("../../../docs/clients.md", import.meta.url), "utf8");
    // The same that docs/clients.md has, with this gateway and this token.
    const lines = stderr.text.split("\n").map((line) => line.trim());
    for (const program of ["claude", "gemini", "codex"]) {
      const line = lines.find((each) => each.startsWith(`${program} mcp add`)) ?? "";
      expect(docs).toContain(
        line.replace(url, "http://127.0.0.1:7584/mcp").replace(token, "$PLUGBOARD_TOKEN"),
      );
    }
    const entry = { url, headers: { Authorization: `Bearer ${token}` } };
    expect(lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line))).toEqual([
      { mcpServers: { plugboard: entry } },
      { servers: { plugboard: { type: "http", ...entry } } },
      { context_servers: { plugboard: entry } },
    ]);
  });

  it("takes agents, rules and an end", async () => {
    const file = scratch.file("c.json", { agents: { list: [{ id: "a" }, { id: "b" }] } });
    const whom = ["--config", file, "--agent", "a", "--agent", "b", "--owner"];
    const rules = ["--allow", "x/*", "--allow", "y/*", "--deny", "x/z", "--approval", "ask"];
    const args = [...whom, ...rules, "--rate-limit", "60", "--expires", "30d"];
    const { token, header, id, url, ...shown } = await runJson("add", "ci", ...args);
    const policy = {
      tools: { allow: ["x/*", "y/*"], deny: ["x/z"], approval: "ask" },
      rateLimit: 60,
      owner: true,
    };
    const expiresAt = clock.now() + 30 * 86_400_000;
    expect(shown).toEqual({
      name: "ci",
      agents: ["a", "b"],
      policy,
      createdAt: new Date(clock.now()).toISOString(),
      expiresAt: new Date(expiresAt).toISOString(),
    });
    expect(url).toBe("http://127.0.0.1:7584/mcp");
    expect(header).toBe(`Authorization: Bearer ${String(token)}`);
    const found = store().find(String(token));
    expect(found).toMatchObject({ id, agents: ["a", "b"], policy, expiresAt });
  });

  it.each([
    ["--deny", "@readOnly", "is not what deny takes; expected @destructive, "],
    ["--allow", "@readonly", "is not what allow takes; expected @readOnly, "],
  ])("refuses %s %s, which would restrict nothing", async (option, pattern, why) => {
    const { code, stderr } = await run("add", "ci", option, pattern);
    expect(code).toBe(2);
    expect(stderr).toContain(`'${pattern}' in ${option} ${why}`);
    expect(store().find("ci")).toBeUndefined();
  });

  it.each<[string, string[], string | undefined]>([
    [
      "a mistyped server in --deny",
      ["--deny", "memori/delete_*"],
      'warning: "memori/delete_*" in --deny matches no tool: there is no such server; did you mean memory/delete_*? What it was meant to stop is allowed\n',
    ],
    [
      "a mistyped server in --allow",
      ["--allow", "memry/*"],
      'warning: "memry/*" in --allow matches no tool: there is no such server; did you mean memory/*?\n',
    ],
    ["a tool of a server whose tools are not known yet", ["--deny", "memory/delete_*"], undefined],
    ["a server that only one of its agents has", ["--allow", "notes/*"], undefined],
  ])(
    "makes the token, and warns of a pattern that matches nothing: %s",
    async (_, args, warning) => {
      const file = scratch.file("c.json", {
        servers: { memory: { command: "memory" } },
        agents: {
          list: [{ id: "a" }, { id: "b", mcp: { servers: { notes: { command: "notes" } } } }],
        },
      });
      const { code, stdout, stderr } = await run("add", "ci", "--config", file, ...args);
      expect(code).toBe(0);
      expect(stdout).toContain("Authorization: Bearer plug_");
      if (warning === undefined) expect(stderr).not.toContain("warning");
      else expect(stderr).toContain(warning);
    },
  );

  it("refuses an agent that the configuration does not have", async () => {
    const file = scratch.file("c.json", { agents: { list: [{ id: "coder" }] } });
    const { code, stderr } = await run("add", "ci", "--config", file, "--agent", "codr");
    expect(code).toBe(2);
    expect(stderr).toContain("there is no agent 'codr' in ");
    expect(stderr).toContain("hint: did you mean 'coder'?");
    expect(await store().list()).toEqual([]);
  });

  it("cannot check the agent without a configuration, and says so", async () => {
    const { code, stderr } = await run("add", "ci", "--agent", "coder");
    expect(code).toBe(0);
    expect(stderr).toContain("there is no configuration here, so the agents are not checked");
  });

  it.each([
    [["add"], "missing required argument 'name'"],
    [["add", "a b"], "'a b' cannot be the name of a token"],
    [["add", "default"], "the gateway makes the token default by itself"],
    [["add", "ci", "--expires", "soon"], "expected a time such as 12h, 30d or 8w"],
    [["add", "ci", "--expires", "0d"], "expected a time such as 12h, 30d or 8w"],
    [["add", "ci", "--rate-limit", "0"], "expected a number of requests per minute"],
    [["add", "ci", "--approval", "maybe"], "expected never, ask or destructive"],
    [["add", "ci", "--allow", ""], "expected a pattern such as 'files/*'"],
    [["ad", "ci"], "unknown command 'ad'; did you mean 'add'?"],
  ])("refuses wrong usage: %j", async (argv, message) => {
    const { code, stderr } = await run(...argv);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it("refuses a name that is taken", async () => {
    await run("add", "ci");
    const { code, stderr } = await run("add", "ci");
    expect(code).toBe(2);
    expect(stderr).toContain("there is a token ci already");
    expect(stderr).toContain("plugboard tokens revoke ci");
  });
});

describe("plugboard tokens", () => {
  it("says that there are none", async () => {
    expect(await run()).toEqual({
      code: 0,
      stdout: "",
      stderr: "there are no tokens; the gateway makes the first one when it starts\n",
    });
    expect(await runJson()).toMatchObject({ tokens: [] });
  });

  it("lists for whom each token is and when it was last used", async () => {
    const tokens = store();
    await tokens.ensureDefault();
    const { text, token } = await tokens.add({ name: "ci", agents: ["a", "b"] });
    const quota = { concurrentCalls: 1 };
    const policy = { tools: { deny: ["x/*"] }, rateLimit: 5, quota, owner: true };
    const short = await tokens.add({ name: "short", policy, expiresAt: clock.now() + 60_000 });
    tokens.find(text);
    await tokens.close();
    const { stdout, stderr } = await run("list");
    const minute = (ms: number): string => localTime(ms).slice(0, -3);
    const used = minute(Math.floor(clock.now() / 60_000) * 60_000);
    expect(cells(stdout)).toEqual([
      "NAME | ID | AGENTS | LIMITS | EXPIRES | LAST USED",
      "default | default | all | never | never",
      `ci | ${token.id} | a, b | never | ${used}`,
      `short | ${short.token.id} | all | deny x/*, 5/min, 1 call at a time, owner | ${minute(clock.now() + 60_000)} | never`,
      "",
    ]);
    expect(stderr).toBe(`the token default is in ${tokens.defaultFile}\n`);
    const { tokens: listed } = await runJson("list");
    expect(listed).toMatchObject([{ id: "default" }, { id: token.id }, { policy }]);
    expect(JSON.stringify(listed)).not.toContain("hash");
  });
});

it.each<[string, string[], string[]]>([
  ["own", ["--calls-per-day", "5"], ["0 of 5 calls today"]],
  [
    "all agents",
    [],
    [
      "60 calls/min (default)",
      "0 of 9 calls today (default)",
      "0 of 2 calls today to coder (default)",
      "1 call at a time to coder (default)",
    ],
  ],
  [
    "one without a quota",
    ["--agent", "writer"],
    ["60 calls/min (default)", "0 of 9 calls today (default)"],
  ],
  [
    "one with a quota",
    ["--agent", "coder"],
    ["0 of 2 calls today to coder (default)", "1 call at a time to coder (default)"],
  ],
])("shows the quotas of the configuration where a token has none: %s", async (_, args, limits) => {
  const coder = { callsPerDay: 2, concurrentCalls: 1 };
  const quotas = { callsPerMinute: 60, callsPerDay: 9, agents: { coder } };
  const agents = { list: [{ id: "coder" }, { id: "writer" }] };
  const config = ["--config", scratch.file("c.json", { agents, gateway: { quotas } })];
  await store().ensureDefault();
  await run("add", "ci", ...args, ...config);
  const [, ofDefault, shown] = cells((await run("list", ...config)).stdout);
  // The owner has none.
  expect(ofDefault).toBe("default | default | all | never | never");
  expect(shown?.split(" | ").slice(3, -2)).toEqual([limits.join(", ")]);
});

it.each([
  [[], undefined],
  [["--deny", "*"], undefined],
  [["--allow", "x/echo"], "resources or prompts"],
  [["--allow", "x/read_*", "--allow", "@readOnly", "--allow", "*/list"], "resources or prompts"],
  [["--allow", "x/resource:*"], "tools"],
  [["--allow", "x/prompt:greet", "--allow", "resource:*"], "tools"],
  [["--allow", "x/*"], undefined],
  [["--allow", "mcp__x__*"], undefined],
  [["--allow", "*"], undefined],
  [["--allow", "x/echo", "--allow", "x/prompt:greet"], undefined],
])("a token with %j is said to see all kinds, or none of one: %j", async (rules, unseen) => {
  const { stderr } = await run("add", "ci", ...rules);
  expect(/^it sees no ([^;]*); to give some: --allow '/m.exec(stderr)?.[1]).toBe(unseen);
  const { stdout } = await run("list");
  expect(/\bno (tools|resources or prompts)/.exec(stdout)?.[1]).toBe(unseen);
});

it("a narrow terminal shows all that a token may use, over several lines", async () => {
  const rules = ["--allow", "memory/*", "--allow", "docs/prompt:*", "--deny", "memory/delete_*"];
  await run("add", "ci", ...rules, "--approval", "ask");
  const stdout = new Sink({ columns: 80, rows: 24 });
  await scratch.run(["tokens"], { clock, stdout });
  // oxlint-disable-next-line no-control-regex
  const words = stdout.text.replace(/\u001b\[\d+m/g, "").split(/\s+/);
  for (const word of ["memory/*,", "docs/prompt:*,", "memory/delete_*,", "approval", "ask"]) {
    expect(words).toContain(word);
  }
});

describe("plugboard tokens revoke", () => {
  it.each(["name", "id"] as const)("ends a token by its %s", async (by) => {
    const { token, text } = await store().add({ name: "ci" });
    const { code, stdout } = await run("revoke", token[by]);
    expect([code, stdout]).toEqual([0, "the token ci is revoked\n"]);
    expect(store().find(text)).toBeUndefined();
  });

  it("ends the default token, and says how to get another", async () => {
    const text = await store().ensureDefault();
    expect((await run("revoke", "default")).stderr).toBe(
      "the gateway makes a new one when it next starts\n",
    );
    expect(store().find(text)).toBeUndefined();
  });

  it("refuses one that does not exist", async () => {
    const { code, stderr } = await run("revoke", "ci");
    expect(code).toBe(2);
    expect(stderr).toContain("there is no token 'ci'");
    const { error } = await runJson("revoke", "ci");
    expect(error).toMatchObject({ code: "INVALID_ARGUMENTS" });
  });
});

describe("plugboard tokens signout", () => {
  const ISSUERS = ["https://login.example.com/realms/work", "https://login.example.com"];
  const withJwts = (issuers = ISSUERS): string =>
    scratch.file("jwt.json", {
      gateway: {
        publicUrl: "https://gateway.example.com",
        jwt: { issuers: issuers.map((issuer) => ({ issuer, algorithms: ["RS256"] })) },
      },
    });
  const isOut = (issuer: string, subject: string): boolean =>
    store().signedOutUntil(`jwt:${issuer}#${subject}`) > 0;

  it.each([
    ["ann", [true, true]],
    ["ann (login.example.com/realms/work)", [true, false]],
    ["ann (login.example.com)", [false, true]],
  ])("%s is whom the issuers call so", async (person, expected) => {
    const { code, stdout } = await run("signout", person, "--config", withJwts());
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("signed out of the gateway: ann ("),
    ]);
    expect(ISSUERS.map((issuer) => isOut(issuer, "ann"))).toEqual(expected);
    expect(isOut(ISSUERS[0] ?? "", "bob")).toBe(false);
  });

  it("--all is everybody, whatever the configuration says", async () => {
    const { code, stdout, stderr } = await run("signout", "--all");
    expect([code, stdout]).toEqual([0, "signed out of the gateway: everybody\n"]);
    expect(stderr).toContain("end within two seconds");
    expect(isOut("https://any.example", "ann")).toBe(true);
    expect(await runJson("signout", "--all")).toEqual({ signedOut: "all" });
  });

  it.each([
    ["neither a person nor --all", [], "say who, or --all for everybody"],
    ["both", ["ann", "--all"], "say who, or --all for everybody"],
    ["a gateway without JWTs", ["ann"], "takes no JWTs"],
    ["a name that is cut short", ["a… #0123456789ab", "--config"], "is no subject"],
  ])("refuses %s, and signs nobody out", async (_, argv, message) => {
    const words = argv.flatMap((each) => (each === "--config" ? [each, withJwts()] : [each]));
    const { code, stderr } = await run("signout", ...words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(isOut(ISSUERS[0] ?? "", "ann")).toBe(false);
  });

  it("lets nobody in while what is stored cannot be read", async () => {
    await run("signout", "--all");
    scratch.file("home/gateway/sign-outs.json", "{");
    expect(store().signedOutUntil("jwt:x#y")).toBe(Infinity);
    const { code, stderr } = await run("signout", "--all");
    expect([code, stderr]).toEqual([2, expect.stringContaining("sign-outs.json is damaged")]);
  });
});
