// Everything a server may ask of the host during one connection: what is offered to it, and the answers.
// What is not offered is nobody's here: the caller refuses it.

import type { OnElicitation } from "../../model/elicitation.ts";
import { PlugboardError } from "../../model/errors.ts";
import { isJsonObject, type JsonObject } from "../../model/json.ts";
import type { Logger, LogLevel } from "../../model/logger.ts";
import type { RootsSource } from "../../model/roots.ts";
import type { OnSampling } from "../../model/sampling.ts";
import type { Clock } from "../../util/clock.ts";
import { Elicitor } from "./elicit.ts";
import { LineLimit } from "./line-limit.ts";
import type { Origin } from "./origin.ts";
import { sample, samplingOptions } from "./sample.ts";
import type { SamplingLimits } from "./sampling-limits.ts";
import { Turns } from "./turns.ts";

const URL_REQUIRED = -32042;
/** Pages that one call may want a person to open before it goes on. */
const MAX_PAGES = 5;

/** What a host has for one of its servers. */
export interface HostAnswers {
  onElicitation?: OnElicitation;
  /** Absent where the server must not use the model. */
  sampling?: { onSampling: OnSampling; approvalRequired: boolean; limits: SamplingLimits };
  roots?: RootsSource;
  /** The board's: its callback is asked one question at a time, whichever server it comes from. */
  turns?: Turns;
  /** What servers are to say to the log. Default `warn`. */
  logLevel?: LogLevel;
}

export const NOTHING: HostAnswers = {};

export interface RequestsContext {
  server: string;
  clock: Clock;
  logger: Logger;
  redact: (text: string) => string;
}

export const REQUEST_METHODS = [
  "elicitation/create",
  "sampling/createMessage",
  "roots/list",
] as const;

export type RequestMethod = (typeof REQUEST_METHODS)[number];

export class ServerRequests {
  readonly capabilities: JsonObject;
  readonly #answers = new Map<string, (params: unknown, origin: Origin) => Promise<JsonObject>>();
  readonly #elicitor: Elicitor | undefined;

  constructor(answers: HostAnswers, context: RequestsContext) {
    const { onElicitation, sampling, roots, turns = new Turns() } = answers;
    const bounded = { ...context, logger: boundedLogger(context) };
    this.capabilities = {};
    if (onElicitation !== undefined) {
      const elicitor = new Elicitor({ ...bounded, ask: onElicitation, turns });
      this.#elicitor = elicitor;
      this.capabilities.elicitation = { form: {}, url: {} };
      this.#answers.set("elicitation/create", (params, origin) => elicitor.answer(params, origin));
    }
    if (sampling !== undefined) {
      const takesTools = samplingOptions(sampling.onSampling).tools;
      this.capabilities.sampling = takesTools ? { tools: {} } : {};
      const options = { ...bounded, ...sampling };
      this.#answers.set("sampling/createMessage", (params, origin) =>
        sample(params, origin, options),
      );
    }
    if (roots?.list() !== undefined) {
      this.capabilities.roots = { listChanged: true };
      this.#answers.set("roots/list", async () => ({ roots: [...(roots.list() ?? [])] }));
    }
  }

  offers(method: RequestMethod): boolean {
    return this.#answers.has(method);
  }

  /** A call can cause nothing here that its caller would have to be known for. */
  get needsOrigin(): boolean {
    return this.offers("elicitation/create") || this.offers("sampling/createMessage");
  }

  /** Undefined where nothing of the kind was offered; rejects with a PlugboardError. */
  answer(method: string, params: unknown, origin: Origin): Promise<JsonObject> | undefined {
    return this.#answers.get(method)?.(params, origin);
  }

  /** `notifications/elicitation/complete`. */
  completed(params: unknown): void {
    this.#elicitor?.completions.heard(isJsonObject(params) ? params.elicitationId : undefined);
  }

  /**
   * A call was refused until a person has opened some pages (-32042). Resolves to whether they were all
   * accepted; false for any other error.
   */
  async openPages(error: unknown, origin: Origin): Promise<boolean> {
    const pages = this.#elicitor === undefined ? undefined : requiredPages(error);
    if (pages === undefined) return false;
    for (const page of pages) {
      const answer = await this.#elicitor?.answer({ ...page, mode: "url" }, origin, true);
      if (answer?.action !== "accept") return false;
    }
    return true;
  }
}

function requiredPages(error: unknown): JsonObject[] | undefined {
  if (!(error instanceof PlugboardError) || !isJsonObject(error.cause)) return undefined;
  const wire = error.cause.error;
  if (!isJsonObject(wire) || wire.code !== URL_REQUIRED || !isJsonObject(wire.data)) {
    return undefined;
  }
  const { elicitations } = wire.data;
  if (!Array.isArray(elicitations) || elicitations.length === 0) return undefined;
  const pages = elicitations.filter((each: unknown) => isJsonObject(each));
  return pages.length === elicitations.length && pages.length <= MAX_PAGES ? pages : undefined;
}

/** A flood of requests is not to become one of lines. */
function boundedLogger({ logger, clock }: RequestsContext): Logger {
  const limit = new LineLimit(clock, (count) => logger.warn(`(${count} more of them refused)`));
  const bounded =
    (level: LogLevel): Logger[LogLevel] =>
    (message, fields) => {
      if (limit.take()) logger[level](message, fields);
    };
  return {
    debug: bounded("debug"),
    info: bounded("info"),
    warn: bounded("warn"),
    error: bounded("error"),
  };
}
