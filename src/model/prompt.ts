// Prompts that servers offer, by the names their servers give them.

import type { ContentBlock } from "./content.ts";
import type { JsonObject } from "./json.ts";
import type { Completion } from "./resource.ts";

export interface PromptArgument {
  name: string;
  title?: string;
  description?: string;
  required?: boolean;
}

/** One prompt as its server describes it, checked but otherwise untouched. */
export interface PromptDefinition {
  name: string;
  title?: string;
  description?: string;
  arguments?: PromptArgument[];
  _meta?: JsonObject;
}

export interface Prompt extends PromptDefinition {
  server: string;
  /** The server can be asked now, or after a start that asking triggers. */
  available: boolean;
}

export interface PromptMessage {
  role: "user" | "assistant";
  content: ContentBlock;
}

export interface PromptResult {
  server: string;
  /** By the server's own name for it. */
  prompt: string;
  description?: string;
  messages: PromptMessage[];
}

export interface PromptOptions {
  signal?: AbortSignal;
}

export interface PromptCompleteOptions extends PromptOptions {
  /** What is known of the other arguments. */
  known?: Record<string, string>;
}

/**
 * A prompt is named `server/prompt`, or by its own name: then it is the first one's in the order of the
 * configuration. All but `list` reject with a PlugboardError where they fail.
 */
export interface BoardPrompts {
  /** As `resources.list`. */
  list(server?: string): Promise<Prompt[]>;
  /** For a program: in the server's own words. */
  get(name: string, args?: Record<string, string>, options?: PromptOptions): Promise<PromptResult>;
  /** The messages as they may go to a model: marked as untrusted. */
  forModel(result: PromptResult): PromptMessage[];
  complete(
    name: string,
    argument: string,
    value: string,
    options?: PromptCompleteOptions,
  ): Promise<Completion>;
}
