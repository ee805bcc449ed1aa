// Puts a server's question to the person at the editor, as a form or a page, where the editor can show it.

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
} from "../../../model/elicitation.ts";
import { readForm } from "../../../model/form.ts";
import { isJsonObject } from "../../../model/json.ts";
import { oneLine } from "../../../util/text.ts";
import type { Asking } from "./question-context.ts";
import { toAcpForm } from "./form.ts";

const LONGEST_NAME = 80;
const LONGEST_QUOTE = 300;

const THROUGH: PermissionOption[] = [
  { optionId: "through", name: "I am through with the page", kind: "allow_once" },
  { optionId: "cancel", name: "Cancel", kind: "reject_once" },
];

export function elicitationPrompt(asking: Asking): OnElicitation {
  const declined = (request: ElicitationRequest, why: string): ElicitationAnswer => {
    asking.tell(inWords(request, why));
    return { action: "decline" };
  };
  return async (request) => {
    const turn = asking.turn();
    if (turn === undefined) return { action: "decline" };
    const shows = asking.peer.capabilities().elicitation ?? {};
    if (!shows[request.mode]) return declined(request, "which this editor cannot show");
    const signal = AbortSignal.any([turn, request.signal]);
    try {
      if (request.mode === "url") return await openPage(request, signal, asking);
      return await fillIn(request, signal, asking);
    } catch (error) {
      if (signal.aborted) return { action: "cancel" };
      const reason = oneLine(error instanceof Error ? error.message : String(error), LONGEST_QUOTE);
      return declined(request, `and the editor did not show it (${reason})`);
    }
  };
}

async function fillIn(
  request: FormElicitation,
  signal: AbortSignal,
  asking: Asking,
): Promise<ElicitationAnswer> {
  const fields = readForm(request.schema);
  // Such a form has been declined before it gets here.
  if (typeof fields === "string") throw new Error(fields);
  const { peer } = asking;
  const requestedSchema = toAcpForm(fields);
  const params = { ...commonParams(request, asking), mode: "form", requestedSchema } as const;
  return toAnswer(await peer.request(methods.client.elicitation.create, params, signal));
}

async function openPage(
  request: UrlElicitation,
  signal: AbortSignal,
  asking: Asking,
): Promise<ElicitationAnswer> {
  const { url, required, completed } = request;
  const { peer } = asking;
  // Not the server's own: an editor has many servers, and none may speak for another one's page.
  const elicitationId = randomUUID();
  let isShown = true;
  const over = completed.then(async () => {
    if (isShown) await peer.completeElicitation({ elicitationId });
  });
  try {
    const params = { ...commonParams(request, asking), mode: "url", url, elicitationId } as const;
    const answer = toAnswer(await peer.request(methods.client.elicitation.create, params, signal));
    isShown = answer.action === "accept";
    if (!isShown || !required || (await isThrough(over, signal, asking))) return answer;
    return { action: "cancel" };
  } catch (error) {
    isShown = false;
    throw error;
  }
}

/** The server may say so first; then nobody's word is waited for. */
async function isThrough(
  over: Promise<void>,
  signal: AbortSignal,
  { peer, sessionId, toolCallId }: Asking,
): Promise<boolean> {
  const said = new AbortController();
  const id = toolCallId();
  const toolCall =
    id === undefined
      ? { toolCallId: randomUUID(), title: "A page is to be opened first" }
      : { toolCallId: id };
  const asked = peer.request(
    methods.client.session.requestPermission,
    { sessionId, toolCall, options: THROUGH },
    AbortSignal.any([signal, said.signal]),
  );
  try {
    return await Promise.race([over.then(() => true), asked.then(isAgreed)]);
  } finally {
    asked.catch(() => {});
    said.abort();
  }
}

function isAgreed({ outcome }: RequestPermissionResponse): boolean {
  return outcome.outcome === "selected" && outcome.optionId === "through";
}

/** Whose words they are stands before them. */
function commonParams(request: ElicitationRequest, { sessionId, toolCallId }: Asking) {
  const { server, tool, message } = request;
  const during = tool === undefined ? "" : ` during ${oneLine(tool, LONGEST_NAME)}`;
  // Which call it is about is certain only where the tool is.
  const id = tool === undefined ? undefined : toolCallId();
  return {
    sessionId,
    ...(id !== undefined && { toolCallId: id }),
    message: `${oneLine(server, LONGEST_NAME)} asks${during}: ${message}`,
  };
}

/** The answer is held against the form by whoever sends it on. */
function toAnswer(answer: CreateElicitationResponse): ElicitationAnswer {
  switch (answer.action) {
    case "accept": {
      const { content } = answer;
      return { action: "accept", ...(isJsonObject(content) && { content }) };
    }
    case "decline":
      return { action: "decline" };
    default:
      return { action: "cancel" };
  }
}

/** A page is named in full, so that the person may open it; its address has been checked. */
function inWords(request: ElicitationRequest, why: string): string {
  const server = oneLine(request.server, LONGEST_NAME);
  const quote = oneLine(request.message, LONGEST_QUOTE);
  if (request.mode === "form") {
    return `${server} asks "${quote}" with a form, ${why}; it was declined`;
  }
  return (
    `${server} wants a page to be opened ("${quote}"), ${why}; it was declined. ` +
    `If you trust ${server}, open it yourself: <${request.url}>`
  );
}
