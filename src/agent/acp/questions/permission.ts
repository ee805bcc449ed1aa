// Asks the user at the editor whether a call may be made.

import {
  methods,
  type PermissionOption,
  type RequestPermissionRequest,
  type ToolKind,
} from "@agentclientprotocol/sdk";
import { claim } from "../../../core/tools/approval-text.ts";
import type { ApprovalAnswer, ApprovalRequest, AskApproval } from "../../../core/types/approval.ts";
import { isJsonObject } from "../../../core/types/json.ts";
import type { ToolSource } from "../../../core/types/tool.ts";
import { capitalised, oneLine, truncate } from "../../../util/text.ts";
import { escapedJsonLines, visible } from "../../../util/visible.ts";
import { type CallPreview, toolKind, toolTitle } from "../calls/tool-view.ts";
import type { EditorTools } from "../editor/editor-tools.ts";
import type { AcpClient } from "../wire/client.ts";
import { fenced, textContent } from "../wire/content.ts";
import type { QuestionContext } from "./question-context.ts";

const OPTIONS: PermissionOption[] = [
  { optionId: "allow", name: "Allow once", kind: "allow_once" },
  { optionId: "always", name: "Always allow", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
  { optionId: "never", name: "Always reject", kind: "reject_always" },
];

const LONGEST_REASON = 300;
const LONGEST_TITLE = 300;

/** Without a preview the arguments say enough. If it rejects, the call is refused without a question. */
export interface PermissionContext
  extends Pick<QuestionContext, "sessionId" | "isAutomatic">, Pick<EditorTools, "preview"> {
  client: Pick<AcpClient, "request">;
  /** Paths below it are shown relative to it. */
  cwd: string;
}

/** "Always reject" holds for the session. The guard remembers "always allow", unless it covers less than a tool. */
export function permissionPrompt(context: PermissionContext): AskApproval {
  const rejected = new Set<string>();
  const allowed = new Set<string>();
  return async (request, signal) => {
    if (rejected.has(request.tool)) return "refuse";
    if (context.isAutomatic()) return "once";
    const preview = await context.preview(request, signal);
    const key = preview?.always && `${request.tool} ${preview.always.key}`;
    if (key !== undefined && allowed.has(key)) return "once";
    const params = toParams(request, preview, context);
    const { requestPermission } = methods.client.session;
    const chosen = chosenIn(await context.client.request(requestPermission, params, signal));
    if (chosen === "never") rejected.add(request.tool);
    if (chosen !== "always" || key === undefined) return answerOf(chosen);
    allowed.add(key);
    return "once";
  };
}

/** Undefined if the user chose nothing, or the client's answer is malformed. */
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

function toParams(
  request: ApprovalRequest,
  preview: CallPreview | undefined,
  context: PermissionContext,
): RequestPermissionRequest {
  const { tool, args, reason } = request;
  const { title = titleOf(request, context.cwd), locations, always } = preview ?? {};
  const kind = preview?.kind ?? kindOf(request);
  const isClaiming = request.server !== undefined && request.content === undefined;
  const does = isClaiming ? [textContent(claim(request))] : [];
  const why = `${capitalised(oneLine(reason, LONGEST_REASON))} (${oneLine(tool, LONGEST_REASON)}).`;
  return {
    sessionId: context.sessionId,
    toolCall: {
      toolCallId: request.callId,
      // The editor keeps this title for the call, so it says what happens and not why we ask.
      title: truncate(visible(title), LONGEST_TITLE),
      name: request.publicName,
      rawInput: args,
      content: [
        ...(preview?.content ?? [textContent(fenced(escapedJsonLines(args)))]),
        textContent(why),
        ...does,
      ],
      kind,
      locations,
    },
    options: OPTIONS.map((option) =>
      option.optionId === "always" ? { ...option, name: alwaysName(request, always) } : option,
    ),
  };
}

/** Says how long the answer holds. */
function alwaysName(request: ApprovalRequest, always: CallPreview["always"]): string {
  if (always !== undefined) return always.name;
  return request.always === "until-changed"
    ? `Always allow, until ${request.content === undefined ? "the tool" : "its description"} changes`
    : "Always allow in this session";
}

/** Uses the tool's name, not the title that the server gave it: the user decides by what is shown here. */
function titleOf(request: ApprovalRequest, cwd: string): string {
  const args = Object.fromEntries(
    Object.entries(request.args).map(([key, value]) => [
      visible(key),
      typeof value === "string" ? visible(value) : value,
    ]),
  );
  return toolTitle({ source: sourceOf(request), name: request.publicName }, args, cwd);
}

/** Always has one: clients such as acpx guess it from the title if there is none. */
function kindOf(request: ApprovalRequest): ToolKind {
  const { readOnly, destructive, openWorld } = request.hints;
  const annotations = {
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    openWorldHint: openWorld,
  };
  return toolKind({
    source: sourceOf(request),
    name: request.publicName,
    annotations,
    ...(request.trusted && { trusted: true }),
  });
}

function sourceOf({ tool, server }: ApprovalRequest): ToolSource {
  if (server === undefined) return { kind: "native" };
  return { kind: "mcp", server, tool: tool.slice(server.length + 1) };
}
