import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BackgroundLog, openLog, readLog } from "../../../src/cli/background/log.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { temporaryDirectory } from "../../support/directory.ts";

const TIME = "1970-01-01T00:16:40.000Z";

let directory: string;
let path: string;
let log: BackgroundLog;

beforeEach(() => {
  directory = temporaryDirectory();
  path = join(directory, "gateway.log");
  log = new BackgroundLog(path, { clock: new ManualClock(), mostBytes: 1000 });
});

afterEach(() => {
  log.close();
});

describe("the log of a gateway in the background", () => {
  it.runIf(process.platform !== "win32")("is a file, and no pipe that nobody reads", () => {
    const pipe = join(directory, "pipe");
    execFileSync("mkfifo", [pipe]);
    expect(() => openLog(pipe)).toThrow("is not a regular file");
    expect(readLog(pipe, 0)).toEqual([]);
  });

  it("has a time before each line, and only its owner can read it", () => {
    log.write("one\ntwo");
    log.write(" goes on\n\n");
    expect(readFileSync(path, "utf8")).toBe(`${TIME} one\n${TIME} two goes on\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["many lines", () => log.write("a line of text\n")],
    ["lines that are too long", () => log.write(`${"x".repeat(2000)}\n`)],
    ["a line that never ends", () => log.write("y".repeat(5000))],
  ])("takes at most two files, whatever is written: %s", (_, write) => {
    for (let count = 0; count < 200; count += 1) write();
    expect(readdirSync(directory).toSorted()).toEqual(["gateway.log", "gateway.log.1"]);
    // A file may be longer than the limit by one line, which is cut at 16 KiB.
    for (const name of readdirSync(directory)) {
      expect(statSync(join(directory, name)).size).toBeLessThan(1000 + 17 * 1024);
    }
  });

  it("goes on in the file of an earlier gateway", () => {
    log.write("earlier\n");
    log.close();
    log = new BackgroundLog(path, { clock: new ManualClock(), mostBytes: 1000 });
    log.write("later\n");
    expect(readLog(path, 0)).toEqual(["earlier", "later"]);
  });

  it("gets everything that is printed", async () => {
    const stream = { write: (_text: string): boolean => false };
    log.claim(stream);
    stream.write("text\n");
    await new Promise<void>((resolve) => {
      const write = stream.write as unknown as (bytes: Buffer, done: () => void) => boolean;
      expect(write(Buffer.from("bytes\n"), resolve)).toBe(true);
    });
    expect(readLog(path, 0)).toEqual(["text", "bytes"]);
  });
});

describe("what a gateway has said since it was started", () => {
  it("is read without times and empty lines", () => {
    log.write("before\n");
    const { size } = statSync(path);
    log.write("plugboard: it failed\n\nhint: do this\n");
    expect(readLog(path, size)).toEqual(["plugboard: it failed", "hint: do this"]);
  });

  it("is everything in the file if it was rotated meanwhile", () => {
    log.write("after\n");
    expect(readLog(path, 100_000)).toEqual(["after"]);
  });

  it("is nothing where there is no log", () => {
    expect(readLog(join(directory, "none"), 0)).toEqual([]);
  });
});
