// The documentation that is installed with the package (README, CHANGELOG, docs/*.md), and a search in it.
// Any of these files may be missing.

import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { truncate } from "../../../util/text.ts";

export interface Doc {
  /** The file's name in lower case, without its extension. */
  name: string;
  uri: string;
  title: string;
  text: string;
}

export const Hit = z.object({
  doc: z.string(),
  uri: z.string(),
  heading: z.string(),
  excerpt: z.string(),
});

export type Hit = z.infer<typeof Hit>;

interface Section {
  doc: Doc;
  heading: string;
  lines: string[];
}

const EXCERPT_LENGTH = 320;

/** A heading says what its section is about, so a word in it counts this often. */
const HEADING_WEIGHT = 3;

/** The package's directory, for the source and for the build. */
export function packageRoot(): string {
  return fileURLToPath(new URL("../../../../", import.meta.url));
}

export async function loadDocs(root: string): Promise<Doc[]> {
  const listed = await readdir(join(root, "docs")).catch(() => []);
  const guides = listed.filter((file) => file.endsWith(".md")).sort();
  const files = ["README.md", ...guides.map((file) => join("docs", file)), "CHANGELOG.md"];
  const docs = await Promise.all(files.map((file) => loadDoc(join(root, file))));
  return docs.filter((doc) => doc !== undefined);
}

async function loadDoc(file: string): Promise<Doc | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const name = basename(file, ".md").toLowerCase();
  const title = /^# +(\S.*)$/m.exec(text)?.[1] ?? name;
  return { name, uri: `plugboard://docs/${encodeURIComponent(name)}`, title, text };
}

/** The sections that fit the query best. Rare words count more, and so does a section with all the words. */
export function searchDocs(docs: readonly Doc[], query: string, limit: number): Hit[] {
  const words = new Set(query.toLowerCase().match(/[\p{L}\p{N}_]+/gu));
  // Longer words that begin like the one asked for match too: `timeout` finds `timeouts`.
  const patterns = [...words].map((word) => new RegExp(`(?<![\\p{L}\\p{N}_])${word}`, "iu"));
  const ranked = docs.flatMap(sectionsOf).map((section) => ({ section, found: 0, score: 0 }));
  for (const pattern of patterns) {
    const found = ranked.filter(({ section: { heading, lines } }) =>
      [heading, ...lines].some((line) => pattern.test(line)),
    );
    const rarity = Math.log(1 + ranked.length / (1 + found.length));
    for (const each of found) {
      each.found += 1;
      each.score += rarity * (pattern.test(each.section.heading) ? HEADING_WEIGHT : 1);
    }
  }
  return ranked
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score * b.found - a.score * a.found)
    .slice(0, limit)
    .map(({ section: { doc, heading, lines } }) => {
      return { doc: doc.title, uri: doc.uri, heading, excerpt: excerptOf(lines, patterns) };
    });
}

/** Cuts a document at its headings. A line in a code block that looks like a heading is not one. */
function sectionsOf(doc: Doc): Section[] {
  const sections: Section[] = [{ doc, heading: doc.title, lines: [] }];
  let isCode = false;
  for (const line of doc.text.split(/\r?\n/)) {
    const isFence = line.trimStart().startsWith("```");
    if (isFence) isCode = !isCode;
    const heading = isCode ? undefined : /^#+ +(\S.*)$/.exec(line)?.[1];
    if (heading !== undefined) sections.push({ doc, heading, lines: [] });
    else if (!isFence && line.trim() !== "") sections.at(-1)?.lines.push(line);
  }
  return sections.filter(({ lines }) => lines.length > 0);
}

/** The text from the line on that has most of the words. */
function excerptOf(lines: readonly string[], patterns: readonly RegExp[]): string {
  const hits = lines.map((line) => patterns.filter((pattern) => pattern.test(line)).length);
  const best = Math.max(0, hits.indexOf(Math.max(...hits)));
  return truncate(lines.slice(best).join("\n").trim(), EXCERPT_LENGTH);
}
