// Asks the user before a call, one question at a time, and remembers the answer "always". If nobody can be asked, or the
// answer is not a yes, the call is refused.

import {
  type ApprovalRequest,
  type AskApproval,
  hintsIn,
  saysHarmless,
  type StoredApproval,
} from "../types/approval.ts";
import { cancelled, PlugboardError } from "../types/errors.ts";
import type { ApprovalMode } from "../types/guard-settings.ts";
import type { GuardedCall, StageFor, Subject } from "../types/guard.ts";
import { exceptionFor } from "../types/per-tool.ts";
import type { ApprovalKey, ApprovalStore } from "../types/shared-state.ts";
import { toolName } from "../types/tool-pattern.ts";
import { abortSignalOf, untilAborted } from "../../util/abort.ts";
import { type Clock, systemClock } from "../../util/clock.ts";
import { errorMessage } from "../../util/error-message.ts";
import { frozen } from "../../util/frozen.ts";
import { oneLine, sayTool } from "../../util/text.ts";
import { Semaphore } from "./concurrency.ts";
import { settleArguments } from "./sent-arguments.ts";
import type { ServerGuards } from "./server-guards.ts";
import { APPROVAL_STRICTNESS } from "./strictest.ts";

export interface ApprovalSettings {
  servers: ServerGuards;
  /** The mode of tools that have none of their own and whose server has none. */
  agentMode: ApprovalMode | undefined;
  /** Of all other modes, none is less strict than this for a tool. */
  least?: ApprovalMode | undefined;
  /** Removes secrets from the arguments that a person is shown. */
  redact?: <Value>(value: Value) => Value;
  /** Undefined if nobody can be asked. */
  ask: AskApproval | undefined;
  /** Remembers for which definitions of a tool the answer was "always". */
  store: Pick<GivenApprovals, "has" | "add" | "keeps">;
  /** Default: nobody is being asked anything yet. */
  turns?: ApprovalTurns;
  /** Measures how long the call waits for the answer. */
  clock?: Pick<Clock, "monotonic">;
}

/** Whoever is asked gets one question at a time, and does not wait for the answers of others. */
export class ApprovalTurns {
  readonly #nobody = new Semaphore(1);
  readonly #turns = new WeakMap<AskApproval, Semaphore>();

  of(ask: AskApproval | undefined): Semaphore {
    if (ask === undefined) return this.#nobody;
    const turn = this.#turns.get(ask) ?? new Semaphore(1);
    this.#turns.set(ask, turn);
    return turn;
  }
}

/** How the call was approved, for the call's decision. */
type Consent = "once" | "always";

export function approvalStage(settings: ApprovalSettings): StageFor {
  const { servers, agentMode, least, store } = settings;
  const { redact = (value) => value, turns = new ApprovalTurns() } = settings;
  const { clock = systemClock } = settings;

  async function answerTo(
    request: ApprovalRequest,
    call: GuardedCall,
    ask: AskApproval | undefined,
  ): Promise<Consent> {
    const { subject, approvalsOf } = call;
    // While this call waited for its turn, another one may have been answered with "always".
    if (await store.has(subject, approvalsOf)) return "always";
    if (ask === undefined) {
      throw refusal(subject, "must be approved and nobody can be asked", {
        hint: "set its approval to never, or answer through onApproval",
      });
    }
    const answer = await askOrRefuse(ask, request, call);
    if (answer === "always") await store.add(subject, approvalsOf);
    else if (answer === "refuse") throw refusal(subject, "was not approved");
    else if (answer !== "once") {
      throw refusal(subject, "was not approved: the answer must be once, always or refuse");
    }
    return answer;
  }

  async function consentTo(request: ApprovalRequest, call: GuardedCall): Promise<Consent> {
    const ask = call.onApproval ?? settings.ask;
    const turn = turns.of(ask);
    const began = clock.monotonic();
    try {
      await turn.acquire(call.signal);
      // The turn ends with the answer, even if the call was cancelled meanwhile: the question is still on the
      // screen, and a second one must not cover it.
      const answer = answerTo(request, call, ask).finally(() => turn.release());
      return await untilAborted(answer, call.signal, cancelled);
    } finally {
      if (ask !== undefined) call.waitedMs += clock.monotonic() - began;
    }
  }

  return (subject) => {
    const found = needOf(subject, { servers, agentMode, least });
    if (found === undefined) return undefined;
    const { reason, trusted, believable, rule } = found;
    const before = async (call: GuardedCall): Promise<void> => {
      let consent: Consent = "always";
      if (!(await orRefused(call, store.has(subject, call.approvalsOf)))) {
        // Whoever is asked may keep the request and change it, and the caller may change the arguments meanwhile.
        const args = settleArguments(call);
        const always: ApprovalRequest["always"] = store.keeps(subject)
          ? "until-changed"
          : "until-closed";
        const request = {
          ...toRequest(call, reason, trusted),
          ...(believable && { believable }),
          rule,
          args: redact(args),
          always,
        };
        consent = await orRefused(call, consentTo(frozen(request), call));
      }
      call.decision = { verdict: "approved", rule: `approval: ${consent}` };
    };
    return { name: "approval", before };
  };
}

async function orRefused<Result>(call: GuardedCall, deciding: Promise<Result>): Promise<Result> {
  try {
    return await deciding;
  } catch (error) {
    call.decision = { verdict: "refused", rule: "approval" };
    throw error;
  }
}

/** Why a call has to be approved, and whether the labels of its tool can be believed. Undefined if it need not be. */
export function needOf(
  subject: Subject,
  {
    servers,
    agentMode = "never",
    least = "never",
  }: Pick<ApprovalSettings, "servers" | "agentMode" | "least">,
): Need | undefined {
  if (subject.neverAsks) return undefined;
  const { approval, trusted: isServerTrusted = false } = servers.own(subject);
  const trusted = subject.source.kind === "native" || isServerTrusted;
  const exception = exceptionFor(approval, toolName(subject), APPROVAL_STRICTNESS, agentMode);
  // The other modes are for tools: resources and prompts need approval only where a pattern names them.
  const mode = exception ?? (subject.content ? "never" : (approval?.default ?? agentMode));
  const reason = reasonToAsk(subject, subject.content ? mode : stricter(mode, least), trusted);
  if (reason === undefined) return undefined;
  const rule = ruleOf(subject, {
    isException: exception !== undefined,
    isOfServer: approval?.default !== undefined,
    isOfSession: !subject.content && stricter(mode, least) !== mode,
  });
  const believable = reason === NOT_BELIEVED ? ({ believable: true } as const) : {};
  return { reason, trusted, ...believable, rule };
}

type Need = Required<Pick<ApprovalRequest, "reason" | "trusted" | "rule">> &
  Pick<ApprovalRequest, "believable">;

const NOT_BELIEVED =
  "the tool says that it changes nothing, but the labels of its server are not believed";

async function askOrRefuse(
  ask: AskApproval,
  request: ApprovalRequest,
  { subject, signal }: GuardedCall,
): Promise<unknown> {
  try {
    return await ask(request, signal && abortSignalOf(signal));
  } catch (cause) {
    // The handler may find that there is nothing to ask, and says why in such an error.
    if (cause instanceof PlugboardError) throw cause;
    const why = oneLine(errorMessage(cause), 300);
    throw refusal(subject, `was not approved: asking failed: ${why}`, { cause });
  }
}

function toRequest(
  call: GuardedCall,
  reason: string,
  trusted: boolean,
): Omit<ApprovalRequest, "always" | "args"> {
  const { canonical, hash, publicName, source, title, description, content } = call.subject;
  return {
    callId: call.callId,
    caller: call.caller,
    tool: canonical,
    hash,
    publicName,
    content: content?.kind,
    server: source.kind === "mcp" ? source.server : undefined,
    title,
    description,
    hints: hintsIn(call.subject.annotations),
    trusted,
    reason,
  };
}

function refusal(
  { canonical, source }: Subject,
  what: string,
  details: { hint?: string; cause?: unknown } = {},
): PlugboardError {
  return new PlugboardError("NOT_APPROVED", `${sayTool(canonical)} ${what}`, {
    ...details,
    server: source.kind === "mcp" ? source.server : undefined,
  });
}

/** Where the mode is written. */
function ruleOf(
  { source }: Subject,
  of: { isException: boolean; isOfServer: boolean; isOfSession: boolean },
): string {
  if (of.isOfSession) return "approval of the session";
  const server = source.kind === "mcp" ? `approval of server ${source.server}` : "approval";
  if (of.isException) return `${server}, for this tool`;
  return of.isOfServer ? server : "approval of the agent";
}

function stricter(mode: ApprovalMode, least: ApprovalMode): ApprovalMode {
  return APPROVAL_STRICTNESS(least) > APPROVAL_STRICTNESS(mode) ? least : mode;
}

/** Why the user must be asked, or undefined. Labels count only where the server is `trusted`. */
function reasonToAsk(subject: Subject, mode: ApprovalMode, isTrusted: boolean): string | undefined {
  switch (mode) {
    case "never":
      return undefined;
    case "ask":
      return subject.content
        ? `every read of this ${subject.content.kind} needs approval`
        : "every call of this tool needs approval";
    case "destructive": {
      if (!isTrusted && subject.content)
        return `the labels of its server are not believed, so reading its ${subject.content.kind}s may change something`;
      if (!saysHarmless(hintsIn(subject.annotations)))
        return "the tool may change or delete something";
      return isTrusted ? undefined : NOT_BELIEVED;
    }
  }
}

export interface GivenApprovalsOptions {
  /** Whose approvals they are. */
  agent: Pick<StoredApproval, "agent" | "config">;
  /** Without it, nothing outlives the process. */
  store?: ApprovalStore;
  clock?: Clock;
  /** The answer still counts in this process. */
  onWriteError?: (error: unknown) => void;
}

/**
 * Remembers for which tools the answer was "always": for one agent and one of its callers, by the hash of the
 * definitions of the tool and its server, so that the user is asked again when one of them changes. What is about a
 * session's own server or about the host's own tools is not stored.
 */
export class GivenApprovals {
  readonly #options: GivenApprovalsOptions;
  /** What is not stored. */
  readonly #granted = new Set<string>();

  constructor(options: GivenApprovalsOptions) {
    this.#options = options;
  }

  /** Whether an approval of the tool outlives the process. */
  keeps({ origin }: Pick<Subject, "origin">): boolean {
    // A host's own tools write and run whatever is in reach of the session: another directory is another question.
    return this.#options.store !== undefined && origin !== "session" && origin !== "native";
  }

  async has(subject: Subject, caller?: string): Promise<boolean> {
    if (this.#granted.has(sessionKey(subject, caller))) return true;
    const { store } = this.#options;
    if (store === undefined || !this.keeps(subject)) return false;
    return store.has(this.#keyOf(subject, caller));
  }

  /** Never rejects. */
  async add(subject: Subject, caller?: string): Promise<void> {
    const { store, clock = systemClock, onWriteError = () => {} } = this.#options;
    if (store === undefined || !this.keeps(subject)) {
      this.#granted.add(sessionKey(subject, caller));
      return;
    }
    try {
      await store.add({ ...this.#keyOf(subject, caller), at: clock.now() });
    } catch (error) {
      this.#granted.add(sessionKey(subject, caller));
      onWriteError(error);
    }
  }

  #keyOf({ canonical: tool, hash }: Subject, caller: string | undefined): ApprovalKey {
    return { ...this.#options.agent, tool, hash, caller };
  }
}

function sessionKey({ canonical, hash, origin }: Subject, caller = ""): string {
  return JSON.stringify([origin === "session", canonical, hash, caller]);
}
