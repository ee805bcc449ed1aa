// A server asks a person something in the middle of a call.

import type { JsonObject } from "./json.ts";

export interface ElicitationRequest {
  server: string;
  mode: "form";
  /** In the server's words: show whose they are. */
  message: string;
  /** JSON Schema of a flat object. */
  schema: JsonObject;
}

export type ElicitationAnswer =
  /** Fields that are left out get the schema's defaults. */
  { action: "accept"; content: JsonObject } | { action: "decline" } | { action: "cancel" };

export type OnElicitation = (
  request: ElicitationRequest,
) => ElicitationAnswer | Promise<ElicitationAnswer>;
