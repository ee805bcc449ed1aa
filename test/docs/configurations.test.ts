// Every configuration on a page is one that Plugboard takes, and other JSON is JSON.

import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { loadConfig } from "../../src/core/config/load.ts";
import { formatProblem } from "../../src/core/config/issue.ts";
import { PlugboardError } from "../../src/core/types/errors.ts";
import type { Block } from "./page.ts";
import { allPages } from "./pages.ts";

const LANGUAGES = /^(?:jsonc?|json5|toml)$/;

const blocks = allPages().flatMap(({ path, blocks: all }) =>
  all
    .filter(({ language }) => LANGUAGES.test(language))
    .map((block) => ({ place: `${path}:${block.line}`, block })),
);

it.each(blocks)("$place", async ({ block }) => {
  const problems = await problemsIn(block);
  expect(problems).toEqual([]);
});

async function problemsIn({ language, lines, directive }: Block): Promise<string[]> {
  if (directive["not-config"] !== undefined) {
    JSON.parse(lines.join("\n"));
    return [];
  }
  const { save = "plugboard.json", file = save, in: place } = directive;
  const text = placed(lines.join("\n"), place, language);
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

/** A part of a file, such as `"env": { … }` in mcpServers.github, as a whole one. */
function placed(text: string, place: string | undefined, language: string): string {
  if (language === "toml") return text;
  const object = /^\s*(?:\/\/.*\n\s*)*\{/.test(text) ? text : `{\n${text}\n}`;
  const keys = place?.split(".") ?? [];
  return keys.reduceRight((inner, key) => `{ ${JSON.stringify(key)}: ${inner} }`, object);
}
