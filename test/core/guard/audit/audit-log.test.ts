import { readFileSync } from "node:fs";
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AuditLog, type AuditLogOptions } from "../../../../src/core/guard/audit/audit-log.ts";
import type { AuditSink } from "../../../../src/core/types/shared-state.ts";
import { auditIn } from "../../../../src/core/state/files/audit-file.ts";
import { recordingLogger } from "../../../support/logger.ts";
import { ManualClock, settle } from "../../../support/manual-clock.ts";
import { deferred } from "../../../../src/util/deferred.ts";
import { record } from "./records.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

let directory: string;
let file: string;
let logs: AuditLog[] = [];

beforeEach(() => {
  directory = temporaryDirectory();
  file = join(directory, "audit.jsonl");
});

afterEach(async () => {
  await Promise.all(logs.map((log) => log.close()));
  logs = [];
  await chmod(directory, 0o700);
});

interface OpenLogOptions extends Omit<AuditLogOptions, "trail"> {
  path?: string;
  maxBytes?: number;
}

function openLog({ path = file, maxBytes, ...options }: OpenLogOptions = {}): AuditLog {
  const trail = auditIn(path, { ...(maxBytes && { maxBytes }) });
  const log = new AuditLog({ trail, ...options });
  logs.push(log);
  return log;
}

const read = (path = file) => readFile(path, "utf8");
const tools = (text: string): unknown[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { tool?: string }).tool);
const names = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `t${from + at}`);

describe("a call that starts", () => {
  it("is in the file before it is sent, the first one too", async () => {
    const log = openLog({ path: join(directory, "new", "audit.jsonl") });
    for (const tool of ["a", "b"]) {
      const each = record({ tool });
      await log.start(each);
      expect(tools(await read(join(directory, "new", "audit.jsonl"))).at(-1)).toBe(tool);
      log.record(each);
    }
  });

  it("is written with all others of the same turn", async () => {
    const log = openLog();
    await log.start(record({ tool: "first" }));
    const all = ["a", "b", "c"].map((tool) => log.start(record({ tool })));
    expect(new Set(all).size).toBe(1);
    expect(tools(readFileSync(file, "utf8"))).toEqual(["first"]);
    for (const each of all) await each;
    expect(tools(await read())).toEqual(["first", "a", "b", "c"]);
  });

  it("does not wait for the end of the turn where many start", async () => {
    const log = openLog();
    await log.start(record({ tool: "first" }));
    const all = names(0, 100).map((tool) => log.start(record({ tool })));
    const { length } = tools(readFileSync(file, "utf8"));
    expect(length).toBeGreaterThan(80);
    for (const written of all.slice(0, length - 1)) await written;
    // Nothing but the promises has moved on.
    expect(tools(readFileSync(file, "utf8"))).toHaveLength(length);
    for (const written of all) await written;
    expect(tools(await read())).toEqual(["first", ...names(0, 100)]);
  });

  it("is sent if nothing can be written, and is written later", async () => {
    const clock = new ManualClock();
    const logger = recordingLogger();
    await mkdir(file);
    const log = openLog({ clock, logger });
    await log.start(record({ tool: "a" }));
    expect(logger.lines).toMatchObject([
      { message: "the audit cannot be written; calls go on without it" },
    ]);
    await rm(file, { recursive: true });
    await log.flush();
    expect(tools(await read())).toEqual(["a"]);
  });

  it("waits for a store that cannot record it at once, and loses nothing that the store refuses", async () => {
    const recorded: string[] = [];
    let isDown = false;
    const sink: AuditSink = {
      isOpen: true,
      append: async (lines) => void recorded.push(...lines.toString().trim().split("\n")),
      async appendNow(bytes, length) {
        const lines = bytes.toString("utf8", 0, length);
        await settle();
        if (isDown) throw new Error("down");
        recorded.push(...lines.trim().split("\n"));
      },
      close: async () => {},
    };
    const log = new AuditLog({ trail: { where: "elsewhere", open: () => sink } });
    logs.push(log);
    const both = [record({ tool: "a" }), record({ tool: "b" })];
    for (const writing of both.map((each) => log.start(each))) await writing;
    expect(new Set(tools(recorded.join("\n")))).toEqual(new Set(["a", "b"]));
    isDown = true;
    await log.start(record({ tool: "c" }));
    expect(recorded).toHaveLength(2);
    await log.flush();
    expect(tools(recorded.join("\n"))[2]).toBe("c");
  });

  it("begins a line of its own where another process left half a line", async () => {
    await writeFile(file, '{"torn');
    await openLog().start(record({ tool: "a" }));
    expect((await read()).split("\n")[1]).toContain('"tool":"a"');
  });
});

describe("AuditLog", () => {
  it("writes a line of JSON per call, for its owner alone", async () => {
    const log = openLog({ path: join(directory, "new", "audit.jsonl") });
    log.record(
      record({
        session: "s",
        decision: { verdict: "refused", rule: "deny x" },
        outcome: "TIMEOUT",
      }),
    );
    await log.flush();
    const text = await read(join(directory, "new", "audit.jsonl"));
    expect(text).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(text)).toEqual({
      type: "call",
      time: "2026-11-15T11:00:00.000Z",
      agent: "default",
      session: "s",
      server: "docs",
      tool: "read",
      argumentsHash: "44136fa355b3678a",
      decision: "refused",
      rule: "deny x",
      durationMs: 1.23,
      bytes: 5,
      outcome: "TIMEOUT",
    });
    expect((await stat(join(directory, "new", "audit.jsonl"))).mode & 0o777).toBe(0o600);
    expect((await stat(join(directory, "new"))).mode & 0o777).toBe(0o700);
  });

  it("gathers calls for a moment and writes them together, in order", async () => {
    const clock = new ManualClock();
    const log = openLog({ clock });
    for (const tool of names(0, 20)) log.record(record({ tool }));
    expect(clock.next()).toBe(50);
    await clock.advance(49);
    expect(await readdir(directory)).toEqual([]);
    await clock.advance(1);
    await log.flush();
    expect(tools(await read())).toEqual(names(0, 20));
  });

  it("gathers them once, also while others are written: a killed host loses one flush, not two", async () => {
    const clock = new ManualClock();
    const recorded: string[] = [];
    let disk = deferred();
    const sink: AuditSink = {
      isOpen: true,
      async append(lines) {
        await disk.promise;
        recorded.push(...lines.toString().trim().split("\n"));
      },
      appendNow: () => undefined,
      close: async () => {},
    };
    const log = new AuditLog({ trail: { where: "elsewhere", open: () => sink }, clock });
    logs.push(log);
    log.record(record({ tool: "a" }));
    await clock.advance(50);
    log.record(record({ tool: "b" }));
    await clock.advance(50);
    // It comes after the flush of the one before, so it has one of its own.
    log.record(record({ tool: "c" }));
    const slow = disk;
    disk = deferred();
    disk.resolve();
    slow.resolve();
    await settle();
    expect(tools(recorded.join("\n"))).toEqual(["a", "b"]);
    await clock.advance(50);
    expect(tools(recorded.join("\n"))).toEqual(["a", "b", "c"]);
  });

  it("does not wait when there are many", async () => {
    const clock = new ManualClock();
    const log = openLog({ clock });
    for (const tool of names(0, 1200)) log.record(record({ tool }));
    // A line may be half written when it is looked at.
    const lines = async () => (await read().catch(() => "")).split("\n").length - 1;
    // What makes a whole write goes at once; the rest is gathered like any other.
    await until(async () => (await lines()) > 500);
    await until(async () => {
      await clock.advance(50);
      return (await lines()) === 1200;
    });
    expect(tools(await read())).toEqual(names(0, 1200));
  });

  it("hashes large arguments one after another, and none of a call that was refused", async () => {
    const log = openLog();
    const text = "x".repeat(100_000);
    const large = { kind: "large", args: { text } } as const;
    // As many as wait for their hash; the others go without one, so that a crowd of them costs little.
    for (let at = 0; at < 1000; at += 1) log.record(record({ tool: "large", args: large }));
    log.record(record({ tool: "no", args: large, decision: { verdict: "refused", rule: "x" } }));
    await log.close();
    const lines = (await read()).trim().split("\n");
    const hashed = lines.filter((line) => line.includes('"argumentsHash"'));
    expect(lines).toHaveLength(1001);
    expect(hashed).toHaveLength(64);
    expect(hashed.every((line) => line.includes('"tool":"large"'))).toBe(true);
  });

  it("appends to what is there", async () => {
    for (const tool of ["a", "b"]) {
      const log = openLog();
      log.record(record({ tool }));
      await log.close();
    }
    expect(tools(await read())).toEqual(["a", "b"]);
  });

  it("writes a straggler's record after it was closed", async () => {
    const log = openLog();
    await log.close();
    log.record(record({ tool: "late" }));
    await log.close();
    await log.close();
    expect(tools(await read())).toEqual(["late"]);
  });

  it("keeps so many and says how many were lost", async () => {
    const log = openLog({ maxQueued: 3 });
    for (const tool of names(0, 5)) log.record(record({ tool }));
    await log.flush();
    const lines = (await read()).trim().split("\n");
    expect(tools(lines.slice(0, 3).join("\n"))).toEqual(names(0, 3));
    expect(JSON.parse(lines[3] ?? "")).toEqual({
      type: "lost",
      time: expect.any(String),
      count: 2,
    });
    log.record(record({ tool: "after" }));
    await log.flush();
    expect((await read()).trim().split("\n")).toHaveLength(5);
  });
});

describe("an audit file that is full", () => {
  it("is rotated, and the oldest file is deleted", async () => {
    const log = openLog({ maxBytes: 1000 });
    for (const tool of names(0, 60)) {
      log.record(record({ tool }));
      await log.flush();
    }
    expect((await readdir(directory)).sort()).toEqual([
      "audit.1.jsonl",
      "audit.2.jsonl",
      "audit.3.jsonl",
      "audit.4.jsonl",
      "audit.5.jsonl",
      "audit.jsonl",
    ]);
    const kept: unknown[] = [];
    for (const at of [5, 4, 3, 2, 1]) {
      const path = join(directory, `audit.${at}.jsonl`);
      expect((await stat(path)).size).toBeLessThanOrEqual(1000);
      kept.push(...tools(await read(path)));
    }
    kept.push(...tools(await read()));
    expect(kept).toEqual(names(60 - kept.length, 60));
    expect(kept.length).toBeGreaterThan(20);
  });

  it("loses nothing when several write to it", async () => {
    const writers = [openLog({ maxBytes: 4000 }), openLog({ maxBytes: 4000 })];
    for (const tool of names(0, 30)) {
      await Promise.all(
        writers.map((log, at) => {
          log.record(record({ tool: `${tool}-${at}` }));
          return log.flush();
        }),
      );
    }
    const all: unknown[] = [];
    for (const name of await readdir(directory))
      all.push(...tools(await read(join(directory, name))));
    const expected = names(0, 30).flatMap((tool) => [`${tool}-0`, `${tool}-1`]);
    expect(all).toHaveLength(expected.length);
    expect(new Set(all)).toEqual(new Set(expected));
  });

  it("keeps growing if it cannot be rotated, and says so once", async () => {
    const logger = recordingLogger();
    // The place of the oldest one is taken by what cannot be removed like a file.
    await mkdir(join(directory, "audit.5.jsonl", "in-the-way"), { recursive: true });
    const log = openLog({ maxBytes: 300, logger });
    for (const tool of names(0, 4)) {
      log.record(record({ tool }));
      await log.flush();
    }
    expect(tools(await read())).toEqual(names(0, 4));
    expect(logger.lines).toMatchObject([
      { level: "warn", message: expect.stringContaining("cannot be rotated") },
    ]);
  });
});

describe("an audit file that somebody else", () => {
  it.each<[string, () => Promise<void>]>([
    ["renames", () => rename(file, join(directory, "other"))],
    ["removes", () => rm(file)],
  ])("%s is made anew", async (_, act) => {
    const log = openLog();
    log.record(record({ tool: "a" }));
    await log.flush();
    await act();
    log.record(record({ tool: "b" }));
    await log.flush();
    expect(tools(await read())).toEqual(["b"]);
  });
});

describe("a disk that fails", () => {
  it.each<[string, () => Promise<unknown>]>([
    ["is not a regular file", () => mkdir(file)],
    ["is a symbolic link", () => symlink("elsewhere", file)],
  ])("costs one warning, and no record once it is back: it %s", async (reason, place) => {
    const logger = recordingLogger();
    const clock = new ManualClock();
    await place();
    const log = openLog({ logger, clock });
    for (const tool of names(0, 3)) {
      log.record(record({ tool }));
      await log.flush();
    }
    expect(logger.lines).toMatchObject([
      {
        level: "warn",
        message: "the audit cannot be written; calls go on without it",
        fields: { file, reason: expect.stringContaining(reason) },
      },
    ]);
    await rm(file, { recursive: true });
    await clock.advance(1000);
    await log.flush();
    expect(tools(await read())).toEqual(names(0, 3));
  });

  it("costs what does not fit until then, and says how much", async () => {
    await mkdir(file);
    const log = openLog({ maxQueued: 2 });
    for (const tool of names(0, 5)) log.record(record({ tool }));
    await log.flush();
    await rm(file, { recursive: true });
    await log.flush();
    const lines = (await read()).trim().split("\n");
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[2] ?? "")).toMatchObject({ type: "lost", count: 3 });
  });
});

describe("what waits for a disk", () => {
  it("is bounded in size too", async () => {
    await mkdir(file);
    const log = openLog({ maxBytes: Infinity });
    const long = "x".repeat(4 * 1024 * 1024);
    for (let at = 0; at < 12; at += 1) log.record(record({ agent: long }));
    await log.flush();
    await rm(file, { recursive: true });
    await log.flush();
    const lost = /"type":"lost".*"count":(\d+)/.exec(await read());
    expect(Number(lost?.[1])).toBeGreaterThan(0);
    expect((await stat(file)).size).toBeLessThan(40 * 1024 * 1024);
  });

  it("is given up when the log is closed", async () => {
    const clock = new ManualClock();
    await mkdir(file);
    const log = openLog({ clock });
    log.record(record());
    await log.close();
    expect(clock.next()).toBeUndefined();
  });
});

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
