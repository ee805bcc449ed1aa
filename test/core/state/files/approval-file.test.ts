import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ApprovalFile } from "../../../../src/core/state/files/approval-file.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

const READ = { agent: "default", tool: "docs/read", hash: "h1", at: 5 };

describe("an approval", () => {
  it("is a line that a person can read, in a file of the owner's alone", async () => {
    const stateDir = temporaryDirectory();
    await new ApprovalFile(stateDir).add(READ);
    const file = join(stateDir, "approvals.json");
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ format: 2, approvals: [READ] });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it.each([
    "not json",
    "[]",
    '{ "format": 3, "approvals": [] }',
    '{ "format": 1, "approvals": [{ "tool": "docs/read", "hash": "h1", "at": 1 }] }',
    '{ "format": 2, "approvals": {} }',
    '{ "format": 2, "approvals": [null, "docs/read", { "tool": "docs/read", "hash": "h1", "at": 1 }] }',
  ])("is not read from a file such as %s, which is replaced", async (content) => {
    const stateDir = temporaryDirectory();
    await writeFile(join(stateDir, "approvals.json"), content);
    const store = new ApprovalFile(stateDir);
    expect(await store.has(READ)).toBe(false);
    await store.add(READ);
    expect(await new ApprovalFile(stateDir).has(READ)).toBe(true);
  });

  it("is for one configuration file: another may say something else about the same agent", async () => {
    const store = new ApprovalFile(temporaryDirectory());
    await store.add({ ...READ, config: "/c.json" });
    const asked = ["/c.json", "/d.json"].map((config) => store.has({ ...READ, config }));
    expect(await Promise.all(asked)).toEqual([true, false]);
  });

  it("makes room for a new one when there are very many", async () => {
    const stateDir = temporaryDirectory();
    const many = Array.from({ length: 10_000 }, (_, n) => ({
      agent: "default",
      tool: `x/${n}`,
      hash: "h",
      at: n,
    }));
    const file = join(stateDir, "approvals.json");
    await writeFile(file, JSON.stringify({ format: 2, approvals: many }));
    await new ApprovalFile(stateDir).add(READ);
    const { approvals } = JSON.parse(await readFile(file, "utf8"));
    expect(approvals).toHaveLength(10_000);
    expect(approvals[0]).toMatchObject({ tool: "x/1" });
    expect(approvals.at(-1)).toMatchObject({ tool: "docs/read" });
  });
});
