// The index of a board's tools, and their ranking by the words of a query: BM25F over the fields of a tool, with
// synonyms and forgiven typing mistakes. Everything it does is linear in what it is given, and that is bounded.
//
// K1, B, the weight of a name, and what synonyms and general verbs count were tuned by hand on MetaTool's questions, with
// the figures of all of them in view, so those figures flatter them a little. Which questions fail was looked at for one half of the tools only
// (the first byte of the name's SHA-256 is even), and synonyms were added for what was missing in general. The other half
// gained as well, but it is no blind test. The weights of the other fields were not tuned there: MetaTool's tools have a
// name and a description only.

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { ToolHit } from "../../types/search.ts";
import { canonicalName, ownName, type Tool } from "../../types/tool.ts";
import { readGeneralTerms, readSynonyms } from "./synonyms.ts";
import { isStopWord, Stems, wordsOf } from "./words.ts";

/**
 * How much a word in each place says about the tool, how many characters of it count, and how often the same word does. The
 * last keeps a server from the top of every search by writing the same words again and again.
 */
const FIELDS = {
  name: { weight: 3, most: 300, times: 1 },
  title: { weight: 2, most: 300, times: 1 },
  description: { weight: 1, most: 2000, times: 5 },
  server: { weight: 2, most: 300, times: 1 },
  aboutServer: { weight: 0.5, most: 300, times: 2 },
  parameter: { weight: 0.5, most: 100, times: 5 },
  aboutParameter: { weight: 0.3, most: 200, times: 5 },
} as const;

const TEXT_FIELDS = ["name", "title", "description", "server", "aboutServer"] as const;

/** Further parameters of a tool are not searched. */
const MOST_PARAMETERS = 40;
const DEEPEST_PARAMETER = 3;

/** How slowly further occurrences of a word stop counting, and how much long texts lose. */
const K1 = 2.5;
const B = 0.4;
/** A synonym counts less, and more where no tool has the word itself. */
const SYNONYM = 0.3;
const SYNONYM_OF_UNKNOWN = 0.6;
/**
 * Of a verb like "list" or "make", beside other words. Among few tools it may be rare, and would count more than what is
 * to be listed.
 */
const GENERAL = 0.5;
/** A term that a greater share of the tools has hardly tells them apart, and neither do its synonyms. */
const COMMON = 0.8;
/** A term at edit distance 1 of a word that no tool has. */
const MISTYPED = 0.6;
const SHORTEST_MISTYPED = 5;
/** A word repeated in a query counts more, but not twice as much. */
const REPEATED = 0.5;
/** Whoever writes a tool's name means that tool. */
const NAMED = 1000;

/** How much of a query counts. A task of several pages is no query. */
const LONGEST_QUERY = 10_000;
const MOST_TERMS = 200;
const MOST_MISTYPED = 10;
const MOST_COMPARED = 2000;

// This module is loaded with the first search, so nobody else pays for these.
const SYNONYMS = readSynonyms();
const GENERAL_TERMS = readGeneralTerms();
const STEMS = new Stems();

/** What servers tell about themselves, by their names. */
export type About = ReadonlyMap<string, string>;

const NOTHING: About = new Map();

/** The terms of a tool's texts. */
interface ToolTerms {
  /** How much each says about the tool. */
  weights: ReadonlyMap<string, number>;
  length: number;
}

/** By schema: sessions have the same definitions as their agent's board, in tools of their own. */
const knownTerms = new WeakMap<JsonObject, { texts: readonly unknown[]; terms: ToolTerms }>();

interface IndexedTool extends ToolTerms {
  tool: Tool;
  /** What its server tells about itself. */
  about: string;
  /** -1 until it has one. */
  slot: number;
  /** Its place in the list. */
  place: number;
}

/** The tools that have a term: parallel lists of slots and weights. */
interface Posting {
  slots: number[];
  weights: number[];
}

export class ToolIndex {
  /** In the order of the list. */
  #indexed: readonly IndexedTool[] = [];
  /** The same tools at numbers that they keep while they are in the list. */
  readonly #slots: (IndexedTool | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #postings = new Map<string, Posting>();
  /** Terms by their first letter and length, for words that are mistyped. */
  readonly #similar = new Map<string, Set<string>>();
  #about = NOTHING;
  #length = 0;

  /**
   * Makes these the tools of the index. Only those that are other objects than before, or whose server tells something
   * else about itself, are read. Returns how many were. `about` must be another map if something in it is.
   */
  update(tools: readonly Tool[], about: About = NOTHING): number {
    const before = this.#indexed;
    const isSame = (at: number, of: number): boolean => tools[of] === before[at]?.tool;
    const shorter = about === this.#about ? Math.min(tools.length, before.length) : 0;
    // The tools of a server stand together in the list. If one server changed, the beginning and the end of the list
    // are as they were.
    let start = 0;
    while (start < shorter && isSame(start, start)) start += 1;
    if (start === tools.length && start === before.length && about === this.#about) return 0;
    let end = 0;
    while (end < shorter - start && isSame(before.length - 1 - end, tools.length - 1 - end))
      end += 1;
    const old = new Map(before.slice(start, before.length - end).map((each) => [each.tool, each]));
    let count = 0;
    const changed = tools.slice(start, tools.length - end).map((tool) => {
      const text = (tool.source.kind === "mcp" && about.get(tool.source.server)) || "";
      const kept = old.get(tool);
      if (kept?.about === text) {
        old.delete(tool);
        return kept;
      }
      count += 1;
      return { tool, about: text, ...termsOf(tool, text), slot: -1, place: 0 };
    });
    this.#remove([...old.values()]);
    for (const each of changed) if (each.slot === -1) this.#add(each);
    this.#indexed = [...before.slice(0, start), ...changed, ...before.slice(before.length - end)];
    this.#about = about;
    // Summed up anew, so that ranks depend on the tools alone and not on earlier tools.
    this.#length = 0;
    for (const [place, each] of this.#indexed.entries()) {
      each.place = place;
      this.#length += each.length;
    }
    return count;
  }

  /**
   * The tools that have something to do with the query, best first, at most `most`. Equal tools keep the order of the
   * list.
   */
  rank(query: string, most: number, isWanted: (tool: Tool) => boolean): ToolHit[] {
    const scores = new Float64Array(this.#slots.length);
    for (const [term, weight] of this.#terms(query)) this.#score(term, weight, scores);
    this.#scoreNamed(query, scores);
    const found: { indexed: IndexedTool; score: number }[] = [];
    for (let slot = 0; slot < scores.length; slot += 1) {
      const score = scores[slot] ?? 0;
      if (score === 0) continue;
      const indexed = this.#slots[slot];
      if (indexed !== undefined && isWanted(indexed.tool)) found.push({ indexed, score });
    }
    const least = leastOf(found, most);
    return found
      .filter(({ score }) => score >= least)
      .sort((a, b) => b.score - a.score || a.indexed.place - b.indexed.place)
      .slice(0, most)
      .map(({ indexed: { tool }, score }) => ({ tool, score }));
  }

  #score(term: string, weight: number, scores: Float64Array): void {
    const posting = this.#postings.get(term);
    if (posting === undefined) return;
    const { slots, weights } = posting;
    const count = this.#indexed.length;
    const rarity = Math.log(1 + (count - slots.length + 0.5) / (slots.length + 0.5));
    const average = this.#length / count;
    const most = weight * rarity * (K1 + 1);
    // Most of a search is here, and `entries()` would take twice as long.
    for (let at = 0; at < slots.length; at += 1) {
      const slot = slots[at] ?? 0;
      const said = weights[at] ?? 0;
      const length = this.#slots[slot]?.length ?? average;
      const score = (most * said) / (said + K1 * (1 - B + (B * length) / average));
      scores[slot] = (scores[slot] ?? 0) + score;
    }
  }

  #scoreNamed(query: string, scores: Float64Array): void {
    const name = query.trim();
    if (name.length > FIELDS.name.most || /\s/.test(name)) return;
    for (const { tool, slot } of this.#indexed) {
      if (isNameOf(tool, name)) scores[slot] = (scores[slot] ?? 0) + NAMED;
    }
  }

  /** What to look for, and how much each term of it counts. */
  #terms(query: string): Map<string, number> {
    const words = wordsOf(query, LONGEST_QUERY);
    const telling = words.filter((word) => !isStopWord(word));
    const counts = new Map<string, number>();
    // A query of nothing but such words may still name a tool, like "help".
    for (const word of telling.length > 0 ? telling : words) {
      const term = STEMS.of(word);
      if (counts.size < MOST_TERMS || counts.has(term)) {
        counts.set(term, (counts.get(term) ?? 0) + 1);
      }
    }
    // Not the parts of a name, like `echo__add`.
    const isProse = counts.size > 1 && /\s/.test(query.trim());
    const terms = new Map<string, number>();
    let mistyped = 0;
    for (const [term, count] of counts) {
      const isGeneral = isProse && GENERAL_TERMS.has(term);
      const weight = (isGeneral ? GENERAL : 1) * (1 + REPEATED * Math.log(count));
      const add = (each: string, share: number): void => {
        terms.set(each, (terms.get(each) ?? 0) + weight * share);
      };
      const posting = this.#postings.get(term);
      const isKnown = posting !== undefined;
      if (isKnown) add(term, 1);
      else if (mistyped < MOST_MISTYPED) {
        const similar = this.#similarTo(term);
        if (similar.length > 0) mistyped += 1;
        for (const each of similar) add(each, MISTYPED);
      }
      if (isKnown && posting.slots.length > COMMON * this.#indexed.length) continue;
      const share = isKnown ? SYNONYM : SYNONYM_OF_UNKNOWN;
      for (const synonym of SYNONYMS.get(term) ?? []) add(synonym, share);
    }
    return terms;
  }

  /** Known terms that differ by one letter, not the first. */
  #similarTo(term: string): string[] {
    const { length } = term;
    if (length < SHORTEST_MISTYPED) return [];
    const found: string[] = [];
    let compared = 0;
    for (const each of [length, length - 1, length + 1]) {
      for (const other of this.#similar.get(similarKey(term, each)) ?? []) {
        if (isNear(term, other)) found.push(other);
        compared += 1;
        if (compared >= MOST_COMPARED) return found;
      }
    }
    return found;
  }

  #add(indexed: IndexedTool): void {
    const slot = this.#free.pop() ?? this.#slots.length;
    indexed.slot = slot;
    this.#slots[slot] = indexed;
    for (const [term, weight] of indexed.weights) {
      const posting = this.#postings.get(term) ?? this.#newTerm(term);
      posting.slots.push(slot);
      posting.weights.push(weight);
    }
  }

  #newTerm(term: string): Posting {
    const posting = { slots: [], weights: [] };
    this.#postings.set(term, posting);
    const key = similarKey(term);
    const similar = this.#similar.get(key) ?? new Set();
    this.#similar.set(key, similar.add(term));
    return posting;
  }

  /** Each list of slots is gone through once, however many tools are removed from it. */
  #remove(gone: readonly IndexedTool[]): void {
    const terms = new Set<string>();
    for (const { slot, weights } of gone) {
      for (const term of weights.keys()) terms.add(term);
      this.#slots[slot] = undefined;
      this.#free.push(slot);
    }
    for (const term of terms) this.#removeFrom(term);
  }

  #removeFrom(term: string): void {
    const { slots, weights } = this.#postings.get(term) ?? { slots: [], weights: [] };
    let kept = 0;
    for (let at = 0; at < slots.length; at += 1) {
      const slot = slots[at] ?? -1;
      if (this.#slots[slot] === undefined) continue;
      slots[kept] = slot;
      weights[kept] = weights[at] ?? 0;
      kept += 1;
    }
    slots.length = kept;
    weights.length = kept;
    if (kept === 0) this.#forget(term);
  }

  #forget(term: string): void {
    this.#postings.delete(term);
    const key = similarKey(term);
    const similar = this.#similar.get(key);
    similar?.delete(term);
    if (similar?.size === 0) this.#similar.delete(key);
  }
}

function termsOf(tool: Tool, about: string): ToolTerms {
  const { source, title, annotations, ownDescription, description, parameters } = tool;
  const texts = [
    ownName(tool),
    title ?? annotations?.["title"],
    ownDescription ?? (source.kind === "mcp" ? "" : description),
    source.kind === "mcp" ? source.server : "",
    about,
  ];
  const before = knownTerms.get(parameters);
  if (before?.texts.every((text, at) => text === texts[at])) return before.terms;
  const terms = readTerms(texts, parameters);
  knownTerms.set(parameters, { texts, terms });
  return terms;
}

/** The texts are those of TEXT_FIELDS, in their order. */
function readTerms(texts: readonly unknown[], parameters: JsonObject): ToolTerms {
  const weights = new Map<string, number>();
  let length = 0;
  type Counts = Map<string, number>;
  const add = (text: unknown, field: keyof typeof FIELDS, counts: Counts = new Map()): void => {
    if (typeof text !== "string") return;
    const { weight, most, times } = FIELDS[field];
    for (const word of wordsOf(text, most)) {
      if (field !== "name" && isStopWord(word)) continue;
      const term = STEMS.of(word);
      const count = (counts.get(term) ?? 0) + 1;
      counts.set(term, count);
      if (count <= times) weights.set(term, (weights.get(term) ?? 0) + weight);
      // What does not count makes the text longer all the same.
      length += weight;
    }
  };
  for (const [at, field] of TEXT_FIELDS.entries()) add(texts[at], field);
  const [names, abouts]: [Counts, Counts] = [new Map(), new Map()];
  let left = MOST_PARAMETERS;
  const addParameters = (schema: unknown, depth: number): void => {
    if (depth > DEEPEST_PARAMETER || !isJsonObject(schema)) return;
    addParameters(schema["items"], depth + 1);
    if (!isJsonObject(schema["properties"])) return;
    const properties: JsonObject = schema["properties"];
    for (const name of Object.keys(properties)) {
      if (left === 0) return;
      left -= 1;
      const property = properties[name];
      add(name, "parameter", names);
      if (isJsonObject(property)) add(property["description"], "aboutParameter", abouts);
      addParameters(property, depth + 1);
    }
  };
  addParameters(parameters, 1);
  return { weights, length };
}

/** The score of the last of the best. Numbers are sorted in a tenth of the time that objects take. */
function leastOf(found: readonly { score: number }[], most: number): number {
  if (found.length <= most) return 0;
  return (
    Float64Array.from(found, ({ score }) => score)
      .sort()
      .at(-most) ?? 0
  );
}

/** Whether the text is the name of the tool, as its server, the board or a person writes it. */
export function isNameOf(tool: Tool, name: string): boolean {
  return name === tool.name || name === ownName(tool) || name === canonicalName(tool);
}

function similarKey(term: string, length = term.length): string {
  return `${term[0]}${length}`;
}

/** Whether one letter is added, left out or another, or two neighbours have changed places. */
function isNear(one: string, other: string): boolean {
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  let end = 0;
  const most = Math.min(one.length, other.length) - start;
  while (end < most && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const [left, right] = [
    one.slice(start, one.length - end),
    other.slice(start, other.length - end),
  ];
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && left === `${right[1]}${right[0]}` && right.length === 2;
}
