import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fstatSync, openSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { PipeWriter, withBorrowedReads } from "../../../src/core/process/pipes.ts";
import { eventually } from "../../support/processes.ts";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "plugboard-pipes-"));
});

afterAll(() => rm(directory, { recursive: true }));

const children: ChildProcessWithoutNullStreams[] = [];

afterEach(async () => {
  const ends = children.splice(0).map(async (child) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  });
  await Promise.all(ends);
});

function start(command: string, ...args: string[]): ChildProcessWithoutNullStreams {
  const child = spawn(command, args, { stdio: "pipe" });
  children.push(child);
  return child;
}

const sh = (script: string): ChildProcessWithoutNullStreams => start("sh", "-c", script);

/** Everything that is read, copied while it may be. */
async function contentOf(output: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  output.on("data", (chunk: Buffer) => chunks.push(Buffer.from(chunk)));
  await once(output, "end");
  return Buffer.concat(chunks).toString();
}

describe("a pipe with borrowed reads", () => {
  it("is not mixed up with others, although all share one buffer", async () => {
    const letters = ["a", "b", "c", "d"];
    const read = letters.map((letter) =>
      contentOf(
        withBorrowedReads(sh(`head -c 1000000 /dev/zero | tr '\\0' ${letter}; echo .`).stdout),
      ),
    );
    expect(await Promise.all(read)).toEqual(letters.map((each) => `${each.repeat(1_000_000)}.\n`));
  });

  it("lends its buffer: a chunk is overwritten by the next read", async () => {
    const { stdin, stdout } = start("cat");
    const output = withBorrowedReads(stdout);
    const kept: Buffer[] = [];
    output.on("data", (chunk: Buffer) => kept.push(chunk));
    for (const word of ["one", "two"]) {
      stdin.write(word);
      await once(output, "data");
    }
    expect(kept.map(String)).toEqual(["two", "two"]);
  });

  it("gives copies to whoever reads it with `for await`", async () => {
    const { stdin, stdout } = start("cat");
    const kept: Buffer[] = [];
    stdin.write("one");
    for await (const chunk of withBorrowedReads(stdout)) {
      kept.push(chunk as Buffer);
      if (kept.length === 1) stdin.end("two");
    }
    expect(kept.map(String)).toEqual(["one", "two"]);
  });

  it("keeps what comes before anybody listens, in order", async () => {
    const child = sh("printf first; read -r _; printf ' second'");
    const output = withBorrowedReads(child.stdout);
    await eventually(() => output.readableLength === 5);
    const content = contentOf(output);
    child.stdin.end("\n");
    expect(await content).toBe("first second");
  });

  it("stops reading while nobody takes what is there", async () => {
    const output = withBorrowedReads(sh("head -c 5000000 /dev/zero").stdout);
    await eventually(() => output.readableLength >= output.readableHighWaterMark);
    await turn();
    expect(output.readableLength).toBeLessThan(1_000_000);
    expect(await text(output)).toHaveLength(5_000_000);
  });

  it("ends and closes, and so does its child", async () => {
    const child = sh("echo bye");
    const output = withBorrowedReads(child.stdout);
    const closed = once(child, "close");
    child.stderr.resume();
    expect(await contentOf(output)).toBe("bye\n");
    expect(await closed).toEqual([0, null]);
    expect([output.destroyed, child.stdout.destroyed]).toEqual([true, true]);
  });

  it("can be destroyed while its child still writes", async () => {
    const child = sh("yes");
    const output = withBorrowedReads(child.stdout);
    await once(output, "data");
    output.destroy();
    child.stderr.resume();
    // It cannot write any more, which ends it.
    expect(await once(child, "close")).not.toEqual([0, null]);
  });

  it.each<[string, () => Readable, NodeJS.Platform]>([
    ["on Windows", () => start("true").stdout, "win32"],
    ["without a pipe", () => new PassThrough(), "linux"],
  ])("is the stream itself %s", (_, open, platform) => {
    const stream = open();
    expect(withBorrowedReads(stream, platform)).toBe(stream);
  });
});

describe("a writer of a pipe", () => {
  it("writes short texts without the stream", async () => {
    const { stdin, stdout } = start("cat");
    const writer = new PipeWriter(stdin);
    for (const each of ["plain\n", "aé日😀\n", "\ud800\n"]) expect(writer.write(each)).toBe("");
    stdin.end();
    expect(await text(stdout)).toBe("plain\naé日😀\n\ufffd\n");
  });

  it("leaves the rest of a full pipe to the stream, and nothing is lost or overtakes", async () => {
    const child = start("cat");
    const { stdin } = child;
    child.kill("SIGSTOP");
    const writer = new PipeWriter(stdin);
    const lines = Array.from({ length: 1000 }, (_, at) => `${at} ${"é日".repeat(200)}\n`);
    const left = lines.map((line) => {
      const rest = writer.write(line);
      if (rest.length > 0) stdin.write(rest);
      return rest;
    });
    // The first fit, one was divided or refused, and after it the stream has all.
    const firstLeft = left.findIndex((rest) => rest.length > 0);
    expect(firstLeft).toBeGreaterThan(0);
    expect(left.slice(firstLeft + 1)).toEqual(lines.slice(firstLeft + 1));
    child.kill("SIGCONT");
    stdin.end();
    expect(await text(child.stdout)).toBe(lines.join(""));
  });

  it.each<[string, () => Writable, (stdin: Writable) => void]>([
    ["is no pipe", () => new PassThrough(), () => {}],
    ["has ended", () => start("cat").stdin, (stdin) => stdin.end()],
    ["is destroyed", () => start("cat").stdin, (stdin) => stdin.destroy()],
    ["has texts to write", () => start("sleep", "60").stdin, fill],
  ])("leaves all to a stream that %s", (_, open, change) => {
    const stdin = open();
    const writer = new PipeWriter(stdin);
    change(stdin);
    expect(writer.write("text\n")).toBe("text\n");
  });

  it("never writes to a file that has got the number of its pipe", async () => {
    const { stdin } = start("cat");
    const writer = new PipeWriter(stdin);
    // Numbers are given away again, the smallest first.
    const free = openSync("/dev/null", "r");
    closeSync(free);
    const pipe = (stdin as { _handle?: { fd: number } })._handle?.fd ?? -1;
    stdin.destroy();
    const files = Array.from({ length: Math.abs(pipe - free) + 1 }, (_, at) =>
      openSync(join(directory, String(at)), "w"),
    );
    writer.write("text\n");
    const sizes = files.map((file) => fstatSync(file).size);
    for (const file of files) closeSync(file);
    expect(files).toContain(pipe);
    expect(sizes).toEqual(files.map(() => 0));
  });

  it("leaves all to the stream of a broken pipe", async () => {
    const child = sh("exec <&-; echo; sleep 60");
    await once(child.stdout, "data");
    expect(new PipeWriter(child.stdin).write("text\n")).toBe("text\n");
  });

  it("leaves long texts to the stream", () => {
    const long = "x".repeat(10_000);
    expect(new PipeWriter(start("cat").stdin).write(long)).toBe(long);
  });
});

/** More than a pipe takes. */
function fill(stdin: Writable): void {
  stdin.on("error", () => {});
  stdin.write("x".repeat(1_000_000));
}
