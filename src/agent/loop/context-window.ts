// Keeps a conversation within the model's context window. Tokens are estimated from characters, and the estimate
// is corrected by what the model reports it has read.

import { type Compacted, compact, type Conversation, totalSize } from "./compact.ts";

/** A smaller request is mostly the provider's own overhead, and would spoil the estimate. */
const MIN_SAMPLE_TOKENS = 1000;
/**
 * Until the model has reported something. Lower than what `estimateTokens` takes for English: a request that is too large
 * is refused, and one that is a little smaller than it could be is not.
 */
const FIRST_CHARACTERS_PER_TOKEN = 4;
/** No tokenizer is outside of these bounds, so an estimate that is would be an accident. */
const FEWEST_CHARACTERS_PER_TOKEN = 1;
const MOST_CHARACTERS_PER_TOKEN = 8;
/** Shares of the window: a conversation above the limit is compacted to the target. The rest is for the answer. */
const LIMIT = 0.8;
const TARGET = 0.6;
/** A refused request that filled a smaller share than this was not refused for its size. */
const SUSPICIOUS = 0.25;

export class ContextWindow {
  readonly #tokens: number;
  #charactersPerToken = FIRST_CHARACTERS_PER_TOKEN;

  constructor(tokens: number) {
    this.#tokens = tokens;
  }

  /** Corrects the estimate: a request of this many characters came to this many tokens. */
  learn(characters: number, tokens: number): void {
    if (tokens < MIN_SAMPLE_TOKENS) return;
    this.#charactersPerToken = Math.min(
      MOST_CHARACTERS_PER_TOKEN,
      Math.max(FEWEST_CHARACTERS_PER_TOKEN, characters / tokens),
    );
  }

  /** `fixed` as in `fit`. */
  isOver(conversation: Conversation, fixed: number): boolean {
    return totalSize(conversation.messages) + fixed > this.#characters(LIMIT);
  }

  /** Whether a request that the model has refused may have been too large. `isCertain` if the model says so. */
  mayBeTooLarge(conversation: Conversation, fixed: number, isCertain: boolean): boolean {
    const size = totalSize(conversation.messages) + fixed;
    return isCertain || size >= this.#characters(SUSPICIOUS);
  }

  /**
   * Compacts a conversation that is over the limit; undefined if nothing had to change. `fixed` is the number
   * of characters that go with every request: system prompt, context, tools.
   */
  fit(conversation: Conversation, fixed: number): Compacted | undefined {
    if (!this.isOver(conversation, fixed)) return undefined;
    return this.#compact(conversation, this.#characters(TARGET) - fixed);
  }

  /** After the model has refused the request: at most half of it, or undefined if there is nothing left to cut. */
  shrink(conversation: Conversation, fixed: number, isCertain: boolean): Compacted | undefined {
    if (!this.mayBeTooLarge(conversation, fixed, isCertain)) return undefined;
    const size = totalSize(conversation.messages) + fixed;
    return this.#compact(conversation, Math.min(this.#characters(TARGET), size / 2) - fixed);
  }

  #compact(conversation: Conversation, budget: number): Compacted | undefined {
    const compacted = compact(conversation, budget);
    return compacted.results + compacted.dropped > 0 ? compacted : undefined;
  }

  #characters(share: number): number {
    return this.#tokens * share * this.#charactersPerToken;
  }
}
