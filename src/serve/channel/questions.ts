// Questions in the middle of a call, from the gateway to the command that made it: an approval, a form or a page, a model.
// The command's handlers are functions there, and numbers on the channel.

import type { AskApproval } from "../../core/types/approval.ts";
import type { CallerOptions } from "../../core/types/caller-options.ts";
import type { ElicitationRequest, OnElicitation } from "../../core/types/elicitation.ts";
import { cancelled, PlugboardError } from "../../core/types/errors.ts";
import type { JsonObject } from "../../core/types/json.ts";
import type { OnSampling, SamplingHandler, SamplingRequest } from "../../core/types/sampling.ts";
import { type Deferred, deferred } from "../../util/deferred.ts";
import type { Incoming, Link } from "./link.ts";
import type { WireHandlers } from "./wire.ts";

export type Handlers = Pick<CallerOptions, "onApproval" | "onElicitation" | "onSampling">;

/** How many pages at once are waited for to be finished. */
const MOST_PAGES = 100;

/** Things that are in use, by a key, until the last user lets go. */
class InUse<Key, Value> {
  readonly #known = new Map<Key, { value: Value; users: number }>();

  get(key: Key): Value | undefined {
    return this.#known.get(key)?.value;
  }

  take(key: Key, make: () => Value): Value {
    const known = this.#known.get(key) ?? { value: make(), users: 0 };
    known.users += 1;
    this.#known.set(key, known);
    return known.value;
  }

  release(key: Key): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    known.users -= 1;
    if (known.users === 0) this.#known.delete(key);
  }
}

/** The command's side: its handlers by their numbers, while one of them can be asked. */
export class AnsweredQuestions {
  readonly #numbers = new WeakMap<object, number>();
  readonly #inUse = new InUse<number, object>();
  readonly #pages = new Map<unknown, Deferred<void>>();
  #last = 0;

  constructor(link: Link) {
    const questions = ["ask/approval", "ask/elicitation", "ask/sampling"] as const;
    for (const method of questions) {
      link.handle(method, (params, incoming) => this.#answer(method, params, incoming));
    }
    link.hear("ask/completed", ({ question }) => {
      this.#pages.get(question)?.resolve();
      this.#pages.delete(question);
    });
  }

  /** Call `release` when no question can come any more. */
  take({ onApproval, onElicitation, onSampling }: Handlers): {
    wire: WireHandlers | undefined;
    release: (() => void) | undefined;
  } {
    if (!onApproval && !onElicitation && !onSampling) {
      return { wire: undefined, release: undefined };
    }
    const taken: number[] = [];
    const use = (handler: object): number => {
      const number = this.#numbers.get(handler) ?? (this.#last += 1);
      this.#numbers.set(handler, number);
      this.#inUse.take(number, () => handler);
      taken.push(number);
      return number;
    };
    const { tools, maxTokens } = typeof onSampling === "object" ? onSampling : {};
    return {
      wire: {
        approval: onApproval && use(onApproval),
        elicitation: onElicitation && use(onElicitation),
        sampling: onSampling && { handler: use(onSampling), tools, maxTokens },
      },
      release: () => taken.splice(0).forEach((number) => this.#inUse.release(number)),
    };
  }

  #answer(method: string, params: JsonObject, { signal }: Incoming): unknown {
    const handler = this.#inUse.get(params.handler as number);
    if (handler === undefined) throw cancelled();
    if (method === "ask/approval") {
      return (handler as AskApproval)(params.request as Parameters<AskApproval>[0], signal);
    }
    if (method === "ask/sampling") {
      const sample = handler as OnSampling;
      const request = { ...(params.request as Omit<SamplingRequest, "signal">), signal };
      return (typeof sample === "function" ? sample : sample.handler)(request);
    }
    return this.#elicit(handler as OnElicitation, params, signal);
  }

  #elicit(
    handler: OnElicitation,
    { question, request }: JsonObject,
    signal: AbortSignal,
  ): ReturnType<OnElicitation> {
    const asked = request as ElicitationRequest;
    if (asked.mode !== "url") return handler({ ...asked, signal });
    const page = deferred();
    this.#pages.set(question, page);
    // Some servers never say that the person has finished.
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > MOST_PAGES) this.#pages.delete(oldest);
    return handler({ ...asked, signal, completed: page.promise });
  }
}

/**
 * The gateway's side: the command's handlers as functions. One that several calls use at once is the same function for all
 * of them: whoever is asked gets one question at a time.
 */
export class AskedCommand {
  readonly #link: Link;
  readonly #inUse = new InUse<string, unknown>();
  #questions = 0;

  constructor(link: Link) {
    this.#link = link;
  }

  /** Call `release` when no question can come any more. */
  take({ approval, elicitation, sampling }: WireHandlers): {
    handlers: Handlers;
    release: () => void;
  } {
    const taken: string[] = [];
    const use = <Handler>(kind: string, id: number, make: () => Handler): Handler => {
      const key = `${kind} ${id}`;
      taken.push(key);
      return this.#inUse.take(key, make) as Handler;
    };
    const onApproval =
      approval === undefined
        ? undefined
        : use("approval", approval, (): AskApproval => {
            return (request, signal) =>
              this.#ask("ask/approval", { handler: approval, request }, signal);
          });
    const onElicitation =
      elicitation === undefined
        ? undefined
        : use("elicitation", elicitation, () => this.#elicitation(elicitation));
    const onSampling =
      sampling && use("sampling", sampling.handler, () => this.#sampling(sampling));
    return {
      handlers: { onApproval, onElicitation, onSampling },
      release: () => taken.splice(0).forEach((key) => this.#inUse.release(key)),
    };
  }

  #elicitation(handler: number): OnElicitation {
    return ({ signal, ...asked }) => {
      const question = (this.#questions += 1);
      if (asked.mode === "url") {
        void asked.completed.then(() => this.#link.notify("ask/completed", { question }));
      }
      const { completed: _, ...request } = { completed: undefined, ...asked };
      return this.#ask("ask/elicitation", { handler, question, request }, signal);
    };
  }

  #sampling({ handler, tools, maxTokens }: NonNullable<WireHandlers["sampling"]>): OnSampling {
    const sample: SamplingHandler = ({ signal, ...request }) =>
      this.#ask("ask/sampling", { handler, request }, signal);
    return { tools, maxTokens, handler: sample };
  }

  async #ask<Answer>(
    method: string,
    params: object,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    try {
      return (await this.#link.request(method, params, { signal })) as Answer;
    } catch (error) {
      // What the command's handler threw, as it would be thrown here.
      throw error instanceof PlugboardError && error.cause instanceof Error ? error.cause : error;
    }
  }
}
