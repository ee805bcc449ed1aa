// Elicitation: a server asks a person to fill in a form or to open a page, in the middle of a call.

import type { JsonObject } from "./json.ts";

interface Question {
  server: string;
  /** The server's own name of the tool whose call it is about; absent if that is not certain. */
  tool?: string;
  /** The id of that call; absent if several calls may have caused the question. */
  callId?: string;
  /** Written by the server: show which server says this. */
  message: string;
  /** Aborts when the answer no longer matters. */
  signal: AbortSignal;
}

export interface FormElicitation extends Question {
  mode: "form";
  /** JSON Schema of a flat object. */
  schema: JsonObject;
}

export interface UrlElicitation extends Question {
  mode: "url";
  /** https, or http on this machine, in ASCII only. Show it in full before anybody opens it. */
  url: string;
  /** Absent if the server gave none. */
  elicitationId?: string;
  /**
   * True if the server refused the call until the person has finished on the page: accept when they have, and the
   * call is made again. If false, accepting means only that the person agreed to open the page.
   */
  required: boolean;
  /** Resolves when the server reports that the person has finished. Some servers never do. */
  completed: Promise<void>;
}

export type ElicitationRequest = FormElicitation | UrlElicitation;

export type ElicitationAnswer =
  /** `content` holds the values of a form. Missing fields get the defaults of the schema. */
  { action: "accept"; content?: JsonObject } | { action: "decline" } | { action: "cancel" };

/**
 * Called for one question at a time. If you reject, the question is declined; with a PlugboardError NOT_APPROVED, the
 * server gets its message as an error instead.
 */
export type OnElicitation = (
  request: ElicitationRequest,
) => ElicitationAnswer | Promise<ElicitationAnswer>;
