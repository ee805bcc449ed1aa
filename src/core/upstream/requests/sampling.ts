// Sampling: lets a server ask the host's model within its limits, through the host's callback, and sends the
// answer back.

import { cancelled, isRefusal, PlugboardError } from "../../types/errors.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { Logger } from "../../types/logger.ts";
import type {
  OnSampling,
  SampledMessage,
  SamplingContent,
  SamplingHandler,
  SamplingOptions,
  SamplingRequest,
} from "../../types/sampling.ts";
import { dataWithoutSecrets } from "../../types/without-secrets.ts";
import { untilAborted } from "../../../util/abort.ts";
import { type Clock, within } from "../../../util/clock.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { duration, oneLine } from "../../../util/text.ts";
import type { RequestOrigin } from "./calls-in-flight.ts";
import type { SamplingLimits } from "./sampling-limits.ts";
import { isSamplingContent, readSampling, type SamplingContents } from "./sampling-request.ts";

const MAX_TOKENS = 4096;
/** How long we wait for the model. It needs a limit, because the call's own clock is stopped meanwhile. */
const LONGEST_MS = 600_000;

export interface SamplingContext {
  server: string;
  /** The board's callback; a caller's own goes before it. */
  onSampling: OnSampling;
  /** A person has to agree to each request. */
  approvalRequired: boolean;
  /** The server's limits, over all of its connections. */
  limits: SamplingLimits;
  clock: Clock;
  logger: Pick<Logger, "warn">;
  /** Removes secrets from the server's words. */
  redact: (text: string) => string;
}

function samplingOptions(given: OnSampling): Required<SamplingOptions> {
  const options = typeof given === "function" ? { handler: given } : given;
  return { tools: false, maxTokens: MAX_TOKENS, ...options };
}

/** Answers `sampling/createMessage`. Rejects with a PlugboardError whose code says why not. */
export async function sample(
  params: unknown,
  { call, signal }: RequestOrigin,
  options: SamplingContext,
): Promise<JsonObject> {
  const { server, approvalRequired, logger, limits } = options;
  const flood = limits.take(call);
  if (flood !== undefined) {
    if (flood.isFirst)
      logger.warn(`refused the server's request for the model: ${flood.refusal.message}`);
    throw flood.refusal;
  }
  const answering = samplingOptions(call?.handlers?.onSampling ?? options.onSampling);
  const contents = readSampling(params, answering);
  if (typeof contents === "string") {
    logger.warn(`refused the server's request for the model: ${contents}`);
    throw new PlugboardError("PROTOCOL", contents);
  }
  const request: SamplingRequest = {
    server,
    tool: call?.tool,
    callId: call?.callId,
    approvalRequired,
    ...withoutSecrets(contents, options.redact),
    signal,
  };
  const { handler } = answering;
  const answer = await ask(request, handler, options);
  const content = isJsonObject(answer)
    ? fitContent(answer, contents.tools !== undefined)
    : undefined;
  if (content === undefined || typeof answer.model !== "string") {
    logger.warn("the model's answer was not sent: it is not a message");
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
  { clock, logger }: SamplingContext,
): Promise<SampledMessage> {
  const late = new AbortController();
  const signal = AbortSignal.any([request.signal, late.signal]);
  let answer: SampledMessage | "declined" | undefined;
  try {
    const asked = (async () => handler({ ...request, signal }))();
    answer = await within(clock, LONGEST_MS, untilAborted(asked, request.signal, cancelled));
  } catch (error) {
    if (request.signal.aborted) throw cancelled();
    if (isRefusal(error)) throw error;
    const reason = oneLine(errorMessage(error), 300);
    logger.warn("refused the server's request for the model: the callback failed", { reason });
    // The server does not learn the reason: it may be about the host.
    throw new PlugboardError("NOT_APPROVED", "the model could not be asked", { cause: error });
  }
  if (answer === "declined") {
    throw new PlugboardError("NOT_APPROVED", "the request for the model was declined");
  }
  if (answer !== undefined) return answer;
  late.abort();
  logger.warn(
    `refused the server's request for the model: no answer within ${duration(LONGEST_MS)}`,
  );
  throw new PlugboardError("NOT_APPROVED", "the model did not answer in time");
}

/** Without tools, the protocol allows only one block in an answer. */
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

function withoutSecrets(
  contents: SamplingContents,
  redact: (text: string) => string,
): SamplingContents {
  const { systemPrompt, tools } = contents;
  const block = (each: SamplingContent): SamplingContent =>
    each.type === "image" || each.type === "audio" ? each : dataWithoutSecrets(each, redact);
  return {
    ...contents,
    messages: contents.messages.map(({ role, content }) => ({ role, content: content.map(block) })),
    systemPrompt: systemPrompt && redact(systemPrompt),
    ...(tools !== undefined && { tools: dataWithoutSecrets(tools, redact) }),
  };
}
