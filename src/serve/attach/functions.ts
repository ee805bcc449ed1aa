// The functions among the options of a request: what it asks the command in the middle (an approval, a form or a page, a
// model), and what it tells the command. They are functions on the command's side, and numbers on the link.

import { cancelled, PlugboardError } from "../../core/types/errors.ts";
import type { JsonObject } from "../../core/types/json.ts";
import { deferred } from "../../util/deferred.ts";
import type { Link } from "./link.ts";

/** How many pages at once are waited for to be finished: some servers never say that the person has finished. */
const MOST_PAGES = 100;
/** Whoever calls one of these waits for its answer. All others are told something. */
const ASKED: ReadonlySet<string> = new Set(["onApproval", "onElicitation", "onSampling"]);

/** By the names of the options. */
export type FunctionNumbers = Record<string, number>;

type AnyFunction = (...values: unknown[]) => unknown;

/** What is asked. Some functions get the signal with it, some beside it. */
interface Question {
  signal?: AbortSignal;
  completed?: Promise<void>;
}

/** The functions of one link, for either side of it. Only a command sends some. */
export class Functions {
  readonly #link: Link;
  readonly #numbers = new WeakMap<object, number>();
  /** By number, while a request uses them. Those that finish a page are below zero. */
  readonly #inUse = new Map<unknown, { call: AnyFunction; users: number }>();
  #last = 0;
  #lastPage = 0;

  constructor(link: Link) {
    this.#link = link;
    link.handle("ask", ([number, request, page], { hasSignal, signal }) => {
      const call = this.#inUse.get(number)?.call;
      if (call === undefined) throw cancelled();
      const finished = deferred();
      const isPage = typeof page === "number";
      if (isPage) {
        this.#inUse.delete(page + MOST_PAGES);
        this.#take(page, finished.resolve as AnyFunction);
      }
      const completed = isPage && { completed: finished.promise };
      return call(
        { ...(request as JsonObject), ...(hasSignal === true && { signal }), ...completed },
        signal,
      );
    });
    link.hear("tell", (number, ...values) => void this.#inUse.get(number)?.call(...values));
  }

  /** The options as they are sent, with numbers for functions. Call `end` with these when the request is answered. */
  toNumbers(options: object): { values: JsonObject; numbers: FunctionNumbers } {
    const values: JsonObject = {};
    const numbers: FunctionNumbers = {};
    for (const [name, value] of Object.entries(options)) {
      // A model is a function with what it can do.
      const { handler, ...facts } = (typeof value === "object" && value) || { handler: value };
      if (typeof handler !== "function") values[name] = value;
      else {
        const number = this.#numbers.get(handler) ?? (this.#last += 1);
        this.#numbers.set(handler, number);
        this.#take(number, handler);
        numbers[name] = number;
        if (handler !== value) values[name] = facts;
      }
    }
    return { values, numbers };
  }

  /**
   * The same options on the other side, with functions for the numbers. A function that several requests use at once is one
   * function here too, so that a person gets one question at a time.
   */
  fromNumbers(values: JsonObject, numbers: FunctionNumbers): JsonObject {
    const options: Record<string, unknown> = { ...values };
    for (const [name, number] of Object.entries(numbers)) {
      const ask: AnyFunction = (question, signal) =>
        this.#ask(number, question as Question, signal);
      const tell: AnyFunction = (...told) => this.#link.notify("tell", number, ...told);
      const call = this.#take(number, ASKED.has(name) ? ask : tell);
      options[name] = name in values ? { ...(values[name] as object), handler: call } : call;
    }
    return options;
  }

  /** No request uses them any more. */
  end(numbers: FunctionNumbers): void {
    for (const number of Object.values(numbers)) {
      const known = this.#inUse.get(number);
      if (known !== undefined && (known.users -= 1) === 0) this.#inUse.delete(number);
    }
  }

  /** The one that is in use already, or this one. */
  #take(number: number, call: AnyFunction): AnyFunction {
    const known = this.#inUse.get(number) ?? { call, users: 0 };
    known.users += 1;
    this.#inUse.set(number, known);
    return known.call;
  }

  async #ask(number: number, question: Question, beside: unknown): Promise<unknown> {
    const { signal, completed, ...request } = question;
    const page = completed && (this.#lastPage -= 1);
    void completed?.then(() => this.#link.notify("tell", page));
    const options = { hasSignal: signal !== undefined, signal: signal ?? (beside as AbortSignal) };
    try {
      return await this.#link.request("ask", [number, request, page], options);
    } catch (error) {
      // What the command's handler threw, as it would be thrown here.
      throw error instanceof PlugboardError && error.cause instanceof Error ? error.cause : error;
    }
  }
}
