import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fixture } from "../../support/boards.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();

interface Shown {
  level: string;
  check: string;
  subject?: string;
  message: string;
  remedy?: string;
}

describe("plugboard doctor, with servers", () => {
  it("names rules that match nothing or hide everything, asks the login shell, and leaves nothing running", async () => {
    const tools = join(scratch.directory, "tools");
    mkdirSync(tools);
    writeFileSync(join(tools, "uvx"), "#!/bin/sh\n", { mode: 0o755 });
    scratch.file(".profile", `export PATH="${tools}:$PATH"`);
    scratch.configure(
      {
        echo: fixture("echo"),
        quiet: { ...fixture("echo"), tools: { allow: [] } },
        doubted: { ...fixture("echo"), tools: { deny: ["@destructive"] } },
      },
      { tools: { deny: ["echo/crahs", "*/never_there_*"] } },
    );
    const { code, stdout } = await scratch.run(
      ["doctor", "--json", "--config", join(scratch.directory, "board.json")],
      {
        env: {
          SHELL: "/bin/sh",
          HOME: scratch.directory,
          PATH: `${tools}:${process.env["PATH"] ?? ""}`,
        },
      },
    );
    const { findings } = JSON.parse(stdout) as { findings: Shown[] };
    expect(code).toBe(0);
    expect(findings.find(({ check }) => check === "editor-path")).toMatchObject({
      level: "ok",
      message: expect.stringContaining("the same programs in an editor"),
    });
    const rules = findings.filter(({ check }) => check.startsWith("rule"));
    expect(rules).toEqual([
      expect.objectContaining({
        level: "warning",
        check: "rule-matches-nothing",
        subject: "agents.defaults.tools.deny",
        message: expect.stringContaining('the rule "echo/crahs"'),
        remedy: expect.stringContaining('write "echo/crash" in its place'),
      }),
      expect.objectContaining({
        level: "note",
        check: "rule-matches-nothing",
        message: expect.stringContaining('the rule "*/never_there_*"'),
      }),
      expect.objectContaining({
        level: "warning",
        check: "rules-hide-everything",
        subject: "quiet",
        message: expect.stringContaining("the rules hide all 11 tools of 'quiet'"),
        remedy: expect.stringMatching(/^allow what you need/),
      }),
      expect.objectContaining({
        check: "rules-hide-everything",
        subject: "doubted",
        remedy: expect.stringMatching(/^set "trusted": true if you believe/),
      }),
    ]);
  });

  it("names patterns of tokens that match nothing on any agent that the token is for", async () => {
    const file = scratch.file("board.json", {
      servers: { echo: fixture("echo") },
      agents: { list: [{ id: "a" }, { id: "b", mcp: { servers: { own: fixture("echo") } } }] },
      gateway: {
        publicUrl: "https://gateway.example.com",
        jwt: {
          issuers: [{ issuer: "https://login.example.com", algorithms: ["RS256"] }],
          rights: [
            { claim: "groups", has: "b", agent: "b", allow: ["own/echo", "echo/*"] },
            { claim: "groups", has: "a", agent: "a", allow: ["ecko/*", "echo/*"] },
          ],
        },
      },
    });
    const add = (name: string, ...rest: string[]) =>
      scratch.run(["tokens", "add", name, "--config", file, ...rest]);
    await add("right", "--allow", "echo/*", "--allow", "own/echo", "--deny", "echo/crash");
    await add("wrong", "--allow", "ecko/*", "--deny", "echo/crahs");
    await add("later", "--deny", "not-there-yet/*");
    const { stdout } = await scratch.run(["doctor", "--json", "--config", file]);
    const { findings } = JSON.parse(stdout) as { findings: Shown[] };
    expect(findings.filter(({ check }) => check === "token-matches-nothing")).toEqual([
      expect.objectContaining({
        level: "warning",
        subject: "wrong",
        message:
          'the token wrong: "ecko/*" in --allow matches no tool: there is no such server; did you mean echo/*?',
        remedy:
          "a token cannot be changed; make it again with --allow 'echo/*': plugboard tokens revoke wrong, then plugboard tokens add wrong …",
      }),
      expect.objectContaining({
        level: "warning",
        subject: "wrong",
        message: expect.stringContaining(
          '"echo/crahs" in --deny matches no tool; did you mean echo/crash? What it was meant to stop is allowed',
        ),
      }),
      expect.objectContaining({ level: "note", subject: "later" }),
    ]);
    // The rights of JWTs are judged alike.
    expect(findings.filter(({ check }) => check === "rule-matches-nothing")).toEqual([
      expect.objectContaining({
        level: "warning",
        subject: "gateway.jwt.rights[1].allow",
        message: expect.stringContaining(
          'the rule "ecko/*" in gateway.jwt.rights[1].allow matches no tool: there is no such server',
        ),
      }),
    ]);
  });

  it("names a server whose tools copy another server's, also if it is asked about that one alone", async () => {
    scratch.servers({ echo: fixture("echo"), slow: fixture("slow-start", "--ms=0") });
    const double = {
      group: "Rules, pins and doubles",
      level: "warning",
      check: "double",
      subject: "slow",
      message: expect.stringContaining("slow: echo: a double of echo/echo"),
      remedy: "until you know why, turn it off: plugboard disable slow",
    };
    for (const [servers, expected] of [
      [[], [double]],
      [["slow"], [double]],
      [["echo"], []],
    ] as const) {
      const { stdout } = await scratch.run(["doctor", ...servers, "--json"]);
      const { findings } = JSON.parse(stdout) as { findings: Shown[] };
      expect(findings.filter(({ check }) => check === "double")).toEqual(
        expected.map((each) => expect.objectContaining(each)),
      );
    }
  });

  it("opens a board of all servers once, and says why where it cannot be opened", async () => {
    const log = join(scratch.directory, "opened.txt");
    const tools = `import { appendFileSync } from "node:fs";
      export default () => (appendFileSync(${JSON.stringify(log)}, "opened;"), []);`;
    scratch.file("tools.mjs", tools);
    scratch.configure({}, { tools: { native: ["./tools.mjs"] } });
    const look = () =>
      scratch.run(["doctor", "--json", "--config", join(scratch.directory, "board.json")]);
    await look();
    expect(readFileSync(log, "utf8")).toBe("opened;");
    scratch.configure({}, { tools: { native: ["./none.mjs"] } });
    const { findings } = JSON.parse((await look()).stdout) as { findings: Shown[] };
    expect(findings.filter(({ level }) => level === "broken")).toEqual([
      expect.objectContaining({
        check: "check-failed",
        message: expect.stringContaining("tools.native: ./none.mjs: there is no such file"),
        remedy: "to see what to do about it: plugboard help CONFIG_INVALID",
      }),
    ]);
  });
});
