// Ranking by meaning, with vectors from the host's own provider. It comes on top of the ranking by words: where it is
// slow or fails, searches go on without it.

import { createHash } from "node:crypto";
import type { Logger } from "../../types/logger.ts";
import type { Embed } from "../../types/search.ts";
import { canonicalName, type Tool } from "../../types/tool.ts";
import { type Clock, within } from "../../../util/clock.ts";
import { errorMessage } from "../../../util/error-message.ts";

/** How many texts the provider gets at a time, and how many characters of each. */
const BATCH = 64;
const LONGEST_TEXT = 2000;
/** How long the provider may take for one batch. */
const BATCH_MS = 10_000;
/** How long a search waits for the vectors of new tools. They are still asked for then, and the next search has them. */
const WAIT_MS = 5000;
/** How long searches go without the provider after it has failed. */
const RETRY_MS = 60_000;
/** How many vectors are kept for one provider. */
const MOST_VECTORS = 20_000;

export interface EmbeddingsOptions {
  embed: Embed;
  clock: Clock;
  logger: Logger;
}

type Vector = Float32Array;

/** Sessions share what one provider has answered: the tools of shared servers are the same for all of them. */
const vectorsByProvider = new WeakMap<Embed, Map<string, Vector>>();

export class Embeddings {
  readonly #options: EmbeddingsOptions;
  readonly #vectors: Map<string, Vector>;
  readonly #keys = new WeakMap<Tool, string>();
  #filling: Promise<void> | undefined;
  #hasWarned = false;
  #retryAt = -Infinity;

  constructor(options: EmbeddingsOptions) {
    this.#options = options;
    this.#vectors = vectorsByProvider.get(options.embed) ?? new Map();
    vectorsByProvider.set(options.embed, this.#vectors);
  }

  /**
   * For each query the tools that are like it, the most alike first. Undefined if the provider fails or is too slow
   * now. Does not reject.
   */
  async rank(
    queries: readonly string[],
    tools: readonly Tool[],
  ): Promise<(readonly Tool[])[] | undefined> {
    const { clock } = this.#options;
    if (clock.monotonic() < this.#retryAt) return undefined;
    try {
      const filled = await within(
        clock,
        WAIT_MS,
        this.#fill(tools).then(() => true),
      );
      if (filled === undefined) return undefined;
      const asked = await this.#embed(queries);
      return asked.map((vector) => this.#closest(vector, tools));
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  /** Asks for the vectors that are missing, one batch after another. */
  async #fill(tools: readonly Tool[]): Promise<void> {
    // A second search waits for the answers of the first one, and then asks only for tools that are still missing.
    while (this.#filling !== undefined) await this.#filling.catch(() => {});
    if (this.#options.clock.monotonic() < this.#retryAt) throw new Error("it has failed before");
    const missing = new Map<string, Tool>();
    for (const tool of tools) {
      const key = this.#key(tool);
      if (!this.#vectors.has(key)) missing.set(key, tool);
    }
    if (missing.size === 0) return;
    this.#filling = this.#fillMissing([...missing]);
    try {
      await this.#filling;
    } catch (error) {
      this.#fail(error);
      throw error;
    } finally {
      this.#filling = undefined;
    }
  }

  async #fillMissing(missing: readonly (readonly [key: string, tool: Tool])[]): Promise<void> {
    for (let at = 0; at < missing.length; at += BATCH) {
      const batch = missing.slice(at, at + BATCH);
      const vectors = await this.#embed(batch.map(([, tool]) => textOf(tool)));
      for (const [index, [key]] of batch.entries()) {
        const vector = vectors[index];
        if (vector !== undefined) this.#vectors.set(key, vector);
      }
    }
    for (const key of this.#vectors.keys()) {
      if (this.#vectors.size <= MOST_VECTORS) break;
      this.#vectors.delete(key);
    }
  }

  async #embed(texts: readonly string[]): Promise<Vector[]> {
    const { embed, clock } = this.#options;
    const cut = texts.map((text) => text.slice(0, LONGEST_TEXT));
    const asked = (async () => ({ vectors: await embed(cut) }))();
    const answer = await within(clock, BATCH_MS, asked);
    if (answer === undefined) throw new Error(`no answer within ${BATCH_MS / 1000} seconds`);
    return checked(answer.vectors, texts.length);
  }

  #closest(asked: Vector, tools: readonly Tool[]): Tool[] {
    const alike = tools.flatMap((tool) => {
      const vector = this.#vectors.get(this.#key(tool));
      const likeness = vector === undefined ? 0 : product(asked, vector);
      return likeness > 0 ? [{ tool, likeness }] : [];
    });
    return alike.sort((a, b) => b.likeness - a.likeness).map(({ tool }) => tool);
  }

  #key(tool: Tool): string {
    const known = this.#keys.get(tool);
    if (known !== undefined) return known;
    const key = createHash("sha256").update(textOf(tool)).digest("base64");
    this.#keys.set(tool, key);
    return key;
  }

  #fail(error: unknown): void {
    const { clock, logger } = this.#options;
    this.#retryAt = clock.monotonic() + RETRY_MS;
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    logger.warn("search goes by words alone, since 'embed' failed", {
      reason: errorMessage(error),
    });
  }
}

/** What the provider is told about a tool. Depends on nothing else, so that the hash of it stands for the tool. */
function textOf(tool: Tool): string {
  const { title, ownDescription, description } = tool;
  const heading = [canonicalName(tool), title].filter(Boolean).join(" ");
  return `${heading}: ${ownDescription ?? description}`.slice(0, LONGEST_TEXT);
}

/** Throws if these are not as many vectors of one length. Each becomes one of length 1, so that products compare angles. */
function checked(vectors: unknown, count: number): Vector[] {
  if (!Array.isArray(vectors) || vectors.length !== count) {
    throw new Error(`it must return one vector for each of the ${count} texts`);
  }
  const [first] = vectors as readonly unknown[];
  const size = Array.isArray(first) || first instanceof Float32Array ? first.length : 0;
  return vectors.map((each: unknown) => {
    const isVector = Array.isArray(each) || each instanceof Float32Array;
    if (!isVector || each.length === 0 || each.length !== size) {
      throw new Error("it must return vectors of one length");
    }
    const vector = Float32Array.from(each as ArrayLike<number>);
    const length = Math.sqrt(product(vector, vector));
    if (!Number.isFinite(length)) throw new Error("it must return vectors of finite numbers");
    return length === 0 ? vector : vector.map((value) => value / length);
  });
}

function product(one: Vector, other: Vector): number {
  if (one.length !== other.length) return 0;
  let sum = 0;
  for (const [at, value] of one.entries()) sum += value * (other[at] ?? 0);
  return sum;
}
