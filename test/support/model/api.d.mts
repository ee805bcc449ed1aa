// The port between the server and one API: how its requests read, and how a turn is written in it.

import type { Message, OfferedTool, ToolResult, TurnError, Usage } from "./start.mjs";

export type Json = { [key: string]: unknown };

/** A turn with everything filled in. */
export interface Answer {
  /** Unique in this model, safe in an id of any API. */
  serial: string;
  /** Seconds since the epoch. */
  created: number;
  model: string;
  text: string;
  thinking: string;
  toolCalls: { id: string; name: string; arguments: string }[];
  finish: "stop" | "tools" | "length" | "filter";
  usage: Required<Usage>;
  /** What was asked. */
  body: Json;
}

/** One server-sent event. */
export interface Frame {
  event?: string;
  data: unknown;
}

export interface Conversation {
  messages: Message[];
  tools: OfferedTool[];
  /** What a tool said beside its text, in the order of the tool messages. */
  results: Pick<ToolResult, "content" | "isError">[];
}

export interface Api {
  /** Results must follow their calls at once, before anybody says anything else. */
  ordered: boolean;
  /** Throws a BadRequest. */
  read: (body: Json) => Conversation;
  /** The whole answer in one piece. */
  whole: (answer: Answer) => Json;
  frames: (answer: Answer) => Frame[];
  failure: (error: TurnError) => Json;
  failureFrame: (error: TurnError) => Frame;
}
