// Content blocks of tool results and prompts: those of MCP, without loss.

import type { JsonObject } from "./json.ts";

export interface TextContent {
  type: "text";
  text: string;
  annotations?: JsonObject;
  _meta?: JsonObject;
}

export interface ImageContent {
  type: "image";
  /** base64 */
  data: string;
  mimeType: string;
  annotations?: JsonObject;
  _meta?: JsonObject;
}

export interface AudioContent {
  type: "audio";
  /** base64 */
  data: string;
  mimeType: string;
  annotations?: JsonObject;
  _meta?: JsonObject;
}

export interface ResourceContent {
  type: "resource";
  resource: { uri: string; mimeType?: string; text?: string; blob?: string; _meta?: JsonObject };
  annotations?: JsonObject;
  _meta?: JsonObject;
}

export interface ResourceLinkContent {
  type: "resource_link";
  uri: string;
  name?: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
  annotations?: JsonObject;
  _meta?: JsonObject;
}

export type ContentBlock =
  | TextContent
  | ImageContent
  | AudioContent
  | ResourceContent
  | ResourceLinkContent;

/** What a reader is shown of a result without content. */
export const EMPTY_RESULT = "(empty result)";
export const EMPTY_ERROR = "(the tool reported an error without details)";
