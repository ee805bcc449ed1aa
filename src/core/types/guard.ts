// The types of the guard: the subject of a call, the call, and a stage that calls pass through.

import type { AskApproval } from "./approval.ts";
import type { CallTimeline } from "./call-timeline.ts";
import type { CallerOptions } from "./caller-options.ts";
import type { ContentName } from "./content-pattern.ts";
import type { JsonObject } from "./json.ts";
import type { ServerScope } from "./server-definition.ts";
import type { RequestHandlers } from "./request-handlers.ts";
import type { CallOutcome, ToolSource, UpdateListener } from "./tool.ts";
import type { CallSignal } from "../../util/abort.ts";

/**
 * What a call is about, as rules see it: a tool, created once so that stages can prepare for it, or with `content` a
 * resource or prompt, created for each request.
 */
export interface Subject {
  /**
   * `server/tool` with the server's own name of the tool, or `native/tool`. Rules can also use its other names.
   * `server/resource:uri` and `server/prompt:name` for a resource and a prompt.
   */
  canonical: string;
  publicName: string;
  /** Stands for the server's name in public names. */
  toolPrefix?: string | undefined;
  /** What the template of public names gives, if the public name is another: it may be cut and end in a hash. */
  fullName?: string | undefined;
  source: ToolSource;
  content?: ContentName | undefined;
  /** The layer its server was configured in. */
  origin: ServerScope | "native";
  title?: string;
  description?: string;
  annotations?: JsonObject;
  outputSchema?: JsonObject;
  /** Of a native tool whose arguments are checked: its schema. */
  parameters?: JsonObject | undefined;
  /** Whether a native tool says so itself; patterns of the configuration can only add to it. */
  ownerOnly: boolean;
  /** Its calls are guarded where its server runs, in a gateway. */
  inGateway?: true | undefined;
  /** Needs no approval: it only shows again what an earlier call has returned. */
  neverAsks?: true | undefined;
  /** No allow list has to name it: it only helps to get at what a list names. */
  passesAllowLists?: true | undefined;
  /** Hash of everything a model is told about the tool, and of its server's definition. */
  hash: string;
}

/** What the guard decided about a call, for the audit. */
export interface Decision {
  verdict: "allowed" | "approved" | "refused";
  /** The rule or setting that decided, if there was one. */
  rule?: string;
}

export interface GuardedCall {
  /** The caller's own id, or a random one. */
  readonly callId: string;
  readonly subject: Subject;
  /** As the caller gave them; what was approved, once somebody was asked. */
  args: JsonObject;
  /** When the call was made, in the clock's monotonic time. */
  readonly started: number;
  /** The time when the call last came out of a wait, so that not every stage has to read the clock. */
  now: number;
  readonly signal: CallSignal | undefined;
  /** Stages may put another listener in front of it. */
  onUpdate: UpdateListener | undefined;
  /** Answer what the server asks during the call, instead of the board's handlers. */
  readonly handlers?: RequestHandlers | undefined;
  /** Who makes the call. */
  readonly caller?: string | undefined;
  /** Is asked instead of the board's. */
  readonly onApproval?: AskApproval | undefined;
  /** Whose answers `always` count. Absent: the agent's own user's. */
  readonly approvalsOf?: string | undefined;
  /** What goes to the server with the arguments. */
  request?: Pick<CallerOptions, "meta" | "input" | "clientCapabilities"> | undefined;
  /** The caller wants the outcome framed. */
  readonly framed?: boolean | undefined;
  /** Tells the user of the board something, once for each text. */
  readonly notify?: ((text: string) => void) | undefined;
  /** Stages write their decision here. */
  decision: Decision;
  /** The audit's own notes about the call. */
  audit: object | undefined;
  /** The arguments as JSON, once somebody has needed that: what is audited and approved is what is sent. */
  argsJson: string | undefined;
  /** How long it has waited for answers of people, or of the host's model, in milliseconds. */
  waitedMs: number;
  /** Its server may have got it. */
  isSent: boolean;
  /** Absent while nobody watches. */
  readonly timeline: CallTimeline | undefined;
}

export type Next = (call: GuardedCall) => Promise<CallOutcome>;

/**
 * One part of the guard, in halves: what it does before the rest of a call, and after it. They are called without a
 * `this`.
 */
export interface Stage {
  /** For people who watch calls. */
  readonly name?: string;
  /** Returns a promise if the call has to wait. Throws or rejects with a PlugboardError to refuse the call. */
  before?: (call: GuardedCall) => Promise<void> | undefined;
  /** Returns what the call ends with. */
  after?: (call: GuardedCall, outcome: CallOutcome) => CallOutcome | Promise<CallOutcome>;
  /** Runs instead of `after` if the rest of the call has failed. Returns what the call ends with, or throws. */
  failed?: (call: GuardedCall, error: unknown) => CallOutcome;
}

/** A stage that every call ends in with an outcome. */
export type OutermostStage = Stage & Required<Pick<Stage, "failed">>;

/** Returns the stage for one tool, or undefined if it would do nothing, so that calls do not pay for it. */
export type StageFor = (subject: Subject) => Stage | readonly Stage[] | undefined;

/** What the stages are around. */
export interface Callee<Answer = unknown> {
  send: (call: GuardedCall) => Promise<Answer> | Answer;
  received: (call: GuardedCall, answer: Answer) => CallOutcome;
  /** Runs if one of the others has failed. Returns what the call ends with, or throws. */
  failed: (call: GuardedCall, error: unknown) => CallOutcome;
}
