import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { Redactor } from "../../../src/core/redaction/redactor.ts";
import { StderrLog } from "../../../src/core/process/stderr-log.ts";
import { ManualClock, settle } from "../../support/manual-clock.ts";

function setUp(...secrets: string[]) {
  const redactor = new Redactor();
  for (const secret of secrets) redactor.add(secret);
  const clock = new ManualClock();
  const stderr = new PassThrough();
  const logged: string[] = [];
  const log = new StderrLog(
    stderr,
    clock,
    (line) => logged.push(line),
    (text, isCut) => redactor.text(text, isCut),
  );
  async function write(...chunks: (string | Buffer)[]): Promise<void> {
    for (const chunk of chunks) stderr.write(chunk);
    await settle();
  }
  return { clock, stderr, log, logged, write };
}

describe("stderr", () => {
  it.each<[string, (string | Buffer)[], string[]]>([
    ["line by line", ["one\ntwo\n"], ["one", "two"]],
    ["however it is cut", ["o", "ne\nt", "wo", "\n"], ["one", "two"]],
    ["across a character", [Buffer.from([0xc3]), Buffer.from([0xa9, 0x0a])], ["é"]],
    ["without empty lines", ["\n\r\n  \none\r\n"], ["one"]],
    ["without escapes", ["\u001b[31mred\u001b[0m\n", "\u001b", "[1mbold\n"], ["red", "bold"]],
    ["with its indentation", ["  at line 3  \n"], ["  at line 3"]],
  ])("is logged %s", async (_, chunks, lines) => {
    const { log, logged, write } = setUp();
    await write(...chunks);
    expect(logged).toEqual(lines);
    expect(log.tail()).toEqual(lines);
  });

  it.each<[string, string[], string[]]>([
    ["two lines", ["the key is hunter2-", "hunter2, ok"], ["the key is [R]", "the key is [R], ok"]],
    [
      "three lines, in base64",
      ["key:", "aHVudGVy", "Mi1odW50", "ZXIy", "next"],
      ["key:", "[R]", "next"],
    ],
    ["lines with others before them", ["one", "two hunt", "er2-hunter2"], ["one", "two [R]"]],
    ["none: a line of its own stays", ["hunter", "next"], ["[R]", "next"]],
  ])("loses a secret that goes over %s", async (_, lines, told) => {
    const { log, logged, write } = setUp("hunter2-hunter2");
    await write(lines.map((line) => `${line}\n`).join(""));
    const shown = told.map((line) => line.replaceAll("[R]", "[REDACTED]"));
    expect(logged).toEqual(shown);
    expect(log.tail()).toEqual(shown);
  });

  it("has long lines cut, and the next one whole", async () => {
    const { logged, write } = setUp();
    await write("x".repeat(50_000), "x".repeat(50_000), "\nnext\n");
    expect(logged).toEqual([`${"x".repeat(1999)}…`, "next"]);
  });

  it("has its last unfinished line logged when it ends or breaks", async () => {
    for (const end of [
      (stderr: PassThrough) => void stderr.end("last words"),
      (stderr: PassThrough) => {
        stderr.write("last words");
        setImmediate(() => stderr.destroy(new Error("EIO")));
      },
    ]) {
      const { logged, stderr } = setUp();
      end(stderr);
      await settle();
      expect(logged).toEqual(["last words"]);
    }
  });

  it("is always read, however much comes", async () => {
    const { stderr, write } = setUp();
    for (let megabyte = 0; megabyte < 8; megabyte += 1) await write("x".repeat(1 << 20));
    expect(stderr.readableLength + stderr.writableLength).toBe(0);
  });
});

describe("a secret", () => {
  const secret = "hunter2-hunter2-hunter2";

  it.each<[string, string[], string[]]>([
    ["in a line", [`token ${secret}.\n`], ["token [REDACTED]."]],
    ["however it is cut", ["token hunter2-", "hunter2-hun", "ter2.\n"], ["token [REDACTED]."]],
    ["with escapes in it", ["hunter2-\u001b[1mhunter2\u001b[0m-hunter2\n"], ["[REDACTED]"]],
    [
      "across the end of what is shown of a line",
      [`${"x".repeat(1990)}${secret} and more\n`],
      [`${"x".repeat(1990)}[REDACTED…`],
    ],
    [
      "across the end of what is kept of a line",
      [`${"\u001b[1m".repeat(995)}${"x".repeat(10)}${secret}${"y".repeat(90_000)}\n`],
      [`${"x".repeat(10)}[REDACTED]`],
    ],
  ])("is not logged: %s", async (_, chunks, lines) => {
    const { log, logged, write } = setUp(secret);
    await write(...chunks);
    expect(logged).toEqual(lines);
    expect(log.tail()).toEqual(lines);
  });

  it("is not in the last line of a server that ended in the middle of it", async () => {
    const { log, logged, stderr } = setUp(secret);
    stderr.end("ready\ntoken hunter2-hunt");
    await settle();
    expect(logged).toEqual(["ready", "token [REDACTED]"]);
    expect(log.tail()).toEqual(logged);
  });

  it("is not in the tail before it is whole", async () => {
    const { log, write } = setUp(secret);
    await write("done\ntoken hunter2-hunt");
    expect(log.tail()).toEqual(["done", "token [REDACTED]"]);
    await write("ing\n");
    expect(log.tail()).toEqual(["done", "token hunter2-hunting"]);
  });
});

describe("the tail", () => {
  it("is the last 40 lines, with the one that is not finished", async () => {
    const { log, write } = setUp();
    for (let line = 1; line <= 100; line += 1) await write(`line ${line}\n`);
    await write("unfinished");
    const tail = log.tail();
    expect(tail).toHaveLength(40);
    expect(tail[0]).toBe("line 62");
    expect(tail.slice(-2)).toEqual(["line 100", "unfinished"]);
  });

  it("is a copy that the reader may change", async () => {
    const { log, write } = setUp();
    await write("one\n");
    log.tail().push("two");
    expect(log.tail()).toEqual(["one"]);
  });
});

describe("what is kept", () => {
  it("is the last 200 lines, from any line on", async () => {
    const { log, write } = setUp();
    for (let line = 1; line <= 250; line += 1) await write(`line ${line}\n`);
    expect(log.count).toBe(250);
    expect(log.lines()).toHaveLength(200);
    expect(log.lines()[0]).toBe("line 51");
    expect(log.lines(10)[0]).toBe("line 51");
    expect(log.lines(248)).toEqual(["line 249", "line 250"]);
    expect(log.lines(250)).toEqual([]);
  });

  it("is bounded for long lines too", async () => {
    const { log, write } = setUp();
    for (let line = 1; line <= 150; line += 1) await write(`${"x".repeat(3000)}\n`);
    expect(log.lines().join("").length).toBeLessThanOrEqual(128 * 1024);
    expect(log.lines().length).toBeGreaterThan(40);
  });
});

describe("a flood", () => {
  it("is logged up to 200 lines in 10 seconds, then counted", async () => {
    const { clock, log, logged, write } = setUp();
    await write("flood\n".repeat(1000));
    expect(logged).toHaveLength(200);
    await clock.advance(9_999);
    await write("still within\n");
    expect(logged).toHaveLength(200);
    expect(log.tail().at(-1)).toBe("still within");
    await clock.advance(1);
    await write("after\n");
    await clock.advance(10_000);
    await write("long after\n");
    expect(logged.slice(200)).toEqual(["(801 lines left out)", "after", "long after"]);
  });

  it("is not counted from lines that come slowly", async () => {
    const { clock, logged, write } = setUp();
    for (let second = 0; second < 300; second += 1) {
      await write("tick\n");
      await clock.advance(1000);
    }
    expect(logged).toHaveLength(300);
  });
});
