// The events of a board.

import type { RedactedPart, CallStep } from "./call-timeline.ts";
import type { Decision } from "./guard.ts";
import type { JsonObject } from "./json.ts";
import type { ServerLogMessage } from "./server-log.ts";
import type { ServerState } from "./server-state.ts";
import type { CallFailure, CallOutcome, ToolSource } from "./tool.ts";

/** Public names of the tools that changed. */
export interface ToolsEvent {
  added: string[];
  removed: string[];
  changed: string[];
}

export interface ResourcesEvent {
  server: string;
  /** `list`: the server's list of resources changed. `updated`: the content of `uris` changed. */
  change: "list" | "updated";
  /** Empty with `list`. */
  uris: string[];
}

/** The server's list of prompts changed. */
export interface PromptsEvent {
  server: string;
}

export interface ServerEvent {
  server: string;
  state: ServerState;
  previous: ServerState;
}

/** The guard has let a call pass: it goes to its tool now. */
export interface CallStartEvent {
  callId: string;
  /** The public name. */
  tool: string;
  source: ToolSource;
  /** Who makes it, if the call says so. */
  caller?: string;
  /** On an agent's board: the id of the session in which the call is made. Absent: it is made on the board itself. */
  session?: string;
}

/** A call has ended. */
export interface CallEvent {
  callId: string;
  /** The public name. */
  tool: string;
  source: ToolSource;
  /** How long it took, without `waitedMs`. */
  durationMs: number;
  /** How long it waited for answers: to the question whether it may run, and to what its server asked. Absent if it did not. */
  waitedMs?: number;
  /** The tool reported an error, or there is a `failure`. */
  isError: boolean;
  failure?: CallFailure;
  /** As in the event of its start. */
  session?: string;
}

/** A call that was watched has ended, with all that is known of it. */
export interface WatchedCallEvent extends CallEvent {
  caller?: string;
  decision: Decision;
  /** The size of the answer, roughly. */
  bytes: number;
  /** What the call passed through. */
  steps: readonly CallStep[];
  /** How large its content is, in characters; Infinity if it is more than `most`. */
  size: (most: number) => number;
  /** Its content, without secrets. Made when somebody asks. */
  read: () => WatchedContent;
}

interface WatchedContent {
  args: JsonObject;
  /** As the caller got it. */
  outcome: CallOutcome;
  /** What secrets were taken out of, in the arguments and in the answer. */
  redacted: { args: readonly RedactedPart[]; answer: readonly RedactedPart[] };
}

/** Sees some calls with all that is known of them. Only these pay for it. */
export interface CallWatcher {
  /** Whether the call that is made now is watched. Every call asks, with the time of the monotonic clock. */
  admits: (now: number) => boolean;
  started: (call: CallStartEvent) => void;
  ended: (call: WatchedCallEvent) => void;
}

/** A server has sent a log message. A flood of them is cut: about a hundred in a second are reported. */
export interface LogEvent extends ServerLogMessage {
  server: string;
}

/** Something the user should know, such as a limit that was reached. The same text comes once. */
export interface NoticeEvent {
  text: string;
}

export interface BoardEvents {
  tools: ToolsEvent;
  /** The tools that servers keep for their own apps (MCP Apps) have changed. */
  appTools: ToolsEvent;
  resources: ResourcesEvent;
  prompts: PromptsEvent;
  server: ServerEvent;
  callStart: CallStartEvent;
  call: CallEvent;
  log: LogEvent;
  notice: NoticeEvent;
}
