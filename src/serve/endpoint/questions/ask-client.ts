// What a server asks in the middle of a call, put to the client whose call caused it: forms, pages, and the client's
// model. Also the question whether a call may be made at all.

import { approvalText } from "../../../core/tools/approval-text.ts";
import type {
  ApprovalAnswer,
  ApprovalRequest,
  AskApproval,
  AskElsewhere,
} from "../../../core/types/approval.ts";
import type { ElicitationAnswer, ElicitationRequest } from "../../../core/types/elicitation.ts";
import { isJsonObject, type JsonObject } from "../../../core/types/json.ts";
import type { RequestHandlers } from "../../../core/types/request-handlers.ts";
import type {
  SampledMessage,
  SamplingContent,
  SamplingRequest,
} from "../../../core/types/sampling.ts";
import type { Clock } from "../../../util/clock.ts";
import type { Client } from "../client.ts";
import { type Answer, refuse, RPC } from "../message.ts";
import { HOLD_MS } from "./held-calls.ts";

/**
 * Asks one thing and waits for the answer. Never rejects; an error means that there is none. `callId` is the call it is
 * about, if that is known.
 */
export type Ask = (
  method: string,
  params: JsonObject,
  signal: AbortSignal,
  callId?: string,
) => Promise<Answer>;

export interface AskingOptions {
  capabilities: JsonObject;
  ask: Ask;
  /** Whether a person must be told which server asks: not where there is only one. */
  namesServer: () => boolean;
}

const NEVER = new AbortController().signal;

function supportsForms({ elicitation }: JsonObject): boolean {
  if (!isJsonObject(elicitation)) return false;
  return Object.keys(elicitation).length === 0 || isJsonObject(elicitation["form"]);
}

/** Whether anything can be asked of the client at all. */
export function takesQuestions({ elicitation, sampling }: JsonObject): boolean {
  return isJsonObject(elicitation) || isJsonObject(sampling);
}

/** For a client that cannot be asked anything. */
export const CANNOT_ASK: Ask = async () =>
  refuse(RPC.internalError, "the client cannot ask its user");

function supportsPages({ elicitation }: JsonObject): boolean {
  return isJsonObject(elicitation) && isJsonObject(elicitation["url"]);
}

export function askClient({
  capabilities,
  ask,
  namesServer,
}: AskingOptions): Required<RequestHandlers> {
  const from = (server: string, text: string): string =>
    namesServer() ? `[${server}] ${text}` : text;

  const onElicitation = async (request: ElicitationRequest): Promise<ElicitationAnswer> => {
    const { server, signal, callId } = request;
    const message = from(server, request.message);
    if (request.mode === "url") {
      if (!supportsPages(capabilities)) return { action: "decline" };
      const { url, elicitationId = "plugboard" } = request;
      const params = { mode: "url", message, url, elicitationId };
      return elicitationAnswer(await ask("elicitation/create", params, signal, callId));
    }
    if (!supportsForms(capabilities)) return { action: "decline" };
    const params = { message, requestedSchema: request.schema };
    return elicitationAnswer(await ask("elicitation/create", params, signal, callId));
  };

  const sample = async (request: SamplingRequest): Promise<SampledMessage | "declined"> => {
    if (!isJsonObject(capabilities["sampling"])) return "declined";
    if (request.approvalRequired && !(await mayUseModel(request))) return "declined";
    const { signal, callId } = request;
    const answer = await ask("sampling/createMessage", samplingParams(request), signal, callId);
    return "result" in answer ? (sampledMessage(answer.result) ?? "declined") : "declined";
  };

  const mayUseModel = async ({ server, signal, callId }: SamplingRequest): Promise<boolean> => {
    if (!supportsForms(capabilities)) return false;
    const message = `The MCP server "${server}" asks for your model. May it use it for this call?`;
    const params = { message, requestedSchema: { type: "object", properties: {} } };
    const answer = elicitationAnswer(await ask("elicitation/create", params, signal, callId));
    return answer.action === "accept";
  };

  const hasTools =
    isJsonObject(capabilities["sampling"]) && isJsonObject(capabilities["sampling"]["tools"]);
  return { onElicitation, onSampling: { handler: sample, tools: hasTools, maxTokens: 1_000_000 } };
}

/** They decline whatever is asked, so that all clients that cannot be asked share them. */
const DECLINING = askClient({ capabilities: {}, ask: CANNOT_ASK, namesServer: () => false });

/** The handlers of a client up to 2025-11-25. Made once, so that all its calls are known to be one caller's. */
export function handlersOf(
  client: Client,
  { namesServer, clock }: Pick<AskingOptions, "namesServer"> & { clock: Clock },
): RequestHandlers {
  if (!client.canBeAsked) return DECLINING;
  client.handlers ??= askClient({
    capabilities: client.profile.capabilities,
    // The call's own time stops meanwhile: otherwise one that is never answered keeps its place for ever.
    ask: inTime(asker(client), clock),
    namesServer,
  });
  return client.handlers;
}

/** What the client can be asked for. */
export function askable({ canBeAsked, profile }: Client): JsonObject {
  return canBeAsked ? profile.capabilities : {};
}

export function asker(client: Client): Ask {
  return (method, params, signal, callId) => client.ask(callId, method, params, signal);
}

/** Whoever does not answer in time has not answered. */
function inTime(ask: Ask, clock: Clock): Ask {
  return async (method, params, signal, callId) => {
    const expiry = new AbortController();
    const timer = clock.later(HOLD_MS, () => expiry.abort());
    try {
      return await ask(method, params, AbortSignal.any([signal, expiry.signal]), callId);
    } finally {
      timer.cancel();
    }
  };
}

/** Who makes the call that must be approved. */
interface Approving {
  client: Pick<Client, "caller">;
  /** What the client can be asked for. */
  capabilities: JsonObject;
  ask: Ask;
  /** Tells the client what its call waits for, if it wants to know. */
  waiting?: ((message: string) => void) | undefined;
}

/** Asks the client where it can show forms, else whoever can be asked elsewhere. */
export function approvalFrom(
  { client, capabilities, ask, waiting }: Approving,
  context: { onApproval?: AskElsewhere | undefined; clock: Clock },
): AskApproval | undefined {
  if (!supportsForms(capabilities)) return approvalElsewhere({ client, waiting }, context);
  return (request, signal) => askApproval(request, ask, signal, context.clock);
}

export function approvalElsewhere(
  { client: { caller }, waiting: tell = () => {} }: Pick<Approving, "client" | "waiting">,
  { onApproval }: { onApproval?: AskElsewhere | undefined },
): AskApproval | undefined {
  if (onApproval === undefined) return undefined;
  return (request, signal) => {
    tell(`waits for approval of ${request.tool}`);
    return onApproval(request, signal, { caller, tell });
  };
}

/** Puts an approval to the client as a form. Whoever does not answer in time has refused. */
async function askApproval(
  request: ApprovalRequest,
  ask: Ask,
  signal: AbortSignal = NEVER,
  clock: Clock,
): Promise<ApprovalAnswer> {
  const params = { message: formText(request), requestedSchema: decisionSchema(request) };
  const answer = elicitationAnswer(
    await inTime(ask, clock)("elicitation/create", params, signal, request.callId),
  );
  const decision = answer.action === "accept" ? answer.content?.["decision"] : undefined;
  return decision === "once" || decision === "always" ? decision : "refuse";
}

function formText(request: ApprovalRequest): string {
  const { question, described, about, args, leftOut } = approvalText(request);
  const parts = [
    question,
    ...(described.length === 0
      ? []
      : ["The server says about it:", ...described.map((line) => `  ${line}`)]),
    ...about,
    ...(args.length === 0
      ? ["It takes no arguments."]
      : ["Arguments:", ...args.map((line) => `  ${line}`)]),
    ...(leftOut === undefined ? [] : [`Not shown: ${leftOut}`]),
  ];
  return parts.join("\n");
}

function decisionSchema({ always }: ApprovalRequest): JsonObject {
  const until = always === "until-changed" ? "it changes" : "this server stops";
  return {
    type: "object",
    properties: {
      decision: {
        type: "string",
        title: "Decision",
        enum: ["once", "always", "refuse"],
        enumNames: ["Allow this call", `Always allow this tool, until ${until}`, "Refuse"],
      },
    },
    required: ["decision"],
  };
}

function elicitationAnswer(answer: Answer): ElicitationAnswer {
  if (!("result" in answer)) return { action: "decline" };
  const { action, content } = answer.result;
  if (action === "accept") return { action, ...(isJsonObject(content) && { content }) };
  return { action: action === "cancel" ? "cancel" : "decline" };
}

/** The request as its server wrote it, without what the board has removed. */
function samplingParams({
  preferences,
  tools,
  toolChoice,
  ...request
}: SamplingRequest): JsonObject {
  const { messages, systemPrompt, maxTokens, temperature, stopSequences } = request;
  const { hints = [], ...priorities } = preferences ?? {};
  return {
    messages: messages.map(({ role, content }) => {
      const [only] = content;
      return { role, content: content.length === 1 ? only : content };
    }),
    maxTokens,
    systemPrompt,
    temperature,
    stopSequences,
    ...(preferences !== undefined && {
      modelPreferences: {
        ...(hints.length > 0 && { hints: hints.map((name) => ({ name })) }),
        ...priorities,
      },
    }),
    tools,
    ...(toolChoice !== undefined && { toolChoice: { mode: toolChoice } }),
  };
}

function sampledMessage({ model, content, stopReason }: JsonObject): SampledMessage | undefined {
  const isContent = Array.isArray(content) ? content.every(isJsonObject) : isJsonObject(content);
  if (!isContent) return undefined;
  return {
    model: typeof model === "string" ? model : "unknown",
    content: content as SamplingContent | SamplingContent[],
    ...(typeof stopReason === "string" && { stopReason }),
  };
}
