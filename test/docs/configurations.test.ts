// Every configuration on a page is one that Plugboard takes, and other JSON is JSON.

import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { loadConfig } from "../../src/core/config/load.ts";
import { formatProblem } from "../../src/core/config/issue.ts";
import { PlugboardError } from "../../src/core/types/errors.ts";
import { configurationIn, dataBlocks } from "./configurations.ts";
import type { Block } from "./page.ts";
import { allPages } from "./pages.ts";

const blocks = allPages().flatMap((page) =>
  dataBlocks(page).map((block) => ({ place: `${page.path}:${block.line}`, block })),
);

it.each(blocks)("$place", async ({ block }) => {
  const problems = await problemsIn(block);
  expect(problems).toEqual([]);
});

async function problemsIn(block: Block): Promise<string[]> {
  const shown = configurationIn(block);
  if (shown === undefined) {
    JSON.parse(block.lines.join("\n"));
    return [];
  }
  const { file, text } = shown;
  try {
    const { warnings } = await loadConfig(join("/home/me", file), "default", {
      text,
      cwd: "/home/me/project",
      homedir: "/home/me",
    });
    // Other applications may say things that Plugboard has no use for.
    return basename(file) === "plugboard.json" ? warnings.map(formatProblem) : [];
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    return [error.message];
  }
}
