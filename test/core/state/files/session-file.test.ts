import { randomBytes } from "node:crypto";
import { appendFile, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { SessionStore } from "../../../../src/core/types/shared-state.ts";
import { SessionFile } from "../../../../src/core/state/files/session-file.ts";
import { ManualClock } from "../../../support/manual-clock.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

let stateDir: string;
let file: string;
let clock: ManualClock;
let errors: unknown[];

beforeEach(() => {
  stateDir = temporaryDirectory();
  file = join(stateDir, "gateway", "sessions.jsonl");
  clock = new ManualClock();
  errors = [];
});

function open(): SessionStore {
  const onWriteError = (error: unknown): void => void errors.push(error);
  return new SessionFile({ stateDir, clock, onWriteError });
}

const later = (ms: number): number => clock.now() + ms;

describe("SessionFile", () => {
  it("knows nothing of a session that nobody noted anything for", () => {
    const store = open();
    expect(store.get("a")).toBeUndefined();
    expect(store.isRevoked("a")).toBe(false);
  });

  it("keeps notes and revocations over a restart, in a file that only its owner can read", async () => {
    const store = open();
    const notes = { logLevel: "warning", subscriptions: ["demo://time", "file:///é"] };
    void store.set("a", later(1000), { logLevel: "debug" });
    void store.set("a", later(1000), notes);
    void store.revoke("b", later(1000));
    expect(store.get("a")).toEqual(notes);
    expect(store.isRevoked("b")).toBe(true);
    await store.close();
    expect((await stat(file)).mode & 0o777).toBe(0o600);

    const next = open();
    expect(next.get("a")).toEqual(notes);
    expect(next.isRevoked("a")).toBe(false);
    expect(next.isRevoked("b")).toBe(true);
    expect(errors).toEqual([]);
  });

  it("forgets a session when it expires", async () => {
    const store = open();
    await store.set("a", later(1000), { logLevel: "info" });
    await store.revoke("b", later(1000));
    await clock.advance(1000);
    for (const each of [store, open()]) {
      expect(each.get("a")).toBeUndefined();
      expect(each.isRevoked("b")).toBe(false);
    }
  });

  it("does not bring an ended session back", async () => {
    const store = open();
    await store.revoke("a", later(1000));
    await store.set("a", later(1000), { logLevel: "info" });
    expect(store.isRevoked("a")).toBe(true);
    expect(open().isRevoked("a")).toBe(true);
    expect(open().get("a")).toBeUndefined();
  });

  it("sees within a second what another gateway has written", async () => {
    const [one, other] = [open(), open()];
    expect(other.isRevoked("a")).toBe(false);
    await one.revoke("a", later(10_000));
    await one.set("b", later(10_000), { logLevel: "error" });
    await clock.advance(1000);
    expect(other.isRevoked("a")).toBe(true);
    expect(other.get("b")).toEqual({ logLevel: "error" });
  });

  it("keeps the newest notes while older ones are still being written", async () => {
    const store = open();
    const writes = Array.from({ length: 20 }, (_, index) => {
      const write = store.set("a", later(60_000), { logLevel: String(index) });
      expect(store.get("a")).toEqual({ logLevel: String(index) });
      return write;
    });
    await clock.advance(1000);
    expect(store.get("a")).toEqual({ logLevel: "19" });
    await Promise.all(writes);
    expect(store.get("a")).toEqual({ logLevel: "19" });
    expect(open().get("a")).toEqual({ logLevel: "19" });
  });

  it("writes what has changed of the subscriptions, not all of them", async () => {
    const store = open();
    const uris: string[] = [];
    const sizes: number[] = [];
    for (let at = 0; at < 300; at += 1) {
      uris.push(`demo://${at}/${"x".repeat(100)}`);
      await store.set("a", later(60_000), { logLevel: "info", subscriptions: [...uris] });
      sizes.push((await stat(file)).size);
    }
    const lengths = sizes.slice(1).map((size, at) => size - (sizes[at] ?? 0));
    expect(Math.max(...lengths)).toBeLessThan(300);
    uris.splice(100, 1);
    await store.set("a", later(60_000), { logLevel: "debug", subscriptions: [...uris] });
    const notes = { logLevel: "debug", subscriptions: uris };
    for (const each of [store, open()]) expect(each.get("a")).toEqual(notes);
    expect((await readFile(file, "utf8")).trimEnd().split("\n").at(-1)).toContain("unsubscribed");
  });

  it("keeps a list that is longer than a line, also when the file is rewritten", async () => {
    const store = open();
    const subscriptions = Array.from(
      { length: 40 },
      (_, at) => `demo://${at}/${"x".repeat(50_000)}`,
    );
    await store.set("a", later(1_000_000), { subscriptions });
    expect(open().get("a")).toEqual({ subscriptions });
    for (let round = 0; round < 6; round += 1) {
      for (let each = 0; each < 250; each += 1) {
        void store.set(`${round}-${each}`, later(100), { logLevel: "info" });
      }
      await store.close();
      await clock.advance(1000);
    }
    await store.set("last", later(1_000_000), { logLevel: "info" });
    const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
    expect(lines.length).toBeLessThan(1000);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(150_000);
    for (const each of [store, open()]) expect(each.get("a")).toEqual({ subscriptions });
  });

  it("joins what two gateways have set, of which neither knew what the other wrote", async () => {
    const [one, other] = [open(), open()];
    await one.set("a", later(60_000), { subscriptions: ["x"] });
    await clock.advance(1000);
    expect(other.get("a")).toEqual({ subscriptions: ["x"] });
    await one.set("a", later(60_000), { subscriptions: ["x", "y"] });
    // It has not looked at the file since.
    await other.set("a", later(60_000), { subscriptions: ["x", "z"] });
    await clock.advance(1000);
    for (const each of [one, other, open()]) {
      expect(each.get("a")?.subscriptions?.toSorted()).toEqual(["x", "y", "z"]);
    }
  });

  it("writes all of it again after a write that failed", async () => {
    const store = open();
    await store.set("a", later(60_000), { subscriptions: ["x"] });
    await rm(file);
    await mkdir(file);
    await store.set("a", later(60_000), { subscriptions: ["x", "y"] });
    expect(errors).toHaveLength(1);
    await rm(file, { recursive: true });
    await store.set("a", later(60_000), { subscriptions: ["x", "y", "z"] });
    expect(open().get("a")).toEqual({ subscriptions: ["x", "y", "z"] });
  });

  it("rewrites the file when most of its lines say nothing any more, and loses nothing", async () => {
    const store = open();
    await store.revoke("kept", later(1_000_000));
    for (let round = 0; round < 6; round += 1) {
      for (let each = 0; each < 250; each += 1) {
        void store.set(`${round}-${each}`, later(100), { logLevel: "info" });
      }
      await store.close();
      await clock.advance(1000);
    }
    await store.set("last", later(1_000_000), { logLevel: "info" });
    const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
    expect(lines.length).toBeLessThan(1000);
    for (const each of [store, open()]) {
      expect(each.isRevoked("kept")).toBe(true);
      expect(each.get("last")).toEqual({ logLevel: "info" });
    }
  });

  it.each([
    ["a line that is not JSON", "{\n"],
    ["lines that are not entries", '5\nnull\n[]\n{"nonce":1}\n{"nonce":"x","expiresAt":"y"}\n'],
    ["bytes", randomBytes(10_000).toString("latin1")],
    ["a line of more than 1 MiB", `"${"x".repeat(1_500_000)}"\n`],
  ])("reads on after %s", async (_, text) => {
    const store = open();
    await store.revoke("a", later(1000));
    await appendFile(file, text);
    await appendFile(
      file,
      `\n${JSON.stringify({ nonce: "b", expiresAt: later(1000), revoked: true })}\n`,
    );
    const next = open();
    expect([next.isRevoked("a"), next.isRevoked("b")]).toEqual([true, true]);
  });

  it("waits for the rest of a line that is being written", async () => {
    const store = open();
    await store.revoke("a", later(10_000));
    const line = `${JSON.stringify({ nonce: "b", expiresAt: later(10_000), revoked: true })}\n`;
    await appendFile(file, line.slice(0, 20));
    await clock.advance(1000);
    expect(store.isRevoked("b")).toBe(false);
    await appendFile(file, line.slice(20));
    await clock.advance(1000);
    expect(store.isRevoked("b")).toBe(true);
  });

  it("goes on in memory when the file cannot be written, and says so", async () => {
    await writeFile(join(stateDir, "gateway"), "in the way");
    const store = open();
    await store.revoke("a", later(1000));
    expect(store.isRevoked("a")).toBe(true);
    expect(errors).toHaveLength(1);
  });
});
