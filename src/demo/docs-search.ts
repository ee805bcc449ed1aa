// Ranks the sections of the documentation for a query, and picks the lines that answer it.

import { truncate } from "../util/text.ts";
import type { Doc, Section } from "./docs.ts";
import { docUri, sectionsOf } from "./docs.ts";

export interface Hit {
  doc: string;
  uri: string;
  /** The headings above the excerpt, outermost first. */
  heading: string;
  excerpt: string;
  score: number;
}

interface Indexed {
  section: Section;
  counts: Map<string, number>;
  length: number;
}

const EXCERPT_LENGTH = 320;

/** A heading says what its section is about, so its words count as often as this. */
const HEADING_WEIGHT = 4;

/** What a word that only begins like the one asked for is worth. */
const PREFIX_WEIGHT = 0.5;
const SHORTEST_PREFIX = 3;

/** The usual constants of BM25: how soon repetition saturates, how much length counts. */
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;

export function searchDocs(docs: readonly Doc[], query: string, limit: number): Hit[] {
  const terms = [...new Set(wordsOf(query))];
  const indexed = docs.flatMap(sectionsOf).map(index);
  const total = indexed.reduce((sum, { length }) => sum + length, 0);
  const average = Math.max(1, total / indexed.length);
  const rarity = new Map(terms.map((term) => [term, rarityOf(term, indexed)]));
  return indexed
    .map(({ section, counts, length }) => {
      const found = terms.filter((term) => frequency(term, counts) > 0);
      const score = found.reduce((sum, term) => {
        const often = frequency(term, counts);
        const stretch = 1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * length) / average;
        const weight = (often * (SATURATION + 1)) / (often + SATURATION * stretch);
        return sum + weight * (rarity.get(term) ?? 0);
      }, 0);
      // A section with all the words beats one that repeats a single word.
      return { section, score: score * (found.length / terms.length) ** 2 };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ section, score }) => toHit(section, terms, score));
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

function index(section: Section): Indexed {
  const words = wordsOf(section.text);
  const counts = new Map<string, number>();
  const note = (word: string, weight: number): void => {
    counts.set(word, (counts.get(word) ?? 0) + weight);
  };
  for (const word of words) note(word, 1);
  for (const word of wordsOf(section.headings.at(-1) ?? "")) note(word, HEADING_WEIGHT);
  return { section, counts, length: words.length };
}

function frequency(term: string, counts: Map<string, number>): number {
  let sum = counts.get(term) ?? 0;
  if (term.length < SHORTEST_PREFIX) return sum;
  for (const [word, count] of counts) {
    if (word !== term && word.startsWith(term)) sum += count * PREFIX_WEIGHT;
  }
  return sum;
}

function rarityOf(term: string, indexed: readonly Indexed[]): number {
  const having = indexed.filter(({ counts }) => frequency(term, counts) > 0).length;
  return Math.log(1 + (indexed.length - having + 0.5) / (having + 0.5));
}

function toHit({ doc, headings, text }: Section, terms: readonly string[], score: number): Hit {
  return {
    doc: doc.title,
    uri: docUri(doc.name),
    heading: headings.join(" > ") || doc.title,
    excerpt: excerptOf(text, terms),
    score: Number(score.toFixed(3)),
  };
}

/** The text from the line on that has most of the terms. */
function excerptOf(text: string, terms: readonly string[]): string {
  const lines = text
    .split("\n")
    .filter((line) => line.trim() !== "" && !/^\s*(```|~~~)/u.test(line));
  const hits = lines.map((line) => {
    const words = wordsOf(line);
    return terms.filter((term) => words.some((word) => word.startsWith(term))).length;
  });
  const best = Math.max(0, hits.indexOf(Math.max(...hits)));
  return truncate(lines.slice(best).join("\n").trim(), EXCERPT_LENGTH);
}
