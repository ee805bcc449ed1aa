import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { GivenApprovals } from "../../../../src/guard/given-approvals.ts";
import { ApprovalFile } from "../../../../src/state/files/approval-file.ts";
import { localTime } from "../../../../src/faces/cli/terminal/local-time.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { subject } from "../../../guard/subjects.ts";
import { useScratch } from "../harness.ts";

const scratch = useScratch();
const clock = new ManualClock();

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
      stderr: 'you have not answered "always" for any tool\n',
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
      "plugboard: no approval matches 'docs/read'\nhint: to list them:\n  plugboard approvals\n",
    ]);
    const all = await scratch.run(["approvals", "forget", "--all"]);
    expect([all.code, all.stderr]).toEqual([0, "there is nothing to forget\n"]);
  });
});
