import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { openArchive } from "../../../src/install/bundle/archive.ts";
import { type ZipEntry, zip } from "../../fixtures/bundles/zip.ts";
import { temporaryDirectory } from "../../support/directory.ts";

let directory = "";
beforeEach(() => {
  directory = temporaryDirectory();
});

const never = new AbortController().signal;
const MEBIBYTE = 1024 * 1024;

async function unpack(bytes: Buffer, executables: string[] = []): Promise<string> {
  const file = join(directory, "bundle.zip");
  const target = join(directory, "content");
  writeFileSync(file, bytes);
  mkdirSync(target);
  const archive = await openArchive(file, bytes.length, never);
  try {
    await archive.unpack(target, new Set(executables));
  } finally {
    archive.close();
  }
  return target;
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe("an archive", () => {
  it("is unpacked with its directories, for its owner alone, and with what is executable", async () => {
    const target = await unpack(
      zip([
        { name: "empty/", mode: 0o040777 },
        { name: "bin/run", content: "#!/bin/sh", mode: 0o104777 },
        { name: "data/Ünï.txt", content: "text", mode: 0o100666, method: 0 },
        { name: "from-windows.exe", content: "MZ", system: 0, mode: 0 },
      ]),
      ["from-windows.exe"],
    );
    expect(readFileSync(join(target, "data/Ünï.txt"), "utf8")).toBe("text");
    expect(readdirSync(join(target, "empty"))).toEqual([]);
    expect(modeOf(join(target, "bin"))).toBe(0o700);
    expect(modeOf(join(target, "empty"))).toBe(0o700);
    expect(modeOf(join(target, "bin/run"))).toBe(0o700);
    expect(modeOf(join(target, "data/Ünï.txt"))).toBe(0o600);
    expect(modeOf(join(target, "from-windows.exe"))).toBe(0o700);
  });

  it("is unpacked whole, however large a file in it is", async () => {
    const content = randomBytes(3 * MEBIBYTE);
    const target = await unpack(
      zip([
        { name: "deflated", content },
        { name: "stored", content, method: 0 },
      ]),
    );
    expect(readFileSync(join(target, "deflated")).equals(content)).toBe(true);
    expect(readFileSync(join(target, "stored")).equals(content)).toBe(true);
  });

  it("gives one file without unpacking, and none that is larger than asked for", async () => {
    const bytes = zip([{ name: "a.json", content: "{}" }]);
    writeFileSync(join(directory, "a.zip"), bytes);
    const archive = await openArchive(join(directory, "a.zip"), bytes.length, never);
    expect(String(await archive.read("a.json", 2))).toBe("{}");
    expect(await archive.read("b.json", 2)).toBeUndefined();
    await expect(archive.read("a.json", 1)).rejects.toThrow("its a.json is larger than 1 B");
    expect([...archive.files]).toEqual(["a.json"]);
    archive.close();
  });
});

const file = (name: string | Buffer, more: Partial<ZipEntry> = {}): ZipEntry => ({
  name,
  content: "x",
  ...more,
});

/** Each with what is said about it. */
const HOSTILE: [what: string, bytes: () => Buffer, said: string][] = [
  ["a path with ..", () => zip([file("../evil")]), `'../evil' in it has ".." in its path`],
  ["a path with .. inside", () => zip([file("a/../../evil")]), `has ".." in its path`],
  ["an absolute path", () => zip([file("/etc/passwd")]), "has an absolute path"],
  ["a drive letter", () => zip([file("C:/evil")]), "has an absolute path"],
  ["a backslash", () => zip([file("..\\evil")]), "has a backslash in its name"],
  ["a NUL", () => zip([file("a\0.js")]), "has a control character in its name"],
  ["an escape for terminals", () => zip([file("a\u001b[2J")]), "'a\\u{1b}[2J' in it has a control"],
  ["a name that is not UTF-8", () => zip([file(Buffer.from([0xff, 0xfe]))]), "is not UTF-8"],
  ["an empty name", () => zip([file("")]), "has a name of 0 bytes"],
  ["an empty part", () => zip([file("a//b")]), "has an empty name in its path"],
  ["a dot", () => zip([file("./a")]), "has an empty name in its path"],
  ["a path of many directories", () => zip([file("a/".repeat(33) + "b")]), "is more than 32"],
  ["a long name", () => zip([file("a".repeat(256))]), "has a name of more than 255 bytes"],
  ["a stream of Windows", () => zip([file("a.js:x")]), "means something else on Windows"],
  ["a device of Windows", () => zip([file("a/NUL.txt")]), "means something else on Windows"],
  ["a link", () => zip([file("a", { content: "/etc", mode: 0o120777 })]), "is a symbolic link"],
  ["a pipe", () => zip([file("a", { mode: 0o010644 })]), "is neither a file nor a directory"],
  ["a device", () => zip([file("a", { mode: 0o020644 })]), "is neither a file nor a directory"],
  ["a file that is a directory", () => zip([file("a", { mode: 0o040755 })]), "but not by both"],
  ["a directory that is a file", () => zip([file("a/", { mode: 0o100644 })]), "but not by both"],
  ["a name twice", () => zip([file("a"), file("a")]), "'a' is in it twice"],
  ["two cases of a name", () => zip([file("a/Readme"), file("a/README")]), "is in it twice"],
  ["two ways to write ü", () => zip([file("\u00fc"), file("u\u0308")]), "is in it twice"],
  ["a file in a file", () => zip([file("a"), file("A/b")]), "lies in a directory that is also"],
  ["a directory for a file", () => zip([file("a/b"), file("a")]), "is a file and also a directory"],
  ["encryption", () => zip([file("a", { flags: 1 })]), "is encrypted"],
  ["an unknown method", () => zip([file("a", { method: 99 })]), "by a method (99)"],
  ["a wrong checksum", () => zip([file("a", { declaredSum: 1 })]), "its checksum is wrong"],
  [
    "content that is not deflated",
    () => zip([file("a", { raw: Buffer.from([0xff, 0xff, 0xff]) })]),
    "'a' in it is damaged",
  ],
  ["less than it says", () => zip([file("a", { declaredSize: 100 })]), "'a' in it is damaged"],
  [
    "a bomb that says what it is",
    () => zip([file("a", { content: Buffer.alloc(24 * MEBIBYTE) })]),
    "it is too large unpacked",
  ],
  [
    "a bomb that lies",
    () => zip([file("a", { raw: deflateRawSync(Buffer.alloc(24 * MEBIBYTE)), declaredSize: 10 })]),
    "'a' in it is damaged",
  ],
  [
    "files that are all the same bytes",
    () => {
      const content = Buffer.alloc(MEBIBYTE);
      const same = { content, raw: deflateRawSync(content), declaredSum: crc32(content) };
      const names = Array.from({ length: 100 }, (_, index) => `f${index}`);
      return zip(
        names.map((name) => ({ name, ...same })),
        { overlapping: true },
      );
    },
    "it is too large unpacked",
  ],
  [
    "100 000 entries",
    () => zip64(100_000),
    "it has 100000 entries, and Plugboard unpacks at most 50000",
  ],
  [
    "few paths through many directories",
    () =>
      zip(
        Array.from({ length: 700 }, (_, index) =>
          file(`${Array.from({ length: 30 }, () => index.toString(36)).join("/")}/x`),
        ),
      ),
    "it has more than 20000 directories",
  ],
  [
    "more entries than there are",
    () => zip([file("a")], { declaredCount: 7 }),
    "cannot be read as a zip file",
  ],
  ["a number of entries beyond all", () => zip64(2 ** 40), "it has 1099511627776 entries"],
  ["a list elsewhere", () => zip64(1, 2 ** 50), "cannot be read as a zip file"],
  ["half a file", () => zip([file("a"), file("b")]).subarray(0, 60), "cannot be read as a zip"],
  ["the end of a file alone", () => zip([file("a")]).subarray(-22), "cannot be read as a zip file"],
  ["no zip file", () => Buffer.from("<!doctype html>".repeat(100)), "cannot be read as a zip file"],
  ["nothing", () => Buffer.alloc(0), "cannot be read as a zip file"],
  [
    "a list of files that fills the memory",
    () => zip(Array.from({ length: 300 }, (_, i) => file(`f${i}`, { extra: extra(60_000) }))),
    "its list of files is larger than 16 MiB",
  ],
];

/** One field that means nothing. */
function extra(size: number): Buffer {
  const field = Buffer.alloc(size);
  field.writeUInt16LE(0xcafe, 0);
  field.writeUInt16LE(size - 4, 2);
  return field;
}

/** A file whose end has 64 bits for everything, with these numbers in it. */
function zip64(count: number, offset = 0): Buffer {
  const record = Buffer.alloc(56);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(44n, 4);
  record.writeBigUInt64LE(BigInt(count), 24);
  record.writeBigUInt64LE(BigInt(count), 32);
  record.writeBigUInt64LE(BigInt(offset), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeUInt32LE(1, 16);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.fill(0xff, 8, 20);
  return Buffer.concat([record, locator, end]);
}

describe("an archive that is not honest", () => {
  for (const [what, bytes, said] of HOSTILE) {
    it(`is refused: ${what}`, async () => {
      await expect(unpack(bytes())).rejects.toMatchObject({
        code: "INVALID_ARGUMENTS",
        message: expect.stringContaining(said),
      });
      expect(existsSync(join(directory, "evil"))).toBe(false);
    });
  }

  for (const declaredSize of [10, 2 * MEBIBYTE]) {
    it(`a bomb that lies writes no more than the ${declaredSize} bytes that it declares`, async () => {
      const raw = deflateRawSync(Buffer.alloc(24 * MEBIBYTE));
      await expect(unpack(zip([file("a", { raw, declaredSize })]))).rejects.toThrow(
        "'a' in it is damaged",
      );
      const found = statSync(join(directory, "content/a"), { throwIfNoEntry: false });
      expect(found?.size ?? 0).toBeLessThanOrEqual(declaredSize);
    });
  }

  it("a large file with a wrong checksum is damaged", async () => {
    const content = randomBytes(2 * MEBIBYTE);
    await expect(unpack(zip([file("a", { content, declaredSum: 1 })]))).rejects.toThrow(
      "its checksum is wrong",
    );
  });
});

it("unpacking ends when the command is interrupted", async () => {
  const bytes = zip([file("a")]);
  writeFileSync(join(directory, "a.zip"), bytes);
  const controller = new AbortController();
  const archive = await openArchive(join(directory, "a.zip"), bytes.length, controller.signal);
  controller.abort();
  await expect(archive.read("a", 10)).rejects.toMatchObject({ code: "CANCELLED" });
  archive.close();
});
