// Elicitation: puts a server's question to a person through the host's callback, and sends the answer back.
// Whatever goes wrong on the way declines the question, unless the host says why nobody could be asked.

import type {
  ElicitationAnswer,
  ElicitationRequest,
  OnElicitation,
} from "../../types/elicitation.ts";
import { isRefusal } from "../../types/errors.ts";
import { type FormField, readForm, readFormAnswer } from "../../types/form.ts";
import { isJsonObject, type JsonObject, objectIn } from "../../types/json.ts";
import type { Logger } from "../../types/logger.ts";
import { schemaWithoutSecrets } from "../../types/without-secrets.ts";
import { type Deferred, deferred } from "../../../util/deferred.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { isTooDeep } from "../../../util/json-depth.ts";
import type { QuestionQueue } from "../../../util/question-queue.ts";
import { asText, oneLine, plainText, truncate } from "../../../util/text.ts";
import type { RedactText } from "../../process/stderr-log.ts";
import type { RequestOrigin } from "./calls-in-flight.ts";

const MAX_MESSAGE = 16 * 1024;
const MAX_ID = 256;
const MAX_SCHEMA = 256 * 1024;
const DECLINE: ElicitationAnswer = { action: "decline" };

export interface ElicitOptions {
  server: string;
  /** The board's callback; a caller's own goes before it. */
  ask: OnElicitation;
  questions: QuestionQueue;
  logger: Pick<Logger, "warn">;
  /** Removes secrets from the server's words. */
  redact: RedactText;
}

type CheckedQuestion =
  | { request: ElicitationRequest; fields: FormField[] }
  /** Why it is refused, for the log. */
  | { refusal: string };

export class Elicitor {
  readonly completions = new Completions();
  readonly #options: ElicitOptions;

  constructor(options: ElicitOptions) {
    this.#options = options;
  }

  /** Answers `elicitation/create`. Rejects with NOT_APPROVED if the callback does. */
  async answer(params: unknown, origin: RequestOrigin, required = false): Promise<JsonObject> {
    const checked = this.#check(objectIn(params), origin, required);
    if ("refusal" in checked) return { ...this.#declined(checked.refusal) };
    const { request, fields } = checked;
    const answer = await this.#ask(request, origin);
    if (answer.action !== "accept") return { action: answer.action };
    if (request.mode === "url") return { action: "accept" };
    const form = readFormAnswer(fields, answer.content);
    if ("content" in form) return { action: "accept", content: form.content };
    const field = oneLine(form.field, 80);
    this.#options.logger.warn(
      `an answer to the server's question was not sent: '${field}' ${form.problem}`,
    );
    return { action: "cancel" };
  }

  async #ask(request: ElicitationRequest, origin: RequestOrigin): Promise<ElicitationAnswer> {
    const { server, questions, ask, logger } = this.#options;
    const callback = origin.call?.handlers?.onElicitation ?? ask;
    try {
      const answer = await questions.ask(callback, server, origin.signal, async () =>
        callback(request),
      );
      return answer ?? this.#declined("too many questions are waiting already");
    } catch (error) {
      if (origin.signal.aborted) return { action: "cancel" };
      if (isRefusal(error)) throw error;
      const reason = oneLine(errorMessage(error), 300);
      logger.warn("a question from the server was declined: the callback failed", { reason });
      return DECLINE;
    }
  }

  #check(params: JsonObject, { call, signal }: RequestOrigin, required: boolean): CheckedQuestion {
    const { mode = "form", requestedSchema, elicitationId } = params;
    const { server, redact } = this.#options;
    const message = typeof params.message === "string" ? params.message : "";
    const words = plainText(message.slice(0, MAX_MESSAGE * 2));
    const isCut = message.length > MAX_MESSAGE * 2;
    const question = {
      server,
      tool: call?.tool,
      callId: call?.callId,
      message: truncate(redact(words, isCut), MAX_MESSAGE),
      signal,
    };
    if (mode === "url") {
      const page = checkPageUrl(params.url);
      if ("refusal" in page) return { refusal: `its page cannot be opened: ${page.refusal}` };
      const hasId = typeof elicitationId === "string" && elicitationId.length <= MAX_ID;
      const completed = this.completions.of(hasId ? elicitationId : undefined);
      const { url } = page;
      const request = { ...question, mode, url, required, completed } as const;
      return { request: hasId ? { ...request, elicitationId } : request, fields: [] };
    }
    if (mode !== "form" || !isJsonObject(requestedSchema)) {
      return { refusal: "its kind is not supported" };
    }
    if (asText(requestedSchema).length > MAX_SCHEMA) return { refusal: "its form is too large" };
    if (isTooDeep(requestedSchema)) return { refusal: "its form has too many levels" };
    // The answer repeats the names of fields and the values of choices, so these cannot be changed.
    const schema = schemaWithoutSecrets(requestedSchema, redact);
    if (typeof schema === "string") return { refusal: `its form ${schema}` };
    const fields = readForm(schema);
    if (typeof fields === "string") return { refusal: `it is not a form: ${oneLine(fields, 200)}` };
    return { request: { ...question, mode, schema }, fields };
  }

  #declined(why: string): ElicitationAnswer {
    this.#options.logger.warn(`a question from the server was declined: ${why}`);
    return DECLINE;
  }
}

/** Servers need not report completion, and those that never do must not cost memory without end. */
const MAX_REMEMBERED = 100;

/** Learns from `notifications/elicitation/complete` that a person is done with a page. */
export class Completions {
  readonly #waiting = new Map<string, Deferred<void>>();

  /** Never settles if the server never reports completion. */
  of(id: string | undefined): Promise<void> {
    if (id === undefined) return new Promise(() => {});
    const known = this.#waiting.get(id);
    if (known !== undefined) return known.promise;
    const completion = deferred();
    this.#waiting.set(id, completion);
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > MAX_REMEMBERED && oldest !== undefined) this.#waiting.delete(oldest);
    return completion.promise;
  }

  completed(id: unknown): void {
    if (typeof id !== "string") return;
    this.#waiting.get(id)?.resolve();
    this.#waiting.delete(id);
  }
}

/** As long as browsers accept them. */
const MAX_URL = 8192;
const THIS_MACHINE: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** A page's URL in ASCII, so that nothing in it can hide or look like something else; or why it is refused. */
export function checkPageUrl(given: unknown): { url: string } | { refusal: string } {
  if (typeof given !== "string" || given.length > MAX_URL || !URL.canParse(given)) {
    return { refusal: "it is not a URL" };
  }
  const { protocol, hostname, username, password, href } = new URL(given);
  const isSafe = protocol === "https:" || (protocol === "http:" && THIS_MACHINE.has(hostname));
  if (!isSafe) return { refusal: "it is neither https nor on this machine" };
  // https://bank.example@evil.example is not the bank's.
  if (username !== "" || password !== "") return { refusal: "it has a user name in it" };
  return { url: href };
}
