import { readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { failureKey, RecentFailures } from "../../../src/core/board/recent-failures.ts";
import { PlugboardError } from "../../../src/core/types/errors.ts";
import type { ServerDefinition } from "../../../src/core/types/server-definition.ts";
import { systemClock } from "../../../src/util/clock.ts";
import { definition } from "../../support/definition.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const MINUTE = 60_000;
const error = new PlugboardError("TIMEOUT", "no answer", { hint: "wait" });

let stateDir: string;
let now = Date.now();
const clock = { ...systemClock, now: () => now };

beforeEach(() => {
  now = Date.now();
  stateDir = temporaryDirectory();
});

describe("a failed start", () => {
  it.each([
    [0, "just now"],
    [MINUTE, "60 s ago"],
    [5 * MINUTE - 1, "5 min ago"],
  ])("is known to other processes after %i ms", async (age, when) => {
    await new RecentFailures(stateDir, clock).record("key", "failed", error);
    now += age;
    const known = await new RecentFailures(stateDir, clock).read("key");
    expect(known?.kind).toBe("failed");
    expect(known?.error).toMatchObject({
      code: "TIMEOUT",
      message: `no answer; tried ${when}`,
      hint: "wait",
    });
  });

  it.each([
    ["after five minutes", 5 * MINUTE],
    ["when the clock has been set back", -1],
  ])("is forgotten %s", async (_, age) => {
    const failures = new RecentFailures(stateDir, clock);
    await failures.record("key", "failed", error);
    now += age;
    expect(await failures.read("key")).toBeUndefined();
  });

  it("is forgotten when the server has started, and only that server's", async () => {
    const failures = new RecentFailures(stateDir, clock);
    await failures.record("one", "failed", error);
    await failures.record("two", "failed", error);
    await failures.forget("one");
    await failures.forget("never-failed");
    expect(await failures.read("one")).toBeUndefined();
    expect(await failures.read("two")).toBeDefined();
  });

  it("takes the files of older ones with it", async () => {
    const failures = new RecentFailures(stateDir, clock);
    await failures.record("old", "failed", error);
    const past = new Date(now - 6 * MINUTE);
    await utimes(join(stateDir, "failures", "old.json"), past, past);
    await failures.record("new", "failed", error);
    expect(await readdir(join(stateDir, "failures"))).toEqual(["new.json"]);
  });

  it.each(["", "{", "[]", '{"format":1}', '{"format":1,"failedAt":1,"code":2,"message":"a"}'])(
    "is not read from a damaged file: %j",
    async (text) => {
      const failures = new RecentFailures(stateDir, clock);
      await failures.record("key", "failed", error);
      await writeFile(join(stateDir, "failures", "key.json"), text);
      expect(await failures.read("key")).toBeUndefined();
    },
  );

  it.runIf(process.platform !== "win32")("is readable by its owner alone", async () => {
    await new RecentFailures(stateDir, clock).record("key", "failed", error);
    const { mode } = await stat(join(stateDir, "failures", "key.json"));
    expect(mode & 0o777).toBe(0o600);
  });
});

describe("the key of a failure", () => {
  const docs = definition({
    target: { kind: "stdio", command: "docs", args: ["${TOKEN}"], env: { A: "${MODE:-x}" } },
  });
  const env = { TOKEN: "a secret of a server", UNRELATED: "1" };
  const key = (change: Partial<ServerDefinition> = {}, cwd = "/here", variables: object = env) =>
    failureKey({ ...docs, ...change }, cwd, { ...variables });

  it.each([
    ["nothing", key()],
    ["another variable", key({}, "/here", { ...env, UNRELATED: "2" })],
    ["what a start does not depend on", key({ toolTimeout: 1, restartOnCrash: false })],
  ])("stays the same with %s changed", (_, changed) => {
    expect(changed).toBe(key());
  });

  it.each([
    ["the value of a variable", key({}, "/here", { ...env, TOKEN: "another" })],
    ["a default that a variable replaces", key({}, "/here", { ...env, MODE: "y" })],
    ["the timeout", key({ timeout: 1 })],
    ["the directory", key({}, "/there")],
    ["the name", key({ name: "other" })],
    ["the command", key({ target: { kind: "stdio", command: "other", args: [], env: {} } })],
  ])("changes with %s", (_, changed) => {
    expect(changed).toMatch(/^[0-9a-f]{32}$/);
    expect(changed).not.toBe(key());
  });

  it("has secrets in it as they are written", () => {
    const target = { kind: "stdio" as const, command: "docs", args: [], env: {} };
    const withSecret = { ...target, env: { A: "secret://env/TOKEN" } };
    const known = key({ target: withSecret });
    expect(known).toMatch(/^[0-9a-f]{32}$/);
    expect(key({ target: withSecret }, "/here", { ...env, TOKEN: "other" })).toBe(known);
    expect(key({ target })).not.toBe(known);
  });

  it("is missing while a variable is not set: such a start fails at once anyway", () => {
    expect(key({}, "/here", {})).toBeUndefined();
  });

  it("does not bring the values of variables to disk", async () => {
    await new RecentFailures(stateDir, clock).record(key() ?? "", "failed", error);
    const [name = ""] = await readdir(join(stateDir, "failures"));
    const text = await readFile(join(stateDir, "failures", name), "utf8");
    expect(name + text).not.toContain(env.TOKEN);
  });
});
