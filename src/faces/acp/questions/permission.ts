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
import { isJsonObject } from "../../../model/json.ts";
import { capitalised, oneLine, visibleJson } from "../../../util/text.ts";
import { toolTitle } from "../calls/tool-view.ts";
import { textContent } from "../wire/content.ts";
import type { Mode } from "../session/mode.ts";

const OPTIONS: PermissionOption[] = [
  { optionId: "allow", name: "Allow once", kind: "allow_once" },
  { optionId: "always", name: "Always allow", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
  { optionId: "never", name: "Always reject", kind: "reject_always" },
];

const LONGEST_REASON = 300;
const LONGEST_TITLE = 300;

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
  /** Paths in it are shown from there. */
  cwd: string;
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
    const chosen = chosenIn(await context.request(toRequest(request, preview, context), signal));
    if (chosen === "never") rejected.add(request.tool);
    if (chosen !== "always" || key === undefined) return answerOf(chosen);
    allowed.add(key);
    return "once";
  };
}

/** Undefined where nothing was chosen, or the client's answer is none. */
function chosenIn(answer: unknown): unknown {
  const outcome = isJsonObject(answer) ? answer["outcome"] : undefined;
  return isJsonObject(outcome) && outcome["outcome"] === "selected"
    ? outcome["optionId"]
    : undefined;
}

function answerOf(optionId: unknown): ApprovalAnswer {
  if (optionId === "allow") return "once";
  return optionId === "always" ? "always" : "refuse";
}

function toRequest(
  request: ApprovalRequest,
  preview: Preview | undefined,
  context: PermissionContext,
): RequestPermissionRequest {
  const { tool, args, reason } = request;
  const { title = titleOf(request, context.cwd), kind, locations, always } = preview ?? {};
  const why = `${capitalised(oneLine(reason, LONGEST_REASON))} (${oneLine(tool, LONGEST_REASON)}).`;
  return {
    sessionId: context.sessionId,
    toolCall: {
      toolCallId: context.toolCallId() ?? tool,
      // An editor shows the call under it from now on, so that it says what happens and not why it is asked.
      title: oneLine(title, LONGEST_TITLE),
      name: request.publicName,
      rawInput: args,
      content: [...(preview?.content ?? [textContent(visibleJson(args))]), textContent(why)],
      ...(kind !== undefined && { kind }),
      ...(locations !== undefined && { locations }),
    },
    options: OPTIONS.map((option) =>
      option.optionId === "always" && always ? { ...option, name: always.name } : option,
    ),
  };
}

/** By the tool's name, not by the title it gives itself: this is what a person decides on. */
function titleOf({ tool, server, publicName, args }: ApprovalRequest, cwd: string): string {
  const source =
    server === undefined
      ? ({ kind: "native" } as const)
      : ({ kind: "mcp", server, tool: tool.slice(server.length + 1) } as const);
  return toolTitle({ source, name: publicName }, args, cwd);
}
