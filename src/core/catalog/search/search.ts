// Finds the tools of one board by queries about what they do: by words, and by meaning where the host can embed texts.

import { invalidRequest } from "../../types/errors.ts";
import type { ToolHit } from "../../types/search.ts";
import type { Tool } from "../../types/tool.ts";
import { Embeddings, type EmbeddingsOptions } from "./embeddings.ts";
import { type About, isNameOf, ToolIndex } from "./tool-index.ts";

/** A model that asks more than this at once has not understood what a query is. */
const MOST_QUERIES = 50;
const DEFAULT_LIMIT = 10;
/** How much the places behind the first count when two rankings become one: the usual value. */
const FUSION = 60;
/** How many places of two rankings are made one, where fewer are wanted. */
const DEEPEST_FUSED = 100;
const NO_DOUBLES: ReadonlyMap<string, string> = new Map();

export interface SearchScope {
  limit?: number | undefined;
  isWanted: (tool: Tool) => boolean;
  /** What servers tell about themselves. Another map if something in it is. */
  about: About;
  /** The names of tools that copy another, each with that of the other. */
  doubles?: ReadonlyMap<string, string>;
}

export class CatalogSearch {
  readonly #index = new ToolIndex();
  readonly #embeddings: Embeddings | undefined;

  constructor(embeddings?: EmbeddingsOptions) {
    this.#embeddings = embeddings && new Embeddings(embeddings);
  }

  /** Rejects with INVALID_ARGUMENTS. */
  async search(
    query: string | readonly string[],
    tools: readonly Tool[],
    { limit = DEFAULT_LIMIT, isWanted, about, doubles = NO_DOUBLES }: SearchScope,
  ): Promise<ToolHit[]> {
    const queries = checkedQueries(query);
    if (!Number.isSafeInteger(limit) || limit < 1) {
      throw invalidRequest("the limit of a search must be a whole number from 1 on");
    }
    this.#index.update(tools, about);
    const fusedMost = this.#embeddings === undefined ? limit : Math.max(limit, DEEPEST_FUSED);
    // The tool that a double copies may be far below it.
    const most = doubles.size > 0 ? Infinity : fusedMost;
    const byWords = queries.map((each) => this.#index.rank(each, most, isWanted));
    const byMeaning = await this.#embeddings?.rank(queries, tools.filter(isWanted));
    const rankings =
      byMeaning === undefined
        ? byWords
        : byWords.map((hits, at) => fused(hits, (byMeaning[at] ?? []).slice(0, most)));
    const inOrder =
      doubles.size === 0
        ? rankings
        : rankings.map((hits, at) => originalsFirst(hits, doubles, queries[at] ?? ""));
    return inTurn(inOrder, limit);
  }
}

function checkedQueries(query: unknown): string[] {
  const queries = Array.isArray(query) ? (query as readonly unknown[]) : [query];
  if (queries.length > MOST_QUERIES) {
    throw invalidRequest(`a search takes at most ${MOST_QUERIES} queries at once`);
  }
  return queries.map((each) => {
    if (typeof each === "string") return each;
    throw invalidRequest("a search takes a text, or a list of texts");
  });
}

/** Reciprocal rank fusion: scores of different kinds cannot be compared, but places can. */
function fused(hits: readonly ToolHit[], alike: readonly Tool[]): ToolHit[] {
  const scores = new Map<Tool, number>();
  for (const ranking of [hits.map(({ tool }) => tool), alike]) {
    for (const [at, tool] of ranking.entries()) {
      scores.set(tool, (scores.get(tool) ?? 0) + 1 / (FUSION + at + 1));
    }
  }
  return [...scores].map(([tool, score]) => ({ tool, score })).sort((a, b) => b.score - a.score);
}

/**
 * Puts each double behind the tool that it copies. If that is not found, the double matched by its own words, and comes
 * after whatever is no double. Whoever writes the double's name means it.
 */
function originalsFirst(
  hits: readonly ToolHit[],
  doubles: ReadonlyMap<string, string>,
  query: string,
): ToolHit[] {
  const named = query.trim();
  const byName = new Map(hits.map((hit) => [hit.tool.name, hit]));
  const last = hits.findLast(({ tool }) => !doubles.has(tool.name))?.score ?? Infinity;
  const ordered = hits.map((hit, place) => {
    const doubleOf = doubles.get(hit.tool.name);
    if (doubleOf === undefined) return { hit, score: hit.score, place };
    const original = byName.get(doubleOf);
    const isMeant = isNameOf(hit.tool, named) && !(original && isNameOf(original.tool, named));
    const score = isMeant ? hit.score : Math.min(hit.score, original?.score ?? last);
    // With the same score, a double comes after its original.
    return { hit: { ...hit, score, doubleOf }, score, place: place + hits.length };
  });
  return ordered.sort((a, b) => b.score - a.score || a.place - b.place).map(({ hit }) => hit);
}

/** Takes the best of each ranking in turn, no tool twice. */
function inTurn(rankings: readonly (readonly ToolHit[])[], limit: number): ToolHit[] {
  const found = new Map<Tool, ToolHit>();
  const longest = Math.max(0, ...rankings.map(({ length }) => length));
  for (let place = 0; place < longest; place += 1) {
    for (const ranking of rankings) {
      const hit = ranking[place];
      if (hit === undefined || found.has(hit.tool)) continue;
      found.set(hit.tool, hit);
      if (found.size === limit) return [...found.values()];
    }
  }
  return [...found.values()];
}
