// Asks the person at the editor whether a call may be made, in the words of ACP.

import type {
  PermissionOption,
  RequestPermissionRequest,
  ToolCallContent,
  ToolCallLocation,
  ToolKind,
} from "@agentclientprotocol/sdk";
import type { RequestPermissionResponse } from "@agentclientprotocol/sdk";
import type { ApprovalAnswer, ApprovalRequest, AskApproval } from "../../../model/approval.ts";
import { oneLine } from "../../../util/text.ts";
import { textBlock } from "../content.ts";
import type { Mode } from "../session/mode.ts";

const OPTIONS: PermissionOption[] = [
  { optionId: "allow", name: "Allow once", kind: "allow_once" },
  { optionId: "always", name: "Always allow", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
  { optionId: "never", name: "Always reject", kind: "reject_always" },
];

const LONGEST_REASON = 300;

/** What a person gets to see of a call they are asked about, in place of its arguments. */
export interface Preview {
  kind: ToolKind;
  title: string;
  content: ToolCallContent[];
  locations?: ToolCallLocation[];
  /** What "always" is about, where that is less than the tool; it then holds for the session. */
  always?: { name: string; key: string };
}

export interface PermissionContext {
  sessionId: string;
  mode(): Mode;
  /** The call that is being asked about, as the editor knows it. */
  toolCallId(): string | undefined;
  /** Undefined where the arguments say it all. A rejection refuses the call without a question. */
  preview(request: ApprovalRequest, signal: AbortSignal | undefined): Promise<Preview | undefined>;
  /** Rejects when the signal aborts or the client is gone. */
  request(
    params: RequestPermissionRequest,
    signal: AbortSignal | undefined,
  ): Promise<RequestPermissionResponse>;
}

/** "Always reject" holds for the session; "always allow" is the guard's to remember, but for less than a tool. */
export function permissionPrompt(context: PermissionContext): AskApproval {
  const rejected = new Set<string>();
  const allowed = new Set<string>();
  return async (request, signal) => {
    if (rejected.has(request.tool)) return "refuse";
    if (context.mode() === "auto") return "once";
    const preview = await context.preview(request, signal);
    const key = preview?.always && `${request.tool} ${preview.always.key}`;
    if (key !== undefined && allowed.has(key)) return "once";
    const { outcome } = await context.request(toRequest(request, preview, context), signal);
    if (outcome.outcome === "cancelled") return "refuse";
    if (outcome.optionId === "never") rejected.add(request.tool);
    if (outcome.optionId !== "always" || key === undefined) return answerOf(outcome.optionId);
    allowed.add(key);
    return "once";
  };
}

function answerOf(optionId: string): ApprovalAnswer {
  if (optionId === "allow") return "once";
  return optionId === "always" ? "always" : "refuse";
}

function toRequest(
  request: ApprovalRequest,
  preview: Preview | undefined,
  context: PermissionContext,
): RequestPermissionRequest {
  const { tool, args, reason } = request;
  const { title = request.title, kind, locations, always } = preview ?? {};
  const name = oneLine(title === undefined ? tool : `${title} (${tool})`, LONGEST_REASON);
  return {
    sessionId: context.sessionId,
    toolCall: {
      toolCallId: context.toolCallId() ?? tool,
      title: `${name}: ${oneLine(reason, LONGEST_REASON)}`,
      name: request.publicName,
      rawInput: args,
      content: preview?.content ?? [
        { type: "content", content: textBlock(JSON.stringify(args, undefined, 2)) },
      ],
      ...(kind !== undefined && { kind }),
      ...(locations !== undefined && { locations }),
    },
    options: OPTIONS.map((option) =>
      option.optionId === "always" && always ? { ...option, name: always.name } : option,
    ),
  };
}
