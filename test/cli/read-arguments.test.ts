import { execFileSync } from "node:child_process";
import { openSync, closeSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { beforeEach, describe, expect, it } from "vitest";
import { readArguments } from "../../src/cli/read-arguments.ts";
import type { CliInput } from "../../src/cli/io.ts";
import { temporaryDirectory } from "../support/directory.ts";

let cwd = "";
beforeEach(() => {
  cwd = temporaryDirectory();
  writeFileSync(join(cwd, "args.json"), '{"text": "from a file"}');
  writeFileSync(join(cwd, "notes.txt"), "notes\n");
});

function read(
  tokens: string[],
  stdin: CliInput = new PassThrough().end(),
  signal = AbortSignal.any([]),
) {
  let prompts = 0;
  const screen = { note: () => void (prompts += 1) };
  const given = readArguments(tokens, { io: { stdin, cwd }, signal, screen });
  return { given, prompts: () => prompts };
}

const said = (text: string) => new PassThrough().end(text);

describe("arguments on the command line", () => {
  it.each<[string, string[], object]>([
    ["none", [], { whole: {}, pairs: [] }],
    ["a JSON object", ['{"a": 1}'], { whole: { a: 1 }, pairs: [] }],
    [
      "a key and a value",
      ["a=1"],
      { whole: {}, pairs: [{ key: "a", value: { kind: "text", text: "1" } }] },
    ],
    [
      "a value with = in it",
      ["a=b=c"],
      { whole: {}, pairs: [{ key: "a", value: { kind: "text", text: "b=c" } }] },
    ],
    [
      "an empty value",
      ["a="],
      { whole: {}, pairs: [{ key: "a", value: { kind: "text", text: "" } }] },
    ],
    [
      "a value of several lines",
      ["a=b\nc"],
      { whole: {}, pairs: [{ key: "a", value: { kind: "text", text: "b\nc" } }] },
    ],
    ["a lone @", ["a=@"], { whole: {}, pairs: [{ key: "a", value: { kind: "text", text: "@" } }] }],
    [
      "a key and JSON",
      ["a:=[1]"],
      { whole: {}, pairs: [{ key: "a", value: { kind: "json", value: [1] } }] },
    ],
    ["a file of arguments", ["@args.json"], { whole: { text: "from a file" }, pairs: [] }],
    [
      "a file as a value",
      ["a=@notes.txt"],
      { whole: {}, pairs: [{ key: "a", value: { kind: "content", text: "notes\n" } }] },
    ],
    [
      "a word, which the schema gives a meaning",
      ["word"],
      {
        whole: {},
        pairs: [],
        loose: [{ kind: "word", text: "word", value: { kind: "text", text: "word" } }],
      },
    ],
    [
      "an object and pairs",
      ['{"a": 1}', "b=2"],
      { whole: { a: 1 }, pairs: [{ key: "b", value: { kind: "text", text: "2" } }] },
    ],
  ])("may be %s", async (_, tokens, expected) => {
    expect(await read(tokens).given).toEqual(expected);
  });

  it("may come from stdin, whole or as a value", async () => {
    expect(await read(["-"], said('{"a": "é"}')).given).toEqual({ whole: { a: "é" }, pairs: [] });
    expect(await read(["a=@-"], said("text\n")).given).toEqual({
      whole: {},
      pairs: [{ key: "a", value: { kind: "content", text: "text\n" } }],
    });
  });

  it("tell a person at a terminal that input is expected", async () => {
    const stdin: PassThrough & { isTTY?: boolean } = new PassThrough();
    stdin.isTTY = true;
    const { given, prompts } = read(["-"], stdin);
    stdin.end("{}");
    await given;
    expect(prompts()).toBe(1);
  });

  it("are given up when the command must end", async () => {
    const controller = new AbortController();
    const stdin = new PassThrough();
    const { given } = read(["-"], stdin, controller.signal);
    controller.abort();
    await expect(given).rejects.toMatchObject({ code: "CANCELLED" });
    expect(stdin.isPaused()).toBe(true);
  });

  it.each([
    [["@nope.json"], "there is no file nope.json"],
    [["a=@nope.txt"], "there is no file nope.txt"],
    [
      ["{}", "@args.json"],
      "only one JSON object can be given; there are two, from the argument and args.json",
    ],
    [["-", "a=@-"], "stdin can only be read once"],
    [["a:=x"], "the value of 'a' is not valid JSON: unexpected 'x' at line 1, column 1\n  x\n  ^"],
    [
      ["@notes.txt"],
      "notes.txt is not valid JSON: unexpected 'n' at line 1, column 1\n  notes\n  ^",
    ],
  ])("%j are refused: %s", async (tokens, message) => {
    const { given } = read(tokens, said("{}"));
    await expect(given).rejects.toMatchObject({ code: "INVALID_ARGUMENTS", message });
  });
});

describe("what has no end, or is too large", () => {
  it("is refused on stdin, and read no further", async () => {
    let sent = 0;
    const endless = new Readable({
      read() {
        sent += 1;
        this.push(Buffer.alloc(1024 * 1024, "x"));
      },
    });
    const { given } = read(["-"], endless);
    await expect(given).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: "there is more than 64 MiB on stdin",
    });
    expect(sent).toBeLessThan(80);
    endless.destroy();
  });

  it.runIf(process.platform === "linux").each<[string, (path: string) => unknown, string]>([
    ["a named pipe", (path) => execFileSync("mkfifo", [path]), "is not a file"],
    ["a device", (path) => execFileSync("ln", ["-s", "/dev/zero", path]), "is not a file"],
    [
      "a large file",
      (path) => {
        writeFileSync(path, "");
        truncateSync(path, 64 * 1024 * 1024 + 1);
      },
      "is larger than 64 MiB",
    ],
  ])("is refused as a file: %s", async (_, place, problem) => {
    place(join(cwd, "input"));
    await expect(read(["text=@input"]).given).rejects.toThrow(`input ${problem}`);
  });

  it.runIf(process.platform === "linux")("is not what a shell gives for a command", async () => {
    const file = openSync(join(cwd, "notes.txt"), "r");
    try {
      const { pairs } = await read([`text=@/dev/fd/${file}`]).given;
      expect(pairs).toMatchObject([{ key: "text", value: { text: "notes\n" } }]);
    } finally {
      closeSync(file);
    }
  });
});
