// A bundle (`.mcpb`): a zip file from anybody.

import assert from "node:assert/strict";
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fault, openArchive } from "../../../src/install/bundle/archive.ts";
import { buildEntry, executablesIn } from "../../../src/install/bundle/launch.ts";
import { LARGEST_MANIFEST, MANIFEST, readManifest } from "../../../src/install/bundle/manifest.ts";
import { type ZipEntry, zip } from "../../fixtures/bundles/zip.ts";
import { filesIn, refusing, type Target } from "../target.ts";

const MANIFEST_TEXT = JSON.stringify({
  manifest_version: "0.3",
  name: "My Server",
  version: "1.0.0",
  server: {
    type: "node",
    entry_point: "a.js",
    mcp_config: {
      command: "node",
      args: ["${__dirname}/a.js", "${user_config.key}"],
      env: { A: "${HOME}" },
    },
  },
  user_config: { key: { type: "string", default: "x", required: true } },
});

export function bundle(): Target {
  const directory = mkdtempSync(join(tmpdir(), "plugboard-fuzz-bundle-"));
  const file = join(directory, "bundle.zip");
  const content = join(directory, "content");
  const made = (...entries: ZipEntry[]): Buffer =>
    zip([{ name: MANIFEST, content: MANIFEST_TEXT, method: 0 }, ...entries]);
  return {
    about: "bundles (.mcpb)",
    covers: ["install/bundle/archive.ts", "install/bundle/manifest.ts", "install/bundle/launch.ts"],
    seeds: () => [
      made({ name: "a.js", content: "x" }),
      made(
        { name: "b/", mode: 0o040755 },
        { name: "b/c.js", content: "y".repeat(100), mode: 0o100755 },
      ),
      made({ name: "../up", content: "x" }),
      made({ name: "link", content: "/etc", mode: 0o120777 }),
      made({ name: "A.js", content: "x" }, { name: "a.JS", content: "y" }),
      made({ name: "big", content: "x", declaredSize: 1 << 30 }),
      zip([{ name: "a", content: "x" }], { declaredCount: 9 }),
      zip(
        [
          { name: "a", content: "x" },
          { name: "b", content: "x" },
        ],
        { overlapping: true },
      ),
      ...filesIn("fixtures/bundles"),
    ],
    words: [
      "PK\u0001\u0002",
      "PK\u0003\u0004",
      "PK\u0005\u0006",
      "PK\u0006\u0006",
      "../",
      "/",
      "\\",
      "manifest.json",
      "con",
      "a:",
      "${__dirname}",
      "platform_overrides",
    ],
    async run(input) {
      rmSync(content, { recursive: true, force: true });
      mkdirSync(content);
      writeFileSync(file, input);
      await refusing(async () => {
        const archive = await openArchive(file, input.length, new AbortController().signal);
        try {
          const bytes = await archive.read(MANIFEST, LARGEST_MANIFEST);
          if (bytes === undefined) throw fault("no manifest");
          const manifest = readManifest(bytes);
          const where = { directory: content, homedir: "/home", platform: "linux" };
          const { files } = archive;
          buildEntry(manifest, new Map(), where, {
            files,
            findProgram: (command) => command,
          });
          await archive.unpack(content, executablesIn(manifest, where, files));
          assert.deepEqual(
            filesUnder(content),
            [...files].toSorted(),
            "exactly the files of the archive are there",
          );
        } finally {
          archive.close();
        }
      }, "INVALID_ARGUMENTS");
      assert.deepEqual(
        readdirSync(directory).toSorted(),
        ["bundle.zip", "content"],
        "nothing is beside the bundle's directory",
      );
      filesUnder(content);
    },
    close: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Throws where something is neither a file nor a directory. */
function filesUnder(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((path) => {
      const found = lstatSync(join(directory, path));
      assert.ok(found.isFile() || found.isDirectory(), `${path} is a file or a directory`);
      return found.isFile();
    })
    .toSorted();
}
