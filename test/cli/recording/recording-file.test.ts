import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { readRecording, RecordingWriter } from "../../../src/cli/recording/recording-file.ts";
import type { TraceEntry } from "../../../src/core/types/trace.ts";
import { temporaryDirectory } from "../../support/directory.ts";

let directory = "";
let path = "";
beforeEach(() => {
  directory = temporaryDirectory();
  path = join(directory, "docs.jsonl");
});

const recorded = "2026-11-16T14:30:00.000Z";
const HEADER = '{"plugboard":"recording","version":1,"server":"docs"}';

it("what is written is read again, and only its owner may read it", async () => {
  const about = { server: "docs", at: 1000 };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const entries: TraceEntry[] = [
    { ...about, kind: "state", state: "starting" },
    { ...about, kind: "message", from: "board", message, size: 60 },
    { ...about, at: 1020, kind: "cut", from: "server", id: 1, text: "{", size: 1e9 },
    { ...about, kind: "stderr", text: "a line\u2028" },
    { ...about, kind: "lost", count: 3 },
  ];
  const writer = await RecordingWriter.open(path, { force: false, recorded });
  for (const entry of entries) writer.add(entry);
  await writer.close();
  expect(writer.counts).toEqual({ messages: 1, cut: 1, lost: 3 });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await readRecording(path)).toEqual({
    server: "docs",
    recorded,
    messages: [
      { line: 3, from: "board", message },
      { line: 4, from: "server", id: 1 },
    ],
  });
  expect(readFileSync(path, "utf8")).toContain('\n{"at":20,"kind":"cut"');
});

it("a file that is there is replaced only with force, and only by something", async () => {
  writeFileSync(path, "mine", { mode: 0o644 });
  await expect(RecordingWriter.open(path, { force: false, recorded })).rejects.toMatchObject({
    code: "INVALID_ARGUMENTS",
    message: expect.stringContaining("there is a file"),
    hint: expect.stringContaining("--force"),
  });
  const nothing = await RecordingWriter.open(path, { force: true, recorded });
  await nothing.close();
  expect(readFileSync(path, "utf8")).toBe("mine");
  const writer = await RecordingWriter.open(path, { force: true, recorded });
  writer.add({ server: "docs", at: 0, kind: "stderr", text: "x" });
  await writer.close();
  expect(readFileSync(path, "utf8")).toMatch(/^\{"plugboard":"recording"/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const empty = await RecordingWriter.open(`${path}.new`, { force: false, recorded });
  await empty.close();
  await expect(readRecording(`${path}.new`)).rejects.toThrow("there is no file");
});

it("nothing is recorded behind a link, even with force", async () => {
  const target = join(directory, "target");
  writeFileSync(target, "mine", { mode: 0o644 });
  symlinkSync(target, path);
  symlinkSync(join(directory, "new"), `${path}.new`);
  for (const link of [path, `${path}.new`]) {
    await expect(RecordingWriter.open(link, { force: true, recorded })).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: `${link} is a link, so nothing was recorded in it`,
    });
  }
  expect([readFileSync(target, "utf8"), statSync(target).mode & 0o777]).toEqual(["mine", 0o644]);
  expect(existsSync(join(directory, "new"))).toBe(false);
});

it("a recording ends before it is too large to be replayed, and counts what it has left out", async () => {
  const writer = await RecordingWriter.open(path, { force: false, recorded, largest: 1000 });
  const about = { server: "docs", at: 0 };
  const message = { method: "x", params: { text: "é".repeat(100) } };
  for (let each = 0; each < 9; each += 1) {
    writer.add({ ...about, kind: "message", from: "server", message, size: 300 });
  }
  writer.add({ ...about, kind: "lost", count: 5 });
  await writer.close();
  expect(writer.counts).toEqual({ messages: 2, cut: 0, lost: 12 });
  expect(statSync(path).size).toBeLessThanOrEqual(1000);
  expect((await readRecording(path)).messages.length).toBe(2);
});

it.runIf(process.platform === "linux")("says why it could not be written", async () => {
  const elsewhere = RecordingWriter.open("/nowhere/docs.jsonl", { force: false, recorded });
  await expect(elsewhere).rejects.toMatchObject({
    code: "SYSTEM_ERROR",
    message: expect.stringContaining("cannot be written to /nowhere/docs.jsonl"),
  });
  const onDirectory = RecordingWriter.open("/tmp", { force: true, recorded });
  await expect(onDirectory).rejects.toThrow("written to /tmp: /tmp is a directory, but a file");
  await expect(readRecording("/dev/null")).rejects.toThrow(
    "the recording cannot be read: /dev/null is not a regular file",
  );
});

describe("a recording that is damaged is refused, with the line that is wrong", () => {
  const message = '{"kind":"message","from":"board","message":{"id":1,"method":"x"}}';
  it.each<[string, string, string]>([
    ["nothing in it", "", "it is empty"],
    ["something else", '{"a":1}\n', "line 1 is not the beginning of a recording"],
    ["not JSON at all", "PNG\u0000\u0001", "line 1 is not the beginning of a recording"],
    [
      "a later version",
      '{"plugboard":"recording","version":2}',
      "line 1 has version 2, and this Plugboard reads version 1",
    ],
    [
      "a line that is cut off",
      `${HEADER}\n${message}\n{"kind":"mess`,
      "line 3 is not a JSON object",
    ],
    ["a line that is a list", `${HEADER}\n[]\n`, "line 2 is not a JSON object: []"],
    [
      "no sender",
      `${HEADER}\n{"kind":"message","message":{}}`,
      'line 2 has no "from" that is "board" or "server"',
    ],
    [
      "no message",
      `${HEADER}\n{"kind":"message","from":"board"}`,
      'line 2 has no "message" that is an object',
    ],
    [
      "a message without end",
      `${HEADER}\n{"kind":"message","from":"board","message":{"a":${"[".repeat(2000)}${"]".repeat(2000)}}}`,
      "line 2 is nested too deeply",
    ],
    ["escapes", `${HEADER}\n\u001b[2Jboo`, "line 2 is not a JSON object: boo"],
  ])("%s", async (_, text, why) => {
    writeFileSync(path, text);
    await expect(readRecording(path)).rejects.toMatchObject({
      code: "INVALID_ARGUMENTS",
      message: expect.stringContaining(`${path} cannot be replayed: ${why}`),
    });
  });

  it("entries of a kind that is not known yet are left out", async () => {
    writeFileSync(path, `${HEADER}\n{"kind":"new"}\n${message}\n`);
    expect((await readRecording(path)).messages).toMatchObject([{ line: 3 }]);
  });
});

it.each<[string, string, boolean]>([
  ["is empty", "", false],
  ["is no recording", '{"a":1}\n', false],
  ["has a wrong line", `${HEADER}\n[]\n`, true],
])("a file that %s gets a hint that fits", async (_, text, isMendable) => {
  const file = join(directory, "docs.jsonl");
  writeFileSync(file, text);
  const again = "record it again: plugboard record --help";
  await expect(readRecording(file)).rejects.toMatchObject({
    hint: isMendable ? `remove that line, or ${again}` : again,
  });
});
