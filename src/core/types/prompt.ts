// Prompts of servers, by the names that their servers give them.

import type { CallerOptions, InputRequired } from "./caller-options.ts";
import type { ContentBlock } from "./content.ts";
import type { Icon } from "./icon.ts";
import type { JsonObject } from "./json.ts";
import type { CompleteOptions, Completion, ListOptions } from "./resource.ts";

export interface PromptArgument {
  name: string;
  title?: string;
  description?: string;
  required?: boolean;
}

/** One prompt as its server describes it, checked but not changed. */
export interface PromptDefinition {
  name: string;
  title?: string;
  description?: string;
  arguments?: PromptArgument[];
  icons?: Icon[];
  _meta?: JsonObject;
}

export interface Prompt extends PromptDefinition {
  server: string;
  /** Whether you can get the prompt; the server is started first if it is down. */
  available: boolean;
}

export interface PromptMessage {
  role: "user" | "assistant";
  content: ContentBlock;
}

export interface PromptResult {
  server: string;
  /** The server's own name of the prompt. */
  prompt: string;
  description?: string;
  messages: PromptMessage[];
  /** What the server says about its answer as a whole. */
  _meta?: JsonObject;
  /** The server wants answers first; only for requests with `input`. There are no messages then. */
  inputRequired?: InputRequired;
}

export interface PromptOptions extends CallerOptions {
  /** Gives the messages as `forModel` does, if the configuration asks for `framing` itself. */
  framed?: boolean;
}

export type PromptCompleteOptions = Omit<CompleteOptions, "server">;

/**
 * `name` is `server/prompt` or just the prompt's own name, which means the first server in the order of the
 * configuration that has it. All methods but `list` and `forModel` reject with a PlugboardError if they fail.
 */
export interface BoardPrompts {
  /** Works like `resources.list`. */
  list(server?: string, options?: ListOptions): Promise<Prompt[]>;
  /** Returns the messages as the server wrote them, for programs. Use `forModel` before a model reads them. */
  get(name: string, args?: Record<string, string>, options?: PromptOptions): Promise<PromptResult>;
  /** Returns the messages for a model, marked as untrusted. */
  forModel(result: PromptResult): PromptMessage[];
  /** Suggests values for `argument` of a prompt, given the beginning of one. */
  complete(
    name: string,
    argument: string,
    value: string,
    options?: PromptCompleteOptions,
  ): Promise<Completion>;
}
