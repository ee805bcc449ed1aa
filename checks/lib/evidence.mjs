// docs/evidence.md: each harness writes its last result into its own part of the page, and says when, with which versions and on
// which machine it ran.

import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { partOf, withPart } from "../../scripts/page-part.mjs";

/** Relative to the repository. */
export const EVIDENCE = "docs/evidence.md";

const ROOT = new URL("../../", import.meta.url);
const GIB = 2 ** 30;

export function writeEvidence(part, text) {
  const place = new URL(EVIDENCE, ROOT);
  const content = readFileSync(place, "utf8");
  writeFileSync(place, withPart(content, { page: EVIDENCE, part, text }));
}

/** The result of the run before. */
export function readEvidence(part) {
  return partOf(readFileSync(new URL(EVIDENCE, ROOT), "utf8"), { page: EVIDENCE, part });
}

/** What a run depends on, beside the programs that Plugboard was tried with. */
export function gatherFacts() {
  const manifest = readFileSync(new URL("package.json", ROOT), "utf8");
  return {
    date: new Date().toISOString().slice(0, 10),
    plugboard: JSON.parse(manifest).version,
    node: process.versions.node,
    cores: availableParallelism(),
    memory: Math.round(totalmem() / GIB),
  };
}

/** The line above a result. `others` are the programs that Plugboard was tried with, and their versions. */
export function lastRun(others, { date, plugboard, node, cores, memory }) {
  return `Last run: ${date}, ${others}, Plugboard ${plugboard} on Node ${node}, ${cores} cores, ${memory} GB of memory.`;
}

/** Aligned as the project's formatter does it, so that a page just written passes its check. */
export function table(header, rows) {
  const cells = [header, ...rows].map((row) => row.map(escape));
  const widths = header.map((_, column) => Math.max(3, ...cells.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((text, column) => text.padEnd(widths[column])).join(" | ")} |`;
  const [head, ...body] = cells;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n");
}

function escape(text) {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
