import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tokenCaller } from "../../../src/core/types/caller.ts";
import { GivenApprovals } from "../../../src/core/guard/approval.ts";
import { ApprovalFile } from "../../../src/core/state/files/approval-file.ts";
import type { PendingApproval } from "../../../src/core/types/shared-state.ts";
import { PendingApprovalFiles } from "../../../src/core/state/files/pending-approval-files.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { localTime } from "../../../src/cli/terminal/local-time.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { subject } from "../../core/guard/subjects.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();
const clock = new ManualClock();

const READ = { agent: "default", tool: "docs/read", hash: "h1", at: clock.now() };
const stateDir = () => join(scratch.directory, "home");

async function allow(tool: string, agent = "default", config?: string): Promise<void> {
  const whose = { agent, ...(config !== undefined && { config }) };
  await new GivenApprovals({ agent: whose, store: new ApprovalFile(stateDir(), clock), clock }).add(
    subject(tool),
  );
}

const left = async (): Promise<string[]> => {
  const { approvals } = JSON.parse((await scratch.run(["approvals", "--json"])).stdout);
  return approvals.map(({ agent, tool }: Record<string, string>) => `${agent} ${tool}`);
};

describe("plugboard approvals", () => {
  it("says that there are none", async () => {
    expect(await scratch.run(["approvals"])).toEqual({
      code: 0,
      stdout: "",
      stderr: 'no call waits, and you have not answered "always" for any tool\n',
    });
    expect(await left()).toEqual([]);
  });

  it("lists what is always allowed, for which agent and since when", async () => {
    await allow("docs/read", "default", "/home/me/plugboard.json");
    await allow("files/write_file", "research");
    const { code, stdout } = await scratch.run(["approvals"]);
    expect(code).toBe(0);
    const at = localTime(clock.now());
    expect(stdout.split("\n").map((line) => line.trimEnd().replace(/ {2,}/g, " | "))).toEqual([
      "TOOL | AGENT | ALLOWED | CONFIGURATION",
      `docs/read | default | ${at} | /home/me/plugboard.json`,
      `files/write_file | research | ${at}`,
      "",
    ]);
    const json = JSON.parse(
      (await scratch.run(["approvals", "--json", "--agent", "default"])).stdout,
    );
    expect(json).toEqual({
      waiting: [],
      approvals: [
        {
          tool: "docs/read",
          agent: "default",
          config: "/home/me/plugboard.json",
          hash: "h1",
          allowedAt: new Date(clock.now()).toISOString(),
        },
      ],
    });
  });

  it("names the token that it is for, and no file where none counts", async () => {
    const { stdout: made } = await scratch.run(["tokens", "add", "ci", "--json"]);
    const caller = tokenCaller(JSON.parse(made).id);
    await new ApprovalFile(stateDir(), clock).add({ ...READ, caller });
    await new ApprovalFile(stateDir(), clock).add({ ...READ, caller: "token:gone" });
    const { stdout } = await scratch.run(["approvals"]);
    const at = localTime(clock.now());
    expect(stdout.split("\n").map((line) => line.trimEnd().replace(/ {2,}/g, " | "))).toEqual([
      "TOOL | AGENT | FOR | ALLOWED",
      `docs/read | default | ci | ${at}`,
      `docs/read | default | token:gone | ${at}`,
      "",
    ]);
  });

  it.each([
    [["docs/read"], ["default docs/write", "default wiki/read", "other docs/read"]],
    [["*/read"], ["default docs/write", "other docs/read"]],
    [["docs"], ["default wiki/read", "other docs/read"]],
    [["--all"], ["other docs/read"]],
  ])("forget %j, of the named agent", async (what, rest) => {
    for (const tool of ["docs/read", "docs/write", "wiki/read"]) await allow(tool);
    await allow("docs/read", "other");
    const { code } = await scratch.run(["approvals", "forget", ...what, "--agent", "default"]);
    expect([code, await left()]).toEqual([0, rest]);
  });

  it("forget tells what it forgot, and what it does not know", async () => {
    await allow("docs/read");
    expect((await scratch.run(["approvals", "forget", "docs/read"])).stdout).toBe(
      "forgot docs/read\n",
    );
    const unknown = await scratch.run(["approvals", "forget", "docs/read"]);
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      "plugboard: no approval matches 'docs/read'\nhint: to list them:\n  plugboard approvals\nmore: plugboard help INVALID_ARGUMENTS\n",
    ]);
    const all = await scratch.run(["approvals", "forget", "--all"]);
    expect([all.code, all.stderr]).toEqual([0, "there is nothing to forget\n"]);
  });
});

describe("calls that wait for approval", () => {
  const pending = () => new PendingApprovalFiles(stateDir(), systemClock);
  const put = async (more: Partial<PendingApproval> = {}): Promise<PendingApproval> => {
    const now = Date.now();
    const question: PendingApproval = {
      id: "abcd2345",
      caller: { id: "token:1f", label: "ci" },
      agent: "default",
      request: {
        callId: "1",
        tool: "files/write",
        hash: "h1",
        publicName: "mcp__files__write",
        server: "files",
        description: "Writes a file.",
        args: { path: "a.txt", text: "x".repeat(5000) },
        hints: { destructive: true },
        trusted: false,
        always: "until-changed",
        reason: "every call of this tool needs approval",
      },
      argsHash: "y",
      createdAt: now,
      expiresAt: now + 250_000,
      ...more,
    };
    await pending().put(question);
    return question;
  };
  const run = (...argv: string[]) => scratch.run(["approvals", ...argv], { clock: systemClock });

  it("are listed with what a person has to know, and how to answer", async () => {
    await put();
    await put({ id: "zzzz2345", agent: "research" });
    const { code, stdout } = await run("--agent", "default");
    expect(code).toBe(0);
    expect(stdout.split("\n").map((line) => line.replace(/x{9,}/, "xxx"))).toEqual([
      "abcd2345  files/write needs your approval: every call of this tool needs approval",
      "  called by ci for the agent default; it waits for another 4 min",
      "  its server describes it as:",
      "  │ Writes a file.",
      "  It says that it may delete or overwrite something.",
      "  arguments:",
      '    path: "a.txt"',
      '    text: "xxx"',
      "      … 3100 characters left out …",
      '      "xxx"',
      "  not shown: 3100 characters of the arguments; to see it: plugboard approvals show abcd2345",
      "  to answer: plugboard approvals allow abcd2345, or allow abcd2345 --always, or refuse abcd2345",
      "",
      "",
    ]);
    expect((await run("show", "abcd2345")).stdout).toContain("x".repeat(5000));
    const json = JSON.parse((await run("--json")).stdout);
    expect(json.waiting).toMatchObject([
      { id: "abcd2345", tool: "files/write", caller: "token:1f", hash: "h1", argumentsHash: "y" },
      { id: "zzzz2345", agent: "research" },
    ]);
  });

  it.each([
    [["allow", "ABCD2345"], "once", "allowed files/write for ci\n"],
    [["allow", "abcd2345", "--always"], "always", "always allowed files/write for ci\n"],
    [["refuse", "abcd2345"], "refuse", "refused files/write for ci\n"],
  ])("%j answers with %s", async (argv, answer, said) => {
    const question = await put();
    expect(await run(...argv)).toEqual({ code: 0, stdout: said, stderr: "" });
    expect((await pending().answersTo([question])).get("abcd2345")).toBe(answer);
    const again = await run(...argv);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("no call waits")]);
  });

  it.each([["allow", "abcd2345"], ["refuse", "../../approvals"], ["show", "x"], ["allow"]])(
    "%s %s without such a call is an error",
    async (...argv) => {
      const { code, stderr } = await run(...argv.filter((each) => each !== undefined));
      expect(code).toBe(2);
      expect(stderr).toMatch(/no call waits under the id|missing required argument/);
    },
  );
});

it("an approval of one caller is listed as theirs", async () => {
  await allow("docs/read");
  await new GivenApprovals({
    agent: { agent: "default" },
    store: new ApprovalFile(stateDir(), clock),
    clock,
  }).add(subject("docs/read"), "token:ci");
  const { stdout } = await scratch.run(["approvals"]);
  const cells = stdout.split("\n").map((line) => line.split(/ {2,}/).slice(0, 3));
  expect(cells.slice(0, 3)).toEqual([
    ["TOOL", "AGENT", "FOR"],
    ["docs/read", "default", "you"],
    ["docs/read", "default", "token:ci"],
  ]);
});
