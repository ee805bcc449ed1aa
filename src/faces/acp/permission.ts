// Asks the person at the editor whether a call may be made, in the words of ACP.

import type { PermissionOption, RequestPermissionRequest } from "@agentclientprotocol/sdk";
import type { RequestPermissionResponse } from "@agentclientprotocol/sdk";
import type { ApprovalAnswer, ApprovalRequest, AskApproval } from "../../model/approval.ts";
import { oneLine } from "../../util/text.ts";
import { textBlock } from "./content.ts";
import type { Mode } from "./mode.ts";

const OPTIONS: PermissionOption[] = [
  { optionId: "allow", name: "Allow once", kind: "allow_once" },
  { optionId: "always", name: "Always allow", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
  { optionId: "never", name: "Always reject", kind: "reject_always" },
];

const LONGEST_REASON = 300;

export interface PermissionContext {
  sessionId: string;
  mode(): Mode;
  /** The call that is being asked about, as the editor knows it. */
  toolCallId(): string | undefined;
  /** Rejects when the signal aborts or the client is gone. */
  request(
    params: RequestPermissionRequest,
    signal: AbortSignal | undefined,
  ): Promise<RequestPermissionResponse>;
}

/** "Always reject" holds for the session; "always allow" is the guard's to remember. */
export function permissionPrompt(context: PermissionContext): AskApproval {
  const rejected = new Set<string>();
  return async (request, signal) => {
    if (rejected.has(request.tool)) return "refuse";
    if (context.mode() === "auto") return "once";
    const { outcome } = await context.request(toRequest(request, context), signal);
    if (outcome.outcome === "cancelled") return "refuse";
    if (outcome.optionId === "never") rejected.add(request.tool);
    return answerOf(outcome.optionId);
  };
}

function answerOf(optionId: string): ApprovalAnswer {
  if (optionId === "allow") return "once";
  return optionId === "always" ? "always" : "refuse";
}

function toRequest(request: ApprovalRequest, context: PermissionContext): RequestPermissionRequest {
  const { tool, title, args, reason } = request;
  const name = oneLine(title === undefined ? tool : `${title} (${tool})`, LONGEST_REASON);
  return {
    sessionId: context.sessionId,
    toolCall: {
      toolCallId: context.toolCallId() ?? tool,
      title: `${name}: ${oneLine(reason, LONGEST_REASON)}`,
      name: request.publicName,
      rawInput: args,
      content: [{ type: "content", content: textBlock(JSON.stringify(args, undefined, 2)) }],
    },
    options: OPTIONS,
  };
}
