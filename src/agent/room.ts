// How full the model's window is. Tokens are estimated from characters, and the estimate learns from what the
// model says it has read.

import { type Compacted, compact, type Conversation, totalSize } from "./compact.ts";

/** English and JSON come to about four with every tokenizer in use. */
const CHARACTERS_PER_TOKEN = 4;
/** A smaller request says more about what surrounds it than about the text. */
const TELLING_TOKENS = 1000;
/** What no tokenizer gets past: an estimate outside of it is an accident. */
const DENSEST = 1;
const SPARSEST = 8;
/** Of the window: above the first it is made to fit into the second. The rest is for the answer. */
const FULL = 0.8;
const ROOMY = 0.6;
/** A request that was refused and filled less of the window was not refused for its size. */
const SUSPICIOUS = 0.25;

export class Room {
  readonly #window: number;
  #charactersPerToken = CHARACTERS_PER_TOKEN;

  constructor(window: number) {
    this.#window = window;
  }

  /** `tokens` is what a request of so many characters came to. */
  learn(characters: number, tokens: number): void {
    if (tokens < TELLING_TOKENS) return;
    this.#charactersPerToken = Math.min(SPARSEST, Math.max(DENSEST, characters / tokens));
  }

  /** `fixed` are the characters that go with every request: system prompt, context, tools. */
  fit(conversation: Conversation, fixed: number): Compacted | undefined {
    const size = totalSize(conversation.messages) + fixed;
    if (size <= this.#characters(FULL)) return undefined;
    return this.#compact(conversation, this.#characters(ROOMY) - fixed);
  }

  /** After the model has refused it: what is less than half of it, if there is any more to be had. */
  shrink(conversation: Conversation, fixed: number, isCertain: boolean): Compacted | undefined {
    const size = totalSize(conversation.messages) + fixed;
    if (!isCertain && size < this.#characters(SUSPICIOUS)) return undefined;
    return this.#compact(conversation, Math.min(this.#characters(ROOMY), size / 2) - fixed);
  }

  #compact(conversation: Conversation, budget: number): Compacted | undefined {
    const compacted = compact(conversation, budget);
    return compacted.results + compacted.dropped > 0 ? compacted : undefined;
  }

  #characters(share: number): number {
    return this.#window * share * this.#charactersPerToken;
  }
}
