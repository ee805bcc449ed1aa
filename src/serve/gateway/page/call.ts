// The calls that people make in the page: progress, the questions of a server and the result as a stream, and the answers
// beside it. A call is cancelled when the page goes away.

import type { ServerResponse } from "node:http";
import { z } from "zod";
import type { AskElsewhere } from "../../../core/types/approval.ts";
import type { Board } from "../../../core/types/board.ts";
import type { ElicitationAnswer, ElicitationRequest } from "../../../core/types/elicitation.ts";
import { PlugboardError } from "../../../core/types/errors.ts";
import { readForm, readFormAnswer } from "../../../core/types/form.ts";
import type { JsonObject } from "../../../core/types/json.ts";
import type {
  SampledMessage,
  SamplingContent,
  SamplingRequest,
} from "../../../core/types/sampling.ts";
import { jsonOfAnyDepth } from "../../../util/canonical-json.ts";
import type { Clock } from "../../../util/clock.ts";
import { oneLine } from "../../../util/text.ts";
import { STREAM_HEADERS } from "../../endpoint/http/reply.ts";
import { checked, NAME } from "./method.ts";
import { VISITOR, type Visitor } from "./visitors.ts";
import type { CallAnswer, CallQuestion, PageCallEvents } from "./wire.ts";

const LONGEST_TEXT = 1_000_000;

const REQUEST = z.strictObject({
  agent: NAME,
  tool: NAME,
  args: z.record(z.string(), z.unknown()),
});

const ANSWER = z.strictObject({
  call: NAME,
  question: NAME,
  action: z.enum(["accept", "decline", "cancel"]),
  content: z.record(z.string(), z.unknown()).optional(),
  text: z.string().max(LONGEST_TEXT).optional(),
}) satisfies z.ZodType<CallAnswer>;

export interface PageCallOptions {
  /** The board on which a visitor makes calls. Throws or rejects with INVALID_ARGUMENTS. */
  boardFor: (agent: string, visitor: Visitor) => HeldBoard | Promise<HeldBoard>;
  /** Where a call waits that needs approval: the page shows it there. */
  askFor: (agent: string) => AskElsewhere;
  newId: () => string;
  clock: Clock;
}

/** A board until it is given back. */
interface HeldBoard {
  board: Pick<Board, "call">;
  release: () => void;
}

type Tell = <Name extends keyof PageCallEvents>(name: Name, data: PageCallEvents[Name]) => void;

/** One call that runs, with what its server waits for. */
interface RunningCall {
  visitor: string;
  tell: Tell;
  questions: Map<string, { question: CallQuestion; answer: (answer: CallAnswer) => void }>;
}

/** The question, before it has a name. */
type Asked = CallQuestion extends infer Each
  ? Each extends CallQuestion
    ? Omit<Each, "id">
    : never
  : never;

export class PageCalls {
  readonly #options: PageCallOptions;
  readonly #running = new Map<string, RunningCall>();

  constructor(options: PageCallOptions) {
    this.#options = options;
  }

  /** Throws INVALID_ARGUMENTS before anything is called. */
  async run(body: JsonObject, visitor: Visitor, reply: ServerResponse): Promise<void> {
    const { boardFor, askFor, newId, clock } = this.#options;
    const { agent, tool, args } = checked(REQUEST, body);
    const held = boardFor(agent, visitor);
    const { board, release } = held instanceof Promise ? await held : held;
    const gone = new AbortController();
    reply.once("close", () => gone.abort());
    const tell: Tell = (name, data) => {
      if (!reply.writableEnded) reply.write(`event: ${name}\ndata: ${jsonOfAnyDepth(data)}\n\n`);
    };
    const ask = askFor(agent);
    const caller = { id: `${VISITOR}${visitor.nonce}`, label: `${visitor.name}, in the page` };
    const callId = newId();
    const running: RunningCall = { visitor: visitor.nonce, tell, questions: new Map() };
    this.#running.set(callId, running);
    reply.writeHead(200, STREAM_HEADERS);
    tell("open", { call: callId });
    const began = clock.monotonic();
    try {
      const outcome = await board.call(tool, args as JsonObject, {
        callId,
        signal: gone.signal,
        caller: caller.label,
        approvalsOf: caller.label,
        // The page shows it beside the call, and wherever else approvals are shown.
        onApproval: (request, signal) => ask(request, signal, { caller, tell: () => {} }),
        onElicitation: (request) => this.#elicit(running, request),
        onSampling: (request) => this.#sample(running, request),
        onUpdate: ({ progress }) => {
          if (progress !== undefined) tell("progress", progress);
        },
      });
      tell("result", {
        isError: outcome.isError === true,
        content: outcome.content.map((block) => ({ ...block })),
        ...(outcome.structuredContent !== undefined && { structured: outcome.structuredContent }),
        ms: clock.monotonic() - began,
        ...(outcome.failure !== undefined && { code: outcome.failure.code }),
      });
    } finally {
      this.#running.delete(callId);
      release();
    }
    reply.end();
  }

  /** Throws INVALID_ARGUMENTS if nobody waits for it, or if a form does not take it: then the question stays. */
  answer(body: JsonObject, visitor: Visitor): void {
    const answer = checked(ANSWER, body);
    const running = this.#running.get(answer.call);
    const asked = running?.questions.get(answer.question);
    // Whoever makes the call answers, and nobody else: not even another visit of the same person.
    if (asked === undefined || running?.visitor !== visitor.nonce) throw notAsked();
    const { question } = asked;
    if (answer.action === "accept" && question.kind === "form") requireFit(question, answer);
    asked.answer(answer);
  }

  async #elicit(running: RunningCall, request: ElicitationRequest): Promise<ElicitationAnswer> {
    const { server, message, signal } = request;
    if (request.mode === "form") {
      const asked = { kind: "form", server, message, schema: request.schema } as const;
      const { action, content } = await this.#ask(running, asked, signal);
      return action === "accept" ? { action, content: content ?? {} } : { action };
    }
    const { url, required, completed } = request;
    // The server may report that the person has finished before the person does.
    const finished = required ? completed.then(() => "accept" as const) : undefined;
    const asked = { kind: "page", server, message, url, isRequired: required } as const;
    const { action } = await this.#ask(running, asked, signal, finished);
    return { action };
  }

  async #sample(
    running: RunningCall,
    { server, systemPrompt, messages, maxTokens, signal }: SamplingRequest,
  ): Promise<SampledMessage | "declined"> {
    const asked = {
      kind: "model",
      server,
      ...(systemPrompt !== undefined && { system: systemPrompt }),
      messages: messages.map(({ role, content }) => ({
        role,
        text: content.map(textOf).join("\n"),
      })),
      maxTokens,
    } as const;
    const { action, text = "" } = await this.#ask(running, asked, signal);
    if (action !== "accept") return "declined";
    return { model: "a person", content: { type: "text", text }, stopReason: "endTurn" };
  }

  /** Resolves to "cancel" if the call ends first. `instead` answers it without the person. */
  async #ask(
    { tell, questions }: RunningCall,
    asked: Asked,
    signal: AbortSignal,
    instead?: Promise<"accept">,
  ): Promise<Pick<CallAnswer, "action" | "content" | "text">> {
    if (signal.aborted) return { action: "cancel" };
    const id = this.#options.newId();
    const question: CallQuestion = { ...asked, id };
    try {
      return await new Promise((answer) => {
        questions.set(id, { question, answer });
        signal.addEventListener("abort", () => answer({ action: "cancel" }), { once: true });
        void instead?.then((action) => answer({ action }));
        tell("question", question);
      });
    } finally {
      questions.delete(id);
      tell("answered", { id });
    }
  }
}

function requireFit(
  { schema }: Extract<CallQuestion, { kind: "form" }>,
  { content }: CallAnswer,
): void {
  const fields = readForm(schema);
  const read = typeof fields === "string" ? { content } : readFormAnswer(fields, content);
  if ("content" in read) return;
  const message = `the field '${oneLine(read.field, 80)}' ${read.problem}`;
  throw new PlugboardError("INVALID_ARGUMENTS", message);
}

function notAsked(): PlugboardError {
  return new PlugboardError("INVALID_ARGUMENTS", "nobody waits for this answer any more", {
    hint: "the call has ended, or the question was answered",
  });
}

function textOf(content: SamplingContent): string {
  return content.type === "text" ? content.text : `[${content.type}]`;
}
