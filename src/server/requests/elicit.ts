// A server's question to a person: read from the wire, put to the host's callback, and its answer made
// fit for the wire. Whatever goes wrong on the way declines.

import type {
  ElicitationAnswer,
  ElicitationRequest,
  OnElicitation,
} from "../../model/elicitation.ts";
import { type FormField, readForm } from "../../model/form.ts";
import { isJsonObject, type JsonObject } from "../../model/json.ts";
import type { Logger } from "../../model/logger.ts";
import { asText } from "../../util/as-text.ts";
import { oneLine, plainText, truncate } from "../../util/text.ts";
import { Completions } from "./completions.ts";
import { formAnswer } from "./form-answer.ts";
import type { CausingCall, Origin } from "./origin.ts";
import { pageUrl } from "./page-url.ts";
import type { Turns } from "./turns.ts";

const MAX_MESSAGE = 16 * 1024;
const MAX_ID = 256;
const MAX_SCHEMA = 256 * 1024;
const DECLINE: ElicitationAnswer = { action: "decline" };

export interface ElicitOptions {
  server: string;
  /** The board's; a caller's own goes before it. */
  ask: OnElicitation;
  turns: Turns;
  logger: Logger;
  /** Takes secrets out of the server's words. */
  redact: (text: string) => string;
}

type Checked =
  | { request: ElicitationRequest; fields: FormField[] }
  /** In words, for the log. */
  | { refusal: string };

export class Elicitor {
  readonly completions = new Completions();
  readonly #options: ElicitOptions;

  constructor(options: ElicitOptions) {
    this.#options = options;
  }

  /** Answers `elicitation/create`; never rejects. */
  async answer(params: unknown, origin: Origin, required = false): Promise<JsonObject> {
    const checked = this.#check(isJsonObject(params) ? params : {}, origin, required);
    if ("refusal" in checked) return { ...this.#declined(checked.refusal) };
    const { request, fields } = checked;
    const answer = await this.#ask(request, origin);
    if (answer.action !== "accept") return { action: answer.action };
    if (request.mode === "url") return { action: "accept" };
    const form = formAnswer(fields, answer.content);
    if ("content" in form) return { action: "accept", content: form.content };
    const field = oneLine(form.field, 80);
    this.#options.logger.warn(
      `an answer to the server's question was not sent: '${field}' ${form.problem}`,
    );
    return { action: "cancel" };
  }

  async #ask(request: ElicitationRequest, origin: Origin): Promise<ElicitationAnswer> {
    const { turns, ask, logger } = this.#options;
    const { handlers, inCall = (task) => task() }: Partial<CausingCall> = origin.call ?? {};
    const callback = handlers?.onElicitation ?? ask;
    try {
      const answer = await turns.take(callback, origin.signal, async () =>
        inCall(() => callback(request)),
      );
      return answer ?? this.#declined("too many wait for an answer already");
    } catch (error) {
      if (origin.signal.aborted) return { action: "cancel" };
      const reason = oneLine(error instanceof Error ? error.message : String(error), 300);
      logger.warn("a question of the server's was declined: its callback failed", { reason });
      return DECLINE;
    }
  }

  #check(params: JsonObject, { call, signal }: Origin, required: boolean): Checked {
    const { message, mode = "form", requestedSchema, elicitationId } = params;
    const { server, redact } = this.#options;
    const words = plainText(typeof message === "string" ? message.slice(0, MAX_MESSAGE * 2) : "");
    const question = {
      server,
      tool: call?.tool,
      callId: call?.callId,
      message: truncate(redact(words), MAX_MESSAGE),
      signal,
    };
    if (mode === "url") {
      const page = pageUrl(params.url);
      if ("refusal" in page) return { refusal: `the page is not one to open: ${page.refusal}` };
      const hasId = typeof elicitationId === "string" && elicitationId.length <= MAX_ID;
      const completed = this.completions.of(hasId ? elicitationId : undefined);
      const { url } = page;
      const request = { ...question, mode, url, required, completed } as const;
      return { request: hasId ? { ...request, elicitationId } : request, fields: [] };
    }
    if (mode !== "form" || !isJsonObject(requestedSchema)) {
      return { refusal: "it is of a kind that was not offered" };
    }
    if (asText(requestedSchema).length > MAX_SCHEMA) return { refusal: "its form is too large" };
    const fields = readForm(requestedSchema);
    if (typeof fields === "string") return { refusal: `it is no form: ${oneLine(fields, 200)}` };
    return { request: { ...question, mode, schema: requestedSchema }, fields };
  }

  #declined(why: string): ElicitationAnswer {
    this.#options.logger.warn(`a question of the server's was declined: ${why}`);
    return DECLINE;
  }
}
