import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PendingApproval } from "../../../../src/core/types/shared-state.ts";
import { PendingApprovalFiles } from "../../../../src/core/state/files/pending-approval-files.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

const clock = new ManualClock();

function question(more: Partial<PendingApproval> = {}): PendingApproval {
  return {
    id: "abcd2345",
    caller: { id: "token:ci", label: "ci" },
    agent: "default",
    request: {
      callId: "1",
      tool: "files/write",
      hash: "h1",
      publicName: "mcp__files__write",
      server: "files",
      args: { path: "a.txt" },
      hints: {},
      trusted: false,
      always: "until-changed",
      reason: "every call of this tool needs approval",
    },
    argsHash: "x",
    createdAt: clock.now(),
    expiresAt: clock.now() + 60_000,
    ...more,
  };
}

async function open() {
  const stateDir = temporaryDirectory();
  const directory = join(stateDir, "gateway", "approvals");
  // As two processes see it.
  const [gateway, person] = [1, 2].map(() => new PendingApprovalFiles(stateDir, clock));
  if (gateway === undefined || person === undefined) throw new Error("there are two");
  return { gateway, person, directory };
}

const answers = async (store: PendingApprovalFiles, of: PendingApproval) => [
  ...(await store.answersTo([of])),
];

describe("a question that waits", () => {
  it("is listed elsewhere until it is answered, in files of the owner's alone", async () => {
    const { gateway, person, directory } = await open();
    const later = question({ id: "zzzz2345", createdAt: clock.now() + 1 });
    await gateway.put(later);
    await gateway.put(question());
    expect(await person.list()).toEqual([question(), later]);
    expect(await answers(gateway, question())).toEqual([]);
    expect(await person.answer(question(), "always")).toBe(true);
    expect(await answers(gateway, question())).toEqual([["abcd2345", "always"]]);
    expect(await person.list()).toEqual([later]);
    for (const file of await readdir(directory)) {
      expect((await stat(join(directory, file))).mode & 0o777).toBe(0o600);
    }
    await gateway.remove(question());
    await gateway.remove(later);
    expect(await readdir(directory)).toEqual([]);
    expect(await person.answer(question(), "once")).toBe(false);
  });

  const { request } = question();
  it.each<[string, Partial<PendingApproval>]>([
    ["another caller", { caller: { id: "token:x", label: "ci" } }],
    ["another agent", { agent: "research" }],
    ["another tool", { request: { ...request, tool: "files/read" } }],
    ["another definition of the tool or its server", { request: { ...request, hash: "h2" } }],
    ["other arguments", { argsHash: "y" }],
    ["another time", { createdAt: 5 }],
  ])("takes no answer that is for %s", async (_, more) => {
    const { gateway, person } = await open();
    await gateway.put(question());
    expect(await person.answer(question(more), "once")).toBe(false);
    expect(await person.answer(question(), "once")).toBe(true);
    // A question with the same id, with the answer to the other one beside it.
    expect(await answers(gateway, question(more))).toEqual([]);
  });

  it("takes no answer after it has expired", async () => {
    const { gateway, person, directory } = await open();
    const brief = question({ expiresAt: clock.now() + 10 });
    await gateway.put(brief);
    await person.answer(brief, "once");
    await clock.advance(10);
    expect(await answers(gateway, brief)).toEqual([]);
    expect(await person.answer(brief, "once")).toBe(false);
    expect([await person.list(), await readdir(directory)]).toEqual([[], []]);
  });

  it("is gone with the process that asks", async () => {
    const { gateway, person, directory } = await open();
    await gateway.put(question());
    const file = join(directory, "abcd2345.json");
    const stored = JSON.parse(await readFile(file, "utf8"));
    const owner = stored.owner.replace(/-\d+-\d+$/, "-4194304-1");
    await writeFile(file, JSON.stringify({ ...stored, owner }));
    expect([await person.list(), await readdir(directory)]).toEqual([[], []]);
  });

  it.each([
    ["not JSON", "{"],
    ["of another format", JSON.stringify({ format: 9 })],
    ["without its parts", JSON.stringify({ format: 1, owner: "x", question: { id: "abcd2345" } })],
  ])("is not listed if its file is %s", async (_, content) => {
    const { gateway, person, directory } = await open();
    await gateway.put(question());
    await writeFile(join(directory, "abcd2345.json"), content);
    expect(await person.list()).toEqual([]);
  });
});
