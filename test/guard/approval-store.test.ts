import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  ApprovalStore,
  approvalsFile,
  forgetApprovals,
  readApprovals,
} from "../../src/guard/approval-store.ts";
import { systemClock } from "../../src/util/clock.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { subject } from "./subjects.ts";

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "plugboard-approvals-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

const READ = subject("docs/read");
const agent = { agent: "default" };

describe("an approval for good", () => {
  it("is remembered by the next process, for that definition of that tool alone", async () => {
    const stateDir = await makeDirectory();
    const store = new ApprovalStore({ agent, stateDir });
    expect(await store.has(READ)).toBe(false);
    await store.add(READ);
    const next = new ApprovalStore({ agent, stateDir });
    for (const each of [store, next, next]) {
      expect(await each.has(READ)).toBe(true);
      expect(await each.has({ ...READ, hash: "h2" })).toBe(false);
      expect(await each.has(subject("docs/write"))).toBe(false);
      expect(await each.has({ ...READ, origin: "session" })).toBe(false);
    }
  });

  it("of one caller is nobody else's", async () => {
    const stateDir = await makeDirectory();
    for (const options of [{ agent, stateDir }, { agent }]) {
      const store = new ApprovalStore(options);
      await store.add(READ, "token:ci");
      const has = await Promise.all(
        ["token:ci", "token:x", undefined].map((each) => store.has(READ, each)),
      );
      expect(has).toEqual([true, false, false]);
    }
    expect(await readApprovals(approvalsFile(stateDir))).toMatchObject([{ caller: "token:ci" }]);
  });

  it("is a line that a person can read, in a file of the owner's alone", async () => {
    const stateDir = await makeDirectory();
    const clock = new ManualClock();
    await new ApprovalStore({ agent, stateDir, clock }).add(READ);
    const file = join(stateDir, "approvals.json");
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
      format: 2,
      approvals: [{ agent: "default", tool: "docs/read", hash: "h1", at: clock.now() }],
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("is written once, however often it is given", async () => {
    const stateDir = await makeDirectory();
    const store = new ApprovalStore({ agent, stateDir });
    await Promise.all([store.add(READ), store.add(READ), store.add(subject("docs/write"))]);
    const { approvals } = JSON.parse(await readFile(join(stateDir, "approvals.json"), "utf8"));
    expect(approvals).toMatchObject([{ tool: "docs/read" }, { tool: "docs/write" }]);
  });

  it("is seen where it was given by another process, and does not undo that one's", async () => {
    const stateDir = await makeDirectory();
    const one = new ApprovalStore({ agent, stateDir });
    const two = new ApprovalStore({ agent, stateDir });
    expect(await one.has(subject("docs/write"))).toBe(false);
    await two.add(subject("docs/write"));
    await one.add(READ);
    expect(await one.has(subject("docs/write"))).toBe(true);
    expect(await two.has(READ)).toBe(true);
  });

  it("is that of one agent, in the configuration it is from", async () => {
    const stateDir = await makeDirectory();
    const at = (id: string, config?: string) =>
      new ApprovalStore({ agent: { agent: id, ...(config && { config }) }, stateDir });
    await at("default", "/a/plugboard.json").add(READ);
    expect(await at("default", "/a/plugboard.json").has(READ)).toBe(true);
    expect(await at("default", "/b/plugboard.json").has(READ)).toBe(false);
    expect(await at("default").has(READ)).toBe(false);
    expect(await at("other", "/a/plugboard.json").has(READ)).toBe(false);
  });

  it("ends when it is forgotten, also where it is in use", async () => {
    const stateDir = await makeDirectory();
    const store = new ApprovalStore({ agent, stateDir });
    const write = subject("docs/write");
    await store.add(READ);
    await store.add(write);
    expect(await store.has(READ)).toBe(true);
    const file = approvalsFile(stateDir);
    const [first] = await readApprovals(file);
    await forgetApprovals(file, systemClock, first === undefined ? [] : [first]);
    expect([await store.has(READ), await store.has(write)]).toEqual([false, true]);
  });

  it.each([
    ["agent", true],
    ["native", false],
    ["session", false],
  ] as const)("of a tool of origin %s is kept: %s", async (origin, kept) => {
    const store = new ApprovalStore({ agent, stateDir: await makeDirectory() });
    expect(store.keeps({ origin })).toBe(kept);
    expect(new ApprovalStore({ agent }).keeps({ origin })).toBe(false);
  });

  it("for a session's server ends with the process", async () => {
    const stateDir = await makeDirectory();
    const store = new ApprovalStore({ agent, stateDir });
    const ofSession = subject("docs/read", { origin: "session" });
    await store.add(ofSession);
    expect(await store.has(ofSession)).toBe(true);
    expect(await store.has(READ)).toBe(false);
    expect(await new ApprovalStore({ agent, stateDir }).has(ofSession)).toBe(false);
    expect(await readdir(stateDir)).toEqual([]);
  });

  it("ends with the process where there is no place to keep it", async () => {
    const store = new ApprovalStore({ agent });
    await store.add(READ);
    expect(await store.has(READ)).toBe(true);
    expect(await new ApprovalStore({ agent }).has(READ)).toBe(false);
  });

  it("counts for this process where it cannot be written", async () => {
    const stateDir = join(await makeDirectory(), "file");
    await writeFile(stateDir, "");
    const errors: unknown[] = [];
    const store = new ApprovalStore({
      agent,
      stateDir,
      onWriteError: (error) => errors.push(error),
    });
    await store.add(READ);
    expect(errors).toHaveLength(1);
    expect(await store.has(READ)).toBe(true);
    await new ApprovalStore({ agent, stateDir }).add(READ);
  });

  it.each([
    "not json",
    "[]",
    '{ "format": 3, "approvals": [] }',
    '{ "format": 1, "approvals": [{ "tool": "docs/read", "hash": "h1", "at": 1 }] }',
    '{ "format": 2, "approvals": {} }',
    '{ "format": 2, "approvals": [null, "docs/read", { "tool": "docs/read", "hash": "h1", "at": 1 }] }',
  ])("is not read from a file such as %s, which is replaced", async (content) => {
    const stateDir = await makeDirectory();
    await writeFile(join(stateDir, "approvals.json"), content);
    const store = new ApprovalStore({ agent, stateDir });
    expect(await store.has(READ)).toBe(false);
    await store.add(READ);
    expect(await new ApprovalStore({ agent, stateDir }).has(READ)).toBe(true);
  });

  it("makes room for a new one when there are very many", async () => {
    const stateDir = await makeDirectory();
    const many = Array.from({ length: 10_000 }, (_, n) => ({
      ...agent,
      tool: `x/${n}`,
      hash: "h",
      at: n,
    }));
    const file = join(stateDir, "approvals.json");
    await writeFile(file, JSON.stringify({ format: 2, approvals: many }));
    await new ApprovalStore({ agent, stateDir }).add(READ);
    const { approvals } = JSON.parse(await readFile(file, "utf8"));
    expect(approvals).toHaveLength(10_000);
    expect(approvals[0]).toMatchObject({ tool: "x/1" });
    expect(approvals.at(-1)).toMatchObject({ tool: "docs/read" });
  });
});
