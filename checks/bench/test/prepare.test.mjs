import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { warnOfOldBuild } from "../lib/prepare.mjs";

for (const [state, changed, warnings] of [
  ["newer than the source", 100, 0],
  ["older than a file of the source", 300, 1],
]) {
  test(`a build that is ${state} gets ${warnings} warnings`, () => {
    const root = mkdtempSync(join(tmpdir(), "bench-"));
    try {
      for (const [file, time] of [
        ["src/old.ts", 100],
        ["src/deep/er/file.ts", changed],
        ["dist/index.js", 200],
      ]) {
        mkdirSync(join(root, file, ".."), { recursive: true });
        writeFileSync(join(root, file), "");
        utimesSync(join(root, file), time, time);
      }
      const said = [];
      warnOfOldBuild(root, (text) => said.push(text));
      assert.equal(said.length, warnings);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
}
