// A server's request for the host's model: held to its limits, put to the host's callback, and the answer
// made fit for the wire.

import { cancelled, PlugboardError } from "../../model/errors.ts";
import type { JsonObject } from "../../model/json.ts";
import { isJsonObject } from "../../model/json.ts";
import type { Logger } from "../../model/logger.ts";
import type {
  OnSampling,
  SampledMessage,
  SamplingContent,
  SamplingHandler,
  SamplingOptions,
  SamplingRequest,
} from "../../model/sampling.ts";
import { untilAborted } from "../../util/abort.ts";
import { type Clock, within } from "../../util/clock.ts";
import { duration, oneLine } from "../../util/text.ts";
import type { CausingCall, Origin } from "./origin.ts";
import type { SamplingLimits } from "./sampling-limits.ts";
import { isSamplingContent, readSampling, type SamplingWords } from "./sampling-request.ts";

const MAX_TOKENS = 4096;
/** A model that is not done by then is not waited for: the call's own time stands still meanwhile. */
const LONGEST_MS = 600_000;

export interface SampleOptions {
  server: string;
  /** The board's; a caller's own goes before it. */
  onSampling: OnSampling;
  /** Somebody has to agree to each. */
  approvalRequired: boolean;
  /** The server's, over all of its connections. */
  limits: SamplingLimits;
  clock: Clock;
  logger: Logger;
  /** Takes secrets out of the server's words. */
  redact: (text: string) => string;
}

export function samplingOptions(given: OnSampling): Required<SamplingOptions> {
  const options = typeof given === "function" ? { handler: given } : given;
  return { tools: false, maxTokens: MAX_TOKENS, ...options };
}

/** Answers `sampling/createMessage`. Rejects with a PlugboardError whose code says why not. */
export async function sample(
  params: unknown,
  { call, signal }: Origin,
  options: SampleOptions,
): Promise<JsonObject> {
  const { server, approvalRequired, logger, limits } = options;
  const flood = limits.take(call);
  if (flood !== undefined) {
    if (flood.isFirst) logger.warn(`the server was refused the model: ${flood.refusal.message}`);
    throw flood.refusal;
  }
  const { handlers, inCall = (task) => task() }: Partial<CausingCall> = call ?? {};
  const answering = samplingOptions(handlers?.onSampling ?? options.onSampling);
  const words = readSampling(params, answering);
  if (typeof words === "string") {
    logger.warn(`the server was refused the model: ${words}`);
    throw new PlugboardError("PROTOCOL", words);
  }
  const request: SamplingRequest = {
    server,
    tool: call?.tool,
    callId: call?.callId,
    approvalRequired,
    ...withoutSecrets(words, options.redact),
    signal,
  };
  const { handler } = answering;
  const answer = await ask(request, (asked) => inCall(() => handler(asked)), options);
  const content = isJsonObject(answer) ? fitContent(answer, words.tools !== undefined) : undefined;
  if (content === undefined || typeof answer.model !== "string") {
    logger.warn("what the model answered was not sent: it is no message");
    throw new PlugboardError("NOT_APPROVED", "the model gave no answer that can be sent");
  }
  const { model, stopReason } = answer;
  return {
    role: "assistant",
    model,
    content,
    ...(typeof stopReason === "string" && { stopReason }),
  };
}

async function ask(
  request: SamplingRequest,
  handler: SamplingHandler,
  { clock, logger }: SampleOptions,
): Promise<SampledMessage> {
  const late = new AbortController();
  const signal = AbortSignal.any([request.signal, late.signal]);
  let answer: SampledMessage | "declined" | undefined;
  try {
    const asked = (async () => handler({ ...request, signal }))();
    answer = await within(clock, LONGEST_MS, untilAborted(asked, request.signal, cancelled));
  } catch (error) {
    if (request.signal.aborted) throw cancelled();
    const reason = oneLine(error instanceof Error ? error.message : String(error), 300);
    logger.warn("the server was refused the model: its callback failed", { reason });
    // The reason is the host's own affair.
    throw new PlugboardError("NOT_APPROVED", "the model could not be asked", { cause: error });
  }
  if (answer === "declined") {
    throw new PlugboardError("NOT_APPROVED", "the request for the model was declined");
  }
  if (answer !== undefined) return answer;
  late.abort();
  logger.warn(`the server was refused the model: no answer within ${duration(LONGEST_MS)}`);
  throw new PlugboardError("NOT_APPROVED", "the model did not answer in time");
}

/** Without tools the protocol has one block in an answer. */
function fitContent(
  { content }: SampledMessage,
  withTools: boolean,
): SamplingContent | SamplingContent[] | undefined {
  const blocks: unknown[] = Array.isArray(content) ? content : [content];
  if (!blocks.every(isSamplingContent)) return undefined;
  if (withTools) return blocks;
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (blocks.length > 1 && texts.length === blocks.length) {
    return { type: "text", text: texts.join("\n") };
  }
  const [only] = blocks;
  const isPlain = only?.type !== "tool_use" && only?.type !== "tool_result";
  return blocks.length === 1 && isPlain ? only : undefined;
}

function withoutSecrets(words: SamplingWords, redact: (text: string) => string): SamplingWords {
  const { systemPrompt } = words;
  const block = (each: SamplingContent): SamplingContent =>
    each.type === "text" ? { ...each, text: redact(each.text) } : each;
  return {
    ...words,
    messages: words.messages.map(({ role, content }) => ({ role, content: content.map(block) })),
    ...(systemPrompt !== undefined && { systemPrompt: redact(systemPrompt) }),
  };
}
