// Content blocks of tool results and prompts: those of MCP, without loss.

import type { JsonObject } from "./json.ts";

interface Annotated {
  annotations?: JsonObject;
  _meta?: JsonObject;
}

export interface TextContent extends Annotated {
  type: "text";
  text: string;
}

export interface ImageContent extends Annotated {
  type: "image";
  /** base64 */
  data: string;
  mimeType: string;
}

export interface AudioContent extends Annotated {
  type: "audio";
  /** base64 */
  data: string;
  mimeType: string;
}

export interface ResourceContent extends Annotated {
  type: "resource";
  resource: { uri: string; mimeType?: string; text?: string; blob?: string; _meta?: JsonObject };
}

export interface ResourceLinkContent extends Annotated {
  type: "resource_link";
  uri: string;
  name?: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
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
