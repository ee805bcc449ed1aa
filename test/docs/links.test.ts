// Every link leads somewhere, and every page is linked from another one.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, it } from "vitest";
import { readPage } from "./page.ts";
import { allPages, root } from "./pages.ts";

const pages = allPages();
const ELSEWHERE = /^(?:[a-z][a-z\d+.-]*:|\/\/)/i;

function anchorsOf(path: string): ReadonlySet<string> {
  const known = pages.find((page) => page.path === path);
  return (known ?? readPage(path, readFileSync(join(root, path), "utf8"))).anchors;
}

it.each(pages)("links of $path", ({ path, links }) => {
  const broken = links.flatMap(({ line, target }) => {
    if (ELSEWHERE.test(target)) return [];
    const [file = "", anchor] = target.split("#");
    const found = file === "" ? path : relative(root, join(root, dirname(path), file));
    if (!existsSync(join(root, found))) return [`${path}:${line}: there is no ${found}`];
    if (anchor === undefined || !found.endsWith(".md")) return [];
    return anchorsOf(found).has(anchor) ? [] : [`${path}:${line}: ${found} has no #${anchor}`];
  });
  expect(broken).toEqual([]);
});

it("every page is linked from README.md or another page", () => {
  const linked = new Set(
    pages.flatMap(({ path, links }) =>
      links
        .map(({ target }) => join(dirname(path), target.split("#")[0] ?? ""))
        .filter((each) => each !== path),
    ),
  );
  const lonely = pages.filter(({ path }) => path !== "README.md" && !linked.has(path));
  expect(lonely.map(({ path }) => path)).toEqual([]);
});

it("every attack in SECURITY.md has a test that shows what stops it", () => {
  const { text, links } = pages.find(({ path }) => path === "SECURITY.md") ?? {
    text: "",
    links: [],
  };
  const rows = text.split("\n").flatMap((row, at) => (/^\| (?!who |-)/.test(row) ? [at + 1] : []));
  const tests = links.filter(
    ({ target }) => target.startsWith("test/") && target.endsWith(".test.ts"),
  );
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.filter((row) => !tests.some(({ line }) => line === row))).toEqual([]);
});
