// A trace: what goes over the connections of a board's servers, live, and what happens to the servers meanwhile. Secrets
// are removed from it before anybody gets it.

import type { JsonObject } from "./json.ts";
import type { ServerStateKind } from "./server-state.ts";

interface Traced {
  server: string;
  /** Milliseconds since the epoch. */
  at: number;
}

/** Who sent a message: the board, or the server. */
export type TraceSender = "board" | "server";

/** A request, a notification or an answer. */
export interface TracedMessage extends Traced {
  kind: "message";
  from: TraceSender;
  message: JsonObject;
  /** How long it is as JSON, in characters. */
  size: number;
  /** Of an answer: the method of its request, and the milliseconds since that was sent, if the request was seen. */
  answers?: string;
  ms?: number;
}

/** A message that is too large, or nested too deeply, to be given whole. */
export interface TracedCut extends Omit<TracedMessage, "kind" | "message"> {
  kind: "cut";
  /** Its id and method, as far as they were found. */
  id?: string | number;
  method?: string;
  /** Its beginning. */
  text: string;
}

/** Something that the server wrote in place of a message. */
export interface TracedNoise extends Traced {
  kind: "noise";
  text: string;
  size: number;
}

/** The server's answer to an HTTP request, before its body. */
export interface TracedHttp extends Traced {
  kind: "http";
  method: string;
  status: number;
  ms: number;
  contentType?: string;
  /** The beginning of the session's id: whoever had all of it could use the session. */
  session?: string;
}

/** A line that the server wrote to stderr. */
export interface TracedStderr extends Traced {
  kind: "stderr";
  text: string;
}

/** The server has another state: it starts, is ready, has failed. */
export interface TracedState extends Traced {
  kind: "state";
  state: ServerStateKind;
  /** What is known about it: the time that the start took, why it failed. */
  text?: string;
}

/** This many entries were left out here, because they came faster than they were taken. */
export interface TracedLoss extends Traced {
  kind: "lost";
  count: number;
}

export type TraceEntry =
  | TracedMessage
  | TracedCut
  | TracedNoise
  | TracedHttp
  | TracedStderr
  | TracedState
  | TracedLoss;

export type TraceListener = (entry: TraceEntry) => void;

export interface TraceOptions {
  /** Only this server. Default: all servers of the board. */
  server?: string;
  /** Messages that are longer than this, in characters, are cut. Default 1 Mi. */
  maxSize?: number;
}

/** Ends a trace. Whatever there was until now is delivered before it resolves. */
export type EndTrace = () => Promise<void>;
