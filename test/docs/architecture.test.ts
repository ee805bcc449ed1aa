// docs/architecture.md is a map, so what it names is there, and every folder is on it.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, it } from "vitest";
import { root } from "./pages.ts";

const page = readFileSync(join(root, "docs/architecture.md"), "utf8");

const files = ["src", "test/core/state", "test/support", "scripts"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll("\\", "/")),
);
const folders = new Set(files.map((path) => dirname(path)));
const beside = readdirSync(root);

/** A path may be written from any folder on: `front/lines.ts`. */
function isThere(path: string): boolean {
  const all = path.endsWith("/") ? [...folders, ...beside].map((each) => `${each}/`) : files;
  return all.some((each) => `/${each}`.endsWith(`/${path}`));
}

it("every file and folder that it names exists", () => {
  const named = [...page.matchAll(/`([\w./-]+(?:\.ts|\.mjs|\/))`/g)].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((path) => !isThere(path))).toEqual([]);
});

it("the table of folders has every folder of src/, or the one that it is in", () => {
  const [, table = ""] = /^\| folder [^]*?\n([^]*?)\n\n/m.exec(page) ?? [];
  const rows = [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([\w./-]+\/)`/g)].map(([, path = ""]) => `/${path}`),
  );
  const isListed = (folder: string): boolean => rows.some((row) => `/${folder}/`.endsWith(row));
  const missing = [...folders].filter(
    (folder) => folder.startsWith("src/") && !isListed(folder) && !isListed(dirname(folder)),
  );
  expect(missing).toEqual([]);
});
