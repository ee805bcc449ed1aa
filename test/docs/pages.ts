// The pages that are tests: README.md, SECURITY.md and docs/*.md.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Page, readPage } from "./page.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export function allPages(): Page[] {
  const docs = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));
  return ["README.md", "SECURITY.md", ...docs.toSorted().map((name) => `docs/${name}`)].map(
    (path) => readPage(path, readFileSync(join(root, path), "utf8")),
  );
}
