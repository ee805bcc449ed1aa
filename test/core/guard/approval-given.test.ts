import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { GivenApprovals, type GivenApprovalsOptions } from "../../../src/core/guard/approval.ts";
import { ApprovalFile } from "../../../src/core/state/files/approval-file.ts";
import { subject } from "./subjects.ts";
import { temporaryDirectory } from "../../support/directory.ts";

interface Opened extends Omit<GivenApprovalsOptions, "store"> {
  stateDir?: string;
}

/** As a process of its own would. */
function open({ stateDir, ...options }: Opened): GivenApprovals {
  return new GivenApprovals({ ...options, ...(stateDir && { store: new ApprovalFile(stateDir) }) });
}

const READ = subject("docs/read");
const agent = { agent: "default" };

describe("an approval for good", () => {
  it("is remembered by the next process, for that definition of that tool alone", async () => {
    const stateDir = temporaryDirectory();
    const store = open({ agent, stateDir });
    expect(await store.has(READ)).toBe(false);
    await store.add(READ);
    const next = open({ agent, stateDir });
    for (const each of [store, next, next]) {
      expect(await each.has(READ)).toBe(true);
      expect(await each.has({ ...READ, hash: "h2" })).toBe(false);
      expect(await each.has(subject("docs/write"))).toBe(false);
      expect(await each.has({ ...READ, origin: "session" })).toBe(false);
    }
  });

  it("of one caller is nobody else's", async () => {
    const stateDir = temporaryDirectory();
    for (const options of [{ agent, stateDir }, { agent }]) {
      const store = open(options);
      await store.add(READ, "token:ci");
      const has = await Promise.all(
        ["token:ci", "token:x", undefined].map((each) => store.has(READ, each)),
      );
      expect(has).toEqual([true, false, false]);
    }
    expect(await new ApprovalFile(stateDir).list()).toMatchObject([{ caller: "token:ci" }]);
  });

  it("is written once, however often it is given", async () => {
    const stateDir = temporaryDirectory();
    const store = open({ agent, stateDir });
    await Promise.all([store.add(READ), store.add(READ), store.add(subject("docs/write"))]);
    const { approvals } = JSON.parse(await readFile(join(stateDir, "approvals.json"), "utf8"));
    expect(approvals).toMatchObject([{ tool: "docs/read" }, { tool: "docs/write" }]);
  });

  it("is seen where it was given by another process, and does not undo that one's", async () => {
    const stateDir = temporaryDirectory();
    const one = open({ agent, stateDir });
    const two = open({ agent, stateDir });
    expect(await one.has(subject("docs/write"))).toBe(false);
    await two.add(subject("docs/write"));
    await one.add(READ);
    expect(await one.has(subject("docs/write"))).toBe(true);
    expect(await two.has(READ)).toBe(true);
  });

  it("is that of one agent, in the configuration it is from", async () => {
    const stateDir = temporaryDirectory();
    const at = (id: string, config?: string) =>
      open({ agent: { agent: id, ...(config && { config }) }, stateDir });
    await at("default", "/a/plugboard.json").add(READ);
    expect(await at("default", "/a/plugboard.json").has(READ)).toBe(true);
    expect(await at("default", "/b/plugboard.json").has(READ)).toBe(false);
    expect(await at("default").has(READ)).toBe(false);
    expect(await at("other", "/a/plugboard.json").has(READ)).toBe(false);
  });

  it("ends when it is forgotten, also where it is in use", async () => {
    const stateDir = temporaryDirectory();
    const store = open({ agent, stateDir });
    const write = subject("docs/write");
    await store.add(READ);
    await store.add(write);
    expect(await store.has(READ)).toBe(true);
    const elsewhere = new ApprovalFile(stateDir);
    await elsewhere.forget((await elsewhere.list()).slice(0, 1));
    expect([await store.has(READ), await store.has(write)]).toEqual([false, true]);
  });

  it.each([
    ["agent", true],
    ["native", false],
    ["session", false],
  ] as const)("of a tool of origin %s is kept: %s", (origin, kept) => {
    const store = open({ agent, stateDir: temporaryDirectory() });
    expect(store.keeps({ origin })).toBe(kept);
    expect(open({ agent }).keeps({ origin })).toBe(false);
  });

  it("for a session's server ends with the process", async () => {
    const stateDir = temporaryDirectory();
    const store = open({ agent, stateDir });
    const ofSession = subject("docs/read", { origin: "session" });
    await store.add(ofSession);
    expect(await store.has(ofSession)).toBe(true);
    expect(await store.has(READ)).toBe(false);
    expect(await open({ agent, stateDir }).has(ofSession)).toBe(false);
    expect(await readdir(stateDir)).toEqual([]);
  });

  it("ends with the process where there is no place to keep it", async () => {
    const store = open({ agent });
    await store.add(READ);
    expect(await store.has(READ)).toBe(true);
    expect(await open({ agent }).has(READ)).toBe(false);
  });

  it("counts for this process where it cannot be written", async () => {
    const stateDir = join(temporaryDirectory(), "file");
    await writeFile(stateDir, "");
    const errors: unknown[] = [];
    const store = open({
      agent,
      stateDir,
      onWriteError: (error) => errors.push(error),
    });
    await store.add(READ);
    expect(errors).toHaveLength(1);
    expect(await store.has(READ)).toBe(true);
    await open({ agent, stateDir }).add(READ);
  });
});
