// The documentation that is installed with the package: README, CHANGELOG and docs/*.md. Any of it may be
// missing.

import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Doc {
  /** Lower case, without extension: what its URI ends in. */
  name: string;
  title: string;
  text: string;
}

export interface Section {
  doc: Doc;
  /** The headings above the text, outermost first. */
  headings: string[];
  text: string;
}

/** The package's directory, from the source as well as from the build. */
export function packageRoot(): string {
  return fileURLToPath(new URL("../../", import.meta.url));
}

export function docUri(name: string): string {
  return `plugboard://docs/${encodeURIComponent(name)}`;
}

export async function loadDocs(root: string): Promise<Doc[]> {
  const listed = await readdir(join(root, "docs")).catch(() => []);
  const guides = listed.filter((file) => file.endsWith(".md")).sort();
  const files = ["README.md", ...guides.map((file) => join("docs", file)), "CHANGELOG.md"];
  const docs = await Promise.all(files.map((file) => loadDoc(join(root, file))));
  return docs.filter((doc) => doc !== undefined);
}

async function loadDoc(file: string): Promise<Doc | undefined> {
  try {
    const text = await readFile(file, "utf8");
    const name = basename(file, ".md").toLowerCase();
    return { name, title: titleOf(text) ?? name, text };
  } catch {
    return undefined;
  }
}

function titleOf(text: string): string | undefined {
  return /^# +(\S.*)$/mu.exec(text)?.[1]?.trim();
}

/** Cuts a document at its headings; what looks like one inside a code block is not. */
export function sectionsOf(doc: Doc): Section[] {
  const sections: Section[] = [{ doc, headings: [], text: "" }];
  let path: { level: number; heading: string }[] = [];
  let fence: string | undefined;
  for (const line of doc.text.split(/\r?\n/u)) {
    const mark = /^\s*(```|~~~)/u.exec(line)?.[1];
    if (mark !== undefined && (fence === undefined || fence === mark)) {
      fence = fence === undefined ? mark : undefined;
    }
    const [, hashes, heading] = fence === undefined ? (/^(#{1,6}) +(\S.*)$/u.exec(line) ?? []) : [];
    if (hashes !== undefined && heading !== undefined) {
      path = [
        ...path.filter(({ level }) => level < hashes.length),
        { level: hashes.length, heading: heading.replace(/\s+#*\s*$/u, "") },
      ];
      sections.push({ doc, headings: path.map((step) => step.heading), text: "" });
    } else {
      const current = sections.at(-1);
      if (current) current.text += `${line}\n`;
    }
  }
  return sections.filter(({ headings, text }) => headings.length > 0 || text.trim() !== "");
}
