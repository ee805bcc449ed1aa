// Questions in the middle of a call, from the gateway to the command that made it: an approval, a form or a page, a model.
// The command's handlers are functions there, and numbers on the link.

import type { CallerOptions } from "../../core/types/caller-options.ts";
import { cancelled, PlugboardError } from "../../core/types/errors.ts";
import type { JsonObject } from "../../core/types/json.ts";
import { type Deferred, deferred } from "../../util/deferred.ts";
import type { Link } from "./link.ts";

/** How many pages at once are waited for to be finished: some servers never say that the person has finished. */
const MOST_PAGES = 100;
const KINDS = ["onApproval", "onElicitation", "onSampling"] as const;

export type Handlers = Pick<CallerOptions, (typeof KINDS)[number]>;

/** Which handlers there are. For a model, what it can do goes along. */
export type HandlerNumbers = {
  [Kind in keyof Handlers]?: { handler: number; tools?: boolean; maxTokens?: number };
};

/** All kinds of handlers look like this: some get the signal with the request, some beside it. */
type Handler = (
  request: { signal?: AbortSignal; completed?: Promise<void> },
  signal?: AbortSignal,
) => unknown;

/** The questions on one link, for either side of it. */
export class Questions {
  readonly #link: Link;
  readonly #numbers = new WeakMap<object, number>();
  /** By number, while a request uses them. */
  readonly #inUse = new Map<number, { handler: Handler; users: number }>();
  readonly #pages = new Map<unknown, Deferred<void>>();
  #last = 0;

  constructor(link: Link) {
    this.#link = link;
    link.handle("ask", ({ handler: number, request, page, hasSignal }, { signal }) => {
      const handler = this.#inUse.get(number as number)?.handler;
      if (handler === undefined) throw cancelled();
      const completed = page === undefined ? {} : { completed: this.#page(page) };
      const inside = { ...(hasSignal === true && { signal }), ...completed };
      return handler({ ...(request as JsonObject), ...inside }, signal);
    });
    link.hear("completed", ({ page }) => {
      this.#pages.get(page)?.resolve();
      this.#pages.delete(page);
    });
  }

  /** The command's handlers for one request. Give the numbers back with `end` when it is answered. */
  numbersOf(handlers: Handlers): HandlerNumbers {
    const numbers: HandlerNumbers = {};
    for (const kind of KINDS) {
      const given = handlers[kind];
      if (given === undefined) continue;
      const { handler, ...facts } = typeof given === "function" ? { handler: given } : given;
      const number = this.#numbers.get(handler) ?? (this.#last += 1);
      this.#numbers.set(handler, number);
      this.#take(number, () => handler as Handler);
      numbers[kind] = { ...facts, handler: number };
    }
    return numbers;
  }

  /**
   * The same in the gateway, as functions that ask the command. One that several requests use at once is the same function
   * for all of them: whoever is asked gets one question at a time.
   */
  handlersOf(numbers: HandlerNumbers): Handlers {
    const handlers: Record<string, unknown> = {};
    for (const kind of KINDS) {
      const { handler: number, ...facts } = numbers[kind] ?? {};
      if (number === undefined) continue;
      const handler = this.#take(
        number,
        () =>
          (...asked) =>
            this.#ask(number, ...asked),
      );
      handlers[kind] = kind === "onSampling" ? { ...facts, handler } : handler;
    }
    return handlers;
  }

  /** No question can come any more. */
  end(numbers: HandlerNumbers): void {
    for (const { handler } of Object.values(numbers)) {
      const known = this.#inUse.get(handler);
      if (known !== undefined && (known.users -= 1) === 0) this.#inUse.delete(handler);
    }
  }

  #take(number: number, make: () => Handler): Handler {
    const known = this.#inUse.get(number) ?? { handler: make(), users: 0 };
    known.users += 1;
    this.#inUse.set(number, known);
    return known.handler;
  }

  async #ask(handler: number, ...[given, beside]: Parameters<Handler>): Promise<unknown> {
    const { signal, completed, ...request } = given;
    const page = completed && (this.#last += 1);
    void completed?.then(() => this.#link.notify("completed", { page }));
    const question = { handler, request, page, hasSignal: signal !== undefined };
    try {
      return await this.#link.request("ask", question, { signal: signal ?? beside });
    } catch (error) {
      // What the command's handler threw, as it would be thrown here.
      throw error instanceof PlugboardError && error.cause instanceof Error ? error.cause : error;
    }
  }

  #page(page: unknown): Promise<void> {
    const completion = deferred();
    this.#pages.set(page, completion);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > MOST_PAGES) this.#pages.delete(oldest);
    return completion.promise;
  }
}
