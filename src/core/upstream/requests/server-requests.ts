// Everything a server may ask the host for during one connection, and the answers. Requests beyond what we
// advertise have no answer here, and the caller refuses them.

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { Logger } from "../../types/logger.ts";
import type { Clock } from "../../../util/clock.ts";
import { QuestionQueue } from "../../../util/question-queue.ts";
import { LogLimit } from "../../process/log-limit.ts";
import type { RedactText } from "../../process/stderr-log.ts";
import { wireErrorOf } from "../transport/errors.ts";
import type { RequestOrigin } from "./calls-in-flight.ts";
import { Elicitor } from "./elicitation.ts";
import { capabilitiesOf, type HostAnswers, permittedBy } from "./host-answers.ts";
import { sample } from "./sampling.ts";

const URL_REQUIRED = -32042;
/** How many pages one call may want a person to open before it goes on. */
const MAX_PAGES = 5;

export interface RequestsContext {
  server: string;
  clock: Clock;
  logger: Logger;
  redact: RedactText;
}

export const REQUEST_METHODS = [
  "elicitation/create",
  "sampling/createMessage",
  "roots/list",
] as const;

export type RequestMethod = (typeof REQUEST_METHODS)[number];

type AnswerRequest = (params: unknown, origin: RequestOrigin) => Promise<JsonObject>;

export class ServerRequests {
  /** What the host itself answers. */
  readonly capabilities: JsonObject;
  /** What the server may ask a client of the host for. */
  readonly permitted: JsonObject;
  /** Whether a call can cause requests for which we must know the caller. */
  readonly needsOrigin: boolean;
  readonly #answers = new Map<string, AnswerRequest>();
  readonly #elicitor: Elicitor | undefined;

  constructor(answers: HostAnswers, context: RequestsContext) {
    const { onElicitation, sampling, roots, questions = new QuestionQueue() } = answers;
    const limited = { ...context, logger: limitWarnings(context) };
    this.capabilities = capabilitiesOf(answers);
    this.permitted = permittedBy(answers);
    this.needsOrigin = onElicitation !== undefined || sampling !== undefined;
    if (onElicitation !== undefined) {
      const elicitor = new Elicitor({ ...limited, ask: onElicitation, questions });
      this.#elicitor = elicitor;
      this.#answers.set("elicitation/create", (params, origin) => elicitor.answer(params, origin));
    }
    if (sampling !== undefined) {
      const options = { ...limited, ...sampling };
      this.#answers.set("sampling/createMessage", (params, origin) =>
        sample(params, origin, options),
      );
    }
    if (roots !== undefined && this.capabilities.roots !== undefined) {
      this.#answers.set("roots/list", async () => ({ roots: [...(roots.list() ?? [])] }));
    }
  }

  supports(method: RequestMethod): boolean {
    return this.#answers.has(method);
  }

  /** Undefined for a method that is not supported; rejects with a PlugboardError. */
  answer(method: string, params: unknown, origin: RequestOrigin): Promise<JsonObject> | undefined {
    return this.#answers.get(method)?.(params, origin);
  }

  /** Takes `notifications/elicitation/complete`. */
  completed(params: unknown): void {
    this.#elicitor?.completions.completed(isJsonObject(params) ? params.elicitationId : undefined);
  }

  /**
   * Has a person open the pages without which the server refused a call (-32042). Resolves to whether they
   * accepted all of them; false for any other error.
   */
  async openPages(error: unknown, origin: RequestOrigin): Promise<boolean> {
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
  const wire = wireErrorOf(error);
  if (wire?.code !== URL_REQUIRED || !isJsonObject(wire.data)) return undefined;
  const { elicitations } = wire.data;
  if (!Array.isArray(elicitations) || elicitations.length === 0) return undefined;
  const pages = elicitations.filter((each: unknown) => isJsonObject(each));
  return pages.length === elicitations.length && pages.length <= MAX_PAGES ? pages : undefined;
}

/** A flood of requests must not become a flood of log lines. */
function limitWarnings({ logger, clock }: RequestsContext): Pick<Logger, "warn"> {
  const limit = new LogLimit({
    maxLines: 100,
    windowMs: 1000,
    clock,
    onLeftOut: (count) => logger.warn(`(${count} more requests refused)`),
  });
  return {
    warn(message, fields) {
      if (limit.take()) logger.warn(message, fields);
    },
  };
}
