// A server asks a person something in the middle of a call: to fill in a form, or to open a page.

import type { JsonObject } from "./json.ts";

interface Question {
  server: string;
  /** The tool whose call it is about, by the server's own name; absent where that cannot be told. */
  tool?: string;
  /** The id of that call; absent where several calls may have caused the request. */
  callId?: string;
  /** In the server's words: show whose they are. */
  message: string;
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal;
}

export interface FormElicitation extends Question {
  mode: "form";
  /** JSON Schema of a flat object. */
  schema: JsonObject;
}

export interface UrlElicitation extends Question {
  mode: "url";
  /** https, or http on this machine, in ASCII alone: to be shown in full before anybody opens it. */
  url: string;
  /** Absent where the server gave none. */
  elicitationId?: string;
  /**
   * The call has been refused until this is done, and is made again when it is accepted: accept once the
   * person is through. Otherwise accepting means that the person agreed to open the page.
   */
  required: boolean;
  /** Resolves when the server says that the person is through; servers need not say so. */
  completed: Promise<void>;
}

export type ElicitationRequest = FormElicitation | UrlElicitation;

export type ElicitationAnswer =
  /** `content` goes with a form: fields that are left out get the schema's defaults. */
  { action: "accept"; content?: JsonObject } | { action: "decline" } | { action: "cancel" };

/** Called for one question at a time. A rejection declines. */
export type OnElicitation = (
  request: ElicitationRequest,
) => ElicitationAnswer | Promise<ElicitationAnswer>;
