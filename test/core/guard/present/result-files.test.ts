import { spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import {
  removeLeftResults,
  ResultFiles,
  type Saving,
  type SavedTool,
} from "../../../../src/core/guard/present/result-files.ts";
import { ownerName } from "../../../../src/core/state/process-owner.ts";
import { temporaryDirectory } from "../../../support/directory.ts";

let root = "";

beforeEach(() => {
  root = temporaryDirectory();
});

const tool = (canonical: string): SavedTool => {
  return { canonical, source: { kind: "native" }, framing: "full" };
};

function pathOf(saving: Saving): string {
  if (saving.kind !== "saved") throw new Error(saving.reason);
  return saving.path;
}

async function mode(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

describe("what killed processes left behind", () => {
  it("is removed, and nothing of a living one or of anybody else", async () => {
    const files = new ResultFiles(root);
    const mine = dirname(pathOf(await files.write(tool("docs/search"), "txt", "text")));
    const [host, boot, space] = ownerName().split("-");
    const ended = spawnSync(process.execPath, ["--version"]).pid;
    const dead = `results-${host}-${boot}-${space}-${ended}-1.aaaaaa`;
    const beforeRestart = `results-${host}-00000000-${space}-${process.pid}-1.aaaaaa`;
    const elsewhere = `results-00000000-${boot}-${space}-${ended}-1.aaaaaa`;
    const container = `results-${host}-${boot}-00000000-${ended}-1.aaaaaa`;
    const kept = [basename(mine), elsewhere, container, "results-old", "something.else"];
    for (const name of [dead, beforeRestart, ...kept.slice(1)]) {
      await mkdir(join(root, name));
      await writeFile(join(root, name, "a.txt"), "text");
    }
    await removeLeftResults(root);
    expect((await readdir(root)).sort()).toEqual(kept.sort());
    await removeLeftResults(join(root, "missing"));
  });
});

describe("a saved result", () => {
  it("is in a file of its own that only its owner can read", async () => {
    const files = new ResultFiles(join(root, "deep", "down"));
    const text = pathOf(await files.write(tool("docs/search"), "txt", "héllo"));
    const bytes = pathOf(await files.write(tool("docs/search"), "png", new Uint8Array([0, 255])));
    expect(await readFile(text, "utf8")).toBe("héllo");
    expect([...(await readFile(bytes))]).toEqual([0, 255]);
    expect(basename(text)).toMatch(/^docs-search-[0-9a-f]{12}\.txt$/);
    expect(dirname(text)).toBe(dirname(bytes));
    expect(dirname(text)).not.toBe(join(root, "deep", "down"));
    if (process.platform !== "win32") {
      expect(await mode(text)).toBe(0o600);
      expect(await mode(dirname(text))).toBe(0o700);
      expect(await mode(join(root, "deep"))).toBe(0o700);
    }
  });

  it.each([
    ["../../etc/passwd", /^-etc-passwd-[0-9a-f]{12}\.txt$/],
    ["", /^result-[0-9a-f]{12}\.txt$/],
    ["x".repeat(300), /^x{64}-[0-9a-f]{12}\.txt$/],
    ["a\0b\nc", /^a-b-c-[0-9a-f]{12}\.txt$/],
  ])("is named after its tool, and stays in its directory: %j", async (name, expected) => {
    const path = pathOf(await new ResultFiles(root).write(tool(name), "txt", "x"));
    expect(basename(path)).toMatch(expected);
    expect(dirname(dirname(path))).toBe(root);
  });

  it("makes no directory before there is something to keep", async () => {
    const files = new ResultFiles(root);
    expect(await readdir(root)).toEqual([]);
    await files.remove();
    expect(await readdir(root)).toEqual([]);
  });

  it("goes, the oldest first, when there is more than may be kept", async () => {
    const files = new ResultFiles(root, { maxTotalBytes: 10 });
    const written = await Promise.all(
      ["aaaa", "bbbb", "cccc"].map((data) => files.write(tool("t"), "txt", data)),
    );
    const [first = "", second = "", third = ""] = written.map(pathOf);
    expect((await readdir(dirname(first))).toSorted()).toEqual(
      [basename(second), basename(third)].toSorted(),
    );
    const all = pathOf(await files.write(tool("t"), "txt", "0123456789"));
    expect(await readdir(dirname(first))).toEqual([basename(all)]);
  });

  it("is refused where it alone is more than may be kept, and nothing goes for it", async () => {
    const files = new ResultFiles(root, { maxTotalBytes: 3 });
    const kept = pathOf(await files.write(tool("t"), "txt", "abc"));
    expect(await files.write(tool("t"), "txt", "éé")).toEqual({
      kind: "failed",
      reason: "it is larger than the total that may be kept",
    });
    expect(await readFile(kept, "utf8")).toBe("abc");
  });

  it("is all deleted in the end, what is being written too; later nothing is", async () => {
    const files = new ResultFiles(root);
    const writing = files.write(tool("t"), "txt", "x");
    await Promise.all([files.remove(), files.remove()]);
    expect(await writing).toMatchObject({ kind: "failed" });
    expect(await readdir(root)).toEqual([]);
    const other = new ResultFiles(root);
    await other.write(tool("t"), "txt", "x");
    await other.remove();
    expect(await readdir(root)).toEqual([]);
    expect(await other.write(tool("t"), "txt", "x")).toEqual({
      kind: "failed",
      reason: "the board is closed",
    });
  });
});

describe("saving that fails", () => {
  it("says why and harms nothing: the directory cannot be made", async () => {
    await writeFile(join(root, "file"), "");
    const files = new ResultFiles(join(root, "file"));
    expect(await files.write(tool("t"), "txt", "x")).toEqual({ kind: "failed", reason: "ENOTDIR" });
    await rm(join(root, "file"));
    expect(await files.write(tool("t"), "txt", "x")).toMatchObject({ kind: "saved" });
  });

  it("never writes over a file or through a link that is there already", async () => {
    const files = new ResultFiles(root, { randomName: () => "same" });
    const path = pathOf(await files.write(tool("t"), "txt", "first"));
    expect(await files.write(tool("t"), "txt", "second")).toEqual({
      kind: "failed",
      reason: "EEXIST",
    });
    expect(await readFile(path, "utf8")).toBe("first");
    const target = join(root, "target");
    await symlink(target, join(dirname(path), "u-same.txt"));
    expect(await files.write(tool("u"), "txt", "x")).toMatchObject({ kind: "failed" });
    expect((await readdir(root)).includes("target")).toBe(false);
  });

  it("leaves no half of a file behind, and the next one is saved again", async () => {
    let name = "x".repeat(300);
    const files = new ResultFiles(root, { randomName: () => name });
    expect(await files.write(tool("t"), "txt", "x")).toEqual({
      kind: "failed",
      reason: "ENAMETOOLONG",
    });
    name = "short";
    const path = pathOf(await files.write(tool("t"), "txt", "x"));
    expect(await readdir(dirname(path))).toEqual(["t-short.txt"]);
  });

  it("is told in words where the failure has no code", async () => {
    const files = new ResultFiles(root, {
      randomName: () => {
        throw new TypeError("no randomness");
      },
    });
    expect(await files.write(tool("t"), "txt", "x")).toEqual({
      kind: "failed",
      reason: "TypeError: no randomness",
    });
  });
});
