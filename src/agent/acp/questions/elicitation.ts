// Shows a server's question to the user, as a form or a web page, if the editor can show those.

import { randomUUID } from "node:crypto";
import {
  type CreateElicitationResponse,
  methods,
  type PermissionOption,
  type RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import type {
  ElicitationAnswer,
  ElicitationRequest,
  FormElicitation,
  OnElicitation,
  UrlElicitation,
} from "../../../core/types/elicitation.ts";
import { readForm } from "../../../core/types/form.ts";
import { isJsonObject } from "../../../core/types/json.ts";
import { errorMessage } from "../../../util/error-message.ts";
import { oneLine } from "../../../util/text.ts";
import { toAcpForm } from "./form.ts";
import type { QuestionContext } from "./question-context.ts";

const LONGEST_NAME = 80;
const LONGEST_QUOTE = 300;

const PAGE_OPTIONS: PermissionOption[] = [
  { optionId: "done", name: "I have finished on the page", kind: "allow_once" },
  { optionId: "cancel", name: "Cancel", kind: "reject_once" },
];

export function elicitationPrompt(context: QuestionContext): OnElicitation {
  const decline = (request: ElicitationRequest, why: string): ElicitationAnswer => {
    context.notify(declinedNotice(request, why));
    return { action: "decline" };
  };
  return async (request) => {
    const prompt = context.promptSignal();
    if (prompt === undefined) return { action: "decline" };
    const shown = context.client.capabilities().elicitation ?? {};
    if (!shown[request.mode]) return decline(request, "which this editor cannot show");
    const signal = AbortSignal.any([prompt, request.signal]);
    try {
      if (request.mode === "url") return await openPage(request, signal, context);
      return await fillIn(request, signal, context);
    } catch (error) {
      if (signal.aborted) return { action: "cancel" };
      const reason = oneLine(errorMessage(error), LONGEST_QUOTE);
      return decline(request, `but the editor did not show it (${reason})`);
    }
  };
}

async function fillIn(
  request: FormElicitation,
  signal: AbortSignal,
  context: QuestionContext,
): Promise<ElicitationAnswer> {
  const fields = readForm(request.schema);
  // Forms that cannot be read were declined before this.
  if (typeof fields === "string") throw new Error(fields);
  const requestedSchema = toAcpForm(fields);
  const params = { ...commonParams(request, context), mode: "form", requestedSchema } as const;
  return toAnswer(await context.client.request(methods.client.elicitation.create, params, signal));
}

async function openPage(
  request: UrlElicitation,
  signal: AbortSignal,
  context: QuestionContext,
): Promise<ElicitationAnswer> {
  const { url, required, completed } = request;
  // An id of our own: with the servers' ids, one server could complete the page of another.
  const elicitationId = randomUUID();
  let isOpen = true;
  const finished = completed.then(async () => {
    if (isOpen) await context.client.completeElicitation({ elicitationId });
  });
  try {
    const params = { ...commonParams(request, context), mode: "url", url, elicitationId } as const;
    const answer = toAnswer(
      await context.client.request(methods.client.elicitation.create, params, signal),
    );
    isOpen = answer.action === "accept";
    if (!isOpen || !required || (await hasFinished(request, finished, signal, context)))
      return answer;
    return { action: "cancel" };
  } catch (error) {
    isOpen = false;
    throw error;
  }
}

/** Asks the user. If the server says first that the page is finished, the question is withdrawn. */
async function hasFinished(
  { callId }: UrlElicitation,
  finished: Promise<void>,
  signal: AbortSignal,
  { client, sessionId }: QuestionContext,
): Promise<boolean> {
  const withdrawn = new AbortController();
  const toolCall =
    callId === undefined
      ? { toolCallId: randomUUID(), title: "Open a page first" }
      : { toolCallId: callId };
  const asked = client.request(
    methods.client.session.requestPermission,
    { sessionId, toolCall, options: PAGE_OPTIONS },
    AbortSignal.any([signal, withdrawn.signal]),
  );
  try {
    return await Promise.race([finished.then(() => true), asked.then(isDone)]);
  } finally {
    asked.catch(() => {});
    withdrawn.abort();
  }
}

function isDone({ outcome }: RequestPermissionResponse): boolean {
  return outcome.outcome === "selected" && outcome.optionId === "done";
}

/** The message names the server, so that the user knows who asks. */
function commonParams(request: ElicitationRequest, { sessionId }: QuestionContext) {
  const { server, tool, callId, message } = request;
  const during = tool === undefined ? "" : ` during ${oneLine(tool, LONGEST_NAME)}`;
  return {
    sessionId,
    toolCallId: callId,
    message: `${oneLine(server, LONGEST_NAME)} asks${during}: ${message}`,
  };
}

/** The caller checks the answer against the form. */
function toAnswer(answer: CreateElicitationResponse): ElicitationAnswer {
  switch (answer.action) {
    case "accept": {
      const { content } = answer;
      return { action: "accept", content: isJsonObject(content) ? content : undefined };
    }
    case "decline":
      return { action: "decline" };
    default:
      return { action: "cancel" };
  }
}

/** Shows a page's whole address, so that the user can open it. The address has been checked before. */
function declinedNotice(request: ElicitationRequest, why: string): string {
  const server = oneLine(request.server, LONGEST_NAME);
  const quote = oneLine(request.message, LONGEST_QUOTE);
  if (request.mode === "form") {
    return `${server} asks "${quote}" with a form, ${why}; the question was declined`;
  }
  return (
    `${server} asks you to open a page ("${quote}"), ${why}; the question was declined. ` +
    `If you trust ${server}, open it yourself: <${request.url}>`
  );
}
