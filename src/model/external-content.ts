// What a result for a model says of itself: whose words they are, beside the raw outcome.

import type { ContentBlock } from "./content.ts";
import type { CallOutcome } from "./tool.ts";

export interface ExternalContent {
  untrusted: true;
  source: "mcp_server";
  server: string;
  /** By the server's own name for it. */
  tool: string;
  /** The text stands between markers. */
  wrapped: boolean;
  /** What there is besides text, by kind: markers say nothing about the inside of an image. */
  kinds: Partial<Record<Exclude<ContentBlock["type"], "text">, number>>;
}

/** The raw outcome; for a server's tool with what the host says of it. */
export interface ModelDetails extends CallOutcome {
  externalContent?: ExternalContent;
}
