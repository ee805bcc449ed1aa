// Asks before a call. Questions are asked one at a time; where nobody can be asked, or whoever was does
// not say yes, the call is refused.

import type { ApprovalRequest, AskApproval } from "../model/approval.ts";
import { cancelled, PlugboardError } from "../model/errors.ts";
import type { GuardedCall, StageFor, ToolSubject } from "../model/guard.ts";
import { untilAborted } from "../util/abort.ts";
import { oneLine } from "../util/text.ts";
import { type ApprovalModes, hintsOf, reasonToAsk } from "./approval-mode.ts";
import { Slots } from "./slots.ts";

export interface ApprovalSettings extends ApprovalModes {
  /** Undefined where nobody can be asked. */
  ask: AskApproval | undefined;
  /** Whether this very definition of the tool was answered with "always". Must not reject. */
  remembered: (subject: ToolSubject) => Promise<boolean>;
  /** Must not reject: the answer was a yes. */
  remember: (subject: ToolSubject) => Promise<void>;
}

/** What a yes came from: it is written to the call's decision. */
type Consent = "once" | "always";

export function approvalStage(settings: ApprovalSettings): StageFor {
  const { ask, remembered, remember } = settings;
  const turn = new Slots(1);

  async function answerTo(request: ApprovalRequest, call: GuardedCall): Promise<Consent> {
    const { subject } = call;
    // While this one waited for its turn, another may have been answered for good.
    if (await remembered(subject)) return "always";
    if (ask === undefined) {
      throw refusal(subject, "must be approved and nobody can be asked", {
        hint: "set its approval to never, or answer through onApproval",
      });
    }
    const answer = await asked(ask, request, call);
    if (answer === "always") await remember(subject);
    else if (answer === "refuse") throw refusal(subject, "was not approved");
    else if (answer !== "once") {
      throw refusal(subject, "was not approved: the answer was none of once, always, refuse");
    }
    return answer;
  }

  async function consentTo(request: ApprovalRequest, call: GuardedCall): Promise<Consent> {
    if (await remembered(call.subject)) return "always";
    await turn.enter(call.signal);
    // The turn ends with the answer, also for a call that is gone: as long as the question is still
    // there to be seen, a second one must not be put over it.
    const answer = answerTo(request, call).finally(() => turn.leave());
    return untilAborted(answer, call.signal, cancelled);
  }

  return (subject) => {
    const trusted = settings.isTrusted(subject);
    const reason = reasonToAsk(subject, settings.modeFor(subject), trusted);
    if (reason === undefined) return undefined;
    return async (call, next) => {
      try {
        const consent = await consentTo(toRequest(call, reason, trusted), call);
        call.decision = { verdict: "approved", rule: `approval: ${consent}` };
      } catch (error) {
        call.decision = { verdict: "refused", rule: "approval" };
        throw error;
      }
      return next(call);
    };
  };
}

async function asked(
  ask: AskApproval,
  request: ApprovalRequest,
  { subject, signal }: GuardedCall,
): Promise<unknown> {
  try {
    return await ask(request, signal);
  } catch (cause) {
    // Whoever asks may see that there is nothing to ask about, and says why.
    if (cause instanceof PlugboardError) throw cause;
    const why = oneLine(cause instanceof Error ? cause.message : String(cause), 300);
    throw refusal(subject, `was not approved: asking failed: ${why}`, { cause });
  }
}

function toRequest(call: GuardedCall, reason: string, trusted: boolean): ApprovalRequest {
  const { canonical, publicName, source, title, description } = call.subject;
  return {
    callId: call.callId,
    tool: canonical,
    publicName,
    ...(source.kind === "mcp" && { server: source.server }),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    args: call.args,
    hints: hintsOf(call.subject),
    trusted,
    reason,
  };
}

function refusal(
  { canonical, source }: ToolSubject,
  what: string,
  details: { hint?: string; cause?: unknown } = {},
): PlugboardError {
  return new PlugboardError("NOT_APPROVED", `${oneLine(canonical, 200)} ${what}`, {
    ...details,
    ...(source.kind === "mcp" && { server: source.server }),
  });
}
