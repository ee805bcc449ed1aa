// A test is found beside the source it tests, under the same name. CONTRIBUTING.md has the rule.

import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Suites about several folders at once, or about the repository itself. Keep this list short. */
const ACROSS_FOLDERS = [
  "call-id.int.test.ts",
  "call-stages.int.test.ts",
  "faults.int.test.ts",
  "hints.test.ts",
  "layers.test.ts",
  "mirror.test.ts",
  "real-servers.int.test.ts",
  "remote.int.test.ts",
  "session.int.test.ts",
];

/** Tests that mirror nothing: of the pages, of the built command, of whatever reads foreign bytes, and of the tests' own tools. */
const ELSEWHERE = /^(?:docs|e2e|fixtures|fuzz|support)\//;

const tests = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".test.ts") && !ELSEWHERE.test(path))
  .toSorted();

/**
 * `a/b.test.ts`, `a/b-part.test.ts` and `a/b.part.int.test.ts` are about `src/a/b.ts`, or about the folder
 * `src/a/b/`.
 */
function hasSource(path: string): boolean {
  const words = basename(path, ".test.ts").split(/(?=[.-])/);
  const folder = join("src", dirname(path));
  return words.some((_, index) => {
    const source = join(root, folder, words.slice(0, index + 1).join(""));
    return existsSync(`${source}.ts`) || existsSync(source);
  });
}

it("every test is named after a file or a folder of src/, or is listed as a suite across folders", () => {
  const strays = tests
    .filter((path) => !ACROSS_FOLDERS.includes(path) && !hasSource(path))
    .map((path) => `test/${path}`);
  expect(
    strays,
    "These are named after nothing in src/. A test of src/a/x.ts, or of the folder src/a/x/, is " +
      "test/a/x.test.ts, x.int.test.ts if it starts processes, and x-part.test.ts for a part of x. A suite " +
      "across folders is test/<area>.int.test.ts, and is listed in test/mirror.test.ts.",
  ).toEqual([]);
});

it("no suite is listed as one across folders that is gone, or is named after its source", () => {
  const needless = ACROSS_FOLDERS.filter((path) => !tests.includes(path) || hasSource(path));
  expect(needless, "take these off the list in test/mirror.test.ts").toEqual([]);
});
