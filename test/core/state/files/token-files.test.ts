import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NewToken } from "../../../../src/core/types/shared-state.ts";
import { TokenFiles } from "../../../../src/core/state/files/token-files.ts";
import { type Clock, systemClock } from "../../../../src/util/clock.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

let stateDir: string;
let clock: ManualClock;
let opened: TokenFiles[] = [];

beforeEach(() => {
  stateDir = temporaryDirectory();
  clock = new ManualClock();
});

afterEach(async () => {
  // What a store has still to note is written before its directory goes.
  await Promise.all(opened.map((tokens) => tokens.close()));
  opened = [];
});

function open(at: Clock = clock): TokenFiles {
  const tokens = new TokenFiles({ stateDir, clock: at, random: randomBytes });
  opened.push(tokens);
  return tokens;
}

const inGateway = (name: string): string => join(stateDir, "gateway", name);

describe("the default token", () => {
  it("is made once, in a file that only its owner can read", async () => {
    const text = await open().ensureDefault();
    expect(text).toMatch(/^plug_[\w-]{43}$/);
    expect(await readFile(inGateway("token"), "utf8")).toBe(`${text}\n`);
    expect((await stat(inGateway("token"))).mode & 0o777).toBe(0o600);
    expect(await open().ensureDefault()).toBe(text);
    expect(open().find(text)).toMatchObject({ id: "default", name: "default" });
  });

  it("is made once when several gateways start at once", async () => {
    const gateways = Array.from({ length: 5 }, () => open(systemClock));
    const texts = await Promise.all(gateways.map((gateway) => gateway.ensureDefault()));
    expect(new Set(texts).size).toBe(1);
  });

  it("is refused where its file holds something else", async () => {
    await mkdir(inGateway(""));
    await writeFile(inGateway("token"), "secret");
    await expect(open().ensureDefault()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      hint: expect.stringContaining("remove the file"),
    });
    expect(open().find("secret")).toBeUndefined();
  });

  it.runIf(process.platform !== "win32")("is refused where there is a pipe", async () => {
    await mkdir(join(stateDir, "gateway"), { recursive: true });
    execFileSync("mkfifo", [inGateway("token")]);
    await expect(open(systemClock).ensureDefault()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: `${inGateway("token")} does not hold a token`,
    });
  });

  it("keeps its id when a new one replaces it, so that sessions go on", async () => {
    const tokens = open();
    const old = await tokens.ensureDefault();
    await tokens.revoke("default");
    const next = await tokens.ensureDefault();
    expect(next).not.toBe(old);
    expect([tokens.find(next)?.id, tokens.find(old)]).toEqual(["default", undefined]);
  });
});

describe("named tokens", () => {
  it("are shown once and kept as a hash", async () => {
    const { text, token } = await open().add({ name: "ci" });
    expect(text).toMatch(/^plug_[\w-]{43}$/);
    expect(token).toEqual({
      id: expect.stringMatching(/^[\da-f]{12}$/),
      name: "ci",
      createdAt: clock.now(),
    });
    for (const name of await readdir(inGateway(""))) {
      expect(await readFile(inGateway(name), "utf8")).not.toContain(text.slice(5));
    }
    expect((await stat(inGateway("tokens.json"))).mode & 0o777).toBe(0o600);
    expect(open().find(text)).toMatchObject(token);
    expect(await open().list()).toEqual([token]);
  });

  it("carry their agents, policy and expiry", async () => {
    const given: NewToken = {
      name: "ci",
      agents: ["coder"],
      policy: {
        tools: { allow: ["docs/*"], deny: ["docs/x"], approval: "ask" },
        rateLimit: 5,
        owner: true,
      },
      expiresAt: clock.now() + 1000,
    };
    const tokens = open();
    const { text } = await tokens.add(given);
    expect(tokens.find(text)).toMatchObject(given);
    await clock.advance(1000);
    expect(tokens.find(text)).toBeUndefined();
    expect((await tokens.list()).map(({ id }) => tokens.current(id))).toEqual([undefined]);
    expect(await tokens.list()).toMatchObject([given]);
  });

  it("added and revoked elsewhere are noticed within a second", async () => {
    const gateway = open();
    expect(gateway.find("plug_x")).toBeUndefined();
    const { text, token } = await open().add({ name: "ci" });
    await clock.advance(1000);
    expect(gateway.find(text)?.id).toBe(token.id);
    expect(gateway.current(token.id)).toMatchObject({ id: token.id });
    expect(await open().revoke("ci")).toEqual(token);
    await clock.advance(1000);
    expect(gateway.find(text)).toBeUndefined();
    expect(gateway.current(token.id)).toBeUndefined();
  });

  it("are revoked by id too", async () => {
    const { token } = await open().add({ name: "ci" });
    await open().revoke(token.id);
    expect(await open().list()).toEqual([]);
  });

  it("cannot be called what revokes another one", async () => {
    const { token } = await open().add({ name: "ci" });
    await expect(open().add({ name: token.id })).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
    });
  });

  it("added at the same time are all kept", async () => {
    const names = ["a", "b", "c", "d"];
    await Promise.all(names.map((name) => open(systemClock).add({ name })));
    expect((await open().list()).map(({ name }) => name).toSorted()).toEqual(names);
  });

  it.each(["", "-x", "a b", "a\nb", "x".repeat(65), "é", "default"])(
    "cannot be called %j",
    async (name) => {
      await expect(open().add({ name })).rejects.toMatchObject({ code: "INVALID_ARGUMENTS" });
    },
  );

  it("cannot have the name of another one, and none that is unknown can be revoked", async () => {
    await open().add({ name: "ci" });
    await expect(open().add({ name: "ci" })).rejects.toMatchObject({ code: "INVALID_ARGUMENTS" });
    for (const name of ["cj", "default"]) {
      await expect(open().revoke(name)).rejects.toMatchObject({
        code: "INVALID_ARGUMENTS",
        hint: "to see them: plugboard tokens list",
      });
    }
  });

  it.each([
    ["not JSON", "{"],
    ["of another format", '{"format":9,"tokens":[]}'],
  ])("are not overwritten where their file is %s", async (_, text) => {
    await mkdir(inGateway(""));
    await writeFile(inGateway("tokens.json"), text);
    await expect(open().add({ name: "ci" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    expect(await readFile(inGateway("tokens.json"), "utf8")).toBe(text);
    expect(open().find("x")).toBeUndefined();
  });

  it.each<[string, object]>([
    ["no hash", { hash: undefined }],
    ["agents that are not a list", { agents: "coder" }],
    ["an expiry that is not a number", { expiresAt: "never" }],
    ["a policy that is not an object", { policy: "all" }],
    ["a deny that is not a list", { policy: { tools: { deny: "x" } } }],
    ["an approval of no kind", { policy: { tools: { approval: "maybe" } } }],
    ["a rate of 0", { policy: { rateLimit: 0 } }],
    ["a rate that is not a number", { policy: { rateLimit: "5" } }],
    ["an owner that is not true or false", { policy: { owner: "yes" } }],
  ])("open nothing with %s in their file", async (_, change) => {
    const { text } = await open().add({ name: "ci" });
    const stored = JSON.parse(await readFile(inGateway("tokens.json"), "utf8"));
    Object.assign(stored.tokens[0], change);
    await writeFile(inGateway("tokens.json"), JSON.stringify(stored));
    expect(open().find(text)).toBeUndefined();
  });
});

describe("the last use of a token", () => {
  it("is noted at most once a minute", async () => {
    const tokens = open();
    const { text } = await tokens.add({ name: "ci" });
    await tokens.add({ name: "unused" });
    const first = clock.now();
    tokens.find(text);
    await clock.advance(59_999);
    tokens.find(text);
    await tokens.close();
    const lastUses = async () => (await open().list()).map(({ lastUsedAt }) => lastUsedAt);
    expect(await lastUses()).toEqual([first, undefined]);
    await clock.advance(1);
    const later = open();
    later.find(text);
    await later.close();
    expect(await lastUses()).toEqual([first + 60_000, undefined]);
  });

  it("is noted soon after each first use, while the gateway runs", async () => {
    const tokens = open();
    const added = [await tokens.add({ name: "a" }), await tokens.add({ name: "b" })];
    for (const { text } of added) {
      tokens.find(text);
      await clock.advance(1000);
    }
    const used = async () =>
      (await open().list()).map(({ lastUsedAt }) => lastUsedAt !== undefined);
    await expect.poll(used).toEqual([true, true]);
    await tokens.close();
  });
});
