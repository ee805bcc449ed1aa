// A server's resources and prompts: the port between the board and one connection.

import type { CallerRequest } from "./connection.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { JsonObject } from "./json.ts";
import type { PromptDefinition } from "./prompt.ts";
import type { ResourceDefinition, ResourceTemplateDefinition } from "./resource.ts";

export interface ResourceList {
  resources: ResourceDefinition[];
  templates: ResourceTemplateDefinition[];
  diagnostics: Diagnostic[];
  /** The list that the server did not give: it is empty here. */
  missing?: "resources" | "templates";
}

export interface PromptList {
  prompts: PromptDefinition[];
  diagnostics: Diagnostic[];
}

export type ContentChange =
  | { kind: "resources" }
  | { kind: "prompts" }
  /** `uri` is a resource that the board has subscribed to, or a part of one. */
  | { kind: "updated"; uri: string };

export interface CompletionQuery {
  /** The prompt or URI template that has the argument. */
  of: { type: "ref/prompt"; name: string } | { type: "ref/resource"; uri: string };
  argument: string;
  value: string;
  /** The values of other arguments, as far as they are known. */
  known: Record<string, string>;
}

/**
 * Lists are checked; all other answers are the server's own, unchecked. Every method rejects with a
 * PlugboardError if the server sends no answer.
 */
export interface ServerContent {
  /** The capabilities that the server advertises. */
  readonly has: {
    resources: boolean;
    subscriptions: boolean;
    prompts: boolean;
    completions: boolean;
  };
  /** Empty if the server has none. Rejects if one of the two lists cannot be had and the other is empty. */
  listResources(): Promise<ResourceList>;
  listPrompts(): Promise<PromptList>;
  readResource(uri: string, request: CallerRequest): Promise<unknown>;
  getPrompt(name: string, args: JsonObject, request: CallerRequest): Promise<unknown>;
  complete(query: CompletionQuery, request: CallerRequest): Promise<unknown>;
  /** `board` identifies the board that subscribes, as in a request. */
  subscribe(uri: string, board?: object): Promise<void>;
  unsubscribe(uri: string, board?: object): Promise<void>;
  onChange(listener: (change: ContentChange) => void): void;
}
